/** Rows of a rollout are bound to their prompts; files from elsewhere need not be. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import type { Policy, SampledCompletion, SampleRequest } from "../core/policy.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { PromptSet } from "../core/prompt-set.ts";
import { pairsManifestSchema } from "../runs/preference-schemas.ts";
import { manifestSchema } from "../runs/schemas.ts";
import { evaluate } from "./eval.ts";
import { makePairs } from "./preference-pairs.ts";
import { rollout } from "./rollout.ts";
import { select } from "./select.ts";
import { builtInPolicy } from "./selection-policy.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-prompts-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(() => {
  dir = path.join(root, String(count++));
  mkdirSync(dir);
});
const at = (...names: string[]) => path.join(dir, ...names);

const EXAMPLES = [1, 2, 3].map((n) => ({
  ...{ id: `e${n}`, prompt: `Compute ${n} + 1.`, expected_answer: n + 1 },
}));
/** The same ids and answers, with prompts that anyone can answer. */
const EASY = EXAMPLES.map((one) => ({ ...one, prompt: `Say ${one.expected_answer}.` }));

/** Answers with the last number of the prompt, and every second time with 0. */
const echo: Policy = {
  identity: { kind: "echo" },
  prompt: { form: "text" },
  sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 8, stop: [], seed: 0 },
  async *sample(requests: Iterable<SampleRequest>) {
    for (const request of requests) {
      const number = request.sample % 2 === 0 ? /\d+(?=\.)/.exec(request.example.prompt)?.[0] : 0;
      const sampled: SampledCompletion = {
        ...{ completion: `Final: ${number}`, finish: "stop", prompt_tokens: 1 },
        ...{ completion_tokens: 1, logprobs: null, sampled_logprobs: null },
      };
      yield [request, sampled] as const;
    }
  },
  close: async () => {},
};

function jsonl(name: string, rows: readonly object[]): string {
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return at(name);
}

async function sampledFrom(examples: readonly object[], n: number, policy = echo) {
  await rollout({
    ...{ policy, n, outdir: at("r"), force: true },
    dataset: jsonl("sampled.jsonl", examples),
  });
  return at("r", n === 1 ? "completions.jsonl" : "samples.jsonl");
}

const OTHER = {
  kind: "data",
  message: expect.stringMatching(/s\.jsonl: the row "e1" answers another prompt than .*d\.jsonl/),
  hint: expect.stringContaining("rollout"),
};

describe("answers to other prompts under the same ids", () => {
  test("are refused by eval; those to its own prompts are scored", async () => {
    const completions = await sampledFrom(EASY, 1);
    const dataset = jsonl("d.jsonl", EXAMPLES);
    await expect(evaluate({ dataset, completions, outdir: at("run") })).rejects.toMatchObject(
      OTHER,
    );
    expect(() => readFileSync(at("run", "summary.json"))).toThrow(/ENOENT/);
    const honest = await evaluate({ dataset: EASY, completions, outdir: at("run") });
    expect(honest.summary.metrics).toMatchObject({ n_pass: 3, n_missing: 0 });
  });

  test("are refused by eval even where --max-examples leaves the row out", async () => {
    const completions = await sampledFrom(EXAMPLES.with(2, EASY[2] as never), 1);
    const options = { dataset: EXAMPLES, completions, maxExamples: 1, outdir: at("run") };
    await expect(evaluate(options)).rejects.toThrow(/the row "e3" answers another prompt/);
  });

  test("are refused by selection and pairs, which take the honest ones", async () => {
    const samples = await sampledFrom(EASY, 2);
    const dataset = jsonl("d.jsonl", EXAMPLES);
    const selection = { samples, n: 2, policy: builtInPolicy("best"), outdir: at("s") };
    const pairs = {
      ...{ rollouts: samples, outdir: at("p"), by: "all" as const, margin: 0, perPrompt: 1 },
      lengthTolerance: null,
    };
    await expect(select({ dataset, ...selection })).rejects.toMatchObject(OTHER);
    await expect(makePairs({ dataset, ...pairs })).rejects.toMatchObject(OTHER);
    const chosen = await select({ dataset: EASY, ...selection });
    expect(chosen.summary.metrics.pass_at_1).toBe(1);
    const made = await makePairs({ dataset: EASY, ...pairs });
    expect(made.summary.n_pairs).toBe(3);
  });
});

test("what rollout found out about the policy reaches the manifests, which their schemas take", async () => {
  const seen = { learned: new PromptSet(), validated: new PromptSet() };
  seen.learned.add(EASY[1]?.prompt ?? "");
  const place = { path: "here", ledger: dir };
  const samples = await sampledFrom(EASY, 2, { ...echo, seen, place });
  const known = { exposure: { learned: { rows: 1, first_ids: ["e2"] } }, seeds_tried: 1 };
  const pairs = await makePairs({
    ...{ dataset: EASY, rollouts: samples, outdir: at("p"), by: "all", margin: 0 },
    ...{ perPrompt: 1, lengthTolerance: null },
  });
  expect(pairsManifestSchema.parse(pairs.manifest)).toMatchObject(known);
  const selection = { samples, n: 2, policy: builtInPolicy("best"), outdir: at("s") };
  const { manifest } = await select({ dataset: EASY, ...selection });
  expect(manifestSchema.parse(manifest)).toMatchObject(known);
  expect(manifest.volatile.checkpoint).toBe("here");
});

test("rollout says which prompt each row answers, and that it does", async () => {
  const completions = await sampledFrom(EXAMPLES, 1);
  const rows = readFileSync(completions, "utf8")
    .trimEnd()
    .split("\n")
    .map((row) => JSON.parse(row));
  const expected = EXAMPLES.map(({ prompt }) => promptFingerprint(prompt));
  expect(rows.map(({ prompt_fingerprint: print }) => print)).toEqual(expected);
  const provenance = JSON.parse(readFileSync(at("r", "completions.provenance.json"), "utf8"));
  expect(provenance.prompts_by_row).toBe(true);
});

describe("a row without a fingerprint", () => {
  /** Takes the field out of the second row, and makes the provenance fit the file again. */
  async function stripped(extra: object): Promise<string> {
    const completions = await sampledFrom(EASY, 1);
    const file = at("r", "completions.provenance.json");
    const rows = readFileSync(completions, "utf8")
      .trimEnd()
      .split("\n")
      .map((row) => JSON.parse(row));
    delete rows[1].prompt_fingerprint;
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeFileSync(completions, text);
    const provenance = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(
      file,
      JSON.stringify({ ...provenance, completions_sha256: sha256(text), ...extra }),
    );
    return completions;
  }

  test("is refused where the provenance says that all have one", async () => {
    const completions = await stripped({});
    await expect(evaluate({ dataset: EASY, completions, outdir: at("run") })).rejects.toMatchObject(
      {
        kind: "data",
        message: expect.stringMatching(
          /completions\.jsonl: the row "e2" has no prompt_fingerprint/,
        ),
      },
    );
  });

  test("is fine in a file whose maker does not say so", async () => {
    const completions = await stripped({ prompts_by_row: undefined });
    const { summary } = await evaluate({ dataset: EASY, completions, outdir: at("run") });
    expect(summary.metrics.n_pass).toBe(3);
  });

  const checkpoint = (more: object) => ({
    policy: { kind: "checkpoint", fingerprint: "a".repeat(64), ...more },
  });

  test("is refused under the name of a checkpoint, whatever its provenance leaves out", async () => {
    const completions = await stripped({ prompts_by_row: undefined, ...checkpoint({}) });
    const refusal = {
      kind: "data",
      message: expect.stringMatching(/names a checkpoint and does not say that every row names/),
      hint: expect.stringContaining("rollout"),
    };
    const outdir = at("run");
    await expect(evaluate({ dataset: EASY, completions, outdir })).rejects.toMatchObject(refusal);
    const packs = await sampledFrom(EASY, 2);
    const file = at("r", "samples.provenance.json");
    const { prompts_by_row: _, ...rest } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...rest, ...checkpoint({}) }));
    const selection = { samples: packs, n: 2, policy: builtInPolicy("best"), outdir: at("s") };
    const pairs = {
      ...{ rollouts: packs, outdir: at("p"), by: "all" as const, margin: 0, perPrompt: 1 },
      lengthTolerance: null,
    };
    await expect(select({ dataset: EASY, ...selection })).rejects.toMatchObject(refusal);
    await expect(makePairs({ dataset: EASY, ...pairs })).rejects.toMatchObject(refusal);
    writeFileSync(file, JSON.stringify({ ...rest, ...checkpoint({}), prompts_by_row: true }));
    expect((await select({ dataset: EASY, ...selection })).summary.metrics.pass_at_1).toBe(1);
  });

  test.each([{ fingerprint: undefined }, { fingerprint: "abc" }, { kind: "Checkpoint" }])(
    "a checkpoint that is named otherwise than rollout names it is refused: %j",
    async (more) => {
      const completions = await sampledFrom(EASY, 1);
      const file = at("r", "completions.provenance.json");
      const provenance = JSON.parse(readFileSync(file, "utf8"));
      const evaluated = (changes: object) => {
        writeFileSync(file, JSON.stringify({ ...provenance, ...checkpoint(changes) }));
        return evaluate({ dataset: EASY, completions, outdir: at("run"), force: true });
      };
      await expect(evaluated(more)).rejects.toThrow(/without the fingerprint of its weights/);
      expect((await evaluated({})).summary.metrics.n_pass).toBe(3);
    },
  );
});
