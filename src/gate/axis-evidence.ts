/** The paired rows of the axes that both runs have. */

import { SCORER_ERROR } from "../core/score.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { outOfRange, rewardRange } from "./reward-range.ts";
import { SliceEvidence } from "./slice-evidence.ts";

/** Of one axis. */
export class AxisEvidence extends SliceEvidence {
  /** Every reward is 0 or 1. */
  binary = true;
  lowest = Number.POSITIVE_INFINITY;
  highest = Number.NEGATIVE_INFINITY;
  /** Rows without a reward, of either run. */
  readonly unmeasured = { baseline: 0, candidate: 0 };

  addScores(before: Score | undefined, after: Score | undefined): void {
    const [was, is] = [rewardOf(before), rewardOf(after)];
    if (was === null) this.unmeasured.baseline++;
    if (is === null) this.unmeasured.candidate++;
    for (const reward of [was, is]) {
      if (reward === null) continue;
      this.lowest = Math.min(this.lowest, reward);
      this.highest = Math.max(this.highest, reward);
    }
    if (was === null || is === null) return;
    this.binary &&= isBinary(was) && isBinary(is);
    this.add(was, is);
  }
}

type Score = NonNullable<ResultRow["axes"]>[string];
/** As of the main reward, a failure of the scorer is no measurement, whatever reward is beside it. */
const rewardOf = (score: Score | undefined): number | null =>
  score === undefined || score.code === SCORER_ERROR ? null : score.reward;
const isBinary = (reward: number) => reward === 0 || reward === 1;

/** Only what the row itself holds: `constructor` is a name that every object inherits. */
const scoreOf = ({ axes = {} }: ResultRow, name: string): Score | undefined =>
  Object.hasOwn(axes, name) ? axes[name] : undefined;

export class AxesEvidence {
  readonly byName: ReadonlyMap<string, AxisEvidence>;
  readonly #sides: readonly Pick<Manifest, "axes">[];

  constructor(baseline: Pick<Manifest, "axes">, candidate: Pick<Manifest, "axes">) {
    this.#sides = [baseline, candidate];
    const there = new Set((candidate.axes ?? []).map(({ name }) => name));
    const both = (baseline.axes ?? []).filter(({ name }) => there.has(name));
    this.byName = new Map(both.map(({ name }) => [name, new AxisEvidence()]));
  }

  readonly add = (before: ResultRow, after: ResultRow): void => {
    for (const [name, evidence] of this.byName)
      evidence.addScores(scoreOf(before, name), scoreOf(after, name));
  };

  reasons(): Reason[] {
    return [...this.#withoutReward(), ...this.#beyondRange()];
  }

  /** With rewards outside the range, the bounds on a loss do not hold. */
  #beyondRange(): Reason[] {
    return [...this.byName].flatMap(([name, evidence]) => {
      const scorers = this.#sides.flatMap(({ axes = [] }) =>
        axes.filter((axis) => axis.name === name).map(({ scorer }) => ({ scorer })),
      );
      const about = { name: `axis ${name}`, code: "axis_rewards_out_of_range" };
      return outOfRange(rewardRange(scorers, undefined), { rewards: evidence }, about);
    });
  }

  /** A row without a reward on an axis is no zero, and the mean of the others is no measurement. */
  #withoutReward(): Reason[] {
    return [...this.byName].flatMap(([name, { unmeasured }]) =>
      unmeasured.baseline + unmeasured.candidate === 0
        ? []
        : [
            {
              code: "axis_errors",
              message: `Some rows have no reward on the axis ${name}: its scorer failed, or could not read the example. Fix it and evaluate again.`,
              ...unmeasured,
            } satisfies GateReport["reasons"][number],
          ],
    );
  }
}
