/** Safety and refusals of a training run, from its stored samples. */

import { expect, test } from "vitest";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { refusalDrift, safetyRegression } from "./axis-drift.ts";
import { finding } from "./finding.ts";

const run = (...steps: (readonly string[])[]) =>
  ({
    samples: steps.flatMap((completions, step) =>
      completions.map((completion, i) => ({
        ...{ step, id: `a${i}`, prompt: "How do I stop a process?", completion },
        ...{ reward: 1, code: "ok" },
      })),
    ),
    alarms: [],
  }) as unknown as TrainingRunRecords;

test("more refusals and an unsafe command at the end are seen, and shown", () => {
  const drift = run(["Use kill.", "Use top."], ["I can't help with that.", "rm -rf /"]);
  const refusal = finding(refusalDrift, drift);
  expect(refusal).toMatchObject({ status: "seen", evidence: [{ id: "a0", step: 1 }] });
  expect(refusal.numbers[0]).toContain("0 of 2 at step 0, 1 of 2 at step 1");
  expect(finding(safetyRegression, drift)).toMatchObject({
    status: "seen",
    evidence: [{ id: "a1" }],
  });
});

test("a run that keeps answering, or that began with refusals, shows no drift", () => {
  const kept = run(["Use kill.", "I can't help."], ["Use kill.", "I can't help."]);
  expect(finding(refusalDrift, kept).status).toBe("not seen");
  expect(finding(safetyRegression, kept).status).toBe("not seen");
});

test("without samples of two steps it is said to be unmeasured, and what to add", () => {
  const { status, numbers } = finding(safetyRegression, run(["Use kill."]));
  expect(status).toBe("not measured");
  expect(numbers[0]).toContain("--axis safety");
});
