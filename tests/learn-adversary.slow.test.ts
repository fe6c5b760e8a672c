/** What an adversary found in learning: a better number without a better policy, and strangers' files. */

import path from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, DEV, describeRun, EXIT, expectError, ROOT, start, Workspace } from "./cli.ts";

const PI0 = path.join(ROOT, "assets/pi0");
const TRAIN = path.join(ROOT, "data/datasets/math_train.jsonl");
const TINY = ["--steps", "1", "--set", "rollouts.prompts=2", "--set", "rollouts.group=2"];

function grpo(place: Workspace, outdir: string, dataset: string, ...more: string[]) {
  const files = ["--init", PI0, "--dataset", dataset, "--outdir", outdir];
  return place.run(["train", "grpo", ...files, ...TINY, ...more]);
}

async function scored(place: Workspace, policy: string, outdir: string): Promise<string> {
  const flags = ["--policy", policy, "--dataset", DEV, "--n", "1", "--max-tokens", "32"];
  for (const args of [
    ["rollout", ...flags, "--outdir", `${outdir}-said`],
    [
      "eval",
      "--dataset",
      DEV,
      "--completions",
      `${outdir}-said/completions.jsonl`,
      "--outdir",
      outdir,
    ],
  ]) {
    const result = await place.run(args);
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  }
  return outdir;
}

describe("the gate", () => {
  const place = new Workspace();
  const gate = async (candidate: string) => {
    const flags = ["--baseline", "pi0", "--candidate", candidate, "--format", "json"];
    return JSON.parse((await place.run(["gate", ...flags])).stdout);
  };

  test("refuses a policy that is measured on what it learned from", async () => {
    await scored(place, PI0, "pi0");
    expect(await grpo(place, "cheat", DEV)).toMatchObject({ code: EXIT.ok });
    const verdict = await gate(await scored(place, "cheat/checkpoint", "cheated"));
    expect(verdict).toMatchObject({ decision: "REJECT", comparable: false });
    expect(verdict.reasons[0].code).toBe("measured_on_training_data");
  });

  test("takes the same weights for the same policy, however they are labelled", async () => {
    expect(await grpo(place, "twin", TRAIN, "--lr", "0")).toMatchObject({ code: EXIT.ok });
    expect((await gate(await scored(place, "twin/checkpoint", "twinned"))).knobs).toEqual([]);
  });

  test("and no run is validated on what its start learned from", async () => {
    const more = ["--init", "cheat/checkpoint", "--dev", DEV];
    expectError(
      await grpo(place, "child", TRAIN, ...more),
      EXIT.data,
      /initial policy learned from/,
    );
  });
});

test("a folder that is not of a training run is left alone, also with --force", async () => {
  const place = new Workspace();
  place.write("web/manifest.json", '{"name":"an extension"}');
  place.write("web/state/data.txt", "precious");
  const before = place.snapshot("web");
  expectError(await grpo(place, "web", TRAIN, "--force"), EXIT.usage, /is not empty and hold/);
  expect(place.snapshot("web")).toEqual(before);
});

test.each([
  ["rate.__proto__.peak=5", /no setting/],
  ["rate.peak=[1", /not a value/],
  ["weights=[]", /0 weights for 1 scorers/],
  ["cost.limit=0.1", /no cost scorer/],
  ["adam.beta1=1", /adam\.beta1/],
])("--set %s is refused before anything is made", async (assignment, message) => {
  const place = new Workspace();
  expectError(await grpo(place, "run", TRAIN, "--set", assignment), EXIT.usage, message);
  expect(place.has("run/metrics.jsonl")).toBe(false);
});

test("blanks, case and invisible characters do not hide an overlap", async () => {
  const place = new Workspace();
  const example = { id: "a", prompt: "Compute 1 + 2. Reply: Final: <int>", expected_answer: 3 };
  place.jsonl("train.jsonl", [example]);
  place.jsonl("dev.jsonl", [{ ...example, id: "b", prompt: "Compute 1+2. Reply: Final:<int>" }]);
  expectError(await grpo(place, "run", "train.jsonl", "--dev", "dev.jsonl"), EXIT.data, /share/);
});

test("settings that cannot be are refused before anything is written or replaced", async () => {
  const place = new Workspace();
  expect(await grpo(place, "run", TRAIN)).toMatchObject({ code: EXIT.ok });
  const before = place.snapshot("run");
  for (const wrong of ["lora.targets=[nope]", "lora.rank=100000000", "rollouts.top_p=0"]) {
    const name = new RegExp(wrong.split("=")[0] as string);
    expectError(await grpo(place, "run", TRAIN, "--force", "--set", wrong), EXIT.usage, name);
    expectError(await grpo(place, "new", TRAIN, "--set", wrong), EXIT.usage, name);
  }
  expect(place.snapshot("run")).toEqual(before);
  expect(place.has("new")).toBe(false);
});

test("a run that alarms do not stop says so, and goes on when nobody reads them", async () => {
  const place = new Workspace();
  const loud = ["--steps", "3", "--set", "alarms_stop=false", "--set", "rollouts.top_p=0.01"];
  const heard = await grpo(place, "heard", TRAIN, ...loud);
  expect(heard.stderr).toMatch(/! step 1: /);
  expect(heard.stderr).not.toMatch(/stops the run/);
  const flags = ["train", "grpo", "--init", PI0, "--dataset", TRAIN, "--outdir", "unheard"];
  const command = [process.execPath, BIN, ...flags, ...TINY, ...loud].join(" ");
  const { finished } = start(
    "bash",
    ["-c", `(${command}; echo $? > code) 2>&1 | head -1`],
    place.dir,
  );
  await finished;
  expect(place.read("code").trim()).toBe("0");
  expect(place.read("unheard/metrics.jsonl")).toBe(place.read("heard/metrics.jsonl"));
});
