/** One grader file, unchanged, in every command that takes a scorer; and the command `graders`. */

import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { DEV, describeRun, EXIT, expectError, FROZEN, ROOT, Workspace } from "./cli.ts";

const SAMPLES = path.join(ROOT, "data/rollouts/selection_pack_dev.jsonl");
const TRAIN = path.join(ROOT, "data/datasets/math_train.jsonl");

const TEXTS = { input: "{{sample.output_text}}", reference: "Final: {{item.expected_answer}}" };
const MIX = {
  ...{ type: "multi", name: "mix", calculate_output: "0.9*exact + 0.1*near" },
  graders: {
    exact: { type: "string_check", name: "exact", operation: "eq", ...TEXTS },
    near: { type: "text_similarity", name: "near", evaluation_metric: "fuzzy_match", ...TEXTS },
  },
};

const room = new Workspace();
const with_ = ["--scorer", "grader.json"];

async function done(args: string[]) {
  const result = await room.run(args, { limitMs: 60_000 });
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  return result;
}

beforeAll(() => {
  room.write("grader.json", JSON.stringify(MIX));
});

describe("one grader file", () => {
  const evaluated = ["eval", "--dataset", DEV, "--completions", FROZEN, "--quiet", ...with_];

  test("in eval, with the same rows in threads, and verified again by its file", async () => {
    await done([...evaluated, "--outdir", "one"]);
    await done([...evaluated, "--outdir", "two", "--jobs", "2"]);
    expect(room.read("two", "results.jsonl")).toBe(room.read("one", "results.jsonl"));
    expect(room.readRun("one").manifest.scorer).toMatchObject({ name: "mix", grader: MIX });
    const { stdout } = await done(["verify", "one", "--only", "score", "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ parts: [{ part: "score", status: "equal" }] });
  });

  test("in selection-demo, validate-scorer and harden", async () => {
    await done([
      "selection-demo",
      "--dataset",
      DEV,
      "--samples",
      SAMPLES,
      "--n",
      "4",
      "--quiet",
      ...with_,
      "--outdir",
      "selected",
    ]);
    room.jsonl("golden.jsonl", [
      { id: "dev-0001", completion: "Final: -26", expected_reward: 1 },
      { id: "dev-0001", completion: "", expected_reward: 0 },
    ]);
    const golden = ["--dataset", DEV, "--golden", "golden.jsonl"];
    const { stdout } = await done(["validate-scorer", ...golden, ...with_]);
    expect(stdout).toContain("VALID");
    const found = await done([
      "harden",
      ...golden,
      ...with_,
      "--inputs",
      "500",
      "--outdir",
      "attacked",
    ]);
    expect(found.stdout).toContain("Accepted form: Final: {}");
  });

  test("in train grpo", async () => {
    const tiny = ["--steps", "1", "--set", "rollouts.prompts=2", "--set", "rollouts.group=2"];
    await done([
      "train",
      "grpo",
      "--init",
      "pi0",
      "--dataset",
      TRAIN,
      ...with_,
      ...tiny,
      "--quiet",
      "--outdir",
      "trained",
    ]);
    const { scorers } = JSON.parse(room.read("trained", "manifest.json"));
    expect(scorers[0].identity).toMatchObject({ name: "mix", grader: MIX });
  });
});

describe("graders", () => {
  test("validate echoes the grader, or names the mistake", async () => {
    const { stdout } = await done(["graders", "validate", "grader.json"]);
    expect(JSON.parse(stdout)).toEqual({ grader: MIX });
    room.write("typo.json", JSON.stringify({ ...MIX, calculate_output: "exact + nere" }));
    const typo = await room.run(["graders", "validate", "typo.json"]);
    expectError(typo, EXIT.data, /typo\.json: calculate_output: "nere"/);
    const python = { type: "python", name: "p", source: "def grade(sample, item): return 1" };
    const graders = { p: python, exact: MIX.graders.exact };
    room.write("python.json", JSON.stringify({ ...MIX, graders, calculate_output: "p*exact" }));
    await done(["graders", "validate", "python.json"]);
  });

  test("run prints the reply of the API", async () => {
    const run = ["graders", "run", "--grader", "grader.json", "--sample", "Final: 4"];
    const { stdout } = await done([...run, "--item", '{"expected_answer":4}']);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ reward: 1, sub_rewards: { exact: 1, near: 1 } },
      metadata: { name: "mix", type: "multi", errors: { invalid_variable_error: false } },
    });
    room.write("item.json", '{"answer":4}');
    const missing = await done([...run, "--item", "item.json"]);
    expect(JSON.parse(missing.stdout)).toMatchObject({
      ...{ reward: 0, metadata: { errors: { invalid_variable_error: true } } },
    });
  });
});
