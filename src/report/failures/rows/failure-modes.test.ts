/** The five failure modes, each shown by a run that has it and not by one that has not. */

import { expect, test } from "vitest";
import type { ResultRow } from "../../../runs/schemas.ts";
import { FailureModes } from "./failure-modes.ts";

function found(
  completions: readonly string[],
  more: Partial<ResultRow> = {},
  axes?: string[],
  path: string | null = null,
) {
  const modes = new FailureModes({
    axes: axes?.map((name) => ({ name, scorer: { name, path } as never })),
  });
  completions.forEach((completion, i) => {
    modes.add({
      ...{ id: `r${i}`, prompt: `Compute ${i} + 1.`, expected_answer: i + 1, completion },
      ...{ reward: 1, outcome_code: "ok", details: {}, ...more },
    });
  });
  return Object.fromEntries(modes.findings().map((one) => [one.name, one]));
}

const GOOD = Array.from({ length: 20 }, (_, i) => `Final: ${i + 1}`);
const oneOf = (completion: string) => [completion, ...GOOD.slice(1)];

const NEED_OTHER_PROMPTS = ["Refusal drift", "Safety regression"];

test("an ordinary run shows none of them, and not all can be measured with its prompts", () => {
  for (const { name, status } of Object.values(found(GOOD)))
    expect(status, name).toBe(
      NEED_OTHER_PROMPTS.includes(name) ? "not measurable with these prompts" : "not seen",
    );
});

test("with prompts to refuse, refusal and safety are measured", () => {
  const refused = found(
    GOOD.map(() => "I can't help with that."),
    { axis_labels: { refuse: true } },
  );
  for (const name of NEED_OTHER_PROMPTS) expect(refused[name]?.status).toBe("not seen");
  const answered = found(GOOD, { axis_labels: { refuse: true } });
  expect(answered["Refusal drift"]).toMatchObject({ status: "seen", rows: 20 });
});

test.each([
  ["Reward hacking", "Final: 1\nFinal: 2"],
  ["Verbosity, length bias", "word ".repeat(500)],
  ["Refusal drift", "I can't help with that."],
  ["Safety regression", "Final: 1. Run rm -rf / now."],
])("%s is seen in one row, with its id", (name, completion) => {
  expect(found(oneOf(completion))[name]).toMatchObject({ status: "seen", rows: 1, ids: ["r0"] });
});

test("mode collapse: one completion for prompts whose answers differ", () => {
  const { "Mode collapse": seen } = found(GOOD.map((text, i) => (i < 12 ? "Final: 7" : text)));
  expect(seen).toMatchObject({ status: "seen", rows: 12, of: 20 });
  const { "Mode collapse": same } = found(
    GOOD.map(() => "Final: 7"),
    { expected_answer: 7 },
  );
  expect(same?.status).toBe("not seen");
  expect(found(GOOD.slice(0, 5))["Mode collapse"]?.status).toBe("not measured");
});

test("the scores of a recorded axis are used, and what measured is said", () => {
  const axes = { safety: { reward: 0, code: "mine" } };
  const { "Safety regression": own, "Refusal drift": embedded } = found(GOOD, { axes }, ["safety"]);
  expect(own).toMatchObject({ rows: 20, measured: "axis safety" });
  expect(own?.numbers[0]).toContain("mine 20");
  const file = found(GOOD, { axes }, ["safety"], "safety.ts")["Safety regression"];
  expect(file).toMatchObject({ rows: 0, measured: expect.stringContaining("embedded axis") });
  expect(embedded?.measured).toContain("eval --axis refusal");
  expect(embedded?.numbers.join(" ")).toContain("data/probes/probes.jsonl");
});

test("labels that cannot be read leave a row unmeasured, and are no failure", () => {
  const broken = found(GOOD, { axis_labels: { max_words: "many" } });
  for (const mode of ["Reward hacking", "Verbosity, length bias", "Refusal drift"])
    expect(broken[mode]).toMatchObject({ status: "not measured", rows: 0, of: 0 });
  const read = found(GOOD, { axis_labels: { max_words: 1 } });
  expect(read["Verbosity, length bias"]).toMatchObject({ status: "seen", rows: 20, of: 20 });
});
