/** Forgeries that two folders alone cannot betray, each beside the honest run that it is made of. */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SequenceFingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { PromptSet } from "../core/prompt-set.ts";
import { editedFiles } from "../gate/recount.ts";
import { train } from "../learn/train.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { select } from "../loops/select.ts";
import { builtInPolicy } from "../loops/selection-policy.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { openRun } from "../runs/reader.ts";
import { artifactJson } from "../runs/run-folder.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { openScorer } from "../scorers/open.ts";
import { type VerifyOptions, verify } from "./verify.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-verify-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);

const N = 24;
const DATASET = at("data.jsonl");
const SAMPLING: SamplingSettings = {
  ...{ temperature: 1, top_k: 0, top_p: 1, max_tokens: 16, stop: [], seed: 3 },
};

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const linesIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const jsonIn = (file: string) => JSON.parse(readFileSync(file, "utf8"));

async function sampled(name: string, n: number, sampling = SAMPLING): Promise<string> {
  const policy = await openEmbeddedPolicy("pi0", { sampling });
  try {
    return (await rollout({ policy, dataset: DATASET, n, outdir: at(name) })).answers;
  } finally {
    await policy.close();
  }
}

/** A copy of a folder to spoil. */
let copies = 0;
function copyOf(name: string): string {
  const copy = at(`copy-${copies++}`);
  cpSync(at(name), copy, { recursive: true });
  return copy;
}

/** Writes other rows into a run and makes every hash and count right again. */
async function rehash(dir: string, rows: readonly ResultRow[], manifestChanges: JsonObject = {}) {
  const results = rows.map((row) => `${canonicalJson(row)}\n`).join("");
  writeFileSync(path.join(dir, "results.jsonl"), results);
  const answers = new SequenceFingerprint();
  for (const { id, completion } of rows) answers.add(JSON.stringify([id, completion]));
  const manifest = {
    ...jsonIn(path.join(dir, "manifest.json")),
    answers_sha256: answers.digest(),
    ...manifestChanges,
  };
  const summary = jsonIn(path.join(dir, "summary.json"));
  const counts: Record<string, number> = {};
  for (const { outcome_code: code } of rows) counts[code] = (counts[code] ?? 0) + 1;
  const passed = rows.filter(({ reward }) => reward === 1).length;
  const metrics = {
    ...summary.metrics,
    ...{ pass_rate: passed / rows.length, mean_reward: passed / rows.length },
    ...{ n_pass: passed, n_fail: rows.length - passed },
  };
  writeFileSync(path.join(dir, "manifest.json"), artifactJson(manifest));
  const hashes = {
    results_sha256: sha256(results),
    manifest_sha256: manifestFingerprint(manifest),
  };
  writeFileSync(
    path.join(dir, "summary.json"),
    artifactJson({ ...summary, metrics, outcomes: { counts }, ...hashes }),
  );
  // The forgery is good: the folder alone does not betray it.
  expect(await editedFiles(await openRun(dir))).toEqual([]);
}

async function statuses(options: VerifyOptions) {
  const { result, parts } = await verify(options);
  return { result, ...Object.fromEntries(parts.map(({ part, status }) => [part, status])) };
}

beforeAll(async () => {
  const examples = Array.from({ length: N }, (_, i) => ({
    id: `ex-${i}`,
    prompt: `Compute ${i} + ${(7 * i) % 10}.`,
    expected_answer: i + ((7 * i) % 10),
  }));
  writeFileSync(DATASET, jsonl(examples));
  const completions = await sampled("rollout", 1);
  await evaluate({ dataset: DATASET, completions, outdir: at("eval") });
  const samples = await sampled("samples", 8);
  await select({
    ...{ dataset: DATASET, samples, outdir: at("best"), n: 8 },
    policy: builtInPolicy("best"),
  });
});

describe("an honest run", () => {
  test("of a checkpoint is verified in all parts", async () => {
    const found = await verify({ run: at("eval") });
    expect(found.result).toBe("verified");
    expect(
      found.parts.map(({ part, status, repeated, of }) => [part, status, repeated, of]),
    ).toEqual([
      ["files", "equal", 3, 3],
      ["data", "equal", N, N],
      ["answers", "equal", N, N],
      ["score", "equal", N, N],
      ["sample", "equal", N, N],
      expect.arrayContaining(["exposure"]),
      expect.arrayContaining(["tries", "skipped"]),
    ]);
    expect(found.draw).toBeNull();
  });

  test("of selected samples is verified, every sample and every choice", async () => {
    expect(await statuses({ run: at("best") })).toMatchObject({
      ...{ result: "verified", score: "equal", sample: "equal", answers: "equal" },
    });
  });

  test("of a rollout is verified with its log-probs", async () => {
    expect(await statuses({ run: at("rollout") })).toMatchObject({
      ...{ result: "verified", files: "equal", sample: "equal" },
    });
    expect(await statuses({ run: at("samples"), sample: 3 })).toMatchObject({ sample: "equal" });
    const only = await verify({ run: at("rollout"), only: ["exposure"] });
    expect(only.parts.map(({ part }) => part)).toEqual(["exposure"]);
  });

  test("is sampled again in part, by a draw that others can repeat", async () => {
    const first = await verify({ run: at("eval"), sample: 5, only: ["sample"] });
    const second = await verify({ run: at("eval"), sample: 5, only: ["sample"] });
    expect(first.parts[0]).toMatchObject({ status: "equal", repeated: 5, of: N });
    expect(first.draw?.seed).not.toBe(second.draw?.seed);
    const again = await verify({
      ...{ run: at("eval"), sample: 5, only: ["sample"], draw: first.draw?.seed },
    });
    expect({ ...again, volatile: null }).toEqual({ ...first, volatile: null });
  });
});

describe("forged runs", () => {
  test("rewards flipped and everything rehashed", async () => {
    const dir = copyOf("eval");
    const rows: ResultRow[] = linesIn(path.join(dir, "results.jsonl"));
    const wrong = rows.filter(({ reward }) => reward === 0);
    expect(wrong.length).toBeGreaterThan(0);
    await rehash(
      dir,
      rows.map((row) => ({ ...row, reward: 1, outcome_code: "ok" })),
    );
    const found = await verify({ run: dir, only: ["files", "score"] });
    expect(found.parts).toMatchObject([
      { status: "equal" },
      {
        ...{ status: "differs", differences: wrong.length, repeated: N },
        first: expect.arrayContaining([
          { id: wrong[0]?.id, what: "reward", expected: "0", found: "1" },
        ]),
      },
    ]);
  });

  test("a better interval than the rows give", async () => {
    const dir = copyOf("eval");
    const file = path.join(dir, "summary.json");
    const summary = jsonIn(file);
    const metrics = { ...summary.metrics, pass_rate_ci95: [0.9, 1] };
    writeFileSync(file, artifactJson({ ...summary, metrics }));
    const found = await verify({ run: dir, only: ["score"] });
    expect(found.parts[0]).toMatchObject({
      ...{ status: "differs", first: [{ what: "metrics.pass_rate_ci95", found: "[0.9,1]" }] },
    });
  });

  test("expected answers changed with the rewards", async () => {
    const dir = copyOf("eval");
    const rows: ResultRow[] = linesIn(path.join(dir, "results.jsonl"));
    const at0 = rows.findIndex(({ reward }) => reward === 0);
    const row = rows[at0] as ResultRow;
    const parsed = Number(row.expected_answer) + 1;
    rows[at0] = {
      ...row,
      ...{ expected_answer: parsed, completion: `Final: ${parsed}`, reward: 1 },
      ...{ outcome_code: "ok", details: { parsed: String(parsed) } },
    };
    await rehash(dir, rows);
    expect(await statuses({ run: dir, only: ["data"] })).toMatchObject({ data: "differs" });
  });

  test("right answers written under a checkpoint's provenance", async () => {
    const completions = at("written.jsonl");
    const rows = linesIn(at("rollout", "completions.jsonl"));
    const examples = linesIn(DATASET);
    const text = jsonl(
      rows.map((row, i) => ({ ...row, completion: `Final: ${examples[i].expected_answer}` })),
    );
    await forgedEval("written", completions, text, "rollout");
    expect(await statuses({ run: at("written") })).toMatchObject({
      ...{ result: "differs", files: "equal", data: "equal", score: "equal", sample: "differs" },
    });
  });

  test("the best of eight under the provenance of one", async () => {
    const picked = linesIn(at("best", "results.jsonl")).map(
      ({ id, prompt, completion, sum_logprob }: ResultRow) => ({
        ...{ id, completion, sum_logprob, prompt_fingerprint: promptFingerprint(prompt) },
      }),
    );
    await forgedEval("picked", at("picked.jsonl"), jsonl(picked), "rollout");
    const found = await verify({ run: at("picked") });
    const moved = linesIn(at("best", "results.jsonl")).filter(
      ({ selected, samples, completion }: ResultRow) =>
        selected?.index !== 0 && samples?.[0]?.completion !== completion,
    );
    expect(moved.length).toBeGreaterThan(0);
    expect(found.parts.find(({ part }) => part === "sample")).toMatchObject({ status: "differs" });
    expect(found.parts.find(({ part }) => part === "score")).toMatchObject({ status: "equal" });
  });

  test("another choice than the rule's in a selection", async () => {
    const dir = copyOf("best");
    const rows: ResultRow[] = linesIn(path.join(dir, "results.jsonl"));
    const place = rows.findIndex(
      ({ samples, completion }) => samples?.[7]?.completion !== completion,
    );
    const row = rows[place] as ResultRow;
    const other = row.samples?.[7] as NonNullable<ResultRow["samples"]>[number];
    rows[place] = {
      ...row,
      ...other,
      selected: { index: 7, reward: other.reward, outcome_code: other.outcome_code },
    };
    writeFileSync(
      path.join(dir, "results.jsonl"),
      rows.map((one) => `${canonicalJson(one)}\n`).join(""),
    );
    expect(await statuses({ run: dir, only: ["score"] })).toMatchObject({ score: "differs" });
  });

  test("a history that is not the checkpoint's", async () => {
    const dir = copyOf("eval");
    const { policy } = jsonIn(path.join(dir, "manifest.json"));
    await rehash(dir, linesIn(path.join(dir, "results.jsonl")), {
      policy: { ...policy, learning: { algorithm: "sft", learned_from: [] } },
    });
    const found = await verify({ run: dir, only: ["sample"] });
    expect(found.parts[0]).toMatchObject({
      ...{ status: "differs", first: [{ id: "manifest.json", what: "policy" }] },
    });
  });

  test("an exposure that was made smaller", async () => {
    const pi0 = await loadCheckpoint("pi0");
    const seen = { learned: new PromptSet(), validated: new PromptSet() };
    for (const { prompt } of linesIn(DATASET).slice(0, 7)) seen.learned.add(prompt);
    await saveCheckpoint(at("exposed"), { ...pi0, seen });
    const policy = await openEmbeddedPolicy(at("exposed"), { sampling: SAMPLING });
    const outdir = at("exposed-rollout");
    const { answers: completions } = await rollout({ policy, dataset: DATASET, n: 1, outdir });
    await policy.close();
    await evaluate({ dataset: DATASET, completions, outdir: at("exposed-eval") });
    for (const run of [outdir, at("exposed-eval")])
      expect(await statuses({ run })).toMatchObject({ result: "verified", exposure: "equal" });

    const dir = copyOf("exposed-eval");
    const { exposure } = jsonIn(path.join(dir, "manifest.json"));
    expect(exposure.learned).toMatchObject({ rows: 7, of: 7 });
    const none = { ...exposure, learned: { ...exposure.learned, rows: 0, first_ids: [] } };
    for (const less of [none, null]) {
      await rehash(dir, linesIn(path.join(dir, "results.jsonl")), { exposure: less });
      const found = await verify({ run: dir, only: ["exposure"] });
      expect(found.parts[0]).toMatchObject({
        ...{ status: "differs", first: [{ what: "exposure.learned" }] },
      });
    }
  });

  test("fewer seeds stated than were tried, whatever was done to hide it", async () => {
    const pi0 = await loadCheckpoint("pi0");
    await saveCheckpoint(at("tried"), pi0);
    const examples = linesIn(DATASET);
    const fewer = at("fewer.jsonl");
    writeFileSync(fewer, jsonl(examples.slice(1).reverse()));
    const sampled = async (name: string, seed: number, dataset = DATASET, max_tokens = 4) => {
      const sampling = { ...SAMPLING, seed, max_tokens };
      const policy = await openEmbeddedPolicy(at("tried"), { sampling });
      const outdir = at(`tried-${name}`);
      const { answers, manifest } = await rollout({ policy, dataset, n: 1, outdir });
      await policy.close();
      return { outdir, answers, tries: manifest.seeds_tried };
    };
    await sampled("a", 1, fewer);
    await sampled("b", 2, DATASET, 5);
    const { outdir, answers: completions, tries } = await sampled("c", 3);
    expect(tries).toBe(3);
    await evaluate({ dataset: DATASET, completions, outdir: at("tried-eval") });
    await evaluate({ dataset: DATASET, completions, outdir: at("tried-part"), maxExamples: 5 });
    // Later tries are no objection to an earlier rollout.
    await sampled("d", 4);
    for (const run of [outdir, at("tried-eval"), at("tried-part")])
      expect(await statuses({ run, only: ["tries"] })).toMatchObject({ tries: "equal" });

    for (const run of ["tried-eval", "tried-part"]) {
      const dir = copyOf(run);
      for (const seeds_tried of [1, 2, null]) {
        await rehash(dir, linesIn(path.join(dir, "results.jsonl")), { seeds_tried });
        const found = await verify({ run: dir, only: ["tries"] });
        expect(found.parts[0]).toMatchObject({
          ...{ status: "differs", first: [{ what: "seeds_tried", expected: "3" }] },
        });
      }
    }
  });

  test("a rollout's journal edited before it was resumed", async () => {
    const whole = linesIn(at("rollout", "completions.jsonl"));
    const { policy, prompt, sampling, inputs } = jsonIn(at("rollout", "manifest.json"));
    const journal = (change: (row: JsonObject) => JsonObject) => [
      {
        ...{ schema: "lockedroom.rollout-journal@1", n: 1, policy, prompt, sampling },
        dataset_sha256: inputs[0].sha256,
      },
      ...whole.slice(0, 4).map(({ id, prompt_fingerprint: _, ...answer }) => ({
        id,
        sample: 0,
        answer: change(answer),
      })),
    ];
    const resumed = async (name: string, change: (row: JsonObject) => JsonObject) => {
      mkdirSync(at(name));
      writeFileSync(at(name, "journal.jsonl"), jsonl(journal(change)));
      const opened = await openEmbeddedPolicy("pi0", { sampling: SAMPLING });
      await rollout({ policy: opened, dataset: DATASET, n: 1, outdir: at(name), resume: true });
      await opened.close();
      return statuses({ run: at(name) });
    };
    expect(await resumed("resumed", (row) => row)).toMatchObject({ result: "verified" });
    const edited = await resumed("edited", (row) => ({ ...row, completion: "Final: 1" }));
    expect(edited).toMatchObject({ files: "equal", sample: "differs" });
  });
});

/** Evaluates completions under the provenance of a rollout, with the hash put right. */
async function forgedEval(name: string, file: string, text: string, from: string) {
  writeFileSync(file, text);
  const provenance = jsonIn(at(from, "completions.provenance.json"));
  writeFileSync(
    file.replace(/\.jsonl$/, ".provenance.json"),
    JSON.stringify({ ...provenance, completions_sha256: sha256(text) }),
  );
  await evaluate({ dataset: DATASET, completions: file, outdir: at(name) });
}

describe("what cannot be reached is said, and never counts as verified", () => {
  test("an endpoint's completions", async () => {
    const file = at("remote.jsonl");
    writeFileSync(file, jsonl(linesIn(DATASET).map(({ id }) => ({ id, completion: "Final: 1" }))));
    const policy = { kind: "openai", model: "tiny" };
    writeFileSync(
      at("remote.provenance.json"),
      JSON.stringify({ schema: "lockedroom.provenance@1", policy, sampling: SAMPLING }),
    );
    await evaluate({ dataset: DATASET, completions: file, outdir: at("remote") });
    const found = await verify({ run: at("remote") });
    expect(found.result).toBe("not_verified");
    expect(found.parts.find(({ part }) => part === "sample")).toMatchObject({
      status: "impossible",
      message: "openai tiny is not a checkpoint, so its completions cannot be re-sampled.",
    });
    // Of its own, not that of the samples.
    expect(found.parts.find(({ part }) => part === "exposure")).toMatchObject({
      status: "skipped",
      message: "openai tiny is not a checkpoint, so it carries no prompts of its training.",
    });
    expect(await statuses({ run: at("remote"), only: ["score"] })).toMatchObject({
      result: "partly_verified",
    });
  });

  test("a data set that changed, or is gone", async () => {
    const own = at("own.jsonl");
    writeFileSync(own, readFileSync(DATASET));
    await evaluate({
      ...{ dataset: own, completions: at("rollout", "completions.jsonl"), outdir: at("own") },
    });
    expect(await statuses({ run: at("own"), only: ["data"] })).toMatchObject({ data: "equal" });
    writeFileSync(own, `${readFileSync(own, "utf8")}\n`);
    const changed = await verify({ run: at("own"), only: ["data"] });
    expect(changed.parts[0]).toMatchObject({
      ...{ status: "impossible", message: expect.stringContaining("has changed") },
    });
    rmSync(own);
    const gone = await verify({ run: at("own"), only: ["data", "score"] });
    expect(gone).toMatchObject({
      result: "not_verified",
      parts: [{ status: "impossible", message: expect.stringContaining("is not there") }, {}],
    });
    // The built-in scorer needs nothing that the rows do not hold.
    expect(gone.parts[1]?.status).toBe("equal");
    mkdirSync(at("moved"));
    cpSync(DATASET, at("moved", "own.jsonl"));
    expect(await statuses({ run: at("own"), only: ["data"], from: at("moved") })).toMatchObject({
      data: "equal",
    });
  });

  test("what lies elsewhere under another name is found by its content", async () => {
    await evaluate({
      ...{ dataset: DATASET, completions: at("rollout", "completions.jsonl") },
      outdir: at("found"),
    });
    const [data, hidden] = [readFileSync(DATASET, "utf8"), at("data.away")];
    renameSync(DATASET, hidden);
    try {
      const look = (from: string) => statuses({ run: at("found"), only: ["data"], from });
      mkdirSync(at("archive", "2024"), { recursive: true });
      // The same size and other bytes; and in a hidden folder, which is not looked at.
      writeFileSync(at("archive", "2024", "a.jsonl"), data.replace("Compute", "computE"));
      mkdirSync(at("archive", ".cache"));
      writeFileSync(at("archive", ".cache", "b.jsonl"), data);
      expect(await look(at("archive"))).toMatchObject({ data: "impossible" });
      writeFileSync(at("archive", "2024", "renamed.txt"), data);
      expect(await look(at("archive"))).toMatchObject({ data: "equal" });
    } finally {
      renameSync(hidden, DATASET);
    }
  });

  test("a checkpoint and a scorer that lie elsewhere are found too", async () => {
    const pi0 = await loadCheckpoint("pi0");
    const parameters = pi0.parameters.map((value) => value * 0.95);
    await saveCheckpoint(at("mine"), { ...pi0, parameters });
    const policy = await openEmbeddedPolicy(at("mine"), { sampling: SAMPLING });
    const { answers } = await rollout({ policy, dataset: DATASET, n: 1, outdir: at("mine-roll") });
    await policy.close();
    const scorer = at("mine-scorer.ts");
    writeFileSync(
      scorer,
      `export const name = "one";
export const version = "1";
export const spec = "always one";
export const score = () => ({ reward: 1, code: "given", details: {} });
`,
    );
    await evaluate({ dataset: DATASET, completions: answers, outdir: at("mine-eval"), scorer });
    const look = () =>
      statuses({ run: at("mine-eval"), only: ["score", "sample"], from: at("depot") });
    mkdirSync(at("depot", "deep"), { recursive: true });
    renameSync(at("mine"), at("mine-away"));
    renameSync(scorer, at("mine-scorer.away"));
    expect(await look()).toMatchObject({ score: "impossible", sample: "impossible" });
    cpSync(at("mine-away"), at("depot", "deep", "renamed"), { recursive: true });
    cpSync(at("mine-scorer.away"), at("depot", "deep", "mine-scorer.ts"));
    expect(await look()).toMatchObject({ score: "equal", sample: "equal" });
  });

  test("a user's scorer whose file changed", async () => {
    const file = at("scorer.ts");
    const code = (reward: number) => `export const name = "always";
export const version = "1";
export const spec = "always the same";
export const score = () => ({ reward: ${reward}, code: "given", details: {} });
`;
    writeFileSync(file, code(1));
    await evaluate({
      ...{ dataset: DATASET, completions: at("rollout", "completions.jsonl") },
      ...{ outdir: at("always"), scorer: file },
    });
    expect(await statuses({ run: at("always"), only: ["score"] })).toMatchObject({
      score: "equal",
    });
    writeFileSync(file, code(0));
    const found = await verify({ run: at("always"), only: ["score"] });
    expect(found).toMatchObject({
      result: "not_verified",
      parts: [
        {
          status: "impossible",
          message: expect.stringContaining("or a file that it reads, is not the recorded one"),
        },
      ],
    });
    rmSync(file);
    const gone = await verify({ run: at("always"), only: ["score"] });
    expect(gone.parts[0]).toMatchObject({
      ...{ status: "impossible", message: expect.stringContaining("is not there") },
    });
  });

  test("a system prompt that is not given, or is another one", async () => {
    const policy = await openEmbeddedPolicy("pi0", { sampling: SAMPLING, system: "1 + 1" });
    await rollout({ policy, dataset: DATASET, n: 1, outdir: at("system") });
    await policy.close();
    expect(await statuses({ run: at("system") })).toMatchObject({ sample: "impossible" });
    expect(await statuses({ run: at("system"), system: "1 + 2" })).toMatchObject({
      sample: "impossible",
    });
    expect(await statuses({ run: at("system"), system: "1 + 1" })).toMatchObject({
      result: "verified",
    });
  });

  test("another checkpoint in the place of the run's", async () => {
    const pi0 = await loadCheckpoint("pi0");
    const parameters = pi0.parameters.slice();
    parameters[0] = (parameters[0] ?? 0) + 1;
    await saveCheckpoint(at("other"), { ...pi0, parameters });
    const found = await verify({ run: at("eval"), checkpoint: at("other"), only: ["sample"] });
    expect(found.parts[0]).toMatchObject({
      ...{ status: "impossible", message: expect.stringContaining("is another one") },
    });
  });
});

describe("a training run", () => {
  const texts = () =>
    jsonl(
      linesIn(DATASET).map((one) => ({
        prompt: one.prompt,
        completion: `Final: ${one.expected_answer}`,
      })),
    );
  beforeAll(async () => {
    writeFileSync(at("texts.jsonl"), texts());
    await train({
      ...{ algorithm: "sft", dataset: at("texts.jsonl"), init: "pi0", size: "nano", threads: 1 },
      ...{ settings: { steps: 3, batch: 4 }, outdir: at("sft"), saveEvery: 2 },
    });
    const scorer = await openScorer();
    await train({
      ...{ algorithm: "grpo", dataset: DATASET, init: "pi0", size: "nano", threads: 1 },
      settings: { steps: 2, rollouts: { prompts: 2, group: 4, max_tokens: 8 } },
      ...{ outdir: at("grpo"), saveEvery: 100, rewards: [scorer] },
    });
    await scorer.close();
  });

  test("is trained again, whole or the first steps, with the same lines and weights", async () => {
    const whole = await verify({ run: at("sft"), train: true });
    expect(whole.parts).toMatchObject([
      { part: "files", status: "equal" },
      { part: "train", status: "equal", repeated: 3, of: 3 },
    ]);
    const part = await verify({ run: at("grpo"), train: 1 });
    expect(part.parts[1]).toMatchObject({ status: "equal", repeated: 1, of: 2 });
    expect(await statuses({ run: at("grpo"), train: true })).toMatchObject({ result: "verified" });
    expect(readdirSync(at("sft"))).not.toContain("verification.json");
  });

  test("with planted weights differs", async () => {
    const dir = copyOf("sft");
    const trained = await loadCheckpoint(path.join(dir, "checkpoint"));
    const parameters = trained.parameters.slice();
    parameters[7] = (parameters[7] ?? 0) + 0.01;
    const print = await saveCheckpoint(path.join(dir, "checkpoint"), { ...trained, parameters });
    const summary = jsonIn(path.join(dir, "summary.json"));
    writeFileSync(
      path.join(dir, "summary.json"),
      artifactJson({ ...summary, checkpoint_fingerprint: print }),
    );
    const found = await verify({ run: dir, train: true });
    expect(found.parts).toMatchObject([
      { part: "files", status: "equal" },
      { part: "train", status: "differs", first: [{ id: "checkpoint", what: "fingerprint" }] },
    ]);
  });

  test("with a history that was deleted differs", async () => {
    const dir = copyOf("sft");
    const trained = await loadCheckpoint(path.join(dir, "checkpoint"));
    await saveCheckpoint(path.join(dir, "checkpoint"), { ...trained, trained: null, seen: null });
    const found = await verify({ run: dir, train: true });
    expect(found.parts).toMatchObject([
      { part: "files", status: "equal" },
      { part: "train", status: "differs", first: [{ what: "trained" }, { what: "learned" }, {}] },
    ]);
  });

  test("with an edited metric differs, by step and name", async () => {
    const dir = copyOf("sft");
    const lines = linesIn(path.join(dir, "metrics.jsonl"));
    lines[0].loss = 0.5;
    writeFileSync(
      path.join(dir, "metrics.jsonl"),
      lines.map((one) => `${canonicalJson(one)}\n`).join(""),
    );
    const found = await verify({ run: dir, train: 1, only: ["train"] });
    expect(found.parts[0]).toMatchObject({
      ...{ status: "differs", differences: 1 },
      first: [{ id: "metrics.jsonl step 1", what: "loss", found: "0.5" }],
    });
  });

  test("whose data are gone cannot be trained again", async () => {
    const text = texts();
    rmSync(at("texts.jsonl"));
    const found = await verify({ run: at("sft"), train: 1 });
    expect(found).toMatchObject({
      result: "not_verified",
      parts: [{}, { status: "impossible", message: expect.stringContaining("texts.jsonl") }],
    });
    writeFileSync(at("texts.jsonl"), text);
  });

  test("needs to be asked for", async () => {
    await expect(verify({ run: at("sft") })).rejects.toMatchObject({ kind: "usage" });
    await expect(verify({ run: at("eval"), train: 1 })).rejects.toMatchObject({ kind: "usage" });
    expect(existsSync(at("eval", "verification.json"))).toBe(false);
  });
});
