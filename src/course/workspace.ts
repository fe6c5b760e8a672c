/** A learner's workspace: a folder with a marker file that names its scorer and selection policy. */

import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { dataError, ioError, messageOf, usageError } from "../core/index.ts";

/** The running package: templates and data are in it, and workspaces link to it. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const TEMPLATES = path.join(PACKAGE_ROOT, "templates/workspace");

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
    "Create one: lockedroom init my-room, then cd my-room. If this is a workspace, the file is missing; restore it: git checkout -- lockedroom.json",
  );
}

/** The content of the marker file. */
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
      `Fix it, or restore the committed one: git checkout -- ${MARKER}`,
    );
  }
}

/**
 * Links a folder to this package, so that `import … from "lockedroom"` works there. The link is not
 * committed and is created wherever it is missing; an installed package is left alone.
 */
export function linkPackage(dir: string, { replace = false } = {}): void {
  const link = path.join(dir, "node_modules", "lockedroom");
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found && !found.isSymbolicLink()) return;
  if (found && !replace && isPackage(link)) return;
  try {
    rmSync(link, { force: true });
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(PACKAGE_ROOT, link, "junction");
  } catch (error) {
    throw ioError(`link ${link} to Locked Room`, error);
  }
}

function isPackage(dir: string): boolean {
  try {
    const text = readFileSync(path.join(dir, "package.json"), "utf8");
    return (JSON.parse(text) as { name?: string }).name === "lockedroom";
  } catch {
    return false;
  }
}
