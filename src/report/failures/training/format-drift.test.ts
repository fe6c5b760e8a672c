/** Which codes are about format is the scorer's to say, whatever they are called. */

import { expect, test } from "vitest";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { finding } from "./finding.ts";
import { formatDrift } from "./format-drift.ts";

/** Of 100 completions, so many of the code at the start and at the end. */
function run(code: string, [start, end]: [number, number], classes?: Record<string, string>) {
  const evaluations = [start, end].map((count, step) => ({
    step,
    outcomes: { well_done: 100 - count, [code]: count },
  }));
  const identity = { name: "own", version: "1", ...(classes && { classes }) };
  const manifest = { scorers: [{ role: "reward", identity }] };
  return {
    evaluations,
    manifest,
    samples: [],
    steps: [],
    alarms: [],
  } as unknown as TrainingRunRecords;
}

const CLASSES = { no_json: "model_format", other_tool: "model_choice" };

test("growth of a declared format code is drift, growth of another failure is not", () => {
  expect(finding(formatDrift, run("no_json", [5, 60], CLASSES))).toMatchObject({
    status: "seen",
    numbers: [expect.stringContaining("no_json from 5.0\u00a0% to 60.0\u00a0%")],
  });
  expect(finding(formatDrift, run("no_json", [5, 6], CLASSES)).status).toBe("not seen");
  expect(finding(formatDrift, run("other_tool", [5, 60], CLASSES)).status).toBe("not seen");
});

test("without a declaration nothing is claimed", () => {
  const { status, numbers } = finding(formatDrift, run("wrong_answer", [5, 60]));
  expect(status).toBe("not measured");
  expect(numbers.join()).toContain("`classes`");
});
