/** Ways to break a training run on purpose, so that one can see the alarms catch them. */

import { promptLength, type Span } from "../core/token-row.ts";
import type { Engine } from "../engine/engine.ts";
import { wrapEngine } from "../engine/engine.ts";
import type { TrainingRow } from "../engine/loss.ts";
import type { Algorithm } from "./algorithm.ts";
import type { SabotageName } from "./settings/general.ts";
import type { Source } from "./source.ts";

/** Wrappers around the parts of a run; a part that is not named stays as it is. */
interface Sabotage {
  /** Around the engine that everything uses. */
  readonly engine?: (engine: Engine) => Engine;
  /** Around the engine that rollouts are sampled from; validation uses the real one. */
  readonly rollouts?: (engine: Engine) => Engine;
  readonly source?: (source: Source) => Source;
  /** Around the advantages of the algorithm. */
  readonly algorithm?: (algorithm: Algorithm) => Algorithm;
}

const TRUNCATED_TOP_K = 3;

const SABOTAGES: Readonly<Record<SabotageName, Sabotage>> = {
  /** A step up where a step down belongs. The rate that was set is what is recorded. */
  inverted_rate: {
    engine: (engine) =>
      wrapEngine(engine, {
        update: (rows, loss, options) =>
          engine.update(rows, loss, { ...options, learningRate: -options.learningRate }),
      }),
  },
  /** The reference is the policy itself. */
  aliased_reference: {
    engine: (engine) =>
      wrapEngine(engine, {
        hashOf: () => engine.hashOf("policy"),
        async tokenStats(rows, _of, options = {}) {
          const stats = await engine.tokenStats(rows, "policy");
          if (!options.exactKl) return stats;
          return stats.map((one) => ({ ...one, kl: new Float32Array(one.logprobs.length) }));
        },
      }),
  },
  /** The log-prob of the token before in the place of each. */
  shifted_logprobs: {
    source: (source) => withRows(source, (row) => withColumn(row, "old", shiftedByOne)),
  },
  /** Few of the likeliest tokens are sampled, as if they were all. */
  truncated_sampling: {
    rollouts: (engine) =>
      wrapEngine(engine, {
        sample: (requests, settings) =>
          engine.sample(requests, { ...settings, top_k: TRUNCATED_TOP_K }),
      }),
  },
  /** What was better than expected is made less likely. */
  inverted_advantages: {
    source: (source) => withRows(source, (row) => withColumn(row, "advantage", negated)),
  },
  /** The prompt is learned from as if the policy had written it; its log-probs are padding. */
  rewarded_prompt: { source: (source) => withRows(source, rewardedPrompt) },
  /** The mask begins and ends a token too early. */
  shifted_mask: {
    source: (source) =>
      withRows(source, (row) => ({
        ...row,
        actions: row.actions.map(([from, to]): Span => [from - 1, to - 1]),
      })),
  },
  /** Advantages relative to the completions of other prompts, not to those of the same prompt. */
  wrong_axis: {
    algorithm: (algorithm) => ({
      ...algorithm,
      advantages: (groups, settings, memory) => {
        const found = algorithm.advantages?.(transposed(groups), settings, memory);
        return found
          ? { ...found, columns: transposed(found.columns) }
          : { columns: [], metrics: {} };
      },
    }),
  },
};

export function sabotageOf(name: SabotageName | null): Sabotage {
  return name === null ? {} : SABOTAGES[name];
}

/** All groups have the same size. */
function transposed<T>(groups: readonly (readonly T[])[]): T[][] {
  const [first = []] = groups;
  return first.map((_, i) => groups.map((group) => group[i] as T));
}

function withRows(source: Source, change: (row: TrainingRow) => TrainingRow): Source {
  return {
    ...bound(source),
    async batch(step) {
      const batch = await source.batch(step);
      return { ...batch, rows: batch.rows.map(change) };
    },
  };
}

function withColumn(
  row: TrainingRow,
  name: string,
  change: (values: readonly number[]) => number[],
): TrainingRow {
  const column = row.columns[name];
  if (column === undefined || typeof column === "number") return row;
  return { ...row, columns: { ...row.columns, [name]: change(Array.from(column)) } };
}

const negated = (values: readonly number[]) => values.map((value) => -value);

/** Every token but the first, which nothing predicts, becomes the policy's own. */
function rewardedPrompt(row: TrainingRow): TrainingRow {
  const read = promptLength(row) - 1;
  const filled = Object.entries(row.columns).map(([name, column]) => {
    if (typeof column === "number") return [name, column];
    const padding = name === "advantage" ? (column[0] ?? 0) : 0;
    return [name, [...Array<number>(read).fill(padding), ...Array.from(column)]];
  });
  return { ...row, actions: [[1, row.tokens.length]], columns: Object.fromEntries(filled) };
}

function bound(source: Source): Source {
  return { batch: (step) => source.batch(step), state: () => source.state() };
}

function shiftedByOne(logprobs: readonly number[]): number[] {
  return logprobs.map((_, t) => logprobs[t - 1] ?? logprobs.at(-1) ?? 0);
}
