/** `train sft` as a person uses it: it learns, repeats itself, and survives being killed. */

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { BIN, EXIT, expectError, start, Workspace } from "./cli.ts";

const room = new Workspace();
const SFT = ["train", "sft", "--dataset", "texts.jsonl", "--batch", "8", "--save-every", "10"];

beforeAll(() => {
  const rows = Array.from({ length: 30 }, (_, i) => {
    const [a, b] = [i % 6, Math.floor(i / 6)];
    return JSON.stringify({ id: `t${i}`, prompt: `${a}+${b}=`, completion: `Final: ${a + b}` });
  });
  room.write("texts.jsonl", `${rows.join("\n")}\n`);
});

const train = (outdir: string, steps: number, ...more: string[]) =>
  room.run([...SFT, "--steps", String(steps), "--outdir", outdir, ...more]);

const rowsOf = (dir: string, stream = "metrics"): Record<string, number>[] =>
  room
    .read(dir, `${stream}.jsonl`)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

/** Everything that must not depend on the occasion. */
function outcome(dir: string): Record<string, string> {
  const files = [
    "metrics.jsonl",
    "evaluations.jsonl",
    "samples.jsonl",
    "alarms.jsonl",
    "summary.json",
    "checkpoint/model.safetensors",
    "checkpoint/config.json",
  ];
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(room.path(`${dir}/${name}`)).toString("base64")]),
  );
}

describe("a run", () => {
  let [printed, progress] = ["", ""];
  beforeAll(async () => {
    const { code, stdout, stderr } = await train("whole", 45);
    expect(code).toBe(EXIT.ok);
    progress = stderr;
    printed = stdout;
  });

  test("says what it did, and what to do next", () => {
    const { tokens, first_loss, last_loss } = JSON.parse(room.read("whole/summary.json"));
    expect(printed).toBe(`Trained for 45 updates on ${tokens} tokens.

  loss        ${first_loss.toFixed(4)} → ${last_loss.toFixed(4)}

Policy written to whole/checkpoint
Next: lockedroom policy show whole/checkpoint
Then evaluate it: lockedroom rollout --policy whole/checkpoint \\
  --dataset HELD_OUT --n 1 --max-tokens 32 --outdir whole-rollout
`);
  });

  test("says what it made of the texts, and how it goes, without a terminal too", () => {
    expect(progress).toContain("nano, 99,008 parameters");
    expect(progress).toMatch(
      /vocabulary {2}22 tokens: 3 special ones and 19 characters, {2}\+0123/,
    );
    expect(progress).toMatch(/context {5}64 tokens, .* the longest text has 14/);
    expect(progress).toMatch(/30 texts, 270 tokens to learn; 45 steps of 8 are 12 passes/);
    expect(progress).toMatch(/advice {6}.* --size nano and about --steps 200/);
    const rows = rowsOf("whole");
    const lines = [...progress.matchAll(/^ {2}step (\d+) of 45: loss (\d\.\d{4})$/gm)];
    expect(lines.map(([, step]) => Number(step))).toEqual([1, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
    for (const [, step, loss] of lines) {
      expect(rows[Number(step) - 1]?.loss?.toFixed(4)).toBe(loss);
    }
  });

  test("writes a line of numbers for every update", () => {
    const rows = rowsOf("whole");
    expect(rows.map(({ step }) => step)).toEqual(Array.from({ length: 45 }, (_, i) => i + 1));
    for (const row of rows) {
      expect(Object.keys(row).sort()).toEqual([
        "entropy",
        "gradient_norm",
        "learning_rate",
        "loss",
        "step",
        "token_accuracy",
        "tokens",
      ]);
      for (const value of Object.values(row)) expect(Number.isFinite(value)).toBe(true);
    }
    const [first, last] = [rows[0], rows.at(-1)];
    expect(first?.entropy).toBeGreaterThan(last?.entropy as number);
    expect(first?.token_accuracy).toBeLessThan(last?.token_accuracy as number);
    for (const stream of ["evaluations", "samples", "alarms"]) {
      expect(rowsOf("whole", stream), stream).toEqual([]);
    }
    // What came before the first update has a line of its own.
    expect(new Set(rowsOf("whole", "timing").map(({ step }) => step)).size).toBeGreaterThan(44);
  });

  test("records every setting, its own defaults included", () => {
    const { settings, scorers, algorithm } = JSON.parse(room.read("whole/manifest.json"));
    expect({ algorithm, scorers }).toEqual({ algorithm: "sft", scorers: [] });
    expect(settings).toMatchObject({
      ...{ steps: 45, batch: 8, seed: 0, micro_batch_size: null, lora: null },
      rate: { peak: 0.003, warmup: 20, end: 0.1, shape: "cosine" },
      adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0, clip_norm: 1 },
      algorithm: { reduction: "dapo" },
    });
  });

  test("learns, and its checkpoint says what it was trained on", async () => {
    const summary = JSON.parse(room.read("whole/summary.json"));
    expect(summary.steps).toBe(45);
    expect(summary.last_loss).toBeLessThan(0.6 * summary.first_loss);
    const shown = await room.run(["policy", "show", "whole/checkpoint"]);
    expect(shown.stdout).toContain("sft");
    expect(existsSync(room.path("whole/state"))).toBe(false);
  });

  test("gives the same bytes again, with two threads too", async () => {
    await train("again", 45);
    await train("threads", 45, "--threads", "2");
    expect(outcome("again")).toEqual(outcome("whole"));
    expect(outcome("threads")).toEqual(outcome("whole"));
  });

  test("killed in the middle and resumed, ends with the same bytes", async () => {
    const args = [BIN, ...SFT, "--steps", "45", "--outdir", "killed"];
    const { child, finished } = start(process.execPath, args, room.dir);
    while (!existsSync(room.path("killed/state"))) await after(5);
    child.kill("SIGKILL");
    await finished;
    if (!existsSync(room.path("killed/summary.json"))) {
      expectError(await train("killed", 45), EXIT.usage, /unfinished[\s\S]*--resume/);
      expectError(await train("killed", 50, "--resume"), EXIT.usage, /other settings \(steps\)/);
      expect((await train("killed", 45, "--resume")).code).toBe(EXIT.ok);
    }
    expect(outcome("killed")).toEqual(outcome("whole"));
  });

  test("samples from what it learned, through rollout and eval", async () => {
    room.write(
      "d.jsonl",
      '{"id":"a","prompt":"1+1=","expected_answer":2}\n{"id":"b","prompt":"2+3=","expected_answer":5}\n',
    );
    const rollout = ["rollout", "--policy", "whole/checkpoint", "--dataset", "d.jsonl", "--n", "1"];
    const { code, stderr } = await room.run([
      ...rollout,
      "--temperature",
      "0",
      "--max-tokens",
      "12",
      "--outdir",
      "said",
    ]);
    expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
    const said = room
      .read("said/completions.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const { completion } of said) expect(completion).toMatch(/^Final: \d/);
    const evaluated = await room.run([
      "eval",
      "--dataset",
      "d.jsonl",
      "--completions",
      "said/completions.jsonl",
      "--outdir",
      "scored",
      "--quiet",
    ]);
    expect(evaluated.code).toBe(EXIT.ok);
  });

  test("goes on from a checkpoint", async () => {
    expect((await train("tuned", 10, "--init", "whole/checkpoint", "--lr", "0.001")).code).toBe(
      EXIT.ok,
    );
    const [first, tuned] = ["whole", "tuned"].map((dir) =>
      JSON.parse(room.read(`${dir}/summary.json`)),
    );
    expect(tuned.first_loss).toBeLessThan(first.first_loss / 2);
  });
});

describe("with sets to measure on", () => {
  const sums = (b: number) =>
    Array.from({ length: 6 }, (_, a) => ({
      ...{ id: `${a}-${b}`, prompt: `${a}+${b}=`, expected_answer: a + b },
    }));

  beforeAll(() => {
    // Texts have second numbers up to 4.
    room.jsonl("dev.jsonl", sums(5));
    room.jsonl("holdout.jsonl", sums(6));
  });

  test("it validates on the way, tests once, and says both", async () => {
    const sets = ["--dev", "dev.jsonl", "--eval-every", "10", "--holdout", "holdout.jsonl"];
    const { code, stdout } = await train("measured", 25, ...sets);
    expect(code).toBe(EXIT.ok);
    expect(rowsOf("measured", "evaluations").map(({ step }) => step)).toEqual([0, 10, 20, 25]);
    expect(stdout).toMatch(/^ {2}validation {2}0\.\d{4} → 0\.\d{4} {2}of 6, 95 % interval/m);
    expect(stdout).toMatch(/^ {2}KL {10}\d+\.\d{4} {2}nats per token, exact$/m);
    expect(stdout).toMatch(/^ {2}entropy {5}\d+\.\d{4} → \d+\.\d{4}/m);
    expect(stdout).toMatch(/^ {2}holdout {5}\d\.\d{4} {2}used once so far$/m);
    expect(stdout).toContain("Next: lockedroom report --run measured --outfile measured.html");
    expect(stdout).toMatch(
      /^Then evaluate it: .* --policy measured\/checkpoint \\\n {2}--dataset holdout/m,
    );
    const { holdout } = JSON.parse(room.read("measured/summary.json"));
    expect(holdout).toMatchObject({ evaluations: 1, before: 0 });
    const { scorers } = JSON.parse(room.read("measured/manifest.json"));
    expect(scorers.map(({ role }: { role: string }) => role)).toEqual(["validation"]);
    // The next run from this checkpoint knows of the first look.
    const again = ["--init", "measured/checkpoint", "--holdout", "holdout.jsonl"];
    expect((await train("measured-again", 2, ...again)).stdout).toMatch(/used 2 times so far/);
  });

  test("a scorer of one's own is in what to do next", async () => {
    room.write(
      "mine.ts",
      'export const name = "mine"; export const version = "1"; export const spec = "any";\n' +
        'export const score = () => ({ reward: 1, code: "any", details: {} });\n',
    );
    const { stdout, stderr } = await train("own", 2, "--dev", "dev.jsonl", "--scorer", "mine.ts");
    expect(stdout).toMatch(
      /^And score it: .* eval --dataset HELD_OUT \\\n {2}--completions own-rollout\/completions\.jsonl --scorer mine\.ts/m,
    );
    expect(stderr).toMatch(
      /^ {2}validation at step 2: pass rate 1\.0000; any 6\n {4}"0\+5=" → ".*" any$/m,
    );
  });

  test("one that is learned from is refused by name", async () => {
    room.jsonl("shared.jsonl", [...sums(5), { id: "mine", prompt: "2+3=" }]);
    const result = await train("shared", 2, "--dev", "shared.jsonl");
    expectError(
      result,
      EXIT.data,
      /texts\.jsonl:21 and shared\.jsonl:7 share an example: "t20" is "mine" \(1 of 30 rows of texts\.jsonl is held out\)/,
    );
    expect(existsSync(room.path("shared"))).toBe(false);
  });
});

describe("settings", () => {
  const settingsOf = (dir: string) => JSON.parse(room.read(`${dir}/manifest.json`)).settings;

  test("a recipe, then what is assigned, then flags: the later wins", async () => {
    room.write(
      "recipe.yaml",
      "steps: 9\nseed: 4\nrate:\n  peak: 0.01\n  warmup: 1\nadam:\n  beta1: 0.8\nalgorithm:\n  reduction: grpo\n",
    );
    const { code, stderr } = await room.run([
      ...[
        "train",
        "sft",
        "--dataset",
        "texts.jsonl",
        "--config",
        "recipe.yaml",
        "--outdir",
        "mixed",
      ],
      ...["--set", "rate.peak=0.02", "--set", "adam.beta2=0.9", "--set", "batch=4"],
      ...["--steps", "3", "--lr", "0.005", "--quiet"],
    ]);
    expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
    expect(settingsOf("mixed")).toMatchObject({
      ...{ steps: 3, seed: 4, batch: 4, algorithm: { reduction: "grpo" } },
      rate: { peak: 0.005, warmup: 1, end: 0.1, shape: "cosine" },
      adam: { beta1: 0.8, beta2: 0.9 },
    });
    expect(rowsOf("mixed")).toHaveLength(3);
  });

  test.each([
    [
      "an unknown one",
      ["--set", "stepz=3"],
      /unknown setting stepz Settings: steps, seed, .*, kl,/,
    ],
    [
      "an unknown one of the algorithm",
      ["--set", "algorithm.beta=3"],
      /unknown setting algorithm\.beta Settings of algorithm: reduction/,
    ],
    [
      "an unknown one of a group",
      ["--set", "kl.mod=fixed"],
      /kl\.mod Settings of kl: mode, coefficient,/,
    ],
    [
      "a group in place of one of its own",
      ["--set", "rate=3"],
      /Settings of rate: peak, warmup, end, /,
    ],
    [
      "one that is missing",
      ["--set", "cost.rate=1"],
      /Give --set cost\.limit=VALUE, or cost\.limit/,
    ],
    ["a value out of range", ["--set", "rate.end=3"], /rate\.end/],
    ["nothing assigned", ["--set", "batch"], /"batch" is not an assignment/],
  ])("%s is refused", async (_, flags, says) => {
    expectError(await train("unset", 2, ...flags), EXIT.usage, says);
    expect(existsSync(room.path("unset"))).toBe(false);
  });

  test.each([
    ["is not there", "missing.yaml", undefined, /missing\.yaml.*no such file/],
    ["is no YAML", "bad.yaml", "steps: [3\n", /bad\.yaml is not valid YAML/],
    ["holds no settings", "bad.yaml", "- 3\n", /bad\.yaml has no settings/],
  ])("a recipe that %s is refused", async (_, file, content, says) => {
    if (content !== undefined) room.write(file, content);
    expectError(await train("unset", 2, "--config", file), EXIT.data, says);
  });

  test("how many updates has a default", async () => {
    const { stdout } = await room.run(["train", "sft", "--show-settings"]);
    expect(stdout).toMatch(/^steps: 1000 /m);
  });

  test("what has no effect is warned of, and trained all the same", async () => {
    const idle = ["--set", "kl.coefficient=0.5", "--set", "rollouts.group=4"];
    const { code, stderr } = await train("idle", 2, ...idle);
    expect(code).toBe(EXIT.ok);
    expect(stderr).toMatch(
      /^ {2}! rollouts\.group has no effect: sft does not sample\n {2}! kl\.coefficient has no effect: sft does not sample\n/,
    );
    expect((await train("read", 2)).stderr).not.toContain("has no effect");
    const quiet = await train("idle", 2, "--set", "kl.coefficient=0.5", "--force", "--quiet");
    expect(quiet).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test("quiet means quiet", async () => {
    expect(await train("quiet", 2, "--quiet")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test.each([
    ["--engine", "--engine", "local"],
    ["--env", "environment", "tool-calls"],
  ])("%s with an unknown name is refused with the names that there are", async (flag, ...says) => {
    expectError(await train("unset", 2, flag, "mystery"), EXIT.usage, "mystery", ...says);
    expect(existsSync(room.path("unset"))).toBe(false);
  });

  test("an algorithm that nobody knows is refused with those that there are", async () => {
    const result = await room.run([
      "train",
      "dqn",
      "--dataset",
      "texts.jsonl",
      "--outdir",
      "unset",
    ]);
    expectError(result, EXIT.usage, /dqn/, /grpo/);
  });
});

test("a batch in parts is the same batch", async () => {
  await train("together", 3);
  await train("parts", 3, "--set", "micro_batch_size=3");
  const [together, parts] = [rowsOf("together"), rowsOf("parts")];
  together.forEach((row, i) => {
    expect(parts[i]?.loss).toBeCloseTo(row.loss as number, 4);
    expect(parts[i]?.tokens).toBe(row.tokens);
  });
});

test("help with an algorithm is about that one, and without about all", async () => {
  const [one, all] = await Promise.all(
    [["grpo"], []].map((words) => room.run(["train", ...words, "--help"])),
  );
  expect(one?.stdout).toMatch(
    /^Usage: lockedroom train grpo [\s\S]*^ {2}algorithm\.clip_low +0\.2/m,
  );
  expect(one?.stdout).not.toContain("--batch");
  expect(all?.stdout).toMatch(/--batch[\s\S]*^Algorithms:$/m);
});

test("a learning rate that ruins the policy is named, and stops the run", async () => {
  const { stdout, stderr } = await train("ruined", 60, "--lr", "3", "--warmup", "0");
  expect(stdout).toContain("by the alarm ruinous_learning_rate");
  expect(stderr.replaceAll(/\n +/g, " ")).toMatch(/The learning rate of 3, 1000 times the default/);
});

test("a loss that explodes stops the run, and names the step and the last good checkpoint", async () => {
  const wild = ["--lr", "10", "--warmup", "15", "--schedule", "constant"];
  const result = await train("wild", 400, ...wild, "--set", "alarms_stop=false", "--quiet");
  expectError(
    result,
    EXIT.data,
    /the loss became .* at step \d+[\s\S]*checkpoint/,
    /learning rate of 10 is too high: the default of sft is 0\.003/,
  );
  expect(existsSync(room.path("wild/summary.json"))).toBe(false);
});

test.each([
  ["an empty data set", "", /is empty/],
  ["a row without a completion", '{"id":"a","prompt":"x"}\n', /prompt and completion/],
])("%s is refused", async (_, content, says) => {
  room.write("bad.jsonl", content);
  const result = await room.run([
    "train",
    "sft",
    "--dataset",
    "bad.jsonl",
    "--steps",
    "1",
    "--outdir",
    "bad",
  ]);
  expectError(result, EXIT.data, says);
  expect(existsSync(room.path("bad"))).toBe(false);
});

test("characters that a checkpoint does not know are refused by name", async () => {
  room.write("odd.jsonl", '{"id":"a","prompt":"€","completion":"1"}\n');
  const result = await room.run([
    "train",
    "sft",
    "--dataset",
    "odd.jsonl",
    "--init",
    "whole/checkpoint",
    "--steps",
    "1",
    "--outdir",
    "odd",
  ]);
  expectError(result, EXIT.data, /€|U\+20AC/);
});

describe("data of another kind", () => {
  const text = { prompt: "1+1=", completion: "Final: 2" };
  const learn = (algorithm: string, file: string, ...more: string[]) =>
    room.run([
      ...["train", algorithm, "--init", "pi0", "--dataset", file, "--steps", "1"],
      ...["--outdir", "other", ...more],
    ]);

  test.each<[algorithm: string, row: object, ...says: string[]]>([
    ["grpo", text, "grpo trains on examples (id, prompt, expected_answer)", "this file has texts"],
    ["grpo", { id: "a", samples: ["1"] }, "this file has packs of samples", "lockedroom pairs"],
    ["dpo", { ...text, label: true }, "dpo trains on pairs", "Train on it with kto"],
    ["sft", { id: "a", prompt: "1+1=", expected_answer: 2 }, "this file has examples", "grpo"],
  ])("%s says what it needs, and what %j is", async (algorithm, row, ...says) => {
    room.jsonl("other.jsonl", [row]);
    expectError(await learn(algorithm, "other.jsonl"), EXIT.data, "other.jsonl:1", ...says);
  });

  test("a broken row among good ones is only that", async () => {
    room.jsonl("other.jsonl", [text, { prompt: "1+1=" }]);
    const result = await learn("sft", "other.jsonl");
    expectError(result, EXIT.data, "other.jsonl:2", "The line reads");
  });

  test("texts that pass for examples are warned of, since a scorer may know better", async () => {
    room.jsonl("other.jsonl", [{ id: "a", ...text }]);
    const { code, stderr } = await learn("grpo", "other.jsonl");
    expect(stderr).toMatch(/^ {2}! other\.jsonl has no expected_answer: grpo trains on/);
    // The built-in scorer does not: it needs an answer, and without a reward nothing is learned.
    expect(stderr).toMatch(/other\.jsonl:1: the scorer math_final_line cannot read "a"/);
    expect(stderr).toContain("Nothing was trained. Give --scorer FILE");
    expect(code).toBe(EXIT.data);
  });
});

test("a method that samples says how its reward changed, where nothing was validated", async () => {
  room.jsonl("sums.jsonl", [{ id: "a", prompt: "1+1=", expected_answer: 2 }]);
  const { code, stdout } = await room.run([
    ...["train", "rloo", "--init", "pi0", "--dataset", "sums.jsonl", "--steps", "2"],
    ...["--set", "rollouts.prompts=1", "--set", "rollouts.group=2", "--outdir", "rewarded"],
  ]);
  expect(code).toBe(EXIT.ok);
  const [first, last] = rowsOf("rewarded").map((row) => row["reward/mean"]?.toFixed(4));
  expect(stdout).toContain(`  reward      ${first} → ${last}  mean of the first and last step\n`);
});
