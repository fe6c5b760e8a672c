/**
 * The JSON files of checkpoints and adapters. Ours have a block `lockedroom` with the hashes of all
 * files of the folder, so that damage is noticed.
 */

import path from "node:path";
import { z } from "zod";
import { dataError, messageOf, usageError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import { LEDGER } from "../runs/artifacts.ts";
import { requireKind } from "../runs/folder-kind.ts";
import { namesIn, wholeFolder } from "../runs/replace-folder.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";

export type FolderOfOurs = "checkpoint" | "adapter";

/** The fields of every block. */
export const BLOCK = {
  value_head: z.boolean(),
  /** SHA-256 of each other file. */
  files: z.record(z.string(), z.string()),
  /** What the policy was trained on; null if unknown. */
  trained: z.record(z.string(), z.json()).nullable(),
  /** Of this file without this line. */
  config_sha256: z.string(),
};

export function objectOf(text: string, file: string): JsonObject {
  let problem = "it is no JSON object";
  try {
    const content: Json = JSON.parse(text);
    if (isFields(content)) return content as JsonObject;
  } catch (error) {
    problem = messageOf(error);
  }
  throw dataError(`${file} cannot be read: ${problem}`, "Fetch or write it again.");
}

/** The text of a file that the folder must have; `layout` says which files make such a folder. */
export async function readRequired(
  dir: string,
  name: string,
  what: FolderOfOurs,
  layout: string,
): Promise<string> {
  const folder = wholeFolder(dir);
  const text = await readIfThere(path.join(folder, name));
  if (text !== undefined) return text;
  if (!fileExists(folder)) {
    throw dataError(`there is no folder ${dir}`, "Check the path; pi0 names the embedded policy.");
  }
  await requireKind(dir, [what]);
  throw dataError(`${dir} is no ${what}: it has no ${name}`, layout);
}

/** The text of a config with its block and the block's own hash. */
export function signedConfig(config: JsonObject, block: JsonObject): string {
  const config_sha256 = fingerprint({ ...config, lockedroom: block });
  const signed = { ...config, lockedroom: { ...block, config_sha256 } };
  return `${JSON.stringify(JSON.parse(canonicalJson(signed)), null, 2)}\n`;
}

/** The block of a config; throws if the file was changed since it was written. */
export function readBlock<T>(
  schema: z.ZodType<T>,
  { lockedroom, ...config }: JsonObject,
  file: string,
  what: FolderOfOurs,
): T {
  const found = parseConfig(schema, lockedroom, file, what, "lockedroom.");
  const { config_sha256, ...block } = lockedroom as JsonObject;
  if (fingerprint({ ...config, lockedroom: block }) !== config_sha256) throw damaged(file, what);
  return found;
}

export function parseConfig<T>(
  schema: z.ZodType<T>,
  value: unknown,
  file: string,
  what: FolderOfOurs,
  prefix = "",
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw dataError(
    `${file}: ${prefix}${issue?.path.join(".")}: ${issue?.message}`,
    `It was edited, or written by a newer release. Write the ${what} again.`,
  );
}

export function damaged(file: string, what: FolderOfOurs): Error {
  return dataError(
    `${file} is not the file that the ${what} was written with`,
    "It was damaged, edited or exchanged. Take the whole folder from where it came, or write it again.",
  );
}

/** Refuses to replace a folder with other files than those of ours; the first is the config. */
export async function requireReplaceable(
  dir: string,
  what: FolderOfOurs,
  schema: string,
  files: readonly string[],
): Promise<void> {
  const names = await namesIn(dir);
  if (names.length === 0) return;
  const foreign = names.find((name) => name !== LEDGER && !files.includes(name));
  const config = (await readIfThere(path.join(dir, files[0] ?? ""))) ?? "";
  if (foreign === undefined && config.includes(schema)) return;
  throw usageError(
    `${dir} holds ${visibleShort(foreign ?? names[0] ?? "", 60)}, which is not part of ${what === "adapter" ? "an" : "a"} ${what} of ours`,
    `Writing the ${what} replaces the whole folder: choose one that is new, or that holds only an older one.`,
  );
}
