/** The pairs that a person is to label: answers of two rollouts to the same tasks, or a file of pairs. */

import { dataError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { promptFingerprint } from "../../core/prompt-fingerprint.ts";
import { visibleShort } from "../../core/visible.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { type Answer, type Answers, type Input, readAnswers, readPrompts } from "./answers.ts";
import type { ReviewPair } from "./pair.ts";

export interface ReviewSource {
  /** Those whose answers differ. */
  readonly pairs: readonly ReviewPair[];
  readonly identical: number;
  /** Tasks that only one of the two rollouts has answered. */
  readonly unpaired: number;
  readonly singleTurn: boolean;
  readonly inputs: readonly Input[];
  readonly baseline: JsonObject | null;
  readonly candidate: JsonObject | null;
}

export interface RolloutsToCompare {
  readonly baseline: string;
  readonly candidate: string;
  /** Counted from 1. */
  readonly sample: number;
  /** Where the prompts of completions are; the rollouts' own unless given. */
  readonly dataset?: string | undefined;
}

export async function pairsOfRollouts(options: RolloutsToCompare): Promise<ReviewSource> {
  const { sample } = options;
  const baseline = await readAnswers(options.baseline, "baseline", sample);
  const candidate = await readAnswers(options.candidate, "candidate", sample);
  const common = [...baseline.byTask.keys()].filter((id) => candidate.byTask.has(id));
  if (common.length === 0)
    throw dataError(
      `${options.baseline} and ${options.candidate} have no task in common`,
      "Give two rollouts of the same tasks.",
    );
  const prompts = await promptsFor(baseline, candidate, options.dataset);
  const pairs = common.map((id) => {
    const [a, b] = [baseline.byTask.get(id) as Answer, candidate.byTask.get(id) as Answer];
    return { id, prompt: promptOf(id, [a, b], prompts?.prompts), a, b };
  });
  const different = pairs.filter(({ a, b }) => a.text !== b.text);
  return {
    pairs: different.map((pair) => ({ ...pair, a: pair.a.text, b: pair.b.text })),
    identical: pairs.length - different.length,
    unpaired: baseline.byTask.size + candidate.byTask.size - 2 * common.length,
    singleTurn: pairs.every(({ a, b }) => a.singleTurn && b.singleTurn),
    inputs: [baseline.input, candidate.input, ...(prompts ? [prompts.input] : [])],
    ...{ baseline: baseline.policy, candidate: candidate.policy },
  };
}

/** Completions do not carry their prompts. */
async function promptsFor(baseline: Answers, candidate: Answers, given: string | undefined) {
  const needed = [baseline, candidate].find(({ byTask }) =>
    [...byTask.values()].some(({ prompt }) => !("text" in prompt)),
  );
  if (!needed) return undefined;
  const file = given ?? baseline.dataset ?? candidate.dataset;
  if (file === undefined)
    throw dataError(`${needed.source} does not say what was asked`, "Name the prompts: --dataset.");
  return readPrompts(file);
}

function promptOf(
  id: string,
  answers: readonly [Answer, Answer],
  prompts: ReadonlyMap<string, string> | undefined,
): string {
  const [one, other] = answers.map(({ prompt }) => {
    if ("text" in prompt) return prompt.text;
    const text = prompts?.get(id);
    const isIts =
      prompt.fingerprint === undefined || promptFingerprint(text ?? "") === prompt.fingerprint;
    if (text !== undefined && isIts) return text;
    throw dataError(
      `the data set has ${text === undefined ? "no prompt" : "another prompt"} for ${visibleShort(id, 60)}`,
      "Name the data set that the rollouts were made with: --dataset.",
    );
  });
  if (one !== other)
    throw dataError(
      `the two rollouts were asked different things in ${visibleShort(id, 60)}`,
      "Give two rollouts of the same tasks, with the same prompt.",
    );
  return one as string;
}

/** What the file says of the better one is not read: the person decides. */
export async function pairsOfFile(file: string): Promise<ReviewSource> {
  const lines = new JsonlFile(file, toPair);
  const pairs: ReviewPair[] = [];
  const seen = new Map<string, number>();
  let identical = 0;
  for await (const batch of lines.batches()) {
    for (const pair of batch) {
      const before = seen.get(pair.id) ?? 0;
      seen.set(pair.id, before + 1);
      // A prompt may have several pairs, as in what the command pairs writes.
      const id = before === 0 ? pair.id : `${pair.id}#${before + 1}`;
      if (pair.a === pair.b) identical++;
      else pairs.push({ ...pair, id });
    }
  }
  if (pairs.length + identical === 0)
    throw dataError(`${file} is empty`, "Give at least one pair: id, prompt, a, b.");
  return {
    ...{ pairs, identical, unpaired: 0, singleTurn: true },
    ...{ inputs: [lines.asInput("pairs")], baseline: null, candidate: null },
  };
}

/** Of a preference the chosen text counts as the candidate's, whose win rate is then the agreement. */
function toPair(fields: Record<string, unknown>): ReviewPair {
  const { id, prompt, chosen, rejected } = fields;
  const isPreference = chosen !== undefined || rejected !== undefined;
  const [a, b] = isPreference ? [rejected, chosen] : [fields.a, fields.b];
  if (typeof id !== "string" || id === "" || typeof prompt !== "string")
    throw new TypeError("a pair needs id and prompt, both texts");
  if (typeof a !== "string" || typeof b !== "string")
    throw new TypeError(
      `a pair needs ${isPreference ? "chosen and rejected" : "a and b"}, both texts`,
    );
  return { id, prompt, a, b };
}
