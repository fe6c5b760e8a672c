/** The note of a training run: what a person needs to read, and no list of defaults. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CharacterTokenizer } from "../policy/characters.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { openScorer } from "../scorers/open.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-train-note-"));
const here = (...parts: string[]) => path.join(folder, ...parts);
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  const tokenizer = new CharacterTokenizer("0123456789+= ");
  const architecture = {
    ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
    ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
  };
  const parameters = initialise(architecture, 1);
  await saveCheckpoint(here("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 64, parameters },
  });
  const rows = Array.from({ length: 4 }, (_, i) => ({
    ...{ id: `task-${i}`, prompt: `${i}+1=`, expected_answer: i, completion: `${i + 1}` },
  }));
  writeFileSync(here("tasks.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
});

async function noteOf(name: string, given: Partial<TrainOptions>): Promise<string> {
  const scorer = await openScorer({
    ...{ name: "digit", version: "1", spec: "A digit.", codes: ["digit", "none"] },
    score: (_, text) => {
      const has = /\d/.test(String(text));
      return { reward: has ? 1 : 0, code: has ? "digit" : "none", details: {} };
    },
  });
  await train({
    ...{ algorithm: "grpo", outdir: here(name), init: here("start"), size: "nano", threads: 1 },
    ...{ dataset: here("tasks.jsonl"), saveEvery: 10, rewards: [scorer], settings: {}, ...given },
  });
  await scorer.close();
  return readFileSync(here(name, "README.md"), "utf8");
}

const partAfter = (note: string, label: string) =>
  (note.split(`**${label}`)[1] ?? "").split("\n- **")[0] ?? "";

test("without validations it shows two samples of the last step", async () => {
  const note = await noteOf("grpo", {
    settings: { steps: 2, rollouts: { prompts: 2, group: 2, max_tokens: 3 } },
  });
  const examples = partAfter(note, "Two concrete examples:").match(/^ {2}- .*$/gm) ?? [];
  expect(examples).toHaveLength(2);
  for (const line of examples)
    expect(line).toMatch(/^ {2}- `task-\d` after step 2 → `(digit|none)`: saw `/);
  const sampled = readFileSync(here("grpo", "samples.jsonl"), "utf8").trimEnd().split("\n");
  expect(examples[0]).toContain(JSON.parse(sampled[0] ?? "{}").id);
});

test("it lists the settings that were set, and says that the others are the defaults", async () => {
  const evidence = partAfter(
    await noteOf("set", {
      settings: {
        ...{ steps: 1, rollouts: { prompts: 2, group: 2, max_tokens: 3 } },
        rate: { peak: 0.0123 },
      },
    }),
    "Locked Room evidence",
  );
  expect(evidence).toMatch(/^ {2}- settings: steps `1`(, length `\d+`)?$/m);
  expect(evidence).toMatch(/^ {2}- rollouts: .*prompts `2`.*$/m);
  expect(evidence).toMatch(/^ {2}- rate: .*peak `0.0123`.*$/m);
  expect(evidence).toContain("all other settings: the defaults");
  for (const unset of ["temperature", "seed", "kl:", "clip"]) expect(evidence).not.toContain(unset);
});

test("a run without samples says so, and what would give examples", async () => {
  const settings = { steps: 1, batch: 2, evaluate: { every: 0 } };
  const note = await noteOf("sft", { algorithm: "sft", settings, rewards: undefined });
  expect(partAfter(note, "Two concrete examples:")).toContain("no sample was kept; with `--dev`");
});
