/** What the report counts is what was done and what is written. */

import { expect, it } from "vitest";
import { goldenText } from "./files.ts";
import { type HardenOptions, harden } from "./harden.ts";
import { ANSWERS, EXAMPLES_FILE, HONEST, planted, rowsFile } from "./planted.contract.ts";
import { COUNTED, FURTHER } from "./subject.ts";

const golden = [
  rowsFile(
    "counted.jsonl",
    Array.from({ length: 10 }, (_, n) =>
      ANSWERS.map((answer, i) => ({
        ...{ id: `e${i}`, completion: `Final: ${answer + n}`, expected_reward: n === 0 ? 1 : 0 },
      })),
    ).flat(),
  ),
];
const attack = (scorer: string, more: Partial<HardenOptions> = {}) =>
  harden({ scorer, dataset: EXAMPLES_FILE, inputs: 1000, timeoutMs: 200, ...more });

it.each([100, 1000])("%i inputs are all that is counted, and the parts add up", async (inputs) => {
  const loose = planted("counted", 'text.includes("Final: " + expected)');
  const { inputs: counts } = await attack(loose, { inputs, golden });
  const sum = (phases: readonly (keyof typeof counts)[]) =>
    phases.reduce((all, phase) => all + counts[phase], 0);
  expect(counts.counted).toBe(inputs);
  expect(sum(COUNTED)).toBe(counts.counted);
  expect(sum(FURTHER)).toBe(counts.all - counts.counted);
  for (const phase of [...COUNTED, "minimising", "mutants"] as const)
    expect(counts[phase], phase).toBeGreaterThan(0);
});

it("each find is one row with all the classes that found it, and the text that is written", async () => {
  const report = await attack(planted("merged", 'text.includes("Final: " + expected)'));
  const rows = goldenText(report)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows.length).toBe(report.finds.length);
  const keys = rows.map(({ id, completion }) => JSON.stringify([id, completion]));
  expect(new Set(keys).size).toBe(keys.length);
  const several = report.finds.findIndex(({ also }) => also.length > 0);
  expect(several).toBeGreaterThanOrEqual(0);
  for (const { attack_class } of report.finds[several]?.also ?? [])
    expect(rows[several].note).toContain(attack_class);
});

it("what is said of a failure is what the smallest completion shows", async () => {
  const fails = `text.length > 3 && fail(text.length)`;
  const more = `function fail(n: number): boolean { if (n > 25) throw new Error("long " + n); return true; }`;
  const scorer = planted("says", `(${fails}, ${HONEST})`, more);
  const { finds } = await attack(scorer);
  const failure = finds.find(({ problem }) => problem === "scorer_error");
  expect(failure).toMatchObject({ expected_reward: 0 });
  expect(failure?.completion).toHaveLength(26);
  expect(failure?.why).toContain("long 26");
});

it("a form that the user names and no right answer passes in is named as given", async () => {
  const boxed = planted("boxed", 'text === "\\\\boxed{" + expected + "}"');
  const wrong = await attack(boxed, { forms: ["\\boxed{}"] });
  expect(wrong.forms_not_used).toEqual([
    { form: "\\boxed{}", tried: expect.stringMatching(/^\\boxed-?\d+$/) },
  ]);
  const right = await attack(boxed, { forms: ["\\boxed{{}}"] });
  expect(right.forms_not_used).toEqual([]);
  expect(right.forms[0]).toEqual({ before: "\\boxed{", after: "}", from: "user" });
});

it("a scorer that fails on everything is refused with its message", async () => {
  const more = 'function broken(): boolean { throw new Error("no key"); }';
  await expect(attack(planted("broken", "broken()", more))).rejects.toMatchObject({
    kind: "data",
    message: expect.stringMatching(/^the scorer failed on all \d+ completions .*no key/),
  });
});
