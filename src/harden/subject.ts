/** The scorer under attack: it counts its inputs, and knows when it hangs. */

import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { SCORER_ERROR } from "../core/score.ts";

export type Trouble = "timeout" | "not_deterministic" | "scorer_error";

/** What the scorer is called for. The first ones share the number of inputs. */
export const COUNTED = ["forms", "right_answers", "attacks", "golden_edits", "search"] as const;
export const FURTHER = ["coverage", "relations", "minimising", "mutants"] as const;
export type Phase = (typeof COUNTED)[number] | (typeof FURTHER)[number];

export class Subject {
  readonly #open: () => Promise<GuardedScorer>;
  #scorer: GuardedScorer;
  #phase: Phase = "forms";
  #answered = false;
  readonly #failures = new Set<string>();
  /** Calls by what they were for. */
  readonly counts: Record<Phase, number> = {
    ...{ forms: 0, right_answers: 0, attacks: 0, golden_edits: 0, search: 0 },
    ...{ coverage: 0, relations: 0, minimising: 0, mutants: 0 },
  };
  /** Called after every batch. */
  onScored: () => void = () => {};
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
    this.counts[this.#phase] += batch.length;
    const scores = await this.#scorer.scoreBatch(batch);
    for (const score of scores) {
      if (score.code !== SCORER_ERROR) this.#answered = true;
      else if (this.#failures.size < 2) this.#failures.add(messageOf(score));
    }
    this.onScored();
    if (scores.some(wasNotTried)) this.hung = true;
    return scores;
  }

  /** Counts the calls that `work` makes as calls for this. */
  async during<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    const before = this.#phase;
    this.#phase = phase;
    try {
      return await work();
    } finally {
      this.#phase = before;
    }
  }

  /** Calls that count as inputs. */
  get inputs(): number {
    return COUNTED.reduce((sum, phase) => sum + this.counts[phase], 0);
  }

  /** The message of a scorer that has failed on every input so far, always with the same one. */
  get onlyFailure(): string | undefined {
    return !this.#answered && this.#failures.size === 1 ? [...this.#failures][0] : undefined;
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
