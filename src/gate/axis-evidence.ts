/** The paired rows of the axes that both runs have. */

import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { SliceEvidence } from "./slice-evidence.ts";

/** Of one axis. */
export class AxisEvidence extends SliceEvidence {
  /** Every reward is 0 or 1. */
  binary = true;
  /** Rows without a reward, of either run. */
  readonly unmeasured = { baseline: 0, candidate: 0 };

  addScores(before: Score | undefined, after: Score | undefined): void {
    const [was, is] = [before?.reward ?? null, after?.reward ?? null];
    if (was === null) this.unmeasured.baseline++;
    if (is === null) this.unmeasured.candidate++;
    if (was === null || is === null) return;
    this.binary &&= isBinary(was) && isBinary(is);
    this.add(was, is);
  }
}

type Score = NonNullable<ResultRow["axes"]>[string];
const isBinary = (reward: number) => reward === 0 || reward === 1;

export class AxesEvidence {
  readonly byName: ReadonlyMap<string, AxisEvidence>;

  constructor(baseline: Pick<Manifest, "axes">, candidate: Pick<Manifest, "axes">) {
    const there = new Set((candidate.axes ?? []).map(({ name }) => name));
    const both = (baseline.axes ?? []).filter(({ name }) => there.has(name));
    this.byName = new Map(both.map(({ name }) => [name, new AxisEvidence()]));
  }

  readonly add = (before: ResultRow, after: ResultRow): void => {
    for (const [name, evidence] of this.byName)
      evidence.addScores(before.axes?.[name], after.axes?.[name]);
  };

  /** A row without a reward on an axis is no zero, and the mean of the others is no measurement. */
  reasons(): Reason[] {
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
