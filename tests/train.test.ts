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

/** Everything that must not depend on the occasion. */
function outcome(dir: string): Record<string, string> {
  const files = [
    "metrics.jsonl",
    "summary.json",
    "checkpoint/model.safetensors",
    "checkpoint/config.json",
  ];
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(room.path(`${dir}/${name}`)).toString("base64")]),
  );
}

describe("a run", () => {
  beforeAll(async () => {
    const { code, stderr } = await train("whole", 45);
    expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
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
      "judged",
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

test("a loss that explodes stops the run, and names the step and the last good checkpoint", async () => {
  const result = await train("wild", 400, "--lr", "10", "--warmup", "15", "--schedule", "constant");
  expectError(result, EXIT.data, /the loss became .* at step \d+[\s\S]*checkpoint/);
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
