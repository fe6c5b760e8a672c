/** A learner's workspace: a folder with a marker file that names its scorer and its policy. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { dataError, messageOf, usageError } from "../core/index.ts";

export const MARKER = "lockedroom.json";
export const WORKSPACE_SCHEMA = "lockedroom.workspace@1";

/** A path that cannot leave the workspace. */
export const insidePath = z
  .string()
  .refine((file) => !path.isAbsolute(file) && !file.split(/[\\/]/).includes(".."), {
    message: "must be a path inside the workspace",
  });

const configSchema = z.strictObject({
  schema: z.literal(WORKSPACE_SCHEMA),
  /** Used by every command that scores, unless --scorer names another. */
  scorer: insidePath,
  /** Used by selection-demo, unless --policy or --rule says otherwise. */
  selection_policy: insidePath,
});

export type WorkspaceConfig = z.infer<typeof configSchema>;

export const DEFAULT_CONFIG: WorkspaceConfig = {
  schema: WORKSPACE_SCHEMA,
  scorer: "scoring.ts",
  selection_policy: "assignments/selection_policy.ts",
};

/** The nearest workspace from a folder upwards. */
export function findWorkspace(from: string): string | undefined {
  for (let dir = path.resolve(from); ; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, MARKER))) return dir;
    if (dir === path.dirname(dir)) return undefined;
  }
}

export function requireWorkspace(from: string): string {
  const dir = findWorkspace(from);
  if (dir !== undefined) return dir;
  throw usageError(
    `${from} is not in a workspace: there is no ${MARKER} here or above`,
    "Make one with: lockedroom init my-room, then cd my-room. If this was one, the file was lost: git checkout -- lockedroom.json brings it back.",
  );
}

/** What the marker says; a damaged one is refused with a sentence. */
export function readConfig(dir: string): WorkspaceConfig {
  const file = path.join(dir, MARKER);
  try {
    return configSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const issues = error instanceof z.ZodError ? error.issues : undefined;
    const problem = issues
      ? issues.map((issue) => `${issue.path.join(".") || "it"}: ${issue.message}`).join("; ")
      : messageOf(error);
    throw dataError(
      `${file} is damaged: ${problem}`,
      `Mend it, or take the committed one back: git checkout -- ${MARKER}`,
    );
  }
}
