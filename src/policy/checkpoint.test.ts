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
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { characterFiles } from "./character-files.ts";
import { CharacterTokenizer } from "./characters.ts";
import { checkpointOf, loadCheckpoint, saveCheckpoint } from "./checkpoint.ts";
import { initialise, SIZES } from "./initialise.ts";

const FIXTURES = path.join(import.meta.dirname, "../../tests/fixtures/hf-tiny");
const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-checkpoint-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let count = 0;
/** A path where nothing is yet. */
const fresh = () => path.join(scratch, `${count++}`);

const tokenizer = new CharacterTokenizer("\n 0123456789+=");
const fileOf = (alphabet: string) => characterFiles([...alphabet])["tokenizer.json"] ?? "";
const architecture = {
  ...{ ...SIZES.nano, width: 16, headSize: 4, inner: 24 },
  vocabulary: tokenizer.size,
};
const content = {
  architecture,
  tokenizer,
  parameters: initialise(architecture, 1),
  trained: { steps: 3, datasets: [{ sha256: "ab" }] },
  maxLength: 64,
};

function filesOf(dir: string): Record<string, string> {
  const names = readdirSync(dir).sort();
  return Object.fromEntries(names.map((name) => [name, read(dir, name).toString("base64")]));
}

const read = (dir: string, name: string) => readFileSync(path.join(dir, name));
const write = (dir: string, name: string, data: string | Uint8Array) =>
  writeFileSync(path.join(dir, name), data);

function edit(dir: string, name: string, change: (content: Record<string, unknown>) => void) {
  const parsed = JSON.parse(read(dir, name).toString("utf8"));
  change(parsed);
  write(dir, name, JSON.stringify(parsed));
}

describe("the round trip", () => {
  test.each([{}, { valueHead: true }, { tied: false, biases: true }, { headNorms: true }])(
    "is exact: %o",
    async (kind) => {
      const changed = { ...architecture, ...kind };
      const given = {
        ...content,
        architecture: changed,
        parameters: initialise(changed, 2),
      };
      const [first, second] = [fresh(), fresh()];
      const print = await saveCheckpoint(first, given);
      const loaded = await loadCheckpoint(first);
      expect(loaded).toMatchObject({
        ...{ dir: first, fingerprint: print, chat: null },
        ...{ architecture: changed, trained: content.trained, maxLength: 64 },
      });
      expect(loaded.parameters).toEqual(given.parameters);
      expect(loaded.tokenizer.files).toEqual(tokenizer.files);
      expect(await saveCheckpoint(second, loaded)).toBe(print);
      expect(filesOf(second)).toEqual(filesOf(first));
      expect(checkpointOf(given).fingerprint).toBe(print);
    },
  );

  test("holds for a checkpoint of Hugging Face, its template and settings included", async () => {
    const [first, second] = [fresh(), fresh()];
    cpSync(path.join(FIXTURES, "qwen2-like"), first, { recursive: true });
    const settings = {
      bos_token: { content: "<|im_start|>" },
      eos_token: "<|im_end|>",
      chat_template: [{ name: "default", template: "{{ bos_token }}{{ messages[0].content }}" }],
    };
    write(first, "tokenizer_config.json", JSON.stringify(settings));
    write(first, "generation_config.json", JSON.stringify({ eos_token_id: [2, 0] }));
    const loaded = await loadCheckpoint(first);
    const render = (chat: typeof loaded.chat) =>
      chat?.render([{ role: "user", content: "hi" }], { addGenerationPrompt: true });
    expect(render(loaded.chat)).toBe("<|im_start|>hi");
    expect(loaded.tokenizer.endTokens).toEqual([2, 0]);
    await saveCheckpoint(second, loaded);
    const again = await loadCheckpoint(second);
    expect(render(again.chat)).toBe("<|im_start|>hi");
    expect(again.tokenizer.endTokens).toEqual([2, 0]);
    expect(again.fingerprint).toBe(loaded.fingerprint);
    write(first, "chat_template.jinja", "{{ eos_token }}!");
    expect(render((await loadCheckpoint(first)).chat)).toBe("<|im_end|>!");
  });
});

test("the fingerprint is of the content: every part counts, the place and the record do not", () => {
  const print = (changes: Partial<typeof content>) =>
    checkpointOf({ ...content, ...changes }).fingerprint;
  const other = content.parameters.slice();
  other[5] = 1;
  const prints = [
    print({}),
    print({ parameters: other }),
    print({ architecture: { ...architecture, epsilon: 1e-5 } }),
    print({ tokenizer: new CharacterTokenizer("\n 0123456789=+") }),
  ];
  expect(new Set(prints).size).toBe(4);
  expect(print({ trained: { steps: 4, datasets: [] }, maxLength: 65 })).toBe(prints[0]);
});

describe("what is damaged is refused by name, with a next step", () => {
  let dir = "";
  beforeEach(async () => {
    dir = fresh();
    await saveCheckpoint(dir, content);
  });
  const refused = async (...texts: string[]) => {
    const error = await loadCheckpoint(dir).catch((thrown) => thrown);
    for (const text of texts) expect(error.message).toContain(text);
    expect(error).toMatchObject({ kind: "data", hint: expect.stringMatching(/\.$/) });
  };

  const FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
  test.each(FILES)("%s is missing", async (name) => {
    rmSync(path.join(dir, name));
    await refused(name);
  });

  test.each(FILES)("%s is cut", async (name) => {
    write(dir, name, read(dir, name).subarray(0, -9));
    await refused(name);
  });

  test("one bit of the weights is another", async () => {
    const bytes = read(dir, "model.safetensors");
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 4) ^ 1, bytes.length - 4);
    write(dir, "model.safetensors", bytes);
    await refused("model.safetensors is not the file that the checkpoint was written with");
  });

  test("another alphabet of the same size", async () => {
    write(dir, "tokenizer.json", fileOf("\n 0123456789=+"));
    await refused("tokenizer.json is not the file");
  });

  test("the same tokenizer in another layout", async () => {
    edit(dir, "tokenizer.json", () => {});
    await refused("tokenizer.json is not the file");
  });

  test("another alphabet of another size", async () => {
    write(dir, "tokenizer.json", fileOf("01"));
    await refused(
      "tokenizer.json has 5 tokens",
      `the vocabulary of the model has ${tokenizer.size}`,
    );
  });

  test.each<[string, (config: Record<string, unknown>) => void]>([
    ["config.json is not the file", (config) => (config.rms_norm_eps = 0.1)],
    ["config.json is not the file", (config) => (config.eos_token_id = 5)],
    [
      "config.json is not the file",
      (c) => Object.assign(c.lockedroom as object, { trained: null }),
    ],
    ["lockedroom.schema", (c) => Object.assign(c.lockedroom as object, { schema: "x@9" })],
    ["lockedroom.files", (c) => Object.assign(c.lockedroom as object, { files: 3 })],
    ["hidden_size", (config) => (config.hidden_size = -4)],
  ])("edited: %s", async (problem, change) => {
    edit(dir, "config.json", change);
    await refused("config.json", problem);
  });

  test("the folder is not there", async () => {
    rmSync(dir, { recursive: true });
    await refused(`there is no folder ${dir}`);
  });
});

describe("writing", () => {
  test("replaces an older checkpoint as a whole", async () => {
    const dir = fresh();
    await saveCheckpoint(dir, content);
    const newer = { ...content, parameters: initialise(architecture, 9) };
    const print = await saveCheckpoint(dir, newer);
    expect((await loadCheckpoint(dir)).fingerprint).toBe(print);
    expect(readdirSync(scratch).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test.each<[string, (dir: string) => void]>([
    ["notes.txt", (dir) => write(dir, "notes.txt", "mine")],
    ["config.json", (dir) => write(dir, "config.json", '{"model_type": "llama"}')],
  ])("leaves a folder alone that holds %s of somebody else", async (name, fill) => {
    const dir = fresh();
    mkdirSync(dir);
    fill(dir);
    await expect(saveCheckpoint(dir, content)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(name),
    });
    expect(readdirSync(dir)).toEqual([name]);
  });

  test("refuses weights that no load would take", async () => {
    const dir = fresh();
    const parameters = content.parameters.slice();
    parameters[0] = Number.NaN;
    await expect(saveCheckpoint(dir, { ...content, parameters })).rejects.toThrow(
      "model.embed_tokens.weight holds NaN at place 0",
    );
    await expect(
      saveCheckpoint(dir, { ...content, parameters: parameters.subarray(1) }),
    ).rejects.toThrow("parameters");
    await expect(
      saveCheckpoint(dir, { ...content, tokenizer: new CharacterTokenizer("01") }),
    ).rejects.toThrow("has 5 tokens");
    expect(existsSync(dir)).toBe(false);
  });

  test("what a killed writer had moved aside is still found, and then replaced", async () => {
    const dir = fresh();
    const print = await saveCheckpoint(dir, content);
    const aside = path.join(scratch, `.${path.basename(dir)}.previous`);
    renameSync(dir, aside);
    expect((await loadCheckpoint(dir)).fingerprint).toBe(print);
    const newer = { ...content, parameters: initialise(architecture, 9) };
    const next = await saveCheckpoint(dir, newer);
    expect((await loadCheckpoint(dir)).fingerprint).toBe(next);
    expect(existsSync(aside)).toBe(false);
  });
});
