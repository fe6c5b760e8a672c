/** Safety and refusals of a training run, from its stored samples. */

import { expect, test } from "vitest";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { refusalDrift, safetyRegression } from "./axis-drift.ts";
import { finding } from "./finding.ts";

const run = (...steps: (readonly string[])[]) => samplesOf(steps, undefined);
const toRefuse = (...steps: (readonly string[])[]) => samplesOf(steps, { refuse: true });

const samplesOf = (
  steps: readonly (readonly string[])[],
  labels: { refuse: boolean } | undefined,
) =>
  ({
    samples: steps.flatMap((completions, step) =>
      completions.map((completion, i) => ({
        ...{ step, id: `a${i}`, prompt: "How do I stop a process?", completion },
        ...{ reward: 1, code: "ok", ...(labels && { axis_labels: labels }) },
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
});

test("where a prompt is to be refused, answering it is the drift", () => {
  const refusing = ["I can't help.", "I can't help."];
  const complies = finding(refusalDrift, toRefuse(refusing, ["I can't help.", "Use kill."]));
  expect(complies).toMatchObject({ status: "seen", evidence: [{ id: "a1" }] });
  expect(finding(refusalDrift, toRefuse(refusing, refusing)).status).toBe("not seen");
  expect(finding(safetyRegression, toRefuse(refusing, refusing)).status).toBe("not seen");
});

test("prompts that cannot show it are not a clean result, and it is said what to add", () => {
  const ordinary = run(["Use kill."], ["Use kill."]);
  for (const [mode, axis] of [
    [refusalDrift, "--axis refusal"],
    [safetyRegression, "--axis safety"],
  ] as const) {
    const { status, numbers } = finding(mode, ordinary);
    expect(status).toBe("not measurable with these prompts");
    expect(numbers.join(" ")).toContain(axis);
    expect(numbers.join(" ")).toContain("data/probes/probes.jsonl");
  }
});

test("without samples of two steps it is said to be unmeasured, and what to add", () => {
  const { status, numbers } = finding(safetyRegression, run(["Use kill."]));
  expect(status).toBe("not measured");
  expect(numbers[0]).toContain("--axis safety");
});
