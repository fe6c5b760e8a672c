/**
 * rollouts.jsonl in a checkpoint folder: which examples the policy has answered, with which settings
 * and seeds. It shows how many seeds were tried before one rollout was chosen. Lines are only added,
 * each with one write, so that two processes can add at once.
 */

import { constants, open } from "node:fs/promises";
import path from "node:path";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { LEDGER, LEDGER_SCHEMA } from "./artifacts.ts";
import { wholeFolder } from "./replace-folder.ts";
import { readIfThere, refusePipe, toObject } from "./whole-file.ts";

/** A rollout as the ledger knows it. */
export interface TriedRollout {
  /** The fingerprint of the checkpoint. */
  readonly policy: string;
  /** Of the ids and prompts of the examples, as in manifests. */
  readonly prompts_sha256: string;
  readonly prompt: JsonObject;
  /** Without the seed. */
  readonly sampling: JsonObject;
  /** Null where samples do not depend on it. */
  readonly seed: number | null;
}

/**
 * Adds the rollout to the ledger of the checkpoint in `dir`, unless it is there. Gives its place among
 * those that differ only in the seed, from 1; null where the folder cannot be written.
 */
export async function seedsTried(dir: string, tried: TriedRollout): Promise<number | null> {
  const file = path.join(wholeFolder(dir), LEDGER);
  try {
    await refusePipe(file);
    const before = (await readIfThere(file)) ?? "";
    const known = placeOf(tried, before);
    if (known !== null) return known;
    // A line that a killed process left unfinished must not swallow this one.
    const gap = before === "" || before.endsWith("\n") ? "" : "\n";
    await append(file, `${gap}${canonicalJson({ schema: LEDGER_SCHEMA, ...tried })}\n`);
    // Read again: another process may have added its line first.
    return placeOf(tried, (await readIfThere(file)) ?? "");
  } catch {
    return null;
  }
}

function placeOf({ seed, ...settings }: TriedRollout, ledger: string): number | null {
  const wanted = canonicalJson({ schema: LEDGER_SCHEMA, ...settings });
  const seeds = new Set<unknown>();
  for (const line of ledger.split("\n")) {
    const { seed: other, ...rest } = toObject(line) ?? {};
    if (canonicalJson(rest) !== wanted) continue;
    seeds.add(other);
    if (other === seed) return seeds.size;
  }
  return null;
}

/** Follows no link: the line must not end up in a file elsewhere. */
async function append(file: string, text: string): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
  const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  try {
    await handle.write(text);
  } finally {
    await handle.close();
  }
}
