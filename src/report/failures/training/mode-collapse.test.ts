/** A policy that grows sure of right answers loses entropy; only one that repeats itself has collapsed. */

import { expect, test } from "vitest";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { finding } from "./finding.ts";
import { modeCollapse } from "./mode-collapse.ts";

function run(repeated: readonly [start: number, end: number], alarm: string): TrainingRunRecords {
  const evaluations = repeated.map((share, step) => ({
    step,
    repeated: share,
    entropy: 0.5 - 0.4 * step,
  }));
  const alarms = [{ step: 1, alarm, stops: false, message: "", evidence: {} }];
  return { evaluations, alarms, samples: [], steps: [] } as unknown as TrainingRunRecords;
}

test("lost entropy alone is not seen as a collapse, repeated answers are", () => {
  expect(finding(modeCollapse, run([0.1, 0.12], "entropy_collapse")).status).toBe("not seen");
  expect(finding(modeCollapse, run([0.1, 0.6], "entropy_collapse")).status).toBe("seen");
  expect(finding(modeCollapse, run([0.1, 0.12], "repeated_outputs")).status).toBe("seen");
});
