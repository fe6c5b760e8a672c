import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { writeTuneData } from "./data.ts";
import { importTuneFile } from "./import.ts";
import { readJob } from "./job.ts";
import type { TuneKind } from "./kinds.ts";

const room = mkdtempSync(path.join(tmpdir(), "tune-import-"));
let folders = 0;
const folder = () => path.join(room, `${folders++}`);
const rowsOf = (file: string): JsonObject[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

function fileOf(rows: readonly unknown[]): string {
  const file = path.join(room, `${folders++}.jsonl`);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

const system = { role: "system", content: "You triage claims." };
const user = { role: "user", content: "Hail on roof" };
const said = (content: string, more = {}) => ({ role: "assistant", content, ...more });
const tools = [{ type: "function", function: { name: "clock", parameters: { type: "object" } } }];
const call = {
  ...{ role: "assistant", content: null },
  tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: '{"at":1}' } }],
};
const reply = { role: "tool", tool_call_id: "c1", content: "12:00" };

const ROWS: Record<TuneKind, JsonObject[]> = {
  sft: [
    { messages: [user, said("property")] },
    { messages: [system, user, said("a", { weight: 0 }), user, said("b", { weight: 1 })] },
    { messages: [{ ...user, content: "When?" }, call, reply, said("noon")], tools },
    { messages: [{ ...user, content: "Who?" }, said("me")], tools, parallel_tool_calls: false },
  ],
  dpo: [
    {
      input: { messages: [user] },
      preferred_output: [said("a")],
      non_preferred_output: [said("b")],
    },
    {
      input: { messages: [system, user], tools, parallel_tool_calls: true },
      preferred_output: [call, reply, said("noon")],
      non_preferred_output: [said("No.")],
    },
  ],
  rft: [
    { id: "a", messages: [user], answer: "property", tags: ["x"] },
    {
      id: "b",
      messages: [
        { ...system, role: "developer" },
        { ...user, content: "7*6" },
      ],
      answer: 42,
    },
  ],
};

test.each(["sft", "dpo", "rft"] as const)("%s rows come back as they were", async (kind) => {
  const rows = ROWS[kind];
  const { outfile, ...imported } = await importTuneFile(fileOf(rows), { outdir: folder() });
  expect(imported).toMatchObject({ kind, rows: rows.length });
  const outdir = folder();
  const share = kind === "rft" ? 0.5 : 0;
  await writeTuneData({
    ...{ kind, runs: [outfile], outdir, validationShare: share, seed: 0 },
    ...{ perExample: 9, turns: "all" },
  });
  const files = share === 0 ? ["training"] : ["training", "validation"];
  const written = files.flatMap((name) => rowsOf(path.join(outdir, `${name}.jsonl`)));
  expect(written).toHaveLength(rows.length);
  for (const row of rows) expect(written).toContainEqual(row);
});

test("what training reads, and what is said to be lost", async () => {
  const texts = await importTuneFile(fileOf(ROWS.sft), { outdir: folder() });
  expect(rowsOf(texts.outfile)[0]).toEqual({
    ...{ id: "line-1", prompt: "Hail on roof", completion: "property" },
  });
  expect(rowsOf(texts.outfile)[2]).toMatchObject({
    messages: [{ role: "user" }, { content: '{"arguments":{"at":1},"tool":"clock"}' }, {}, {}],
  });
  expect(texts.losses).toEqual({ weights: 1, null_content: 1 });
  const pairs = await importTuneFile(fileOf(ROWS.dpo), { outdir: folder() });
  expect(rowsOf(pairs.outfile)[0]).toEqual({
    ...{ id: "line-1", prompt: "Hail on roof", chosen: "a", rejected: "b" },
  });
  expect(pairs.losses).toMatchObject({ roles_joined: 1 });
  const examples = await importTuneFile(fileOf(ROWS.rft), {
    ...{ outdir: folder(), answerField: "answer" },
  });
  expect(rowsOf(examples.outfile)[1]).toMatchObject({
    ...{ id: "b", prompt: "You triage claims.\n\n7*6", expected_answer: 42, answer: 42 },
  });
});

test("old names of DPO outputs are read", async () => {
  const {
    input,
    preferred_output: preferred_completion,
    non_preferred_output,
  } = ROWS.dpo[0] as JsonObject;
  const old = { input, preferred_completion, non_preferred_completion: non_preferred_output };
  const imported = await importTuneFile(fileOf([old]), { outdir: folder() });
  expect(imported).toMatchObject({ kind: "dpo", losses: { old_names: 1 } });
  expect(rowsOf(imported.outfile)[0]).toMatchObject({ chosen: "a", rejected: "b" });
});

test("fields of an item that have another meaning here are renamed, and said", async () => {
  const row = { messages: [user], id: 7, prompt: "short", answer: "x" };
  const imported = await importTuneFile(fileOf([row]), { outdir: folder() });
  expect(imported.losses).toEqual({ field_renamed: 1 });
  expect(rowsOf(imported.outfile)).toEqual([
    { id: "line-1", prompt: "Hail on roof", answer: "x", item_id: 7, item_prompt: "short" },
  ]);
});

test("bad rows are refused with their line", async () => {
  const image = { role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] };
  const file = fileOf([...ROWS.sft, { messages: [image, said("a cat")] }]);
  await expect(importTuneFile(file, { outdir: folder() })).rejects.toThrow(/:5: .*not text/);
  await expect(importTuneFile(fileOf([]), { outdir: folder() })).rejects.toThrow("no rows");
  await expect(importTuneFile(fileOf([{ a: 1 }]), { outdir: folder() })).rejects.toThrow(
    "first row",
  );
  await expect(
    importTuneFile(fileOf(ROWS.rft), { outdir: folder(), answerField: "none" }),
  ).rejects.toThrow(/:1: the row has no field none/);
});

test("a job is read in every documented shape", () => {
  const schema = { name: "answer", strict: true, schema: { type: "object" } };
  const nested = { type: "json_schema", json_schema: schema };
  const job = (response_format: JsonObject) => ({
    method: { type: "reinforcement", reinforcement: { response_format, grader: {} } },
  });
  expect(readJob(job(nested))).toEqual({ job: job(nested), changes: [] });
  expect(readJob(job({ type: "json_schema", ...schema })).job).toEqual(job(nested));
  const old = {
    method: { type: "dpo", dpo: { beta: 0.2, l2_multiplier: 0.1 } },
    prompt_loss_weight: 1,
  };
  const read = readJob(old);
  expect(read.job).toEqual({
    method: { type: "dpo", dpo: { hyperparameters: { beta: 0.2, l2_multiplier: 0.1 } } },
  });
  expect(read.changes).toHaveLength(2);
  const oldest = { training_file: "file-1", hyperparameters: { n_epochs: 2 } };
  expect(readJob(oldest).job).toEqual({
    training_file: "file-1",
    method: { type: "supervised", supervised: { hyperparameters: { n_epochs: 2 } } },
  });
});
