import { describe, expect, it } from "vitest";
import { kindsOf } from "./finds.ts";
import { type HardenOptions, harden } from "./harden.ts";
import { EXAMPLES_FILE, HOLES, HONEST, planted, rowsFile } from "./planted.contract.ts";

const attack = (scorer: string, more: Partial<HardenOptions> = {}) =>
  harden({ scorer, dataset: EXAMPLES_FILE, inputs: 1500, timeoutMs: 200, ...more });

describe("a planted hole", () => {
  it("is found where the same key counts wherever it stands in JSON", async () => {
    const right = `new RegExp('"answer": ' + expected + "\\\\b").test(text)`;
    const { finds } = await attack(planted("json", right), { forms: ['{"answer": {}}'] });
    const found = finds.flatMap(kindsOf).filter(({ attack_class }) => attack_class === "json_keys");
    expect(found.map(({ problem }) => problem)).toEqual(
      expect.arrayContaining(["wrong_passes", "several_pass"]),
    );
  });

  it("is found where negative answers are refused", async () => {
    const { finds } = await attack(planted("no_minus", `/^Final: \\d+$/.test(text) && ${HONEST}`));
    expect(new Set(finds.map(({ problem }) => problem))).toEqual(new Set(["right_refused"]));
    expect(finds[0]).toMatchObject({ expected_reward: 1, reward: 0 });
  });

  it("is found where the scorer throws, and shown on the shortest text", async () => {
    const right = `text.match(/^Final: (.*)$/)![1] === String(expected)`;
    const { finds } = await attack(planted("throws", right));
    expect(finds[0]).toMatchObject({ problem: "scorer_error", completion: "" });
  });

  it("is found where the scorer is not deterministic", async () => {
    const right = `(calls = (calls + 1) % 7) === 0 || ${HONEST}`;
    const { finds } = await attack(planted("moody", right, "let calls = 0;"));
    expect(finds.some(({ problem }) => problem === "not_deterministic")).toBe(true);
  });
});

describe("an honest scorer", () => {
  it.each([
    ["of one line", HONEST, undefined],
    ["of JSON", 'text === `{"answer": $' + "{expected}}`", ['{"answer": {}}']],
    [
      "of the last of several lines",
      'text.split("\\n").at(-1) === "Final: " + expected',
      undefined,
    ],
  ])("%s has no finds", async (name, right, forms) => {
    const file = planted(`honest${name.length}`, right);
    const report = await attack(file, { forms, inputs: 4000 });
    expect(report.finds).toEqual([]);
    expect(report.classes.every(({ tried }) => tried > 0)).toBe(true);
    expect(report.forms.length).toBeGreaterThan(0);
  });
});

it("counts forms that were not declared only when it is strict", async () => {
  const file = planted(
    "lenient",
    'text.trim().replace("Final: +", "Final: ") === "Final: " + expected',
  );
  const [usual, strict] = [await attack(file), await attack(file, { strict: true })];
  expect(usual.finds).toEqual([]);
  expect(usual.lenient.map(({ attack_class }) => attack_class)).toContain("signs");
  expect(strict.finds.map(({ problem }) => problem)).toContain("lenient_form");
});

it("gives the same report for the same seed, and another search for another", async () => {
  const file = planted("again", HOLES.units as string);
  const [one, same] = [await attack(file), await attack(file)];
  expect(JSON.stringify(one)).toBe(JSON.stringify(same));
  const other = await attack(file, { seed: 1 });
  expect(JSON.stringify(other.finds)).not.toBe(JSON.stringify(one.finds));
});

it("refuses what it cannot use, and says what to do", async () => {
  const file = planted("usage", HONEST);
  await expect(attack(file, { skip: ["nothing"] })).rejects.toMatchObject({ kind: "usage" });
  await expect(attack(file, { forms: ["Final"] })).rejects.toMatchObject({ kind: "usage" });
  const dataset = rowsFile("bare.jsonl", [{ id: "a", prompt: "x" }]);
  await expect(attack(file, { dataset })).rejects.toMatchObject({ kind: "data" });
  const golden = [rowsFile("lost.jsonl", [{ id: "none", completion: "x", expected_reward: 0 }])];
  await expect(attack(file, { golden })).rejects.toMatchObject({ kind: "data" });
});
