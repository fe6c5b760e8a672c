import { beforeAll, expect, it } from "vitest";
import { validateScorer } from "../loops/validate.ts";
import type { HardenReport } from "../runs/harden-report.ts";
import { goldenRow } from "./finds.ts";
import { type HardenOptions, harden } from "./harden.ts";
import { ANSWERS, EXAMPLES_FILE, planted, RULE, RULE_CALL, rowsFile } from "./planted.contract.ts";

const RULES = planted("rules", RULE_CALL, RULE);

const right = ANSWERS.map((answer, i) => ({
  ...{ id: `e${i}`, completion: `Final: ${answer}`, expected_reward: 1 },
}));
/** 60 is the answer of e4. */
const wrong = [
  "Final: 61",
  "x Final: 60",
  "Final: 60 x",
  "Final: 60\n61",
  "61\nFinal: 60",
  "final: 60",
  "Final: ",
  "Final: x60",
  "Final:60",
  `Final: ${"0".repeat(30)}60`,
].map((completion) => ({ id: "e4", completion, expected_reward: 0 }));
const trimmed = { id: "e4", completion: " Final: 60\n", expected_reward: 1 };

const few = rowsFile("few.jsonl", right);
const many = rowsFile("many.jsonl", [...right, ...wrong, trimmed]);

const attack = (golden: string, more: Partial<HardenOptions> = {}) =>
  harden({ scorer: RULES, dataset: EXAMPLES_FILE, golden: [golden], inputs: 2500, ...more });

let report: HardenReport;
beforeAll(async () => {
  report = await attack(many, { inputs: 8000 });
});

it("golden rows of right answers alone notice few mutants, and wrong ones notice the rest", async () => {
  const [poor, good] = [(await attack(few)).mutation, report.mutation];
  expect(poor?.score).toBeLessThan(0.8);
  expect(good?.score).toBeGreaterThan(0.95);
  const open = poor?.mutants.filter(({ outcome }) => outcome === "survived") ?? [];
  expect(open.map(({ before, after }) => [before, after])).toContainEqual([
    "const found = /^Final: (-?[0-9]+)$/.exec(text);",
    "const found = /Final: (-?[0-9]+)$/.exec(text);",
  ]);
  // Every survivor comes with a completion that tells it from the scorer.
  for (const { witness, line } of open) {
    expect(witness?.reward).not.toBe(witness?.reward_of_mutant);
    expect(line).toBeGreaterThan(3);
  }
});

it("lists each kind of edit that changes the reward of a golden row, with the smallest difference", async () => {
  const { edits, finds } = report;
  expect(finds).toEqual([]);
  const kinds = new Set(
    edits.map(({ reward_before, reward_after }) => `${reward_before} ${reward_after}`),
  );
  expect(kinds).toEqual(new Set(["1 0", "0 1"]));
  for (const { before, after } of edits) expect(after).not.toBe(before);
});

it("finds are golden rows on which validate-scorer disagrees", async () => {
  const scorer = planted("loose", 'text.includes("Final: " + expected)');
  const { finds } = await attack(few, { scorer, inputs: 1500 });
  expect(finds.length).toBeGreaterThan(0);
  const checked = await validateScorer({
    scorer,
    dataset: EXAMPLES_FILE,
    golden: finds.map(goldenRow),
  });
  expect(checked.counts).toMatchObject({ agrees: 0, false_positive: finds.length });
});

const relations = (body: string) =>
  `export const relations = [{ name: "white space around", expect: "same", ${body} }];`;

it("a relation that the scorer declares and keeps has no finds; one that it breaks is shown small", async () => {
  const change = "transform: (text: string) => ' ' + text + String.fromCharCode(10)";
  const keeps = planted("keeps", 'text.trim() === "Final: " + expected', relations(change));
  const kept = await harden({ scorer: keeps, dataset: EXAMPLES_FILE, inputs: 1500 });
  expect(kept.relations).toMatchObject([{ name: "white space around", broken: 0 }]);
  expect(kept.relations[0]?.checked).toBeGreaterThan(100);
  const breaks = planted("breaks", 'text === "Final: " + expected', relations(change));
  const { finds } = await harden({ scorer: breaks, dataset: EXAMPLES_FILE, inputs: 1500 });
  expect(finds).toMatchObject([{ problem: "relation_broken", expected_reward: 1, reward: 0 }]);
  expect(finds[0]?.completion).toMatch(/^ Final: -?\d+\n$/);
});

it("a relation may forbid only a higher reward, and one that throws is refused", async () => {
  const file = (expect: string, transform: string) => {
    const source = `export const relations = [{ name: "r", expect: "${expect}", transform: ${transform} }];`;
    return planted(`relations-${expect}-${transform.length}`, "true", source);
  };
  const scorer = planted("strict", 'text === "Final: " + expected');
  const run = (relations: string) =>
    harden({ scorer, dataset: EXAMPLES_FILE, relations, inputs: 1500 });
  const shout = "(text: string) => text.toUpperCase()";
  expect((await run(file("not_higher", shout))).finds).toEqual([]);
  expect((await run(file("same", shout))).finds).toHaveLength(1);
  await expect(run(file("same", "() => { throw new Error() }"))).rejects.toMatchObject({
    kind: "data",
  });
  await expect(run(file("lower", shout))).rejects.toMatchObject({ kind: "data" });
});
