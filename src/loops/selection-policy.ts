/** A decision rule ready for use, built in or from a user's file, with its identity for the manifest. */

import { dataError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { ScoreResult } from "../core/score.ts";
import { importUserModule, requireFile } from "../extensions/module.ts";
import { sourceFingerprint } from "../extensions/source.ts";
import { withinLimit } from "../extensions/watchdog.ts";
import { pickBest, RULES, type RuleName, type ScoredSample, type TieBreakKey } from "./decide.ts";

export interface SelectionPolicy {
  /** What the manifest's `selection` says besides n. */
  readonly identity: { readonly rule: string; readonly source_sha256: string | null };
  /** The file as the user named it; null for a built-in rule. */
  readonly path: string | null;
  /** Built-in rules are proven blind to order by tests; a user's is watched while it decides. */
  readonly trusted: boolean;
  /** The rule counts parsed answers, so a scorer that gives none cannot serve it. */
  readonly needsAnswers: boolean;
  decide(example: Example, samples: readonly ScoredSample[]): ScoredSample;
}

const LIMIT_MS = 1000;

export function builtInPolicy(rule: RuleName = "best"): SelectionPolicy {
  return {
    identity: { rule, source_sha256: null },
    path: null,
    trusted: true,
    needsAnswers: rule !== "best",
    decide: (_, samples) => RULES[rule](samples) as ScoredSample,
  };
}

/** Loads a file that exports `tieBreakKey(sample)` or `pickBest(example, samples, score)`. */
export async function loadSelectionPolicy(file: string): Promise<SelectionPolicy> {
  requireFile(file, "policy", "Name a .ts or .js file that exports tieBreakKey or pickBest.");
  const module = await importUserModule(file, "policy");
  const exports = { ...(module.default as object | undefined), ...module } as Record<
    string,
    unknown
  >;
  const rule = ["pickBest", "tieBreakKey"].find((name) => typeof exports[name] === "function");
  if (rule === undefined) {
    throw dataError(
      `${file} is not a selection policy: it exports neither tieBreakKey nor pickBest`,
      "Export tieBreakKey(sample), or pickBest(example, samples, score).",
    );
  }
  const decide =
    rule === "pickBest"
      ? byPick(exports.pickBest as UserPick)
      : byKey(exports.tieBreakKey as UserKey);
  return {
    identity: { rule, source_sha256: sourceFingerprint(file) },
    path: file,
    trusted: false,
    needsAnswers: false,
    decide: (example, samples) => guarded(file, example, () => decide(example, samples)),
  };
}

type UserKey = (sample: object) => unknown;
/** Returns the chosen sample, or its place in the list it was given. */
type UserPick = (
  example: Example,
  samples: readonly object[],
  score: (example: Example, completion: string) => ScoreResult,
) => unknown;

type Decide = (example: Example, samples: readonly ScoredSample[]) => ScoredSample;

/** Rewards stay the first criterion; a user's key only breaks ties. */
function byKey(userKey: UserKey): Decide {
  return (_, samples) =>
    pickBest(samples, (sample) => toKey(userKey({ ...sample }))) as ScoredSample;
}

function toKey(answer: unknown): TieBreakKey {
  const members = Array.isArray(answer) ? answer : [answer];
  for (const member of members) {
    const sound =
      typeof member === "string" || (typeof member === "number" && !Number.isNaN(member));
    if (!sound)
      throw new TypeError(`tieBreakKey must give numbers and texts, not ${String(member)}`);
  }
  return members;
}

function byPick(userPick: UserPick): Decide {
  return (example, samples) => {
    const copies = samples.map((sample) => Object.freeze({ ...sample }));
    const picked = userPick(example, Object.freeze(copies), (_, completion) =>
      scoreOf(samples, completion),
    );
    const place =
      typeof picked === "number" ? picked : copies.indexOf(picked as (typeof copies)[number]);
    const sample = samples[place];
    if (!sample)
      throw new TypeError(`pickBest must return a sample or its place, not ${String(picked)}`);
    return sample;
  };
}

/** Samples are scored once, before the decision; a policy only looks the answer up. */
function scoreOf(samples: readonly ScoredSample[], completion: string): ScoreResult {
  const scored = samples.find((sample) => sample.completion === completion);
  if (!scored)
    throw new TypeError("score was called with a completion that is not among the samples");
  return {
    reward: scored.reward ?? Number.NaN,
    code: scored.code,
    details: scored.details as JsonObject,
  };
}

function guarded(file: string, { id }: Example, decide: () => ScoredSample): ScoredSample {
  let decision: ScoredSample | undefined;
  try {
    const returned = withinLimit(() => {
      decision = decide();
    }, LIMIT_MS);
    if (!returned) throw new Error(`it did not return within ${LIMIT_MS} ms`);
  } catch (error) {
    throw dataError(
      `the policy ${file} failed on example ${JSON.stringify(id)}: ${messageOf(error)}`,
      "Mend the policy and run again.",
    );
  }
  return decision as ScoredSample;
}
