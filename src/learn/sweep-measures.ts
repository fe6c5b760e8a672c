/** Whether the runs of a sweep will have the two measures of its trade-off curve. */

import { dataError, usageError } from "../core/errors.ts";
import type { Tradeoff } from "../runs/sweep-schema.ts";
import { algorithmOf } from "./algorithms/index.ts";
import type { TrainOptions } from "./options.ts";

type Given = Pick<TrainOptions, "algorithm" | "rewards" | "cost" | "environment">;

/** Refuses a measure that no run will have, before anything is trained. */
export function requireMeasures(options: Given, names: readonly string[]): void {
  // An environment that is given as an object names the parts of its reward itself.
  if (typeof options.environment === "object") return;
  for (const name of names) {
    if (name === "cost/mean") requireCost(options);
    const scorer = /^reward\/(.+)$/.exec(name)?.[1];
    if (scorer !== undefined) requireScorer(options, scorer);
  }
}

function requireCost({ algorithm, cost }: Given): void {
  requireRollouts(algorithm, "cost/mean");
  if (cost) return;
  throw usageError(
    "no run of this sweep has the measure cost/mean: there is no cost scorer",
    "Give --cost-scorer FILE --set cost.limit=0.1, or choose another measure.",
  );
}

function requireScorer({ algorithm, rewards = [] }: Given, scorer: string): void {
  requireRollouts(algorithm, `reward/${scorer}`);
  const names = rewards.map(({ identity }) => identity.name);
  if (names.length > 1 && names.includes(scorer)) return;
  const [what, next] =
    names.length > 1
      ? [
          `the scorers are ${names.join(", ")}`,
          `Choose one of ${names.map((one) => `reward/${one}`).join(", ")}.`,
        ]
      : [
          "rewards are recorded by scorer only where there are several",
          "Choose proxy_reward, the reward of the one scorer, or give --scorer twice.",
        ];
  throw usageError(`no run of this sweep has the measure reward/${scorer}: ${what}`, next);
}

function requireRollouts(algorithm: string, name: string): void {
  if (algorithmOf(algorithm).needs === "rollouts") return;
  throw usageError(
    `no run of this sweep has the measure ${name}: ${algorithm} records no rewards of rollouts`,
    "Choose a measure of the validation set, such as reward, pass_rate or length.",
  );
}

/** A curve without a point shows nothing. */
export function requirePoints({ x, y, points }: Tradeoff): void {
  if (points.some((point) => point.x !== null && point.y !== null)) return;
  throw dataError(
    `no run of this sweep has both ${y.name} and ${x.name}, so there is no trade-off curve`,
    "The runs and sweep.json are kept. Run the command again with another --tradeoff.",
  );
}
