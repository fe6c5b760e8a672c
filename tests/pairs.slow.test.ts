/** `pairs`: preference data out of scored samples, and what it says where there is none. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { GuardedScorer } from "../src/core/score.ts";
import {
  choosePairs,
  type PairCandidate,
  type PairSettings,
} from "../src/loops/preference-choice.ts";
import { makePairs } from "../src/loops/preference-pairs.ts";
import { CharacterTokenizer } from "../src/policy/characters.ts";
import { saveCheckpoint } from "../src/policy/checkpoint.ts";
import { initialise, SIZES } from "../src/policy/initialise.ts";
import {
  labelRowSchema,
  pairRowSchema,
  pairsManifestSchema,
  pairsSummarySchema,
} from "../src/runs/preference-schemas.ts";
import { DEV, describeRun, EXIT, expectError, ROOT, scorerSource, Workspace } from "./cli.ts";
import { fixedFiles, lines } from "./rollout-runs.ts";
import { expectRunNote } from "./run-notes.ts";

const PACK = `${ROOT}data/rollouts/selection_pack_dev.jsonl`;

/** The reward is the number that a completion begins with; "boom" breaks it. */
const GRADED = scorerSource(
  `if (completion.startsWith("boom")) throw new Error("broken");
   const reward = Number.parseFloat(completion);
   return { reward, code: reward >= 1 ? "ok" : "wrong", details: {} };`,
);

/** A workspace in which each pack belongs to an example of its name. */
function packed(packs: Record<string, readonly unknown[] | undefined>): Workspace {
  const workspace = new Workspace();
  workspace.write("s.ts", GRADED);
  const ids = Object.keys(packs);
  workspace.jsonl(
    "d.jsonl",
    ids.map((id) => ({ id, prompt: `prompt of ${id}`, expected_answer: 0 })),
  );
  workspace.jsonl(
    "p.jsonl",
    ids.flatMap((id) => (packs[id] ? [{ id, samples: packs[id] }] : [])),
  );
  return workspace;
}

const args = (outdir: string, flags: readonly string[] = []) => {
  const named = (flag: string, value: string) => (flags.includes(flag) ? [] : [flag, value]);
  return [
    "pairs",
    ...named("--dataset", "d.jsonl"),
    ...named("--rollouts", "p.jsonl"),
    ...named("--scorer", "s.ts"),
    ...["--outdir", outdir, ...flags],
  ];
};

/** The same verdicts without a process of their own. */
const GRADING: GuardedScorer = {
  identity: { name: "mine", version: "1", spec: "", source_sha256: "0".repeat(64), path: null },
  ...{ concurrency: 1, timeoutMs: 1000 },
  scoreBatch: async (asked) =>
    asked.map(({ completion }) => ({
      ...{ reward: Number.parseFloat(completion), code: "read", details: {} },
    })),
  close: async () => {},
};

/** Through the library: the pairs as "chosen>rejected", and the summary. */
async function chosen(workspace: Workspace, settings: Partial<PairSettings> = {}) {
  const { pairs, summary } = await makePairs({
    ...{ dataset: workspace.path("d.jsonl"), rollouts: workspace.path("p.jsonl") },
    ...{ outdir: workspace.path("here"), scorer: GRADING, force: true },
    ...{ by: "best-worst", margin: 0, lengthTolerance: null, perPrompt: 8, ...settings },
  });
  const rows = lines(readFileSync(pairs, "utf8"));
  return { pairs: rows.map((row) => `${row.chosen}>${row.rejected}`), summary };
}

async function made(workspace: Workspace, outdir: string, ...flags: string[]) {
  const result = await workspace.run(args(outdir, flags));
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(result.stdout).not.toMatch(/^.{81}/mu);
  const rows = (name: string) =>
    workspace.read(outdir, name) === "" ? [] : lines(workspace.read(outdir, name));
  return {
    stdout: result.stdout,
    pairs: rows("pairs.jsonl").map((row) => pairRowSchema.parse(row)),
    labels: rows("labels.jsonl").map((row) => labelRowSchema.parse(row)),
    manifest: pairsManifestSchema.parse(JSON.parse(workspace.read(outdir, "manifest.json"))),
    summary: pairsSummarySchema.parse(JSON.parse(workspace.read(outdir, "summary.json"))),
  };
}

describe("of the embedded pack", () => {
  const workspace = new Workspace();
  const flags = ["--dataset", DEV, "--rollouts", PACK, "--scorer", "math_final_line"];
  let first: Awaited<ReturnType<typeof made>>;
  beforeAll(async () => {
    first = await made(workspace, "one", ...flags);
  });

  test("every number can be made again from what selection-demo scored", async () => {
    const selection = ["selection-demo", "--dataset", DEV, "--samples", PACK, "--n", "8"];
    await workspace.run([...selection, "--outdir", "scored", "--quiet"]);
    const { rows } = workspace.readRun("scored");
    const expected = rows.flatMap(({ id, prompt, samples = [] }) => {
      const rewards = samples.map(({ reward }) => reward as number);
      const [chosen_reward, rejected_reward] = [Math.max(...rewards), Math.min(...rewards)];
      if (chosen_reward === rejected_reward) return [];
      const textOf = (reward: number) => samples[rewards.indexOf(reward)]?.completion;
      const [chosen, rejected] = [textOf(chosen_reward), textOf(rejected_reward)];
      return [{ chosen, chosen_reward, id, prompt, rejected, rejected_reward }];
    });
    expect(first.pairs).toEqual(expected);
    const texts = rows.flatMap(({ id, prompt, samples = [] }) =>
      [...new Map(samples.map(({ completion, reward }) => [completion, reward]))].map(
        ([completion, reward]) => ({ completion, id, label: reward === 1, prompt, reward }),
      ),
    );
    expect(first.labels).toEqual(texts);
    const good = texts.filter(({ label }) => label).length;
    const length = (side: "chosen" | "rejected") =>
      first.pairs.reduce((sum, pair) => sum + [...pair[side]].length, 0) / first.pairs.length;
    expect(first.summary).toMatchObject({
      n_prompts: 240,
      n_with_pair: expected.length,
      n_without_pair: 240 - expected.length,
      share_without_pair: (240 - expected.length) / 240,
      n_pairs: expected.length,
      ...{ n_labels: texts.length, n_good: good, n_bad: texts.length - good },
      ...{ n_samples: 1920, n_repeated: 1920 - texts.length, n_scorer_errors: 0 },
      mean_tokens: null,
      mean_characters: {
        chosen: expect.closeTo(length("chosen"), 12),
        rejected: expect.closeTo(length("rejected"), 12),
      },
    });
    const { all_passed, all_failed, ...others } = first.summary.without_pair;
    expect(all_passed + all_failed).toBe(240 - expected.length);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
    expect(first.stdout).toMatch(/18 prompts \(7\.5 %\) have no pair:/);
    expect(first.stdout).toMatch(/all passed +2 /);
    expect(first.stdout).toMatch(
      /^Next: \S+ train dpo --init CHECKPOINT --steps 100 \\\n {2}--da/m,
    );
  });

  test("is the same bytes again, for any number of threads, and says what it was made of", async () => {
    await made(workspace, "two", ...flags, "--jobs", "2");
    expect(fixedFiles(workspace, "two")).toEqual(fixedFiles(workspace, "one"));
    for (const [name, hash] of Object.entries(first.summary.files)) {
      const bytes = workspace.read("one", name);
      expect(createHash("sha256").update(bytes).digest("hex"), name).toBe(hash);
    }
    expect(first.manifest.inputs.map(({ role, rows }) => [role, rows])).toEqual([
      ["dataset", 240],
      ["samples", 240],
    ]);
    expect(first.manifest.settings).toMatchObject({ by: "best-worst", margin: 0, per_prompt: 1 });
    expect(Object.keys(workspace.snapshot("one")).sort()).toEqual([
      ...["README.md", "labels.jsonl", "manifest.json", "pairs.jsonl", "summary.json"],
    ]);
    expectRunNote(
      workspace.read("one", "README.md"),
      `${first.summary.n_pairs} pairs from 240 prompts`,
      ...first.manifest.inputs.map(({ sha256 }) => sha256),
      first.manifest.scorer.source_sha256,
      `\`${first.pairs[0]?.id}\`: chosen `,
    );
  });
});

describe("prompts without a pair", () => {
  test("are counted by their reasons, and what has no reward is never a zero", async () => {
    const workspace = packed({
      good: ["1 a", "0 b"],
      passed: ["1 a", "1 b", "1 c"],
      failed: ["0.5 a", "0.5 b"],
      twins: ["0 a", "0 a"],
      close: ["0.5", "0.4"],
      long: ["1", "0 and on and on and on"],
      none: [],
      lost: undefined,
      broken: ["boom", "1 a"],
      half: ["boom", "1 a", "0 b"],
    });
    workspace.write("p.jsonl", `${workspace.read("p.jsonl")}{"id":"zz","samples":["1"]}\n`);
    const { pairs, labels, summary, stdout } = await made(
      workspace,
      "r",
      ...["--margin", "0.2", "--length-matched"],
    );
    expect(pairs.map(({ id, chosen, rejected }) => [id, chosen, rejected])).toEqual([
      ["good", "1 a", "0 b"],
      ["half", "1 a", "0 b"],
    ]);
    expect(summary.without_pair).toEqual({
      ...{ no_samples: 2, scorer_error: 1, invalid_example: 0, all_passed: 1, all_failed: 2 },
      ...{ below_margin: 1, no_length_match: 1 },
    });
    expect(summary).toMatchObject({
      ...{ n_prompts: 10, n_without_pair: 8, share_without_pair: 0.8, n_scorer_errors: 2 },
      ...{ n_repeated: 1, unknown_packs: { count: 1, first_ids: ["zz"] } },
    });
    expect(labels.filter(({ completion }) => completion === "boom")).toEqual([]);
    expect(labels.filter(({ id }) => id === "broken")).toEqual([
      { id: "broken", prompt: "prompt of broken", completion: "1 a", label: true, reward: 1 },
    ]);
    expect(labels.filter(({ id }) => id === "twins")).toHaveLength(1);
    const told = stdout.replaceAll(/\s+/g, " ");
    expect(told).toContain("The scorer failed on 2 samples, which are neither paired nor labelled");
    expect(told).toContain("Prompts without a sample: 2.");
    expect(told).toContain("with an id that is not in the data set: 1 (zz)");
    expect(told).toContain("8 prompts (80.0 %) have no pair");
  });

  test("because the example is invalid: its samples are labelled by nobody", async () => {
    const workspace = packed({ a: ["Final: 1", "Final: 2"] });
    workspace.jsonl("d.jsonl", [{ id: "a", prompt: "p", expected_answer: "many" }]);
    const { pairs, labels, summary } = await made(workspace, "r", "--scorer", "math_final_line");
    expect([pairs, labels]).toEqual([[], []]);
    expect(summary.without_pair.invalid_example).toBe(1);
  });

  test("if there are no others, the next step is to sample again", async () => {
    const { summary, stdout } = await made(packed({ a: ["1", "1 b"], b: ["0"] }), "r");
    expect(summary).toMatchObject({ n_pairs: 0, share_without_pair: 1, mean_characters: null });
    expect(stdout).toMatch(/^Next: sample again/m);
  });
});

describe("which pairs", () => {
  const SAMPLES = ["0.5 a", "0 b", "1 c", "1 d", "0 e", "1 c", "0.5 f"];
  const ALL = ["1 c>0 b", "1 c>0 e", "1 d>0 b", "1 d>0 e", "1 c>0.5 a", "1 c>0.5 f"];

  test("of equal rewards the first that was drawn", async () => {
    expect((await chosen(packed({ a: SAMPLES }))).pairs).toEqual(["1 c>0 b"]);
  });

  test("--by all: widest apart first, up to --per-prompt", async () => {
    const workspace = packed({ a: SAMPLES });
    const { pairs, summary } = await chosen(workspace, { by: "all" });
    expect(pairs).toEqual([...ALL, "1 d>0.5 a", "1 d>0.5 f"]);
    expect(summary).toMatchObject({ n_pairs: 8, n_eligible: 12 });
    const wide = await chosen(workspace, { by: "all", margin: 0.75 });
    expect(wide.pairs).toEqual(ALL.slice(0, 4));
    const few = await made(workspace, "few", "--by", "all", "--per-prompt", "3");
    expect(few.pairs.map((pair) => `${pair.chosen}>${pair.rejected}`)).toEqual(ALL.slice(0, 3));
    expect(few.stdout).toContain("3 of 12 from 1 prompts, by all");
    const refused = await workspace.run(args("x", ["--per-prompt", "3"]));
    expectError(refused, EXIT.usage, /--by best-worst, which makes one pair/);
  });

  test("--by first: as whoever compares answers as they come", async () => {
    const workspace = packed({ a: SAMPLES });
    expect((await chosen(workspace, { by: "first" })).pairs).toEqual(["0.5 a>0 b"]);
    const wide = await chosen(workspace, { by: "first", margin: 0.6 });
    expect(wide.pairs).toEqual(["1 c>0 b"]);
  });

  test("--length-matched: in tokens where they are counted, otherwise in characters", async () => {
    const counted = (completion: string, completion_tokens: number | null) => ({
      ...{ completion, completion_tokens },
    });
    const workspace = packed({
      tokens: [counted("1 aaaaaaaaaa", 5), counted("0 b", 4), counted("0 cccccccccc", 9)],
      characters: [counted("1 aaaaaaaaaa", null), counted("0 b", 4), "0 cccccccccc"],
    });
    const usual = await chosen(workspace, { lengthTolerance: 0.2 });
    expect(usual.pairs).toEqual(["1 aaaaaaaaaa>0 b", "1 aaaaaaaaaa>0 cccccccccc"]);
    expect(usual.summary.mean_tokens).toBeNull();
    const strict = await made(workspace, "strict", "--length-matched", "0.1");
    expect(strict.pairs.map(({ rejected }) => rejected)).toEqual(["0 cccccccccc"]);
    expect(strict.manifest.settings.length_tolerance).toBe(0.1);
    const free = await made(workspace, "free");
    expect(free.pairs.map(({ rejected }) => rejected)).toEqual(["0 b", "0 b"]);
    expect(free.stdout).toContain("The chosen completions are much longer");
  });

  const candidate = (index: number, reward: number): PairCandidate => ({
    ...{ index, reward, completion: `${index}`, characters: 1, tokens: null },
  });
  const settings: PairSettings = { by: "all", margin: 0, lengthTolerance: null, perPrompt: 5 };

  test("a margin is met by what is equal to it in decimals", () => {
    const samples = [candidate(0, 0.3), candidate(1, 0.2), candidate(2, 0.25)];
    expect(choosePairs(samples, { ...settings, margin: 0.1 }).pairs).toHaveLength(1);
  });

  test("of a large pack: the same as if all pairs were held and sorted", () => {
    const samples = Array.from({ length: 200 }, (_, i) => candidate(i, ((i * 37) % 101) / 100));
    const few = choosePairs(samples, settings);
    const many = choosePairs(samples, { ...settings, perPrompt: 100_000 });
    expect(few.pairs).toEqual(many.pairs.slice(0, 5));
    expect(many.pairs).toHaveLength(many.eligible);
    expect(few.eligible).toBe(many.eligible);
  });
});

describe("the folder", () => {
  test("is replaced only with --force, and never where it is another's", async () => {
    const workspace = packed({ a: ["1", "0"] });
    await made(workspace, "r");
    const before = fixedFiles(workspace, "r");
    expectError(
      await workspace.run(args("r")),
      EXIT.usage,
      /finished preference dataset[\s\S]*--force/,
    );
    await made(workspace, "r", "--force");
    expect(fixedFiles(workspace, "r")).toEqual(before);
    workspace.jsonl("c.jsonl", [{ id: "a", completion: "1" }]);
    await workspace.made("run", ["--scorer", "s.ts"]);
    expectError(await workspace.run(args("run", ["--force"])), EXIT.usage, /holds an evaluation/);
    workspace.write("mine/notes.txt", "mine");
    expectError(await workspace.run(args("mine", ["--force"])), EXIT.usage, /notes\.txt/);
    const inside = await workspace.run(args(".", ["--force"]));
    expectError(inside, EXIT.usage, /lies in the output folder/);
  });

  test("of a killed writer is taken over; of a killed training it is not", async () => {
    const workspace = packed({ a: ["1", "0"] });
    for (const [name, kind] of [
      ["r", "pairs"],
      ["training", "train"],
    ]) {
      workspace.write(`${name}/.running`, `99999999 ${kind}\n`);
      workspace.write(`${name}/manifest.json`, "{}");
    }
    workspace.write("r/pairs.jsonl.partial", "half");
    workspace.write("training/metrics.jsonl", "");
    await made(workspace, "r");
    expect(Object.keys(workspace.snapshot("r"))).toHaveLength(5);
    const other = await workspace.run(args("training", ["--force"]));
    expectError(other, EXIT.usage, /training holds an unfinished training run/);
    expect(workspace.read("training/manifest.json")).toBe("{}");
  });

  test("is as it was after a failure", async () => {
    const workspace = packed({ a: ["1", "0"] });
    workspace.write("bad.jsonl", '{"id":"a","completion":"1"}\n');
    const result = await workspace.run(args("new/r", ["--rollouts", "bad.jsonl"]));
    expectError(result, EXIT.data, /bad\.jsonl:1: "samples" is missing/, "rollout --n 2 or more");
    expect(workspace.has("new")).toBe(false);
    await made(workspace, "r");
    const before = workspace.snapshot("r");
    expectError(
      await workspace.run(args("r", ["--rollouts", "bad.jsonl", "--force"])),
      EXIT.data,
      /samples/,
    );
    expect(workspace.snapshot("r")).toEqual(before);
  });
});

test("rollout, pairs, then dpo on the pairs and kto on the labels", {
  timeout: 120_000,
}, async () => {
  const workspace = new Workspace();
  const tokenizer = new CharacterTokenizer("0123456789+= ");
  const architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
  await saveCheckpoint(workspace.path("start"), {
    ...{ architecture, tokenizer, parameters: initialise(architecture, 3) },
    ...{ trained: null, maxLength: 64 },
  });
  workspace.jsonl(
    "d.jsonl",
    Array.from({ length: 6 }, (_, i) => ({
      id: `${i}`,
      prompt: `${i}+1=`,
      expected_answer: i + 1,
    })),
  );
  const evens =
    "const even = completion.length % 2 === 0; return { reward: even ? 1 : 0, code: even ? 'even' : 'odd', details: {} };";
  workspace.write("s.ts", scorerSource(evens));
  const run = async (...flags: string[]) => {
    const result = await workspace.run(flags);
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
    return result;
  };
  const drawn = ["--policy", "start", "--dataset", "d.jsonl", "--n", "6", "--max-tokens", "8"];
  await run("rollout", ...drawn, "--outdir", "drawn");
  const { summary, manifest } = await made(
    workspace,
    "pairs",
    ...["--rollouts", "drawn/samples.jsonl"],
  );
  expect(summary.n_pairs).toBeGreaterThan(0);
  expect(summary.mean_tokens?.chosen).toBeGreaterThan(0);
  expect(manifest.policy?.kind).toBe("checkpoint");
  for (const [algorithm, file, role] of [
    ["dpo", "pairs/pairs.jsonl", "pairs"],
    ["kto", "pairs/labels.jsonl", "labels"],
  ] as const) {
    const learned = ["--dataset", file, "--init", "start", "--steps", "2", "--batch", "4"];
    await run("train", algorithm, ...learned, "--outdir", algorithm, "--quiet");
    const { inputs } = JSON.parse(workspace.read(algorithm, "manifest.json"));
    expect(inputs[0]).toMatchObject({ role, sha256: summary.files[file.slice(6)] });
  }
});
