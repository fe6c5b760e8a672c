import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import {
  type AdapterContent,
  adapterVector,
  isAdapter,
  loadAdapter,
  mergedPolicy,
  saveAdapter,
} from "./adapter.ts";
import { CharacterTokenizer } from "./characters.ts";
import { checkpointFingerprint, checkpointOf, saveCheckpoint } from "./checkpoint.ts";
import { initialise, SIZES } from "./initialise.ts";
import { adapterParameters, initialiseAdapters, mergeAdapters } from "./lora.ts";
import { readSafetensors, safetensorsBytes } from "./safetensors.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-adapter-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let count = 0;
/** A path where nothing is yet. */
const fresh = () => path.join(scratch, `${count++}`);

const tokenizer = new CharacterTokenizer("\n 0123456789+=");
const architecture = {
  ...{ ...SIZES.nano, width: 16, headSize: 4, inner: 24 },
  vocabulary: tokenizer.size,
};
const policyOf = (seed: number) =>
  checkpointOf({
    ...{ architecture, tokenizer, parameters: initialise(architecture, seed) },
    ...{ trained: null, maxLength: 64 },
  });
const base = policyOf(1);
const settings = { rank: 2, alpha: 5, targets: ["v_proj", "down_proj"] };
const { list, total } = adapterParameters(architecture, settings);
/** As after some training: B is no longer 0. */
const vector = initialiseAdapters(list, total, 7).map((x, i) => x + Math.sin(i) / 8);
const parameters = mergeAdapters(base.parameters, base.placed, vector, list, settings);
const merged = checkpointFingerprint(architecture, tokenizer, parameters);
const content: AdapterContent = { base, settings, vector, merged, trained: { steps: 3 } };

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";
const read = (dir: string, name: string) => readFileSync(path.join(dir, name));
const write = (dir: string, name: string, data: string | Uint8Array) =>
  writeFileSync(path.join(dir, name), data);

async function saved(): Promise<string> {
  const dir = fresh();
  await saveAdapter(dir, content);
  return dir;
}

/** Changes the config and signs it anew, as only a forger would. */
function forge(dir: string, change: (config: Record<string, unknown>) => void): void {
  const config = JSON.parse(read(dir, CONFIG).toString());
  change(config);
  delete config.lockedroom.config_sha256;
  config.lockedroom.config_sha256 = fingerprint(config);
  write(dir, CONFIG, JSON.stringify(config));
}

describe("an adapter on disk", () => {
  test("is laid out as PEFT does it", async () => {
    const dir = await saved();
    expect(readdirSync(dir).sort()).toEqual([CONFIG, WEIGHTS]);
    expect(isAdapter(dir)).toBe(true);
    const config = JSON.parse(read(dir, CONFIG).toString());
    expect(config).toMatchObject({
      ...{ peft_type: "LORA", task_type: "CAUSAL_LM", r: 2, lora_alpha: 5 },
      target_modules: ["v_proj", "down_proj"],
      lockedroom: { base_fingerprint: base.fingerprint, merged_fingerprint: merged },
    });
    const tensors = await readSafetensors(path.join(dir, WEIGHTS));
    expect(tensors.size).toBe(2 * 2 * architecture.layers);
    const name = "base_model.model.model.layers.1.mlp.down_proj";
    expect(tensors.get(`${name}.lora_A.weight`)?.shape).toEqual([2, 24]);
    expect(tensors.get(`${name}.lora_B.weight`)?.shape).toEqual([16, 2]);
  });

  test("comes back to the bit, and is the same bytes again", async () => {
    const dir = await saved();
    const adapter = await loadAdapter(dir);
    expect(adapter).toMatchObject({ dir, settings, merged, base: base.fingerprint });
    expect(adapter.trained).toEqual({ steps: 3 });
    expect(adapterVector(adapter, architecture)).toEqual(vector);
    const before = [CONFIG, WEIGHTS].map((name) => read(dir, name).toString("base64"));
    await saveAdapter(dir, content);
    expect([CONFIG, WEIGHTS].map((name) => read(dir, name).toString("base64"))).toEqual(before);
  });

  test("merged is what was trained, to the bit", async () => {
    const adapter = await loadAdapter(await saved());
    const whole = mergedPolicy(base, adapter);
    expect(whole.parameters).toEqual(parameters);
    expect(await saveCheckpoint(fresh(), whole)).toBe(merged);
  });

  test("of a policy that got a value head for its training", async () => {
    const longer = new Float32Array(base.parameters.length + architecture.width);
    longer.set(base.parameters);
    const headed = { ...architecture, valueHead: true };
    const start = {
      ...checkpointOf({ ...base, architecture: headed, parameters: longer }),
      fingerprint: base.fingerprint,
    };
    const both = mergeAdapters(longer, start.placed, vector, list, settings);
    const dir = fresh();
    const print = checkpointFingerprint(headed, tokenizer, both);
    await saveAdapter(dir, { ...content, base: start, merged: print });
    const whole = mergedPolicy(base, await loadAdapter(dir));
    expect(whole.architecture.valueHead).toBe(true);
    expect(whole.parameters).toEqual(both);
  });
});

describe("what does not belong together is refused by name", () => {
  test("another base", async () => {
    const adapter = await loadAdapter(await saved());
    expect(() => mergedPolicy(policyOf(2), adapter)).toThrow(
      new RegExp(`adapter of the policy ${base.fingerprint.slice(0, 16)}…, and this one is`),
    );
  });

  test("a tensor that is missing, superfluous or of another shape", async () => {
    const adapter = await loadAdapter(await saved());
    const [name = "", tensor] = [...adapter.tensors][0] ?? [];
    const changed = (change: (tensors: Map<string, unknown>) => void) => {
      const tensors = new Map(adapter.tensors);
      change(tensors);
      return () => adapterVector({ ...adapter, tensors }, architecture);
    };
    expect(changed((all) => all.delete(name))).toThrow(`it lacks ${name}`);
    expect(changed((all) => all.set("extra", tensor))).toThrow("it holds extra besides");
    expect(changed((all) => all.set(name, { ...tensor, shape: [1, 1] }))).toThrow(
      `${name} has the shape`,
    );
  });

  test("tensors of another training, in a folder whose hashes were made to agree", async () => {
    const dir = await saved();
    const tensors = [...(await readSafetensors(path.join(dir, WEIGHTS)))].map(([name, one]) => ({
      ...{ name, shape: one.shape, data: one.data.map((x) => 2 * x) },
    }));
    const bytes = Buffer.concat([...safetensorsBytes(tensors)]);
    write(dir, WEIGHTS, bytes);
    await expect(loadAdapter(dir)).rejects.toThrow(/adapter_model.* is not the file/);
    forge(dir, (config) => {
      (config.lockedroom as { files: object }).files = { [WEIGHTS]: sha256(bytes) };
    });
    const adapter = await loadAdapter(dir);
    expect(() => mergedPolicy(base, adapter)).toThrow("not the policy that was trained");
  });
});

describe("damage is refused by name", () => {
  test.each([
    ["no folder", (dir: string) => rmSync(dir, { recursive: true }), /there is no folder/],
    ["no config", (dir: string) => rmSync(path.join(dir, CONFIG)), /it has no adapter_config/],
    ["no weights", (dir: string) => rmSync(path.join(dir, WEIGHTS)), /adapter_model/],
    [
      "a cut file",
      (dir: string) => write(dir, WEIGHTS, read(dir, WEIGHTS).subarray(0, -4)),
      /adapter_model.* is no sound safetensors file/,
    ],
    [
      "an edited config",
      (dir: string) => write(dir, CONFIG, read(dir, CONFIG).toString().replace('"r": 2', '"r": 3')),
      /adapter_config.* is not the file/,
    ],
    ["no JSON", (dir: string) => write(dir, CONFIG, "{"), /adapter_config.* cannot be read/],
    [
      "not LoRA",
      (dir: string) =>
        forge(dir, (config) => {
          config.peft_type = "IA3";
        }),
      /peft_type/,
    ],
    [
      "of another maker",
      (dir: string) => write(dir, CONFIG, '{"peft_type":"LORA","r":2}'),
      /does not say which policy/,
    ],
  ] as const)("%s", async (_, spoil, says) => {
    const dir = await saved();
    spoil(dir);
    await expect(loadAdapter(dir)).rejects.toThrow(says);
  });

  test("numbers that are none are not written", async () => {
    const broken = Float32Array.from(vector);
    broken[3] = Number.NaN;
    const dir = fresh();
    await expect(saveAdapter(dir, { ...content, vector: broken })).rejects.toThrow(/holds NaN/);
    expect(existsSync(dir)).toBe(false);
  });

  test("a folder of others is not replaced", async () => {
    const dir = await saved();
    write(dir, "notes.txt", "mine");
    await expect(saveAdapter(dir, content)).rejects.toThrow(/holds notes\.txt/);
    expect(read(dir, "notes.txt").toString()).toBe("mine");
  });
});
