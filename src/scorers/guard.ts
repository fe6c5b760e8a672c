/**
 * Calls a scorer that is not trusted. It may throw, answer nonsense, change its mind or never
 * return; each of these becomes a `scorer_error` row, and none of them a zero.
 */

import { messageOf } from "../core/errors.ts";
import { deepFreeze } from "../core/freeze.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import {
  type CheckedScore,
  HARNESS_CODES,
  isName,
  SCORER_ERROR,
  type ScoreRequest,
  type Scorer,
} from "../core/score.ts";
import { withinLimit } from "../extensions/watchdog.ts";
import type { LoadedScorer } from "./load.ts";

/** Sums and squares of many rewards must stay numbers. */
const LARGEST_REWARD = 1e12;

/** After this many rows over the limit the scorer counts as hung and the rest is not tried. */
export const MAX_TIMEOUTS = 3;

export const timedOut = (limitMs: number): CheckedScore =>
  scorerError(`the scorer did not return within ${limitMs} ms`);
export const notTried = (): CheckedScore =>
  scorerError(`not scored: the scorer had already run over its limit on ${MAX_TIMEOUTS} rows`);

/** Judges a batch: a built-in directly, anything else under guard. */
export function scoreBatch(
  loaded: LoadedScorer,
  batch: readonly ScoreRequest[],
  limitMs: number,
): CheckedScore[] {
  if (!loaded.trusted) return scoreGuarded(loaded, batch, limitMs);
  return batch.map(({ example, completion }) => loaded.scorer.score(example, completion));
}

/**
 * Judges a batch three times: forwards, then backwards by the same instance and by another one that
 * was loaded anew. Memory between rows shows, and so does what is drawn once per process.
 */
function scoreGuarded(
  { scorer, again }: Pick<LoadedScorer, "scorer" | "again">,
  batch: readonly ScoreRequest[],
  limitMs: number,
): CheckedScore[] {
  for (const { example } of batch) deepFreeze(example);
  const judged = pass(scorer, batch, limitMs);
  for (const other of [scorer, again]) {
    const open = [...batch.keys()].filter((i) => judged[i]?.code !== SCORER_ERROR).reverse();
    const rows = open.map((i) => batch[i] as ScoreRequest);
    for (const [position, judgement] of pass(other, rows, limitMs).entries()) {
      const index = open[position] as number;
      judged[index] = agree(judged[index] as CheckedScore, judgement);
    }
  }
  return judged;
}

/**
 * One watchdog covers the whole batch, because starting one costs more than scoring a row. Only
 * when it fires are the remaining rows called one by one, each with the full limit.
 */
function pass(scorer: Scorer, batch: readonly ScoreRequest[], limitMs: number): CheckedScore[] {
  const judged: CheckedScore[] = [];
  const upTo = (end: number) => () => {
    while (judged.length < end)
      judged.push(scoreOnce(scorer, batch[judged.length] as ScoreRequest));
  };
  if (withinLimit(upTo(batch.length), limitMs)) return judged;
  for (let timeouts = 0; judged.length < batch.length; ) {
    if (timeouts === MAX_TIMEOUTS) judged.push(notTried());
    else if (!inTime(upTo(judged.length + 1), limitMs)) {
      judged.push(timedOut(limitMs));
      timeouts++;
    }
  }
  return judged;
}

/** A row gets a second try, because a busy machine can stop an honest scorer once. */
function inTime(call: () => void, limitMs: number): boolean {
  return withinLimit(call, limitMs) || withinLimit(call, limitMs);
}

function scoreOnce(scorer: Scorer, { example, completion }: ScoreRequest): CheckedScore {
  try {
    return checked(scorer, scorer.score(example, completion));
  } catch (error) {
    return scorerError(`the scorer threw: ${messageOf(error)}`);
  }
}

function checked(scorer: Scorer, answer: unknown): CheckedScore {
  if (typeof answer !== "object" || answer === null) {
    return scorerError(
      `the scorer returned ${answer === null ? "null" : `a ${typeof answer}`}, not { reward, code, details }`,
    );
  }
  if (answer instanceof Promise) {
    answer.catch(() => {}); // Its failure is reported by this row, not as an unhandled rejection.
    return scorerError("the scorer returned a promise; score must answer at once");
  }
  const {
    reward,
    code,
    details = {},
  } = answer as { reward: unknown; code: unknown; details?: unknown };
  if (typeof reward !== "number" || !Number.isFinite(reward)) {
    return scorerError(
      `the scorer's reward is ${typeof reward === "number" ? reward : typeof reward}, not a finite number`,
    );
  }
  if (Math.abs(reward) > LARGEST_REWARD)
    return scorerError(`the scorer's reward ${reward} is beyond ±${LARGEST_REWARD}`);
  if (typeof code !== "string" || !isName(code))
    return scorerError("the scorer's code is not a name");
  if (HARNESS_CODES.includes(code)) return scorerError(`the code "${code}" belongs to the harness`);
  if (scorer.codes && !scorer.codes.includes(code)) {
    return scorerError(`the code "${code}" is not in the scorer's closed set`);
  }
  return { reward, code, details: plain(details) };
}

/** Details as plain JSON data, cut loose from whatever object the scorer returned. */
function plain(details: unknown): Json {
  return JSON.parse(canonicalJson(details)) as Json;
}

function agree(first: CheckedScore, second: CheckedScore): CheckedScore {
  if (second.code === SCORER_ERROR) return second;
  if (canonicalJson(first) === canonicalJson(second)) return first;
  const same = first.code === second.code && first.reward === second.reward;
  const [before, after] = [first, second].map(
    ({ code, reward }) => `${code} with reward ${reward}`,
  );
  return scorerError(
    `the scorer changed its mind: ${same ? `${before} with other details` : `${before}, then ${after}`}`,
  );
}

function scorerError(message: string): CheckedScore {
  return { reward: null, code: SCORER_ERROR, details: { message } };
}
