/**
 * Calls a scorer that is not trusted. It may throw, return nonsense, be non-deterministic, never
 * return or read what is not part of its identity; each of these becomes a `scorer_error` row, and
 * none of them a zero. A scorer that returns promises gets the same checks with a timer in place of
 * the watchdog. A loop that blocks after an `await` counts as over the limit if it ends; score-watch.ts
 * ends one that does not.
 */

import { canonicalJson, deepFreeze } from "../core/json.ts";
import {
  asRecorded,
  type CheckedScore,
  SCORER_ERROR,
  type ScoreRequest,
  type ScoreResult,
  type Scorer,
} from "../core/score.ts";
import { keepBuiltIns } from "../extensions/builtins.ts";
import { madeProgress, watchScorer } from "../extensions/score-watch.ts";
import { inScope, newSight, type Scope, type Sight, scoringScope } from "../extensions/watch.ts";
import { watchUserCode } from "../extensions/watched-acts.ts";
import { withinLimit } from "../extensions/within-limit.ts";
import {
  answerOf,
  MAX_TIMEOUTS,
  notTried,
  scorerError,
  settled,
  TimeoutCount,
  threw,
  timedOut,
} from "./answer.ts";
import type { LoadedScorer } from "./loaded.ts";

export interface GuardOptions {
  /** Whether it is deterministic does not matter: each row is scored once. */
  readonly scoreOnce?: boolean;
  /** It may use no network and no programs and write nothing, whatever it declares. */
  readonly confined?: boolean;
}

/** An edited scorer has no identity. */
type GuardedCode = Omit<LoadedScorer, "identity"> & Partial<Pick<LoadedScorer, "identity">>;

export class Guard {
  readonly #loaded: GuardedCode;
  readonly #limitMs: number;
  readonly #atOnce: Limit;
  readonly #sight: Sight;
  readonly #scoreOnce: boolean;
  readonly #confined: boolean;
  readonly #changedBuiltIn = keepBuiltIns();
  /** Known once the scorer has returned a promise. */
  #asynchronous = false;
  /** The first thing that the watch refused. */
  refused: string | undefined;

  constructor(
    loaded: GuardedCode,
    limitMs: number,
    concurrency = 1,
    { scoreOnce = false, confined = false }: GuardOptions = {},
  ) {
    this.#loaded = loaded;
    this.#limitMs = limitMs;
    this.#scoreOnce = scoreOnce || loaded.scorer.deterministic === false;
    this.#confined = confined;
    this.#atOnce = new Limit(concurrency);
    this.#sight = loaded.sight ?? newSight(process.cwd());
    if (loaded.trusted) return;
    watchUserCode();
    watchScorer(this.#sight, loaded.identity?.path ?? loaded.scorer.name, limitMs);
  }

  /**
   * Scores a batch three times: forwards, then backwards by the same instance and by a second one.
   * This detects state kept between rows and randomness drawn when the scorer is loaded.
   */
  async scoreBatch(batch: readonly ScoreRequest[]): Promise<CheckedScore[]> {
    const { scorer, again, trusted } = this.#loaded;
    if (trusted) return batch.map((row) => trustedScore(scorer, row));
    for (const { example } of batch) deepFreeze(example);
    const scored = await this.#pass(scorer, batch);
    for (const other of this.#scoreOnce ? [] : new Set([scorer, again])) {
      const open = [...batch.keys()].filter((i) => scored[i]?.code !== SCORER_ERROR).reverse();
      const rows = open.map((i) => batch[i] as ScoreRequest);
      for (const [position, score] of (await this.#pass(other, rows)).entries()) {
        const index = open[position] as number;
        scored[index] = agree(scored[index] as CheckedScore, score);
      }
    }
    const changed = this.#changedBuiltIn();
    if (changed === undefined) return scored;
    return scored.map(() =>
      scorerError(`the scorer changes ${changed}, which the harness uses as well`),
    );
  }

  /**
   * One watchdog covers the whole batch, because starting one costs more than scoring a row. Only
   * when it fires are the remaining rows called one by one, each with the full limit. Rows are
   * assigned, not pushed: until the batch is done the scorer may have replaced `push`.
   */
  async #pass(scorer: Scorer, batch: readonly ScoreRequest[]): Promise<CheckedScore[]> {
    if (this.#asynchronous) return this.#passAsync(scorer, batch);
    const scope = this.#newScope();
    const scored: CheckedScore[] = [];
    const promised: Promise<unknown>[] = [];
    const upTo = (end: number) => () => {
      while (scored.length < end && promised.length === 0) {
        const answer = answerOf(scorer, batch[scored.length] as ScoreRequest);
        if (answer instanceof Promise) promised[0] = answer;
        else scored[scored.length] = this.#allowed(scope, answer);
        madeProgress();
      }
    };
    inScope(scope, () => {
      const finished = withinLimit(upTo(batch.length), this.#limitMs);
      for (let timeouts = 0; !finished && scored.length < batch.length && !promised[0]; ) {
        if (timeouts === MAX_TIMEOUTS) scored[scored.length] = notTried();
        else if (!inTime(upTo(scored.length + 1), this.#limitMs)) {
          scored[scored.length] = this.#allowed(scope, timedOut(this.#limitMs));
          timeouts++;
        }
      }
    });
    if (!promised[0]) return scored;
    this.#asynchronous = true;
    const rest = batch.slice(scored.length);
    return [...scored, ...(await this.#passAsync(scorer, rest, { scope, answer: promised[0] }))];
  }

  /** Row by row, as many at once as allowed; `started` is the first row's call if there was one. */
  async #passAsync(
    scorer: Scorer,
    batch: readonly ScoreRequest[],
    started?: { readonly scope: Scope; readonly answer: Promise<unknown> },
  ): Promise<CheckedScore[]> {
    const late = timedOut(this.#limitMs);
    const launched = new TimeoutCount(this.#limitMs);
    const scores = batch.map((row, i) =>
      this.#atOnce.run(async () => {
        if (launched.tripped) return notTried();
        const first = i === 0 ? started : undefined;
        const scope = first?.scope ?? this.#newScope();
        const score = await inScope(scope, async () => {
          const answer = first?.answer ?? this.#begin(scorer, row);
          return answer instanceof Promise
            ? settled(scorer, answer, this.#limitMs, late)
            : Promise.resolve(answer);
        });
        madeProgress();
        return launched.count(this.#allowed(scope, score));
      }),
    );
    const inOrder = new TimeoutCount(this.#limitMs);
    return (await Promise.all(scores)).map((score) => inOrder.count(score));
  }

  #begin(scorer: Scorer, row: ScoreRequest): CheckedScore | Promise<unknown> {
    let answer: CheckedScore | Promise<unknown> = timedOut(this.#limitMs);
    withinLimit(() => {
      answer = answerOf(scorer, row);
    }, this.#limitMs);
    return answer;
  }

  #newScope(): Scope {
    const deterministic = this.#loaded.scorer.deterministic !== false;
    return scoringScope(this.#sight, deterministic, this.#confined);
  }

  /** The row's score, unless the scorer did what it must not: that counts even if it went on. */
  #allowed(scope: Scope, score: CheckedScore): CheckedScore {
    const { refused } = scope;
    if (refused === undefined) return score;
    delete scope.refused;
    this.refused ??= refused;
    return scorerError(refused);
  }
}

/** Graders say by throwing that a row cannot be scored; built-in scorers never throw. */
function trustedScore(scorer: Scorer, { example, completion }: ScoreRequest): CheckedScore {
  try {
    return asRecorded(scorer.score(example, completion) as ScoreResult);
  } catch (error) {
    return threw(error);
  }
}

/** At most so many calls at once; the others wait and begin in the order in which they came. */
class Limit {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await call();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/** A row gets a second try, because a busy machine can delay a good scorer once. */
function inTime(call: () => void, limitMs: number): boolean {
  if (withinLimit(call, limitMs)) return true;
  madeProgress();
  return withinLimit(call, limitMs);
}

function agree(first: CheckedScore, second: CheckedScore): CheckedScore {
  if (second.code === SCORER_ERROR) return second;
  if (canonicalJson(first) === canonicalJson(second)) return first;
  const same = first.code === second.code && first.reward === second.reward;
  const [before, after] = [first, second].map(
    ({ code, reward }) => `${code} with reward ${reward}`,
  );
  return scorerError(
    `the scorer is not deterministic: ${same ? `${before} with other details` : `${before}, then ${after}`}`,
  );
}
