/**
 * Our checkpoints in Hugging Face's own Python libraries: the same ids, texts and logits. Needs
 * `pip install transformers` (and `torch`, for the logits) for the python3 on the PATH, or for the one
 * that LOCKEDROOM_PYTHON names. src/policy/character-files.test.ts needs no Python.
 */

import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { feedsOf, inputsOf } from "../src/graph/parameters.ts";
import { Session } from "../src/graph/session.ts";
import { input } from "../src/graph/tensor.ts";
import { CharacterTokenizer } from "../src/policy/characters.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { initialise, SIZES } from "../src/policy/initialise.ts";
import { logitsOf } from "../src/policy/transformer.ts";
import { ROOT, Workspace } from "./cli.ts";

interface Described {
  readonly special: readonly number[];
  readonly size: number;
  readonly rows: readonly {
    readonly auto: readonly number[] | { readonly error: string };
    readonly plain: readonly number[] | { readonly error: string };
    readonly decoded?: string;
    readonly plain_decoded?: string;
    readonly logits?: readonly number[] | null;
  }[];
}

const PYTHON = process.env.LOCKEDROOM_PYTHON ?? "python3";
const found = spawnSync(PYTHON, ["-c", "import transformers"]).status === 0;
if (!found) console.warn("SKIPPED: checkpoints in transformers; python3 does not have it");

/** Logits after the last token, in one pass. */
async function lastLogits(checkpoint: Checkpoint, ids: readonly number[]): Promise<number[]> {
  const { architecture, placed, parameters } = checkpoint;
  const tokens = input("tokens", [1, ids.length], "i64");
  const session = await Session.create({
    logits: logitsOf(architecture, inputsOf(placed), tokens),
  });
  const { logits } = await session.run({
    ...feedsOf(parameters, placed),
    tokens: BigInt64Array.from(ids, BigInt),
  });
  await session.close();
  return Array.from((logits as Float32Array).subarray(-architecture.vocabulary));
}

const workspace = new Workspace();
/** Not qwen2: its AutoTokenizer ignores the class that a tokenizer_config.json names. */
const KINDS = {
  llama: {},
  untied: { tied: false },
  qwen3: { headNorms: true },
  critic: { valueHead: true },
};
/** Holds the characters of "<end>", which is a text and not the special token. */
const ALPHABET = "\n \t0123456789+-=<>bendgiFpal:é😀▁Ġ";
const TEXTS = [
  ...["12+34=", "", " ", "  1\n\n 2 \t", "é😀▁Ġ", "<end>", "<begin>1<pad>", "Final: 46"],
  ...["1 x", "e\u0301"],
];

async function save(name: string, kind: object): Promise<string> {
  const tokenizer = new CharacterTokenizer(ALPHABET);
  const architecture = { ...SIZES.nano, vocabulary: tokenizer.size, ...kind };
  const parameters = initialise(architecture, 1).map((x) => (x === 1 ? 1 : 10 * x));
  const content = { architecture, tokenizer, parameters, trained: null, maxLength: 64 };
  await saveCheckpoint(workspace.path(name), content);
  return workspace.path(name);
}

test.skipIf(!found)(
  "transformers and tokenizers read our checkpoints as we do",
  async () => {
    const saved = Object.entries(KINDS).map(([name, kind]) => save(name, kind));
    const folders = [...(await Promise.all(saved)), path.join(ROOT, "assets/pi0")];
    const script = path.join(ROOT, "tests/python/checkpoints.py");
    const asked = JSON.stringify({ folders, texts: TEXTS });
    const { stdout, stderr, status } = spawnSync(PYTHON, [script], {
      input: asked,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    const described: Described[] = JSON.parse(stdout);
    for (const [i, { special, size, rows }] of described.entries()) {
      const checkpoint = await loadCheckpoint(folders[i] ?? "");
      const { tokenizer } = checkpoint;
      expect(special).toEqual([0, 1, 2]);
      expect(size).toBe(tokenizer.size);
      for (const [j, row] of rows.entries()) await compare(checkpoint, TEXTS[j] ?? "", row);
    }
  },
  120_000,
);

async function compare(checkpoint: Checkpoint, text: string, row: Described["rows"][number]) {
  const { tokenizer } = checkpoint;
  const ids = encoded(checkpoint, text);
  const expected = ids ?? { error: expect.any(String) };
  expect(row.auto, text).toEqual(expected);
  // Outside transformers nothing says that special tokens are not looked for in a text.
  if (!/<(pad|begin|end)>/.test(text)) expect(row.plain, text).toEqual(expected);
  if (!ids) return;
  expect(row).toMatchObject({ decoded: text, plain_decoded: text });
  expect(tokenizer.decode(ids)).toBe(text);
  if (!row.logits) return;
  const ours = await lastLogits(checkpoint, ids);
  expect(row.logits).toEqual(ours.map((x) => expect.closeTo(x, 3)));
}

/** With the begin token, as a prompt has it; undefined for what the policy cannot read. */
function encoded({ tokenizer }: Checkpoint, text: string): number[] | undefined {
  try {
    return [tokenizer.beginToken ?? 0, ...tokenizer.encode(text)];
  } catch {
    return undefined;
  }
}
