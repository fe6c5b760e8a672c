import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { toolCalls } from "../environments/tool-calls/tool-calls.ts";
import { called, calledNatively, game } from "../formats/scripted.contract.ts";
import { evaluate } from "../loops/eval.ts";
import { makePairs } from "../loops/preference-pairs.ts";
import { select } from "../loops/select.ts";
import { builtInPolicy } from "../loops/selection-policy.ts";
import { ROLLOUT_SCHEMA } from "../runs/artifacts.ts";
import { openScorer } from "../scorers/open.ts";
import { type TuneDataOptions, writeTuneData } from "./data.ts";
import type { TuneKind } from "./kinds.ts";
import { validateFile } from "./validate.ts";

const data = (name: string) => fileURLToPath(new URL(`../../data/${name}`, import.meta.url));
const DEV = data("datasets/math_dev.jsonl");
const FROZEN = data("rollouts/frozen_rollouts_dev.jsonl");
const PACKS = data("rollouts/selection_pack_dev.jsonl");

const room = mkdtempSync(path.join(tmpdir(), "tune-data-"));
let folders = 0;
const folder = () => path.join(room, `${folders++}`);
const rowsOf = (file: string): JsonObject[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

function fileOf(rows: readonly unknown[], name = "rows.jsonl"): string {
  const file = path.join(mkdtempSync(path.join(room, "given-")), name);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

async function write(kind: TuneKind, runs: string[], more: Partial<TuneDataOptions> = {}) {
  const outdir = folder();
  const written = await writeTuneData({
    ...{ kind, runs, outdir, validationShare: 0.2, seed: 0, perExample: 1, turns: "all" },
    ...more,
  });
  const training = path.join(outdir, "training.jsonl");
  const validation = path.join(outdir, "validation.jsonl");
  return { ...written, training, validation, outdir };
}

/** Both files are sound, and nothing of one is in the other. */
async function expectSound({ training, validation }: { training: string; validation: string }) {
  const found = await validateFile(training);
  const held = await validateFile(validation, { against: training });
  // These files are short, and an empty answer may be the worse one of a pair.
  const expected = ["too_few_rows", "empty_answer"];
  const findings = [...found.findings, ...held.findings];
  expect(findings.filter(({ rule }) => !expected.includes(rule))).toEqual([]);
}

async function evaluation(): Promise<string> {
  const { dir } = await evaluate({ dataset: DEV, completions: FROZEN, outdir: folder() });
  return dir;
}

test("sft: the answers of an evaluation that passed, and the same bytes again", async () => {
  const run = await evaluation();
  const passing = rowsOf(path.join(run, "results.jsonl")).filter(({ reward }) => reward === 1);
  const written = await write("sft", [run], { system: "Be brief." });
  await expectSound(written);
  const rows = [...rowsOf(written.training), ...rowsOf(written.validation)];
  expect(rows.length).toBe(new Set(passing.map(({ prompt }) => prompt)).size);
  expect(written.manifest.files.validation?.rows).toBe(Math.round(0.2 * rows.length));
  const [first] = passing;
  expect(rows).toContainEqual({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: first?.prompt },
      { role: "assistant", content: first?.completion },
    ],
  });
  const again = await write("sft", [run], { system: "Be brief." });
  for (const name of ["training.jsonl", "validation.jsonl", "manifest.json"])
    expect(readFileSync(path.join(again.outdir, name))).toEqual(
      readFileSync(path.join(written.outdir, name)),
    );
  const other = await write("sft", [run], { system: "Be brief.", seed: 1 });
  expect(rowsOf(other.validation)).not.toEqual(rowsOf(written.validation));
});

test("rft: every field of the data set, and developer instructions", async () => {
  const run = await evaluation();
  const written = await write("rft", [run], { system: "Be brief." });
  await expectSound(written);
  const { id, prompt, ...fields } = rowsOf(DEV)[0] as JsonObject;
  expect([...rowsOf(written.training), ...rowsOf(written.validation)]).toContainEqual({
    ...fields,
    id,
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: prompt },
    ],
  });
  await expect(write("rft", [run], { validationShare: 0 })).rejects.toThrow("needs a validation");
});

test("a selection and preference pairs give pairs", async () => {
  const scorer = await openScorer(undefined);
  const policy = builtInPolicy("best");
  try {
    const { dir } = await select({ dataset: DEV, samples: PACKS, n: 4, policy, outdir: folder() });
    const selected = await write("dpo", [dir]);
    await expectSound(selected);
    const made = await makePairs({
      ...{ dataset: DEV, rollouts: PACKS, outdir: folder(), scorer, by: "all", margin: 0 },
      ...{ lengthTolerance: null, perPrompt: 3 },
    });
    const written = await write("dpo", [made.dir]);
    await expectSound(written);
    expect(written.manifest.files.training.rows).toBeGreaterThan(
      selected.manifest.files.training.rows,
    );
    const [pair] = rowsOf(made.pairs);
    expect([...rowsOf(written.training), ...rowsOf(written.validation)]).toContainEqual({
      input: { messages: [{ role: "user", content: pair?.prompt }] },
      preferred_output: [{ role: "assistant", content: pair?.chosen }],
      non_preferred_output: [{ role: "assistant", content: pair?.rejected }],
    });
  } finally {
    await scorer.close();
  }
});

test.each([
  ["native", calledNatively],
  ["made as text", called],
])("episodes with calls of tools, %s", async (_how, episode) => {
  const episodes = [0, 1, 2, 3, 4, 5].map((index) => episode(index));
  const file = fileOf(episodes, "trajectories.jsonl");
  const bare = await write("sft", [file], { keepAll: true });
  // Nobody says which tools the environment has: only the manifest of a rollout does.
  expect((await validateFile(bare.training)).findings.map(({ rule }) => rule)).toEqual([
    ...["too_few_rows", "tool_unknown"],
  ]);
  const solved = episodes.map(({ code }) => code);
  const manifest = { schema: ROLLOUT_SCHEMA, tools: toolCalls.tools, solved };
  writeFileSync(path.join(path.dirname(file), "manifest.json"), JSON.stringify(manifest));
  const written = await write("sft", [file]);
  await expectSound(written);
  const rows = [...rowsOf(written.training), ...rowsOf(written.validation)];
  expect(rows).toHaveLength(episodes.length);
  const conversations = rows.map(({ messages }) => messages as JsonObject[]);
  const [longest = []] = conversations.toSorted((a, b) => b.length - a.length);
  const calls = longest.filter(({ tool_calls: made }) => made !== undefined);
  const replies = longest.filter(({ role }) => role === "tool");
  expect(replies.length).toBeGreaterThan(0);
  expect(calls.length - replies.length).toBe(Number(longest.at(-1)?.tool_calls !== undefined));
});

test("turns that are not learned have the weight 0", async () => {
  const turns = [game(0), game(1), game(2)];
  const marked = turns.map((one) => ({
    ...one,
    messages: one.messages.map((message, i) => ({
      ...message,
      ...(message.role === "assistant" && { reward: i < 3 ? 1 : 0 }),
    })),
  }));
  const file = fileOf(marked, "trajectories.jsonl");
  const weights = async (which: TuneDataOptions["turns"]) => {
    const written = await write("sft", [file], { keepAll: true, turns: which });
    await expectSound(written);
    const [{ messages } = {}] = rowsOf(written.training);
    return (messages as JsonObject[]).flatMap(({ role, weight }) =>
      role === "assistant" ? [weight] : [],
    );
  };
  expect(new Set(await weights("all"))).toEqual(new Set([undefined]));
  const last = await weights("last");
  expect(last.indexOf(1)).toBe(last.length - 1);
  expect(await weights("rewarded")).toEqual([1, ...last.slice(1).map(() => 0)]);
});

test("rows with an id or a prompt in common are on one side", async () => {
  // 0 and 1 share an id, 1 and 2 a prompt; the others stand alone.
  const text = (id: string, prompt: string, i: number) => ({ id, prompt, completion: `${i}` });
  const linked = [text("a", "One?", 0), text("a", "Two?", 1), text("b", "two?", 2)];
  const alone = Array.from({ length: 7 }, (_, i) => text(`x${i}`, `Alone ${i}?`, i));
  const file = fileOf([...alone, ...linked]);
  for (const seed of [0, 1, 2, 3, 4, 5]) {
    const written = await write("sft", [file], { seed, validationShare: 0.4, perExample: 2 });
    await expectSound(written);
    const held = readFileSync(written.validation, "utf8");
    const sides = ["One?", "Two?", "two?"].map((prompt) => held.includes(`"${prompt}"`));
    expect(new Set(sides).size).toBe(1);
  }
  const same = fileOf(alone.map((row) => ({ ...row, id: "one" })));
  await expect(write("sft", [same])).rejects.toThrow("in common");
});

test("what is no source, and what is in the way", async () => {
  await expect(write("sft", [mkdtempSync(path.join(room, "empty-"))])).rejects.toThrow("no run");
  await expect(write("sft", [fileOf([{ id: "a" }])])).rejects.toThrow("a row needs a prompt");
  await expect(write("rft", [fileOf([{ id: "a", prompt: "q", tools: "none" }])])).rejects.toThrow(
    "no list of tools",
  );
  const run = await evaluation();
  await expect(write("sft", [run], { outdir: run })).rejects.toThrow("output folder");
  const written = await write("sft", [run], { validationShare: 0 });
  expect(existsSync(written.validation)).toBe(false);
  await expect(write("sft", [run], { outdir: written.outdir })).rejects.toThrow("exists already");
  await write("sft", [run], { outdir: written.outdir, force: true });
  expect(existsSync(written.validation)).toBe(true);
});
