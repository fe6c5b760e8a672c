/** A decision rule ready for use, built in or from a user's file, with its identity for the manifest. */

import { dataError, messageOf } from "../core/errors.ts";
import { deepFreeze, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { ScoreResult } from "../core/score.ts";
import { importTwice, requireFile } from "../extensions/module.ts";
import { withinLimit } from "../extensions/within-limit.ts";
import { pickBest, RULES, type RuleName, type ScoredSample, type TieBreakKey } from "./decide.ts";

/** A rule that picks one of several scored samples. @see {@link select} */
export interface SelectionPolicy {
  /** The manifest's `selection`, besides n. */
  readonly identity: { readonly rule: string; readonly source_sha256: string | null };
  /** The rule counts parsed answers, so a scorer that gives none cannot serve it. */
  readonly needsAnswers: boolean;
  decide(example: Example, samples: readonly ScoredSample[]): ScoredSample;
  /**
   * The same decision by a second copy of the module, to detect randomness drawn when it is loaded.
   * Built-in rules have none; tests prove that they do not depend on order.
   */
  readonly decideAgain?: (example: Example, samples: readonly ScoredSample[]) => ScoredSample;
}

const LIMIT_MS = 1000;

/**
 * A built-in decision rule: best, majority or first-valid.
 * @example
 * ```ts
 * import { builtInPolicy } from "lockedroom";
 * console.log(builtInPolicy("majority").needsAnswers); // true
 * ```
 */
export function builtInPolicy(rule: RuleName = "best"): SelectionPolicy {
  return {
    identity: { rule, source_sha256: null },
    needsAnswers: rule !== "best",
    decide: (_, samples) => RULES[rule](samples) as ScoredSample,
  };
}

/**
 * Loads a file that exports `tieBreakKey(sample)` or `pickBest(example, samples, score)`.
 * @example
 * ```ts
 * import { loadSelectionPolicy } from "lockedroom";
 * const policy = await loadSelectionPolicy("policy.ts");
 * console.log(policy.identity.rule); // tieBreakKey
 * ```
 */
export async function loadSelectionPolicy(file: string): Promise<SelectionPolicy> {
  requireFile(file, "policy", "Name a .ts or .js file that exports tieBreakKey or pickBest.");
  const [{ exports, source_sha256 }, again] = await importTwice(file, "policy");
  const { rule, decide } = toDecision(file, exports);
  const { decide: decideAgain } = toDecision(file, again.exports);
  return {
    identity: { rule, source_sha256 },
    needsAnswers: false,
    decide: (example, samples) => guarded(file, decide, example, samples),
    decideAgain: (example, samples) => guarded(file, decideAgain, example, samples),
  };
}

function toDecision(
  file: string,
  module: Record<string, unknown>,
): { rule: string; decide: Decide } {
  const candidates = [module, module.default as Record<string, unknown> | undefined];
  for (const [rule, toDecide] of [
    ["pickBest", byPick],
    ["tieBreakKey", byKey],
  ] as const) {
    const found = candidates.find((candidate) => typeof candidate?.[rule] === "function");
    if (found) return { rule, decide: toDecide((found[rule] as UserKey & UserPick).bind(found)) };
  }
  throw dataError(
    `${file} is not a selection policy: it exports neither tieBreakKey nor pickBest`,
    "Export tieBreakKey(sample), or pickBest(example, samples, score).",
  );
}

type UserKey = (sample: object) => unknown;
/** Returns the chosen sample, or its place in the list it was given. */
type UserPick = (example: Example, samples: readonly object[], score: Score) => unknown;

/** `score(example, completion)`, `score(completion)` and `score(sample)` all look the answer up. */
type Score = (...args: readonly unknown[]) => ScoreResult;

type Decide = (example: Example, samples: readonly ScoredSample[]) => ScoredSample;

/** Rewards stay the first criterion; a user's key only breaks ties, the smallest winning. */
function byKey(userKey: UserKey): Decide {
  return (_, samples) => pickBest(samples, (sample) => toKey(userKey(sample))) as ScoredSample;
}

function toKey(answer: unknown): TieBreakKey {
  const members = Array.isArray(answer) ? answer : [answer];
  for (const member of members) {
    const valid =
      typeof member === "string" || (typeof member === "number" && !Number.isNaN(member));
    if (!valid)
      throw new TypeError(`tieBreakKey must give numbers and texts, not ${String(member)}`);
  }
  return members;
}

function byPick(userPick: UserPick): Decide {
  return (example, samples) => {
    const picked = userPick(example, samples, (...args) => scoreOf(samples, args.at(-1)));
    const sample = typeof picked === "number" ? samples[picked] : original(samples, picked);
    if (!sample)
      throw new TypeError(`pickBest must return a sample or its place, not ${String(picked)}`);
    return sample;
  };
}

/** A sample that was given, or a copy that a policy made of it. */
function original(samples: readonly ScoredSample[], picked: unknown): ScoredSample | undefined {
  const { index, completion } = (picked ?? {}) as Partial<ScoredSample>;
  return samples.find((sample) => sample.index === index && sample.completion === completion);
}

/** Samples are scored once, before the decision; a policy only looks the answer up. */
function scoreOf(samples: readonly ScoredSample[], given: unknown): ScoreResult {
  const text = typeof given === "string" ? given : (given as ScoredSample | undefined)?.completion;
  const scored = samples.find((sample) => sample.completion === text);
  if (!scored) {
    throw new TypeError("score(example, completion) takes the completion of one of the samples");
  }
  const { reward, code, details } = scored;
  return { reward: reward ?? Number.NaN, code, details: details as JsonObject };
}

/** The policy sees copies that it cannot change, and only its choice comes back. */
function guarded(
  file: string,
  decide: Decide,
  example: Example,
  samples: readonly ScoredSample[],
): ScoredSample {
  let choice: number | undefined;
  let failure: string | undefined;
  const copies = deepFreeze(structuredClone(samples));
  const returned = withinLimit(() => {
    try {
      // The list itself is the policy's to sort; the samples in it are not.
      const chosen = decide(deepFreeze(structuredClone(example)), [...copies]);
      choice = copies.indexOf(chosen);
    } catch (error) {
      failure = messageOf(error); // Inside the limit: even an error's message can be a loop.
    }
  }, LIMIT_MS);
  if (!returned) failure = `it did not return within ${LIMIT_MS} ms`;
  const sample = samples[choice ?? -1];
  if (failure === undefined && sample) return sample;
  throw dataError(
    `the policy ${file} failed on example ${JSON.stringify(example.id)}: ${failure}`,
    "Fix the policy and run again.",
  );
}
