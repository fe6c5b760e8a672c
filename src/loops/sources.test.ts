/** What a loop may be given in place of files: rows from memory, and a scorer object. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Completion, Example } from "../core/records.ts";
import type { Scorer } from "../core/score.ts";
import { compareManifests } from "../gate/comparability.ts";
import { openScorer } from "../scorers/open.ts";
import { evaluate } from "./eval.ts";
import { makePairs } from "./preference-pairs.ts";
import { select } from "./select.ts";
import { builtInPolicy } from "./selection-policy.ts";
import { validateScorer } from "./validate.ts";

const EXAMPLES: Example[] = [0, 1, 2].map((n) => ({
  ...{ prompt: `Compute ${n} + 1.`, id: `e${n}`, expected_answer: n + 1 },
}));
const COMPLETIONS: Completion[] = [0, 1, 2].map((n) => ({ id: `e${n}`, completion: "Final: 2" }));
const PACKS = EXAMPLES.map(({ id }) => ({ id, samples: ["Final: 1", "Final: 2"] }));

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "lockedroom-sources-"));
});
const at = (name: string) => path.join(dir, name);
const text = (...names: string[]) => readFileSync(path.join(dir, ...names), "utf8");

function jsonl(name: string, rows: readonly object[]): string {
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return at(name);
}

async function* later<T>(rows: readonly T[]): AsyncGenerator<T, void, void> {
  for (const row of rows) {
    await Promise.resolve();
    yield row;
  }
}

describe("rows from memory", () => {
  test("give the run that a file of them gives, and the gate compares the two", async () => {
    const [dataset, completions] = [jsonl("d.jsonl", EXAMPLES), jsonl("c.jsonl", COMPLETIONS)];
    const fromFiles = await evaluate({ dataset, completions, outdir: at("files") });
    const fromMemory = await evaluate({
      ...{ dataset: EXAMPLES, completions: later(COMPLETIONS), outdir: at("memory") },
    });
    expect(text("memory", "results.jsonl")).toBe(text("files", "results.jsonl"));
    expect(fromMemory.manifest.examples).toEqual(fromFiles.manifest.examples);
    expect(fromMemory.manifest.answers_sha256).toBe(fromFiles.manifest.answers_sha256);
    expect(fromMemory.manifest.inputs).toMatchObject([
      { role: "dataset", path: null, rows: 3 },
      { role: "completions", path: null, rows: 3 },
    ]);
    for (const [a, b] of [
      [fromFiles, fromMemory],
      [fromMemory, fromMemory],
    ] as const) {
      expect(compareManifests(a.manifest, b.manifest)).toMatchObject({ violations: [], knobs: [] });
    }
  });

  test("that are not the same examples are still refused by the gate", async () => {
    const [first, ...others] = EXAMPLES as [Example, ...Example[]];
    const changed = [{ ...first, expected_answer: 7 }, ...others];
    const a = await evaluate({
      ...{ dataset: EXAMPLES, completions: COMPLETIONS, outdir: at("a") },
    });
    const b = await evaluate({ dataset: changed, completions: COMPLETIONS, outdir: at("b") });
    const codes = compareManifests(a.manifest, b.manifest).violations.map(({ code }) => code);
    expect(codes).toEqual(["examples_differ"]);
  });

  test("are hashed as the file of their canonical JSON", async () => {
    const canonical = EXAMPLES.map(({ expected_answer, id, prompt }) => ({
      ...{ expected_answer, id, prompt },
    }));
    const dataset = jsonl("canonical.jsonl", canonical);
    const a = await evaluate({ dataset, completions: COMPLETIONS, outdir: at("a") });
    const b = await evaluate({
      ...{ dataset: later(EXAMPLES), completions: COMPLETIONS, outdir: at("b") },
    });
    expect(b.manifest.inputs[0]).toEqual({ ...a.manifest.inputs[0], path: null });
  });

  test("are neither frozen nor changed", async () => {
    const scorer = constant(1);
    await evaluate({ dataset: EXAMPLES, completions: COMPLETIONS, outdir: at("a"), scorer });
    expect(Object.isFrozen(EXAMPLES[0])).toBe(false);
  });

  test.each([
    ["no prompt", [{ id: "a" }], /the dataset, row 1: "prompt" is missing/],
    ["a date", [{ ...EXAMPLES[0], at: new Date(0) }], /row 1: not plain JSON/],
    ["a Map", [EXAMPLES[0], { ...EXAMPLES[1], meta: { m: new Map() } }], /row 2: .*holds a Map/],
    ["a Set", [{ ...EXAMPLES[0], tags: [new Set()] }], /row 1: .*holds a Set/],
    ["an object of a class", [Object.assign(new (class Row {})(), EXAMPLES[0])], /holds a Row/],
    ["NaN", [EXAMPLES[0], { ...EXAMPLES[1], x: Number.NaN }], /row 2: x is NaN/],
    ["no object", ["text"], /row 1: not an object/],
    ["an id twice", [EXAMPLES[0], EXAMPLES[0]], /the id "e0" appears more than once/],
    ["nothing", [], /the dataset is empty/],
  ])("are refused with %s, and no run is left", async (_, rows, says) => {
    const dataset = rows as Example[];
    const run = evaluate({ dataset, completions: COMPLETIONS, outdir: at("a") });
    await expect(run).rejects.toThrow(says);
    expect(() => text("a", "results.jsonl")).toThrow(/ENOENT/);
  });

  test.each([undefined, null, 7, {}])("are not %j: a usage error names the source", async (no) => {
    const given = { dataset: EXAMPLES, completions: COMPLETIONS, outdir: at("a") };
    for (const name of ["dataset", "completions"]) {
      await expect(evaluate({ ...given, [name]: no as never })).rejects.toMatchObject({
        kind: "usage",
        message: expect.stringMatching(new RegExp(`the ${name} must be a path or rows`)),
      });
    }
  });

  test("serve selection, preference pairs and validation too", async () => {
    const dataset = EXAMPLES;
    const selected = await select({
      ...{ dataset, samples: later(PACKS), outdir: at("s"), n: 2, policy: builtInPolicy("best") },
    });
    expect(selected.summary.metrics.n_pass).toBe(2);
    const pairs = await makePairs({
      ...{ dataset, rollouts: PACKS, outdir: at("p"), by: "all", margin: 0, perPrompt: 1 },
      lengthTolerance: null,
    });
    expect(pairs.summary.n_pairs).toBe(2);
    const golden = [{ id: "e1", completion: "Final: 2", expected_reward: 1, note: "" }];
    expect(await validateScorer({ dataset, golden })).toMatchObject({ valid: true });
  });
});

const constant = (reward: number): Scorer => ({
  ...{ name: "constant", version: "1", spec: "always the same" },
  score: () => ({ reward, code: "given", details: {} }),
});

describe("a scorer", () => {
  const rows = { dataset: EXAMPLES, completions: COMPLETIONS };

  test("is a name, an object or one that is open, which stays open", async () => {
    const open = await openScorer();
    const [byName, byOpen] = [
      await evaluate({ ...rows, outdir: at("name"), scorer: "math_final_line" }),
      await evaluate({ ...rows, outdir: at("open"), scorer: open }),
    ];
    await evaluate({ ...rows, outdir: at("again"), scorer: open });
    expect(byOpen.manifest.scorer).toEqual(byName.manifest.scorer);
    expect(text("open", "results.jsonl")).toBe(text("name", "results.jsonl"));
    const byObject = await evaluate({ ...rows, outdir: at("object"), scorer: constant(1) });
    expect(byObject.manifest.scorer).toMatchObject({ path: null, source: "function_text" });
    expect(byObject.summary.metrics.mean_reward).toBe(1);
  });

  test("object's captured values cannot be compared, and the gate says so", async () => {
    const a = await evaluate({ ...rows, outdir: at("a"), scorer: constant(0) });
    const b = await evaluate({ ...rows, outdir: at("b"), scorer: constant(1) });
    const { violations, notes } = compareManifests(a.manifest, b.manifest);
    expect(violations).toEqual([]);
    expect(notes.join()).toMatch(/text of its function.*cannot be verified/);
  });

  test("may be typed by the fields of its examples", async () => {
    interface Call {
      readonly tool: string;
    }
    const scorer: Scorer<Call> = {
      ...{ name: "tool", version: "1", spec: "names the tool" },
      score: ({ tool }, completion) => ({
        ...{ reward: Number(completion.includes(tool)), code: "compared", details: {} },
      }),
    };
    const dataset: Example<Call>[] = [{ id: "e0", prompt: "p", tool: "Final" }];
    const run = await evaluate({ dataset, completions: COMPLETIONS, outdir: at("a"), scorer });
    expect(run.summary.metrics.n_pass).toBe(1);
    // @ts-expect-error The examples lack a field that the scorer needs.
    const wrong: Parameters<typeof evaluate<Call>>[0] = { ...rows, outdir: at("b"), scorer };
    expect(wrong.scorer).toBe(scorer);
  });

  test.each([1, 2, 8])("that waits gives the same bytes, %i rows at once", async (concurrency) => {
    const scorer: Scorer = {
      ...{ name: "late", version: "1", spec: "waits" },
      score: async ({ id }) => {
        await new Promise((resolve) => setTimeout(resolve, 9 - 3 * Number(id[1])));
        return { reward: Number(id[1]), code: "given", details: {} };
      },
    };
    await evaluate({ ...rows, outdir: at("a"), scorer, concurrency });
    const rewards = text("a", "results.jsonl").match(/"reward":\d/g);
    expect(rewards).toEqual(['"reward":0', '"reward":1', '"reward":2']);
  });
});
