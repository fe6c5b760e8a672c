/** `train --show-settings` as a person uses it: a recipe out, and the same run from it. */

import path from "node:path";
import { expect, test } from "vitest";
import { absent, EXIT, expectError, ROOT, Workspace } from "./cli.ts";

const PI0 = path.join(ROOT, "assets/pi0");
const room = new Workspace();
room.jsonl("texts.jsonl", [{ prompt: "1+1=", completion: "Final: 2" }]);
room.jsonl("examples.jsonl", [{ id: "a", prompt: "1+1=", expected_answer: 2 }]);

async function shown(algorithm: string, ...flags: string[]): Promise<string> {
  const result = await room.run(["train", algorithm, "--show-settings", ...flags]);
  expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
  return result.stdout;
}

test("needs neither data, nor a folder, nor the engine, and writes nothing", async () => {
  const bare = new Workspace();
  const env = absent(bare, /onnxruntime/);
  const files = bare.snapshot(".");
  const result = await bare.run(["train", "grpo", "--show-settings"], { env });
  expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(result.stdout).toMatch(/^# Settings of grpo: [\s\S]*^rate:[\s\S]*^ {2}clip_low: 0\.2/m);
  expect(bare.snapshot(".")).toEqual(files);
});

test("flags, assignments and a recipe show through", async () => {
  room.write("small.yaml", "batch: 3\nrate:\n  warmup: 2\n");
  const given = [
    "--config",
    "small.yaml",
    "--set",
    "adam.beta1=0.8",
    "--steps",
    "5",
    "--lr",
    "0.1",
  ];
  const text = await shown("sft", ...given);
  for (const line of ["steps: 5", "batch: 3", "  peak: 0.1", "  warmup: 2", "  beta1: 0.8"]) {
    expect(text).toMatch(new RegExp(`^${line} `, "m"));
  }
});

test.each([
  ["sft", ["--dataset", "texts.jsonl"]],
  ["grpo", ["--init", PI0, "--dataset", "examples.jsonl"]],
])("a run of %s by the recipe has the settings of one without", async (algorithm, data) => {
  room.write(`${algorithm}.yaml`, await shown(algorithm));
  const small = ["--set", "batch=2", "--set", "rollouts.prompts=1", "--set", "rollouts.group=2"];
  const made = async (outdir: string, ...more: string[]) => {
    const result = await room.run([
      ...["train", algorithm, ...data, ...small, "--steps", "1", "--outdir", outdir, ...more],
    ]);
    expect(result.code).toBe(EXIT.ok);
    const { settings } = JSON.parse(room.read(outdir, "manifest.json"));
    return { settings, warnings: result.stderr };
  };
  const without = await made(`${algorithm}-without`);
  expect(await made(`${algorithm}-with`, "--config", `${algorithm}.yaml`)).toEqual(without);
});

test("the steps are those of the algorithm unless given", async () => {
  expect(await shown("sft")).toMatch(/^steps: 1000 /m);
  expect(await shown("grpo")).toMatch(/^steps: 100 /m);
});

test("whoever names a wrong setting hears of it; so does who asks for help", async () => {
  const wrong = ["train", "sft", "--show-settings", "--set", "stepz=3"];
  expectError(
    await room.run(wrong),
    EXIT.usage,
    /unknown setting stepz[\s\S]*train sft\s+--show-settings/,
  );
  expect((await room.run(["train", "--help"])).stdout).toMatch(/^ {2}--show-settings +print all/m);
  // Without it, the data and the folder are still asked for.
  const bare = ["train", "sft", "--steps", "1"];
  expectError(await room.run(bare), EXIT.usage, "--outdir");
  expectError(await room.run([...bare, "--outdir", "none"]), EXIT.usage, "--dataset");
});
