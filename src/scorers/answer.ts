/** What a scorer returned, checked: anything but a valid answer in time is a `scorer_error`. */

import { types } from "node:util";
import { messageOf } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import {
  asRecorded,
  type CheckedScore,
  HARNESS_CODES,
  INVALID_EXAMPLE,
  isName,
  SCORER_ERROR,
  type ScoreRequest,
  type Scorer,
  ScorerFailure,
} from "../core/score.ts";
import { withinLimit } from "../extensions/within-limit.ts";

/** Sums and squares of many rewards must stay numbers. */
const LARGEST_REWARD = 1e12;

/** Calls the scorer once. A promise is given back as it is: `settled` waits for it. */
export function answerOf(
  scorer: Scorer,
  { example, completion }: ScoreRequest,
): CheckedScore | Promise<unknown> {
  try {
    const answer: unknown = scorer.score(example, completion);
    return answer instanceof Promise ? answer : checked(scorer, answer);
  } catch (error) {
    return threw(error);
  }
}

/**
 * Waits for a promised answer as long as the limit allows; what comes later is ignored. A scorer
 * that blocks keeps the timer from firing, so the time is compared as well.
 */
export async function settled(
  scorer: Scorer,
  answer: Promise<unknown>,
  limitMs: number,
  late: CheckedScore,
): Promise<CheckedScore> {
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<CheckedScore>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  const inTime = (async () => {
    try {
      const value = await answer;
      return limited(limitMs, late, value, (plain) => checked(scorer, plain));
    } catch (error) {
      return limited(limitMs, late, error, threw);
    }
  })();
  const score = await Promise.race([inTime, limit]).finally(() => clearTimeout(timer));
  return performance.now() - began > limitMs ? late : score;
}

/**
 * An answer's getters and an error's message are the scorer's code as well. Plain data is checked
 * without a watchdog, which costs more than all else.
 */
function limited(
  limitMs: number,
  late: CheckedScore,
  value: unknown,
  check: (value: unknown) => CheckedScore,
): CheckedScore {
  if (isData(value)) return check(value);
  let score = late;
  withinLimit(() => {
    score = check(value);
  }, limitMs);
  return score;
}

const MAX_DEPTH = 8;

/** Whether reading the value runs none of the scorer's code. */
function isData(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  if (depth === MAX_DEPTH || types.isProxy(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
  for (const key of Reflect.ownKeys(value)) {
    const found = Object.getOwnPropertyDescriptor(value, key);
    if (found?.get !== undefined || !isData(found?.value, depth + 1)) return false;
  }
  return true;
}

/** The row of a scorer that threw. */
export function threw(error: unknown): CheckedScore {
  if (!(error instanceof ScorerFailure))
    return scorerError(`the scorer threw: ${messageOf(error)}`);
  const details = plain(error.details) as JsonObject;
  return { ...scorerError(error.message), details: { message: error.message, ...details } };
}

function checked(scorer: Scorer, answer: unknown): CheckedScore {
  if (typeof answer !== "object" || answer === null) {
    return scorerError(
      `the scorer returned ${answer === null ? "null" : `a ${typeof answer}`}, not { reward, code, details }`,
    );
  }
  const {
    reward,
    code,
    details = {},
  } = answer as { reward: unknown; code: unknown; details?: unknown };
  // No reward is what such a row gets, so that stating it is no mistake.
  const stated = reward === null && code === INVALID_EXAMPLE ? 0 : reward;
  if (typeof stated !== "number" || !Number.isFinite(stated))
    return scorerError(`the scorer's reward is ${shownReward(reward)}, not a finite number`);
  return checkedReward(scorer, stated, code, details);
}

function shownReward(reward: unknown): string {
  if (reward === null || typeof reward === "number") return String(reward);
  return Array.isArray(reward) ? "an array" : typeof reward;
}

function checkedReward(
  scorer: Scorer,
  reward: number,
  code: unknown,
  details: unknown,
): CheckedScore {
  if (Math.abs(reward) > LARGEST_REWARD)
    return scorerError(`the scorer's reward ${reward} is beyond ±${LARGEST_REWARD}`);
  if (typeof code !== "string" || !isName(code))
    return scorerError("the scorer's code is not a name");
  if (HARNESS_CODES.includes(code)) return scorerError(`the code "${code}" belongs to the harness`);
  if (scorer.codes && !scorer.codes.includes(code)) {
    return scorerError(`the code "${code}" is not in the scorer's closed set`);
  }
  const recorded = asRecorded({ reward, code, details: plain(details) as JsonObject });
  const [low, high] = scorer.range ?? [reward, reward];
  if (recorded.reward !== null && !(reward >= low && reward <= high))
    return scorerError(`the scorer's reward ${reward} is outside its declared range`);
  return recorded;
}

/** Details as plain JSON data, cut loose from whatever object the scorer returned. */
function plain(details: unknown): Json {
  return JSON.parse(canonicalJson(details)) as Json;
}

/** After this many rows over the limit the scorer counts as hung and the rest is not tried. */
export const MAX_TIMEOUTS = 3;

export function scorerError(message: string): CheckedScore {
  return { reward: null, code: SCORER_ERROR, details: { message } };
}

export const timedOut = (limitMs: number): CheckedScore =>
  scorerError(`the scorer did not return within ${limitMs} ms`);
export const notTried = (): CheckedScore =>
  scorerError(`not scored: the scorer had already run over its limit on ${MAX_TIMEOUTS} rows`);

/**
 * Counts timeouts in row order. Rows behind the last one that is allowed are overruled even if they
 * were scored ahead of their turn, so that the rows are the same for any number of calls at once.
 */
export class TimeoutCount {
  readonly #timeout: string;
  #timeouts = 0;

  constructor(limitMs: number) {
    this.#timeout = JSON.stringify(timedOut(limitMs));
  }

  get tripped(): boolean {
    return this.#timeouts >= MAX_TIMEOUTS;
  }

  /** The row as it counts. */
  count(row: CheckedScore): CheckedScore {
    if (this.tripped) return notTried();
    if (row.reward === null && JSON.stringify(row) === this.#timeout) this.#timeouts++;
    return row;
  }
}
