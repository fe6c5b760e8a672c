/** `lockedroom policy`, the exported graph, and a checkpoint whose writer is killed. */

import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, test } from "vitest";
import { CharacterTokenizer } from "../src/policy/characters.ts";
import { loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { initialise, SIZES } from "../src/policy/initialise.ts";
import { DEV, describeRun, EXIT, expectError, ROOT, start, Workspace } from "./cli.ts";

const FIXTURES = path.join(ROOT, "tests/fixtures/hf-tiny");
const LLAMA = path.join(FIXTURES, "llama");

const workspace = new Workspace();
const tokenizer = new CharacterTokenizer("\n 0123456789+-*=.:?abcdefghijklmnopqrstuvwxyz");
const architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
const own = {
  architecture,
  tokenizer,
  parameters: initialise(architecture, 1),
  trained: {
    steps: 2000,
    recipe: { batch: 64, rate: 0.003 },
    datasets: [{ name: "sums\u202e", sha256: "0".repeat(64) }],
  },
  maxLength: 64,
};
let fingerprint = "";
beforeAll(async () => {
  fingerprint = await saveCheckpoint(workspace.path("own"), own);
});

/** Runs the command and insists on success. */
async function policy(...args: string[]): Promise<string> {
  const result = await workspace.run(["policy", ...args]);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  if (!args.includes("json")) expect(result.stdout).not.toMatch(/^.{81}/mu);
  return result.stdout;
}

describe.concurrent("show", () => {
  test("says what our checkpoint is, and what it was trained on", async () => {
    const shown = await policy("show", "own");
    expect(shown).toContain(`fingerprint     ${fingerprint}`);
    expect(shown).toMatch(/^parameters +1\d\d,\d{3}$/m);
    expect(shown).toContain("in each of 2 layers");
    expect(shown).toContain("context length  64 tokens");
    expect(shown).toContain(`characters, ${tokenizer.size} tokens; begin token 1, end tokens 2`);
    expect(shown).toContain("chat template   no");
    expect(shown).toMatch(/^on disk .* kB as F32$/m);
    const [, trained] = shown.split("trained on\n");
    expect(trained).toBe(
      `  datasets:
    1.
      name: sums⟨U+202E⟩
      sha256: ${"0".repeat(64)}
  recipe:
    batch: 64
    rate: 0.003
  steps: 2000
`,
    );
  });

  test("says of another's checkpoint that its history is unknown", async () => {
    workspace.write("instruct/chat_template.jinja", "{{ messages[0].content }}");
    cpSync(path.join(FIXTURES, "qwen2-like"), workspace.path("instruct"), { recursive: true });
    const shown = await policy("show", "instruct");
    expect(shown).toContain("trained on      history unknown");
    expect(shown).toContain("chat template   yes");
    expect(shown).toContain("architecture    qwen2, width 48, inner 96");
    expect(shown).toContain("biases, tied head");
  });

  test("and of ours whose history was deleted, which loads as before", async () => {
    expect(await saveCheckpoint(workspace.path("bare"), { ...own, trained: null })).toBe(
      fingerprint,
    );
    expect(await policy("show", "bare")).toContain("trained on      history unknown");
    expect(JSON.parse(await policy("show", "bare", "--format", "json")).trained).toBeNull();
  });

  test("as JSON", async () => {
    const found = JSON.parse(await policy("show", LLAMA, "--format", "json"));
    const sizeOf = (name: string) => statSync(path.join(LLAMA, name)).size;
    const sizes = [sizeOf("model.safetensors"), sizeOf("tokenizer.json")] as const;
    expect(found).toMatchObject({
      schema: "lockedroom.policy@1",
      model_type: "llama",
      architecture: { width: 48, layers: 2, tied: false },
      parameters: { total: 70_896, embedding: 15_360, head: 15_360, per_layer: 20_064, rest: 48 },
      tokenizer: { kind: "hugging-face", tokens: 320, begin_token: null, end_tokens: [0] },
      stored: { own: false, dtypes: ["F32"], bytes: sizes[0] + sizes[1] },
      chat_template: false,
      max_length: 256,
      trained: null,
    });
    const { total, embedding, head, per_layer, rest } = found.parameters;
    expect(embedding + head + 2 * per_layer + rest).toBe(total);
    expect(found.fingerprint).toBe((await loadCheckpoint(LLAMA)).fingerprint);
  });
});

/** Logits by a session of the runtime alone. */
async function logits(
  file: string,
  ids: readonly number[],
  shape: number[],
): Promise<Float32Array> {
  const session = await InferenceSession.create(workspace.path(file));
  expect(session.inputNames).toEqual(["tokens"]);
  expect(session.outputNames).toEqual(["logits"]);
  const tokens = new Tensor("int64", BigInt64Array.from(ids, BigInt), shape);
  const results = await session.run({ tokens });
  await session.release();
  expect(results.logits?.dims.slice(0, 2)).toEqual(shape);
  return results.logits?.data as Float32Array;
}

describe.concurrent("export", () => {
  test.each(["llama", "smollm2-like", "qwen2-like", "qwen3-like"])(
    "%s runs in a plain session and gives the logits of transformers",
    async (name) => {
      const dir = path.join(FIXTURES, name);
      const expected = JSON.parse(readFileSync(path.join(dir, "expected.json"), "utf8"));
      const ids: number[] = expected.input_ids;
      // Longer than the text, and two rows: what follows or stands beside changes nothing.
      const length = ids.length + 3;
      const said = await policy(
        ...[
          "export",
          dir,
          "--outfile",
          `deep/${name}.onnx`,
          "--batch",
          "2",
          "--length",
          `${length}`,
        ],
      );
      expect(said).toContain(`[2, ${length}, 320]`);
      const rows = [...Array(length).fill(7), ...ids, 9, 9, 9];
      const found = await logits(`deep/${name}.onnx`, rows, [2, length]);
      const last = (length + ids.length - 1) * 320;
      for (const [from, numbers] of [
        [length * 320, expected.logits_first],
        [last, expected.logits_last],
      ] as const) {
        const row = found.subarray(from, from + 320);
        expect(Math.max(...row.map((x, i) => Math.abs(x - numbers[i])))).toBeLessThan(1e-4);
      }
    },
  );

  test("a file is not replaced unless asked, and the default is as long as the policy reads", async () => {
    expect(await policy("export", "own", "--outfile", "own.onnx")).toContain("[1, 64]");
    const before = readFileSync(workspace.path("own.onnx"));
    writeFileSync(workspace.path("mine.onnx"), "mine");
    const args = ["policy", "export", "own", "--outfile", "mine.onnx"];
    expectError(await workspace.run(args), EXIT.usage, "mine.onnx exists already", "--force");
    expect(workspace.read("mine.onnx")).toBe("mine");
    await policy("export", "own", "--outfile", "mine.onnx", "--force");
    expect(readFileSync(workspace.path("mine.onnx")).equals(before), "the same bytes").toBe(true);
    expect(workspace.has("mine.onnx.partial")).toBe(false);
  });
});

describe.concurrent("mistakes", () => {
  test.each<[args: string[], code: number, ...says: string[]]>([
    [["show"], EXIT.usage, "checkpoint"],
    [["shw", "own"], EXIT.usage, "show, export"],
    [["show", "own", "--batch", "2"], EXIT.usage, "policy show has no option --batch"],
    [
      ["export", "own", "--outfile", "x.onnx", "--format", "json"],
      EXIT.usage,
      "no option --format",
    ],
    [["export", "own"], EXIT.usage, "--outfile"],
    [["export", "own", "--outfile", "x.onnx", "--length", "65"], EXIT.usage, "at most 64 tokens"],
    [["export", "own", "--outfile", "x.onnx", "--length", "0"], EXIT.usage, "--length"],
    [["export", "own", "--outfile", "own"], EXIT.usage, "own exists already"],
    [["export", "own", "--outfile", "own", "--force"], EXIT.usage, "own"],
    [["show", "nowhere"], EXIT.data, "there is no folder nowhere"],
    [["show", "."], EXIT.data, "config.json"],
  ])("%j", async (args, code, ...says) => {
    expectError(await workspace.run(["policy", ...args]), code, ...says);
  });

  test("a training run in place of its policy is told apart", async () => {
    workspace.write("trained/manifest.json", '{"schema": "lockedroom.train@1"}');
    await saveCheckpoint(workspace.path("trained/checkpoint"), own);
    const says = "trained is an unfinished training run, not a checkpoint";
    for (const args of [
      ["policy", "show", "trained"],
      ["policy", "export", "trained", "--outfile", "t.onnx"],
      ["serve", "--policy", "trained"],
      ["rollout", "--policy", "trained", "--dataset", DEV, "--n", "1", "--outdir", "r"],
      ["train", "grpo", "--init", "trained", "--dataset", DEV, "--steps", "1", "--outdir", "t"],
    ]) {
      expectError(await workspace.run(args), EXIT.data, says, "trained/checkpoint");
    }
  });

  test("a damaged file is named", async () => {
    await saveCheckpoint(workspace.path("damaged"), own);
    const file = workspace.path("damaged/model.safetensors");
    writeFileSync(file, readFileSync(file).subarray(0, -1));
    const result = await workspace.run(["policy", "show", "damaged"]);
    expectError(result, EXIT.data, "damaged/model.safetensors", "Fetch or write it again");
  });
});

/** Saves one of two policies over the other, and dies before the nth step that puts files in place. */
const DIES = `
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.DIE_AFTER);
for (const name of ["mkdir", "open", "rename", "rm"]) {
  const real = promises[name];
  promises[name] = (...args) => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return real(...args);
  };
}
syncBuiltinESMExports();
const { saveCheckpoint } = await import(process.env.CHECKPOINT);
const { CharacterTokenizer } = await import(process.env.CHARACTERS);
const { initialise, SIZES } = await import(process.env.INITIALISE);
const tokenizer = new CharacterTokenizer("ab");
const architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
const parameters = initialise(architecture, Number(process.env.SEED));
await saveCheckpoint("there", { architecture, tokenizer, parameters, trained: null, maxLength: 8 });
`;

test("killed before each step of a replacement: the old checkpoint or the new one", async () => {
  const room = new Workspace();
  room.write("dies.mjs", DIES);
  const module = (name: string) => pathToFileURL(path.join(ROOT, "dist/policy", `${name}.js`)).href;
  const modules = {
    CHECKPOINT: module("checkpoint"),
    CHARACTERS: module("characters"),
    INITIALISE: module("initialise"),
  };
  const save = (seed: number, steps: number) =>
    start(process.execPath, ["dies.mjs"], room.dir, {
      env: { ...modules, SEED: `${seed}`, DIE_AFTER: `${steps}` },
    }).finished;
  const print = async () => (await loadCheckpoint(room.path("there"))).fingerprint;
  const fresh = async (seed: number) => {
    rmSync(room.path("there"), { recursive: true, force: true });
    expect((await save(seed, 1000)).code).toBe(0);
    return await print();
  };
  const prints = { new: await fresh(2), old: await fresh(1) };
  const seen: string[] = [];
  let steps = 0;
  for (; steps < 50; steps++) {
    const { code } = await save(2, steps);
    const found = await print();
    const which = found === prints.new ? "new" : "old";
    expect(found).toBe(prints[which]);
    if (code === 0) break;
    seen.push(which);
    // The next writer begins from whatever the killed one left.
    expect((await save(1, 1000)).code).toBe(0);
    expect(await print()).toBe(prints.old);
  }
  expect(steps, "the steps were counted").toBeGreaterThan(7);
  expect(new Set(seen)).toEqual(new Set(["old", "new"]));
  expect(Object.keys(room.snapshot(".")).sort()).toEqual([
    "dies.mjs",
    ...["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"].map(
      (name) => `there/${name}`,
    ),
  ]);
});
