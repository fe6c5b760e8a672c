/**
 * rollouts.jsonl in a checkpoint folder: which examples the policy has answered, with which settings
 * and seeds. It shows how many seeds were tried before one rollout was chosen. It is an input of a
 * rollout: what the manifest says of tries depends on it. Lines are only added, each with one write, so
 * that two processes can add at once.
 */

import { constants, open } from "node:fs/promises";
import path from "node:path";
import { ExampleSketch, type StoredSketch } from "../core/example-sketch.ts";
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
  /** Null where nothing depends on it: greedy decoding, outside of an environment. */
  readonly seed: number | null;
  /** Absent in lines of earlier versions. */
  readonly examples: StoredSketch;
}

/**
 * Adds the rollout to the ledger of the checkpoint in `dir`, unless it is there. Gives the number of
 * different seeds with which the policy has answered any of these examples so far, this one included,
 * whatever the other settings; null where the folder cannot be written.
 */
export async function seedsTried(dir: string, tried: TriedRollout): Promise<number | null> {
  const file = path.join(wholeFolder(dir), LEDGER);
  try {
    await refusePipe(file);
    const before = (await readIfThere(file)) ?? "";
    if (!linesOf(before).some((line) => isOwn(line, tried))) {
      // A line that a killed process left unfinished must not swallow this one.
      const gap = before === "" || before.endsWith("\n") ? "" : "\n";
      await append(file, `${gap}${canonicalJson({ schema: LEDGER_SCHEMA, ...tried })}\n`);
    }
    // Read again: another process may have added its line first.
    return (await triesInLedger(dir, tried))?.most ?? null;
  } catch {
    return null;
  }
}

/** What a rollout can have counted: when it was first made, and if it was made again just now. */
export interface Tries {
  readonly least: number;
  readonly most: number;
}

/** Undefined where there is no ledger, or where it does not list the rollout. */
export async function triesInLedger(dir: string, tried: TriedRollout): Promise<Tries | undefined> {
  const file = path.join(wholeFolder(dir), LEDGER);
  await refusePipe(file);
  const lines = linesOf((await readIfThere(file)) ?? "");
  const exact = lines.findIndex((line) => isOwn(line, tried));
  const own = exact === -1 ? lines.findIndex((line) => isWhole(line, tried)) : exact;
  if (own === -1) return undefined;
  return { least: draws(lines.slice(0, own + 1), tried), most: draws(lines, tried) };
}

function linesOf(ledger: string): JsonObject[] {
  return ledger
    .split("\n")
    .map(toObject)
    .filter((line) => line !== undefined);
}

/** By everything but the sketch, which follows from the rest. */
function isOwn({ examples: _, ...line }: JsonObject, { examples: __, ...tried }: TriedRollout) {
  return canonicalJson(line) === canonicalJson({ schema: LEDGER_SCHEMA, ...tried });
}

/** Whether `tried` is a part of the examples of this line, in the same rollout. */
function isWhole(line: JsonObject, tried: TriedRollout): boolean {
  const { prompts_sha256: _, ...rest } = line;
  const { prompts_sha256, ...own } = tried;
  if (!isOwn({ ...rest, prompts_sha256 }, { ...own, prompts_sha256 })) return false;
  const [whole, part] = [ExampleSketch.read(line.examples), ExampleSketch.read(tried.examples)];
  return whole !== undefined && part !== undefined && whole.shares(part) && !part.renames(whole);
}

/** Samples follow from the seed and the ids: what differs in one of them is another draw. */
function draws(lines: readonly JsonObject[], tried: TriedRollout): number {
  if (tried.seed === null) return 1;
  const own = ExampleSketch.read(tried.examples);
  const known: { readonly seed: unknown; readonly sketch: ExampleSketch | undefined }[] = [];
  for (const { seed, policy, prompts_sha256, examples } of lines) {
    if (policy !== tried.policy || seed === null) continue;
    const sketch = ExampleSketch.read(examples);
    const shares = prompts_sha256 === tried.prompts_sha256 || (sketch && own?.shares(sketch));
    if (!shares) continue;
    const repeats = known.some(
      (one) => one.seed === seed && !(sketch && one.sketch?.renames(sketch)),
    );
    if (!repeats) known.push({ seed, sketch });
  }
  return known.length;
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
