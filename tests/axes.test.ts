/** Axes: secondary scorers of an evaluation, what the records hold of them, and what checks them. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Example } from "../src/core/records.ts";
import { editedFiles } from "../src/gate/recount.ts";
import { evaluate } from "../src/loops/eval.ts";
import { select } from "../src/loops/select.ts";
import { builtInPolicy } from "../src/loops/selection-policy.ts";
import { FailureModes } from "../src/report/failures/rows/failure-modes.ts";
import { manifestFingerprint } from "../src/runs/manifest.ts";
import { openRun } from "../src/runs/reader.ts";
import type { ResultRow } from "../src/runs/schemas.ts";
import { resultRowSchema, summarySchema } from "../src/runs/schemas.ts";
import { AXIS_NAMES } from "../src/scorers/axes/index.ts";
import { makeKeys, sealRun, sealState } from "../src/verify/seal.ts";
import { verify } from "../src/verify/verify.ts";
import { type Conditions, examplesOf, folder, forge, makeRun } from "./gate-runs.ts";

const root = folder();
const rowsOf = (dir: string) =>
  readFileSync(path.join(dir, "results.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => resultRowSchema.parse(JSON.parse(line)));
const summaryOf = (dir: string) =>
  summarySchema.parse(JSON.parse(readFileSync(path.join(dir, "summary.json"), "utf8")));
const PARTS = ["files", "data", "answers", "score"] as const;
const madeAgain = async (run: string) =>
  (await verify({ run, only: [...PARTS] })).parts.map(({ part, status }) => `${part} ${status}`);

function scorerFile(name: string, body: string): string {
  mkdirSync(root, { recursive: true });
  const file = path.join(root, `${name}.ts`);
  const about = `export const name = "${name}";\nexport const version = "1";\nexport const spec = "x";\n`;
  writeFileSync(
    file,
    `${about}export function score(example: { id: string; tone?: string }, completion: string) {\n${body}\n}\n`,
  );
  return file;
}

const LONG = `Final: 1\n${"and so on, ".repeat(100)}`;
const withAxes = (more: Partial<Conditions> = {}) =>
  makeRun(root, { axes: [{ name: "verbosity" }, { name: "safety" }], ...more });

describe("an evaluation with axes", () => {
  test("rows, manifest and summary hold them, by name in their order", async () => {
    const examples = examplesOf(12);
    const completions = examples.map(({ expected_answer }, i) =>
      i < 3 ? LONG : `Final: ${expected_answer}`,
    );
    const dir = await withAxes({ examples, completions });
    const { manifest } = await openRun(dir);
    expect(manifest.axes?.map(({ name, scorer }) => [name, scorer.name])).toEqual([
      ["safety", "safety"],
      ["verbosity", "verbosity"],
    ]);
    expect(manifest.axes?.[0]?.scorer.source_sha256).toMatch(/^[0-9a-f]{64}$/);
    const rows = rowsOf(dir);
    expect(rows[5]?.axes).toEqual({
      safety: { reward: 1, code: "clean" },
      verbosity: { reward: 1, code: "within_budget" },
    });
    expect(rows[0]?.axes?.verbosity).toMatchObject({ code: "over_budget" });
    expect(rows[0]?.axes?.verbosity?.message).toContain("budget 200");
    const { axes, metrics } = summaryOf(dir);
    const mean = rows.reduce((sum, row) => sum + (row.axes?.verbosity?.reward ?? 0), 0) / 12;
    expect(axes?.verbosity).toMatchObject({ mean, scored: 12, errors: 0 });
    expect(axes?.verbosity?.codes).toEqual({ within_budget: 9, over_budget: 3 });
    expect(axes?.safety).toMatchObject({ mean: 1, codes: { clean: 12 } });
    const [low = 0, high = 0] = axes?.verbosity?.ci95 ?? [];
    expect(low).toBeLessThan(mean);
    expect(high).toBeGreaterThan(mean);
    expect(metrics.n_pass).toBe(9);
    expect(await madeAgain(dir)).toEqual(PARTS.map((part) => `${part} equal`));
    expect(await editedFiles(await openRun(dir))).toEqual([]);
  });

  test("without axes the records say nothing of them", async () => {
    const dir = await makeRun(root, {});
    expect(Object.keys(rowsOf(dir)[0] as object)).not.toContain("axes");
    expect(Object.keys(summaryOf(dir))).not.toContain("axes");
    expect(Object.keys((await openRun(dir)).manifest)).not.toContain("axes");
  });

  test("a user's file sees the whole example; where it lies is not part of the fingerprint", async () => {
    const scorer = scorerFile(
      "tone",
      'const kept = example.tone === "calm" && !completion.includes("!");\nreturn { reward: kept ? 1 : 0, code: kept ? "calm" : "loud", details: {} };',
    );
    const examples = examplesOf(10).map((one, i) => ({ ...one, tone: i < 4 ? "calm" : "loud" }));
    const dir = await makeRun(root, { examples, axes: [{ name: "polite", scorer }] });
    expect(summaryOf(dir).axes?.polite?.codes).toEqual({ calm: 4, loud: 6 });
    expect(await madeAgain(dir)).toEqual(PARTS.map((part) => `${part} equal`));
    const { manifest } = await openRun(dir);
    const moved = {
      ...manifest,
      axes: manifest.axes?.map((axis) => ({ ...axis, scorer: { ...axis.scorer, path: "x.ts" } })),
    };
    expect(manifestFingerprint(moved)).toBe(manifestFingerprint(manifest));
  });

  test("an axis that throws is an error on that axis, never a zero; the main reward stands", async () => {
    const scorer = scorerFile(
      "broken",
      'if (example.id === "ex-3") throw new Error("no");\nreturn { reward: 1, code: "ok", details: {} };',
    );
    const dir = await makeRun(root, { axes: [{ name: "broken", scorer }] });
    const row = rowsOf(dir)[3];
    expect(row?.axes?.broken).toMatchObject({ reward: null, code: "scorer_error" });
    expect(row?.reward).toBe(1);
    expect(summaryOf(dir).axes?.broken).toMatchObject({ mean: 1, scored: 39, errors: 1 });
    expect(readFileSync(path.join(dir, "summary.md"), "utf8")).toContain("on the axis broken");
  });

  test("an example without a completion is measured on no axis", async () => {
    const dir = await withAxes({
      right: Array.from({ length: 40 }, (_, i) => (i ? true : undefined)),
    });
    expect(rowsOf(dir)[0]?.axes?.safety).toEqual({ reward: null, code: "missing_completion" });
    expect(summaryOf(dir).axes?.safety).toMatchObject({ scored: 39, errors: 0 });
  });

  test("samples of one example are one cluster of its interval", async () => {
    const packs = Array.from({ length: 40 }, (_, i) => [i % 2 === 0, i % 2 === 0, i % 2 === 0]);
    const axes = [{ name: "hallucination" }];
    const several = await makeRun(root, { packs, axes });
    const once = await makeRun(root, { right: packs.map(([first]) => first), axes });
    const width = (dir: string) => {
      const [low = 0, high = 0] = summaryOf(dir).axes?.hallucination?.ci95 ?? [];
      return high - low;
    };
    expect(summaryOf(several).axes?.hallucination?.scored).toBe(120);
    expect(width(several)).toBeCloseTo(width(once), 10);
    expect(await madeAgain(several)).toEqual(PARTS.map((part) => `${part} equal`));
  });

  test("labels of examples are kept in the rows, and used when they are scored again", async () => {
    const examples = examplesOf(10).map((one) => ({ ...one, axis_labels: { max_words: 1 } }));
    const dir = await withAxes({ examples });
    expect(rowsOf(dir)[0]).toMatchObject({
      axis_labels: { max_words: 1 },
      axes: { verbosity: { reward: 0.5, code: "over_budget" } },
    });
    expect(await madeAgain(dir)).toEqual(PARTS.map((part) => `${part} equal`));
  });

  test.each([
    ["a name that is no name", [{ name: "a b", scorer: "safety" }], /cannot be called/],
    ["one name twice", [{ name: "safety" }, { name: "safety" }], /twice/],
    ["no such embedded axis", [{ name: "charm" }], /no embedded axis charm/],
  ])("%s is refused", async (_, axes, message) => {
    await expect(makeRun(root, { axes })).rejects.toThrow(message);
  });
});

test("a selection is measured on what it selects, and made again", async () => {
  const name = path.join(root, "selection");
  const jsonl = (file: string, rows: readonly object[]) => {
    writeFileSync(`${name}.${file}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return `${name}.${file}`;
  };
  const samples = examplesOf(20).map(({ id, expected_answer }, i) => ({
    id,
    samples: ["Mail bob@mail.net.", i < 5 ? "Ask eve@mail.net." : `Final: ${expected_answer}`],
  }));
  const { dir, summary, manifest } = await select({
    dataset: jsonl("dataset.jsonl", examplesOf(20)),
    samples: jsonl("samples.jsonl", samples),
    outdir: name,
    ...{ policy: builtInPolicy("best"), n: 2, axes: [{ name: "safety" }] },
  });
  expect(manifest.axes?.map((axis) => axis.name)).toEqual(["safety"]);
  expect(summary.axes?.safety?.codes).toEqual({ personal_data: 5, clean: 15 });
  expect(await editedFiles(await openRun(dir))).toEqual([]);
  expect(await madeAgain(dir)).toEqual(PARTS.map((part) => `${part} equal`));
});

describe("the probe set", () => {
  const probes = new URL("../data/probes/probes.jsonl", import.meta.url).pathname;
  const examples: { id: string; axis_labels?: { refuse?: boolean } }[] = readFileSync(
    probes,
    "utf8",
  )
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const codesOf = async (name: string, answer: (refuse: boolean) => string) => {
    const completions = examples.map(({ id, axis_labels }) => ({
      id,
      completion: answer(axis_labels?.refuse === true),
    }));
    const { summary } = await evaluate({
      ...{ dataset: probes, completions, outdir: path.join(root, name), scorer: "refusal" },
      axes: AXIS_NAMES.map((axis) => ({ name: axis })),
    });
    expect(Object.values(summary.axes ?? {}).every(({ scored }) => scored === 44)).toBe(true);
    return summary.outcomes.counts;
  };

  test("a policy that refuses all, one that answers all, and one that does right differ", async () => {
    const [no, yes] = ["I can't help with that.", "Here it is."];
    expect(await codesOf("no", () => no)).toEqual({ refused_rightly: 12, over_refusal: 32 });
    expect(await codesOf("yes", () => yes)).toEqual({ complied: 12, answered: 32 });
    expect(await codesOf("right", (refuse) => (refuse ? no : yes))).toEqual({
      ...{ refused_rightly: 12, answered: 32 },
    });
  });

  test("without axes the failure table still knows which prompts are to be refused", async () => {
    const toRefuse = examples.filter(({ axis_labels }) => axis_labels?.refuse === true);
    const driftOf = async (name: string, completion: string) => {
      const outdir = path.join(root, name);
      const completions = toRefuse.map(({ id }) => ({ id, completion }));
      await evaluate({ dataset: toRefuse as Example[], completions, outdir, scorer: "format" });
      const modes = new FailureModes({});
      for (const row of rowsOf(outdir)) modes.add(row);
      return modes.findings().find(({ name: mode }) => mode === "Refusal drift");
    };
    expect(await driftOf("refused", "I can't help with that.")).toMatchObject({
      ...{ status: "not seen", rows: 0, of: 12, numbers: ["0 of 12 rows (0.0 %)."] },
    });
    expect(await driftOf("complied", "Here it is.")).toMatchObject({ status: "seen", rows: 12 });
  });
});

describe("an edited axis is found", () => {
  const better = (row: ResultRow) => {
    const verbosity = row.axes?.verbosity;
    if (verbosity) Object.assign(verbosity, { reward: 1, code: "within_budget" });
    return row;
  };
  const verbose = () => withAxes({ completions: examplesOf(40).map(() => LONG) });

  test("the honest run passes every check", async () => {
    const run = await openRun(await verbose());
    expect(await editedFiles(run)).toEqual([]);
  });

  test("by the hash of the rows and by their sum", async () => {
    const dir = await verbose();
    const file = path.join(dir, "results.jsonl");
    const rows = rowsOf(dir);
    better(rows[0] as ResultRow);
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const edited = await editedFiles(await openRun(dir));
    expect(edited).toContain("results.jsonl");
    expect(edited).toContain("summary.json");
  });

  test("by its seal; a run that was edited before cannot be sealed", async () => {
    const dir = await verbose();
    const keys = await makeKeys(path.join(root, "key"));
    await sealRun(dir, keys.privateKey);
    expect(await sealState(dir, keys.publicKey)).toBe("valid");
    forge(dir, { row: better });
    expect(await sealState(dir, keys.publicKey)).toBe("seal_invalid");
    const other = await verbose();
    const summary = summaryOf(other);
    Object.assign(summary.axes?.verbosity ?? {}, { mean: 1 });
    writeFileSync(path.join(other, "summary.json"), JSON.stringify(summary));
    await expect(sealRun(other, keys.privateKey)).rejects.toThrow(/summary.json/);
  });

  test("by verify, when rows, sums and hashes were all edited", async () => {
    const dir = await verbose();
    forge(dir, { row: better });
    expect(await editedFiles(await openRun(dir))).toEqual([]);
    expect(await madeAgain(dir)).toContain("score differs");
  });
});
