/** The prompts of a policy's past as files beside its weights: see `PromptSet`. */

import path from "node:path";
import { sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { SeenPrompts } from "../core/policy.ts";
import { PromptSet } from "../core/prompt-set.ts";
import { wholeFolder } from "../runs/replace-folder.ts";
import { readBytesIfThere } from "../runs/whole-file.ts";
import { damaged, type FolderOfOurs } from "./config-files.ts";

const FILES = { learned: "learned-prompts.bin", validated: "validated-prompts.bin" } as const;

/** Their names in the folder. */
export const SEEN_FILES: readonly string[] = Object.values(FILES);

/** Of a policy that has learned nothing yet. */
export function nothingSeen(): SeenPrompts {
  return { learned: new PromptSet(), validated: new PromptSet() };
}

interface StoredSet {
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** A run saves the same sets many times. A set only grows: with the same size it is the same. */
const stored = new WeakMap<PromptSet, StoredSet>();

function storedSet(set: PromptSet): StoredSet {
  const before = stored.get(set);
  if (before?.size === set.size) return before;
  const bytes = set.toBytes();
  const made = { size: set.size, bytes, sha256: sha256(bytes) };
  stored.set(set, made);
  return made;
}

/** The files to write, and the hash of each; none where nothing is known. */
export function seenFiles(seen: SeenPrompts | null): {
  readonly files: Readonly<Record<string, readonly Uint8Array[]>>;
  readonly hashes: Readonly<Record<string, string>>;
} {
  if (seen === null) return { files: {}, hashes: {} };
  const learned = storedSet(seen.learned);
  const validated = storedSet(seen.validated);
  return {
    files: { [FILES.learned]: [learned.bytes], [FILES.validated]: [validated.bytes] },
    hashes: { [FILES.learned]: learned.sha256, [FILES.validated]: validated.sha256 },
  };
}

export interface ReadSeen {
  /** Null where the folder has no such files. */
  readonly seen: SeenPrompts | null;
  readonly files: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
}

/** The sets of a folder of ours whose config names these files. */
export async function readSeen(
  dir: string,
  expected: Readonly<Record<string, string>>,
  what: FolderOfOurs,
): Promise<ReadSeen> {
  const folder = wholeFolder(dir);
  const files: ReadSeen["files"][number][] = [];
  const sets: PromptSet[] = [];
  for (const name of SEEN_FILES) {
    const bytes = await readBytesIfThere(path.join(folder, name));
    const found = bytes && sha256(bytes);
    if (expected[name] !== found) throw damaged(path.join(dir, name), what);
    if (!bytes || !found) continue;
    files.push({ name, bytes: bytes.length, sha256: found });
    sets.push(setOf(bytes, path.join(dir, name), what));
  }
  const [learned, validated] = sets;
  return { seen: learned && validated ? { learned, validated } : null, files };
}

function setOf(bytes: Uint8Array, file: string, what: FolderOfOurs): PromptSet {
  try {
    return PromptSet.fromBytes(bytes);
  } catch {
    throw damaged(file, what);
  }
}

/** How many prompts there are, in words for a config: the sets themselves are files of their own. */
export function seenStatement({ learned, validated }: SeenPrompts, complete: boolean): JsonObject {
  return {
    learned: learned.size,
    validated: validated.size,
    false_positive_rate: Number(learned.falsePositiveRate.toPrecision(3)),
    complete,
  };
}
