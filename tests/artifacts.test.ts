/** What a run's files hold: the promised names, each fact once, and nothing that cannot be checked. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { ResultRow } from "../src/runs/index.ts";
import {
  api,
  DEV,
  EXIT,
  FROZEN,
  ROOT,
  type RunFiles,
  scorerSource,
  sums,
  Workspace,
} from "./cli.ts";
import { expectRunNote } from "./run-notes.ts";

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const workspace = new Workspace();
let run: RunFiles;
let rows: ResultRow[];

beforeAll(async () => {
  run = await workspace.made("run", ["--dataset", DEV, "--completions", FROZEN]);
  rows = run.rows;
});

describe("the folder", () => {
  test("holds five files and nothing else", () => {
    expect(Object.keys(workspace.snapshot("run")).sort()).toEqual([
      "README.md",
      "manifest.json",
      "results.jsonl",
      "summary.json",
      "summary.md",
    ]);
  });

  test("every schema has a version and a JSON Schema", async () => {
    const args = ["gate", "--baseline", "run", "--candidate", "run", "--format", "json"];
    const gate = api.gateReportSchema.parse(JSON.parse((await workspace.run(args)).stdout));
    const schemas = api.jsonSchemas() as Record<
      string,
      { properties: Record<string, unknown>; required: string[] }
    >;
    const versioned = { manifest: run.manifest, summary: run.summary, gate };
    for (const [name, artifact] of Object.entries(versioned)) {
      const { properties: found, required = [] } = schemas[`${name}@1`] ?? {};
      expect(artifact.schema).toBe(`lockedroom.${name}@1`);
      expect(found?.schema, name).toMatchObject({ const: artifact.schema });
      // Nothing beyond the schema, and nothing that it requires is missing.
      expect(Object.keys(found ?? {})).toEqual(expect.arrayContaining(Object.keys(artifact)));
      expect(Object.keys(artifact)).toEqual(expect.arrayContaining(required));
      expect(required.length).toBeGreaterThan(5);
    }
    const row = schemas["results-row@1"]?.properties ?? {};
    expect(Object.keys(row)).toEqual(expect.arrayContaining(Object.keys(rows[0] ?? {})));
  });

  test("the schemas refuse what is not a run's", () => {
    expect(() => api.summarySchema.parse({ ...run.summary, extra: 1 })).toThrow();
    expect(() => api.manifestSchema.parse({ ...run.manifest, schema: "other@1" })).toThrow();
    expect(() => api.resultRowSchema.parse({ ...rows[0], reward: "1" })).toThrow();
  });
});

describe("results.jsonl", () => {
  const FIELDS = [
    "completion",
    "details",
    "expected_answer",
    "id",
    "outcome_code",
    "prompt",
    "reward",
  ];
  const WHERE_KNOWN = ["kl_est", "sum_logprob", "sum_ref_logprob"];

  test("a row has these fields, sorted, and no others", () => {
    for (const row of rows) {
      const keys = Object.keys(row).filter((key) => !WHERE_KNOWN.includes(key));
      expect(keys.sort()).toEqual(FIELDS);
    }
    for (const line of run.results.trimEnd().split("\n")) {
      expect(line).toBe(api.canonicalJson(JSON.parse(line)));
    }
  });

  test("rows are those of the data set and the completions, in order", () => {
    const examples = jsonl(DEV);
    const completions = new Map(jsonl(FROZEN).map((row) => [row.id, row]));
    expect(
      rows.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer })),
    ).toEqual(examples.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer })));
    for (const row of rows) expect(row.completion).toBe(completions.get(row.id)?.completion);
  });

  test("log-probabilities are there where they are known, and the KL estimate where both are", async () => {
    const place = sums(4);
    place.jsonl("c.jsonl", [
      { id: "s0", completion: "x", sum_logprob: -1.5, sum_ref_logprob: -2 },
      { id: "s1", completion: "x", sum_logprob: -1.5 },
      { id: "s2", completion: "x", sum_logprob: null, sum_ref_logprob: -2 },
      { id: "s3", completion: "x", tokens: 5 },
    ]);
    const { rows: found, summary } = await place.made("run");
    const known = found.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([key]) => WHERE_KNOWN.includes(key))),
    );
    expect(known).toEqual([
      { kl_est: 0.5, sum_logprob: -1.5, sum_ref_logprob: -2 },
      { sum_logprob: -1.5 },
      { sum_ref_logprob: -2 },
      {},
    ]);
    expect(summary.metrics.mean_kl_est).toBe(0.5);
  });

  test("nothing is repeated", () => {
    const { spec, name, version, source_sha256: source } = run.manifest.scorer;
    for (const text of [spec, name, version, source, DEV, FROZEN]) {
      expect(run.results.includes(text), text).toBe(false);
    }
    for (const { details, ...row } of rows) {
      const said = JSON.stringify(details);
      for (const text of [row.id, row.prompt]) expect(said, row.id).not.toContain(text);
      for (const key of Object.keys(details as object)) expect(row, row.id).not.toHaveProperty(key);
    }
  });

  test("every failure says why", () => {
    const failed = rows.filter(({ reward }) => reward === 0);
    expect(failed.length).toBeGreaterThan(50);
    expect(new Set(failed.map((row) => row.outcome_code)).size).toBeGreaterThanOrEqual(7);
    for (const { details } of failed) expect(JSON.stringify(details).length).toBeGreaterThan(6);
  });
});

describe("summary.json", () => {
  test("its numbers are those of the rows", () => {
    const { metrics, outcomes } = run.summary;
    const passed = rows.filter(({ reward }) => reward === 1).length;
    expect(passed).toBeGreaterThan(0);
    expect(metrics).toMatchObject({
      n_examples: rows.length,
      n_scored: rows.length,
      n_pass: passed,
      n_fail: rows.length - passed,
      n_missing: 0,
      n_scorer_error: 0,
      pass_rate: passed / rows.length,
      mean_reward: rows.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / rows.length,
    });
    const counts: Record<string, number> = {};
    for (const { outcome_code: code } of rows) counts[code] = (counts[code] ?? 0) + 1;
    expect(outcomes.counts).toEqual(counts);
    expect(Object.keys(counts).length).toBeGreaterThanOrEqual(8);
    const [low = 0, high = 0] = metrics.pass_rate_ci95 ?? [];
    expect(low < passed / rows.length && passed / rows.length < high).toBe(true);
  });

  test("it seals the other files", () => {
    expect(run.summary.results_sha256).toBe(sha256(run.results));
    expect(run.summary.manifest_sha256).toBe(api.manifestFingerprint(run.manifest));
    const other = { ...run.manifest, loop: "B" as const };
    expect(api.manifestFingerprint(other)).not.toBe(run.summary.manifest_sha256);
    const moved = { ...run.manifest, volatile: { ...run.manifest.volatile, host: "elsewhere" } };
    expect(api.manifestFingerprint(moved)).toBe(run.summary.manifest_sha256);
  });
});

describe("manifest.json", () => {
  test("names the inputs by what was in them", () => {
    const input = (role: string, file: string) => {
      const bytes = readFileSync(file);
      return { role, path: file, sha256: sha256(bytes), bytes: bytes.length, rows: rows.length };
    };
    expect(run.manifest.inputs).toEqual([input("dataset", DEV), input("completions", FROZEN)]);
  });

  test("says what was held fixed", () => {
    expect(run.manifest).toMatchObject({
      loop: "A",
      command: "eval",
      examples: { count: rows.length },
      sampling: null,
      selection: null,
      policy: null,
      learning: null,
      settings: { max_examples: null },
    });
    expect(run.manifest.scorer).toMatchObject({
      name: "math_final_line",
      version: api.SCORER_VERSION,
      spec: api.REWARD_SPEC,
      path: null,
    });
  });

  test("keeps what may differ in one block", () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));
    expect(run.manifest.volatile).toMatchObject({ node: process.version, lockedroom: version });
    expect(Date.parse(run.manifest.volatile.started_at)).toBeGreaterThan(Date.now() - 600_000);
    const { volatile: _, ...rest } = run.manifest;
    expect(JSON.stringify(rest)).not.toContain(run.manifest.volatile.host);
  });

  test("the hash of prompts sees prompts alone, that of examples everything", async () => {
    const place = sums(3);
    const before = (await place.made("before")).manifest.examples;
    const change = async (name: string, from: string, to: string) => {
      place.write("d2.jsonl", place.read("d.jsonl").replace(from, to));
      return (await place.made(name, ["--dataset", "d2.jsonl"])).manifest.examples;
    };
    const answer = await change("answer", '"expected_answer":2', '"expected_answer":3');
    expect(answer.prompts_sha256).toBe(before.prompts_sha256);
    expect(answer.sha256).not.toBe(before.sha256);
    const prompt = await change("prompt", "Compute 1", "compute 1");
    expect(prompt.prompts_sha256).not.toBe(before.prompts_sha256);
    expect(prompt.sha256).not.toBe(before.sha256);
    const extra = await change("extra", '{"id"', '{"hint":"","id"');
    expect(extra.prompts_sha256).toBe(before.prompts_sha256);
    expect(extra.sha256).not.toBe(before.sha256);
  });
});

describe("for people", () => {
  test("summary.md has the numbers", () => {
    const text = workspace.read("run", "summary.md");
    expect(text).toContain(run.summary.metrics.pass_rate?.toFixed(4));
    for (const [code, count] of Object.entries(run.summary.outcomes.counts)) {
      expect(text).toMatch(new RegExp(`\`${code}\` \\| ${count} \\|`));
    }
  });

  test("the run note has the evidence, and leaves the judgement open", () => {
    const note = workspace.read("run", "README.md");
    const { inputs, scorer } = run.manifest;
    for (const text of [
      "**Loop:** A",
      "**Knob turned",
      ...inputs.flatMap((input) => [input.path, input.sha256]),
      `\`${scorer.name}\` ${scorer.version},`,
      scorer.source_sha256,
      `pass_rate ${run.summary.metrics.pass_rate?.toFixed(4)}`,
    ]) {
      expect(note).toContain(text);
    }
    expectRunNote(note);
  });

  test.each([
    ["of many kinds", () => ["--dataset", DEV, "--completions", FROZEN]],
    [
      "all of one kind",
      () => [
        "--scorer",
        workspace.write("s.ts", scorerSource('return { reward: 1, code: "x", details: {} };')),
        "--dataset",
        DEV,
        "--completions",
        FROZEN,
      ],
    ],
  ])("the run note shows two concrete examples, rows %s", async (name, flags) => {
    const made = await workspace.made(name, flags());
    const shown = workspace.read(name, "README.md").split("**Two concrete examples:**")[1] ?? "";
    const ids = [...shown.matchAll(/^ {2}- `([^`]+)` → `([^`]+)`/gm)];
    expect(ids, shown).toHaveLength(2);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(2);
    for (const [, id, code] of ids) {
      expect(made.rows.find((row) => row.id === id)?.outcome_code).toBe(code);
    }
  });
});

test("the library gives what the command gives", async () => {
  const scorer = await api.openScorer("math_final_line");
  const { summary } = await api.evaluate({
    dataset: DEV,
    completions: FROZEN,
    outdir: workspace.path("library"),
    scorer,
  });
  await scorer.close();
  expect(summary).toEqual(run.summary);
  expect(workspace.readRun("library").results).toBe(run.results);
  const result = await workspace.run(["inspect-run", "--run", "library"]);
  expect(result.code).toBe(EXIT.ok);
});

function jsonl(
  file: string,
): { id: string; prompt: string; expected_answer: unknown; completion: string }[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
