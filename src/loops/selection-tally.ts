/** The effect of selection: pass@1 against pass@N, rescued examples, and pass@k for every k. */

import { chartFiles } from "../charts/index.ts";
import { hasPassed, INVALID_EXAMPLE } from "../core/score.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";
import { passAtK } from "../stats/pass-at-k.ts";
import { parsedAnswer, type ScoredSample } from "./decide.ts";
import type { ScoredPack } from "./score-packs.ts";
import { Tally } from "./tally.ts";

export interface PassAtK {
  readonly k: number;
  /** The unbiased estimate, averaged over the packs that are large enough. */
  readonly value: number;
  readonly packs: number;
}

const FIRST_IDS = 3;

export class SelectionTally extends Tally {
  readonly #n: number;
  /** How many packs have so many scored samples, of which so many pass. */
  readonly #packs = new Map<number, Map<number, number>>();
  #baselinePassed = 0;
  #rescued = 0;
  #lost = 0;
  #short = 0;
  #empty = 0;
  #brokenSamples = 0;
  #parsedSamples = 0;
  readonly #unstable: string[] = [];

  constructor(n: number) {
    super();
    this.#n = n;
  }

  addPack(row: ResultRow, { pack, samples }: ScoredPack<unknown>): void {
    this.add(row);
    if (row.unstable) this.#unstable.push(row.id);
    if (pack && samples.length === 0) this.#empty++;
    else if (pack && samples.length < this.#n) this.#short++;
    this.#countSamples(samples);
    if (row.reward === null) return;
    const before = row.baseline !== undefined && hasPassed(row.baseline);
    if (before) this.#baselinePassed++;
    if (!before && hasPassed(row)) this.#rescued++;
    if (before && !hasPassed(row)) this.#lost++;
  }

  #countSamples(samples: readonly ScoredSample[]): void {
    let scored = 0;
    let passed = 0;
    for (const sample of samples) {
      const { reward, code } = sample;
      if (reward === null) {
        if (code !== INVALID_EXAMPLE) this.#brokenSamples++;
        continue;
      }
      scored++;
      if (parsedAnswer(sample) !== undefined) this.#parsedSamples++;
      if (hasPassed(sample)) passed++;
    }
    if (scored === 0) return;
    const bySize = this.#packs.get(scored) ?? new Map<number, number>();
    this.#packs.set(scored, bySize.set(passed, (bySize.get(passed) ?? 0) + 1));
  }

  /** False when the scorer gave no parsed answer for any sample. */
  get sawAnswers(): boolean {
    return this.#parsedSamples > 0;
  }

  get passAtK(): PassAtK[] {
    const largest = Math.max(0, ...this.#packs.keys());
    return Array.from({ length: largest }, (_, i) => this.#passAt(i + 1));
  }

  #passAt(k: number): PassAtK {
    let sum = 0;
    let packs = 0;
    for (const [size, byPassed] of [...this.#packs].sort(([a], [b]) => a - b)) {
      for (const [passed, count] of [...byPassed].sort(([a], [b]) => a - b)) {
        const value = passAtK(size, passed, k);
        if (value === undefined) continue;
        sum += count * value;
        packs += count;
      }
    }
    return { k, value: sum / packs, packs };
  }

  get selectionMetrics(): Summary["metrics"] {
    const { n_scored: scored, pass_rate: passAtN, ...metrics } = this.metrics;
    const passAt1 = scored === 0 ? null : this.#baselinePassed / scored;
    return {
      ...metrics,
      n_scored: scored,
      pass_rate: passAtN,
      pass_at_1: passAt1,
      pass_at_n: passAtN,
      delta: passAt1 === null || passAtN === null ? null : passAtN - passAt1,
      rescued: this.#rescued,
      lost: this.#lost,
      n: this.#n,
      n_short_packs: this.#short,
      n_empty_packs: this.#empty,
      n_sample_scorer_errors: this.#brokenSamples,
      n_nondeterministic: this.#unstable.length,
      pass_at_k: this.passAtK.map((point) => ({ ...point })),
    };
  }

  get alarms(): Summary["alarms"] {
    const alarms: Summary["alarms"] = [];
    if (this.#unstable.length > 0) {
      const some = this.#unstable.slice(0, FIRST_IDS).join(", ");
      alarms.push({
        code: "nondeterministic_selection",
        message: `Examples on which the selection policy is not deterministic: ${this.#unstable.length} (first ${some}). It chose another sample when it was called again.`,
      });
    }
    if (this.#brokenSamples > 0) {
      alarms.push({
        code: "scorer_errors_in_samples",
        message: `The scorer broke on ${this.#brokenSamples} samples, chosen or not.`,
      });
    }
    return alarms;
  }

  get selectionSentence(): string {
    return selectionSentence(this.selectionMetrics);
  }

  get remarks(): string[] {
    const { n_missing: missing } = this.metrics;
    return [
      `- ${this.selectionSentence}.`,
      `- Packs with fewer than ${this.#n} samples: ${this.#short}; empty packs: ${this.#empty}; examples without a pack: ${missing - this.#empty}.`,
      "- Two figures are called pass@1. The one above is that of the first sample of each pack, which is what is used without selection. In the table, k = 1 is the mean over all samples: the same quantity, estimated from more draws.",
      "- pass@k, unbiased, over packs with at least k samples:",
      `\n| k | pass@k | packs |\n|---|---|---|\n${this.passAtK.map(({ k, value, packs }) => `| ${k} | ${value.toFixed(4)} | ${packs} |`).join("\n")}`,
      ...(this.passAtK.length > 0 ? ["\n![pass@k against k](pass_at_k.svg)"] : []),
    ];
  }
}

/** The numbers of a selection in a sentence, from its metrics. */
export function selectionSentence(metrics: Summary["metrics"]): string {
  const figures = metrics as unknown as Record<string, number | null>;
  const { pass_at_1: one, pass_at_n: many, delta, n, rescued, lost } = figures;
  if (one == null || many == null || delta == null) return "nothing was scored";
  return (
    `pass@1 (first sample) ${one.toFixed(4)}, chosen of ${n} ${many.toFixed(4)}, delta ${delta.toFixed(4)}, ` +
    `rescued ${rescued}, lost ${lost}; the policy's distribution is unchanged`
  );
}

/** pass@k against k as a chart. */
export async function passAtKCharts(
  points: readonly PassAtK[],
): Promise<Record<string, string | Uint8Array>> {
  if (points.length === 0) return {};
  return chartFiles("pass_at_k", {
    title: "pass@k against k",
    subtitle:
      "The chance that at least one of k samples passes. The policy is the same at every k.",
    x: { label: "k", unit: "samples", integer: true },
    y: { label: "pass@k", unit: "share of examples", range: [0, 1] },
    series: [
      { label: "pass@k, unbiased", points: points.map(({ k, value }) => ({ x: k, y: value })) },
    ],
  });
}
