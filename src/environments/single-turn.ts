/** A scored prompt as an environment: one observation, one action, and the scorers' reward. */

import type { Environment, Turn } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";

export interface SingleTurnOptions {
  /** Their rewards are added up; without any, a judge is what rewards. */
  readonly scorers: readonly GuardedScorer[];
  /** Of each scorer's reward; all 1 unless given. */
  readonly weights?: readonly number[] | null | undefined;
  /** Its reward is recorded as the metric `cost`. */
  readonly cost?: GuardedScorer | undefined;
}

/** The code of a completion that no scorer was asked about. */
const UNSCORED = "unscored";

export function singleTurn(options: SingleTurnOptions): Environment<Example> {
  const { scorers, cost } = options;
  return {
    // The scorers and their weights are recorded by who gave them.
    identity: { name: "single_turn", version: "1" },
    reset: async (task) => ({
      state: task,
      observation: [{ role: "user", content: task.prompt }],
      reward: 0,
    }),
    async step(batch) {
      const requests = batch.map(({ state, action }) => ({
        example: state,
        completion: action.text,
      }));
      const scores = await Promise.all(scorers.map((scorer) => scorer.scoreBatch(requests)));
      const costs = await cost?.scoreBatch(requests);
      return requests.map((request, row) => {
        const own = scores.map((list) => list[row] as CheckedScore);
        return lastTurn(request, own, costs?.[row], options);
      });
    },
  };
}

function lastTurn(
  { example }: ScoreRequest,
  scores: readonly CheckedScore[],
  cost: CheckedScore | undefined,
  options: SingleTurnOptions,
): Turn<Example> {
  const broken = brokenScorer(scores, cost, options);
  return {
    state: example,
    observation: [],
    // Without a scorer there is no reward, which is not a reward of 0.
    reward: broken || scores.length === 0 ? null : weightedSum(scores, options.weights ?? null),
    metrics: broken ? {} : metricsOf(scores, cost, options),
    end: {
      code: scores[0]?.code ?? UNSCORED,
      terminated: true,
      details: broken ?? {},
    },
  };
}

function weightedSum(scores: readonly CheckedScore[], weights: readonly number[] | null): number {
  return scores.reduce((sum, { reward }, i) => sum + (weights?.[i] ?? 1) * (reward as number), 0);
}

function metricsOf(
  scores: readonly CheckedScore[],
  cost: CheckedScore | undefined,
  { scorers }: SingleTurnOptions,
): Record<string, number> {
  const metrics: Record<string, number> = {};
  if (scores.length > 1) {
    for (const [i, { identity }] of scorers.entries()) {
      metrics[`reward/${identity.name}`] = scores[i]?.reward as number;
    }
  }
  if (cost) metrics.cost = cost.reward as number;
  return metrics;
}

/** The first scorer that gave no reward, and what it said. */
function brokenScorer(
  scores: readonly CheckedScore[],
  cost: CheckedScore | undefined,
  options: SingleTurnOptions,
): JsonObject | undefined {
  const all = cost && options.cost ? [...scores, cost] : scores;
  const index = all.findIndex(({ reward }) => reward === null);
  const score = all[index];
  if (!score) return undefined;
  const { identity } = options.scorers[index] ?? (options.cost as GuardedScorer);
  return { scorer: identity.name, code: score.code, details: score.details };
}
