/** Ways to break a training run on purpose, so that one can see the alarms catch them. */

import type { Engine } from "../engine/engine.ts";
import { wrapEngine } from "../engine/engine.ts";
import type { SabotageName } from "./settings.ts";
import type { Batch, Source } from "./source.ts";

/** Wrappers around the parts of a run; a part that is not named stays as it is. */
interface Sabotage {
  /** Around the engine that everything uses. */
  readonly engine?: (engine: Engine) => Engine;
  /** Around the engine that rollouts are sampled from; validation uses the real one. */
  readonly rollouts?: (engine: Engine) => Engine;
  readonly source?: (source: Source) => Source;
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
  shifted_logprobs: { source: (source) => ({ ...bound(source), batch: shifted(source) }) },
  /** Few of the likeliest tokens are sampled, as if they were all. */
  truncated_sampling: {
    rollouts: (engine) =>
      wrapEngine(engine, {
        sample: (requests, settings) =>
          engine.sample(requests, { ...settings, top_k: TRUNCATED_TOP_K }),
      }),
  },
};

export function sabotageOf(name: SabotageName | null): Sabotage {
  return name === null ? {} : SABOTAGES[name];
}

function bound(source: Source): Source {
  return { batch: (step) => source.batch(step), state: () => source.state() };
}

function shifted(source: Source): Source["batch"] {
  return async (step): Promise<Batch> => {
    const batch = await source.batch(step);
    return {
      ...batch,
      rows: batch.rows.map((row) => {
        const { old } = row.columns;
        if (old === undefined || typeof old === "number") return row;
        return { ...row, columns: { ...row.columns, old: shiftedByOne(Array.from(old)) } };
      }),
    };
  };
}

function shiftedByOne(logprobs: readonly number[]): number[] {
  return logprobs.map((_, t) => logprobs[t - 1] ?? logprobs.at(-1) ?? 0);
}
