/** `train` with the setting lora, `policy merge` and `policy show` of an adapter. */

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { readSafetensors } from "../src/policy/safetensors.ts";
import { wholeFolder } from "../src/runs/replace-folder.ts";
import { BIN, describeRun, EXIT, expectError, start, Workspace } from "./cli.ts";

const room = new Workspace();
const LORA = ["--init", "base/checkpoint", "--set", "lora.rank=4", "--save-every", "10"];
const sft = (outdir: string, steps: number, ...more: string[]) => [
  ...["train", "sft", "--dataset", "texts.jsonl", "--batch", "8", "--quiet"],
  ...["--steps", String(steps), "--outdir", outdir, ...more],
];

async function run(...args: string[]): Promise<string> {
  const result = await room.run(args);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  if (!args.includes("json")) expect(result.stdout).not.toMatch(/^.{81}/mu);
  return result.stdout;
}

const bytes = (folder: string) => room.snapshot(folder);
const fingerprintOf = (folder: string) =>
  JSON.parse(room.read(folder, "config.json")).lockedroom.fingerprint as string;

/** Rank 4 on queries and values of a nano policy: A and B of each, in each layer. */
function adapterSize(): number {
  const { hidden_size, num_attention_heads, num_key_value_heads, head_dim, num_hidden_layers } =
    JSON.parse(room.read("base/checkpoint/config.json"));
  const outputs = [num_attention_heads * head_dim, num_key_value_heads * head_dim];
  return outputs.reduce((sum, out) => sum + 4 * (hidden_size + out) * num_hidden_layers, 0);
}

beforeAll(async () => {
  room.jsonl(
    "texts.jsonl",
    Array.from({ length: 30 }, (_, i) => {
      const [a, b] = [i % 6, Math.floor(i / 6)];
      return { id: `t${i}`, prompt: `${a}+${b}=`, completion: `Final: ${a + b}` };
    }),
  );
  room.jsonl("dev.jsonl", [{ id: "d", prompt: "5+5=", expected_answer: 10 }]);
  await run(...sft("base", 12));
  await run(...sft("lora", 45, ...LORA));
});

describe("a run with the setting lora", () => {
  test("writes its adapter, and base and adapter merged are its checkpoint, to the bit", async () => {
    const stdout = await run(
      ...["policy", "merge", "base/checkpoint", "lora/adapter", "--outdir", "merged"],
    );
    expect(bytes("merged")).toEqual(bytes("lora/checkpoint"));
    expect(stdout).toContain(fingerprintOf("lora/checkpoint"));
    expect(bytes("merged")["model.safetensors"]).not.toBe(
      bytes("base/checkpoint")["model.safetensors"],
    );
    expect(existsSync(room.path("base/adapter"))).toBe(false);
  });

  test("keeps only the adapters in the optimiser's vector, and goes on to the same bytes", async () => {
    const args = [BIN, ...sft("killed", 45, ...LORA)];
    const { child, finished } = start(process.execPath, args, room.dir);
    while (!existsSync(room.path("killed/state"))) await after(2);
    child.kill("SIGSTOP");
    const state = wholeFolder(room.path("killed/state"));
    const tensors = await readSafetensors(`${state}/engine.safetensors`);
    child.kill("SIGKILL");
    await finished;
    expect(Object.fromEntries([...tensors].map(([name, { shape }]) => [name, shape]))).toEqual({
      ...{ parameters: [adapterSize()], m: [adapterSize()], v: [adapterSize()] },
    });
    await run(...sft("killed", 45, ...LORA, "--resume"));
    for (const folder of ["adapter", "checkpoint"]) {
      expect(bytes(`killed/${folder}`)).toEqual(bytes(`lora/${folder}`));
    }
  });

  test("that goes back to its best policy goes back to the best adapter", async () => {
    const plateau = ["--set", "stop.plateau.steps=10", "--set", "stop.plateau.delta=2"];
    const dev = ["--dev", "dev.jsonl", "--eval-every", "5"];
    const result = await room.run(sft("early", 20, ...LORA, ...plateau, ...dev));
    expect(result.code, describeRun(result)).toBe(EXIT.ok);
    const { stop } = JSON.parse(room.read("early/summary.json"));
    expect(stop).toMatchObject({ reason: "plateau", step: 15, kept: 0 });
    await run("policy", "merge", "base/checkpoint", "early/adapter", "--outdir", "early-merged");
    expect(bytes("early-merged")).toEqual(bytes("early/checkpoint"));
    const weights = "adapter_model.safetensors";
    expect(bytes("early/adapter")[weights]).toBe(bytes("early/best-adapter")[weights]);
  });

  test("from scratch writes no adapter, because its base lies nowhere", async () => {
    await run(...sft("scratch", 2, "--set", "lora.rank=4"));
    expect(existsSync(room.path("scratch/checkpoint"))).toBe(true);
    expect(existsSync(room.path("scratch/adapter"))).toBe(false);
  });
});

describe("policy", () => {
  test("show says that it is an adapter, and of which policy", async () => {
    const shown = await run("policy", "show", "lora/adapter");
    expect(shown).toMatch(/LoRA adapter: \d+ parameters, rank 4, alpha/);
    expect(shown).toContain(fingerprintOf("base/checkpoint"));
    expect(shown).toContain(fingerprintOf("lora/checkpoint"));
    const found = JSON.parse(await run("policy", "show", "lora/adapter", "--format", "json"));
    expect(found).toMatchObject({
      ...{ schema: "lockedroom.adapter@1", rank: 4, parameters: adapterSize() },
      base_fingerprint: fingerprintOf("base/checkpoint"),
      trained: { algorithm: "sft", step: 45 },
    });
  });

  test("merge refuses what does not belong together, and what would be lost", async () => {
    const merge = (...args: string[]) => room.run(["policy", "merge", ...args]);
    const other = ["lora/checkpoint", "lora/adapter", "--outdir", "x"];
    expectError(await merge(...other), EXIT.data, /is an adapter of the policy/);
    expectError(
      await merge("base/checkpoint", "lora/checkpoint", "--outdir", "x"),
      EXIT.data,
      /is a checkpoint, not an adapter/,
    );
    const pair = ["base/checkpoint", "lora/adapter"];
    expectError(await merge(...pair), EXIT.usage, /needs a checkpoint, an adapter and --outdir/);
    for (const lost of pair) {
      const refused = await merge(...pair, "--outdir", `${lost}/`, "--force");
      expectError(refused, EXIT.usage, /is an input of the merge/);
    }
    expectError(await merge(...pair, "--outdir", "base"), EXIT.usage, /not empty/);
    expectError(await merge(...pair, "--outdir", "base", "--force"), EXIT.usage, /not part of/);
    expectError(await room.run(["policy", "show", ...pair]), EXIT.usage, /takes one folder/);
    expect(existsSync(room.path("x"))).toBe(false);
    expect(readFileSync(room.path("base/checkpoint/config.json")).length).toBeGreaterThan(0);
  });
});
