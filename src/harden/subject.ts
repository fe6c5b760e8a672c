/** The scorer under attack: it counts its inputs, and knows when it hangs. */

import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { SCORER_ERROR } from "../core/score.ts";

export type Trouble = "timeout" | "not_deterministic" | "scorer_error";

export class Subject {
  readonly #open: () => Promise<GuardedScorer>;
  #scorer: GuardedScorer;
  inputs = 0;
  /** It ran over its time limit so often that the guard no longer calls it. */
  hung = false;

  private constructor(open: () => Promise<GuardedScorer>, scorer: GuardedScorer) {
    this.#open = open;
    this.#scorer = scorer;
  }

  static async open(open: () => Promise<GuardedScorer>): Promise<Subject> {
    return new Subject(open, await open());
  }

  get identity() {
    return this.#scorer.identity;
  }

  async score(batch: readonly ScoreRequest[]): Promise<CheckedScore[]> {
    if (batch.length === 0) return [];
    this.inputs += batch.length;
    const scores = await this.#scorer.scoreBatch(batch);
    if (scores.some(wasNotTried)) this.hung = true;
    return scores;
  }

  /** A fresh instance, which is called again. */
  async reopen(): Promise<void> {
    await this.#scorer.close();
    this.#scorer = await this.#open();
    this.hung = false;
  }

  async close(): Promise<void> {
    await this.#scorer.close();
  }
}

/** What is wrong with a score that is none; undefined for a score, and for a row that was not tried. */
export function troubleOf(score: CheckedScore): Trouble | undefined {
  if (score.code !== SCORER_ERROR || wasNotTried(score)) return undefined;
  const message = messageOf(score);
  if (message.includes("did not return within")) return "timeout";
  return message.includes("not deterministic") ? "not_deterministic" : "scorer_error";
}

export function messageOf({ details }: CheckedScore): string {
  return String((details as { message?: unknown } | null)?.message ?? "");
}

function wasNotTried(score: CheckedScore): boolean {
  return score.code === SCORER_ERROR && messageOf(score).startsWith("not scored:");
}
