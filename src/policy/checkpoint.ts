/**
 * A checkpoint: a folder with config.json, model.safetensors and tokenizer.json, as Hugging Face lays
 * it out.
 */

import path from "node:path";
import { z } from "zod";
import { usageError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { SeenPrompts } from "../core/policy.ts";
import { type Placed, place } from "../graph/parameters.ts";
import { requirePromoted } from "../runs/aliased-policy.ts";
import { replaceFolder, wholeFolder } from "../runs/replace-folder.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import type { ChatTemplate } from "./chat.ts";
import {
  BLOCK,
  damaged,
  objectOf,
  readBlock,
  readRequired,
  requireReplaceable,
  signedConfig,
} from "./config-files.ts";
import { chatOf, readTokenizer, requireSize, TOKENIZER_FILES } from "./hf-folder.ts";
import { configOf, readConfig } from "./hugging-face.ts";
import { checkpointFolder } from "./pi0.ts";
import { hashOfWeights, storedVector } from "./safetensors.ts";
import { type ReadSeen, readSeen, SEEN_FILES, seenFiles } from "./seen-prompts.ts";
import { type PolicyTokenizer, TOKENIZER_FILE } from "./tokenizer.ts";
import { type ReadWeights, readWeights, refuseNotFinite, WEIGHTS } from "./weights.ts";

export interface CheckpointContent {
  readonly architecture: Architecture;
  readonly tokenizer: PolicyTokenizer;
  /** All parameters in one vector, in the order of `placed`. */
  readonly parameters: Float32Array;
  /** What it was trained on; null if unknown. */
  readonly trained: JsonObject | null;
  /** The prompts that it and its ancestors have seen; null if unknown. */
  readonly seen?: SeenPrompts | null | undefined;
  /** Context length: the most tokens that it was made for, prompt included. */
  readonly maxLength: number;
}

export interface Checkpoint extends CheckpointContent {
  /** Null when it has never been written. */
  readonly dir: string | null;
  readonly placed: readonly Placed[];
  /** Of the content: the same in any folder, and in any number of files. */
  readonly fingerprint: string;
  readonly chat: ChatTemplate | null;
  readonly seen: SeenPrompts | null;
}

const SCHEMA = "lockedroom.checkpoint@1";
const CONFIG = "config.json";
const LAYOUT = `A checkpoint is a folder with ${CONFIG}, ${WEIGHTS} (or its parts) and ${TOKENIZER_FILE}.`;

const CHECKPOINT_BLOCK = z.strictObject({
  ...BLOCK,
  schema: z.literal(SCHEMA),
  fingerprint: z.string(),
});

/** From a folder; `pi0` is the embedded one, `alias:NAME` the one that was promoted. */
export async function loadCheckpoint(given: string): Promise<Checkpoint> {
  return (await inspectCheckpoint(given)).checkpoint;
}

/** What is known from the files alone. */
export interface Stored {
  readonly modelType: string;
  readonly dtypes: readonly string[];
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** Whether this program wrote it. */
  readonly own: boolean;
}

export async function inspectCheckpoint(
  given: string,
): Promise<{ checkpoint: Checkpoint; stored: Stored }> {
  const dir = checkpointFolder(given);
  const folder = wholeFolder(dir);
  const file = path.join(dir, CONFIG);
  const textOf = (name: string) => readRequired(dir, name, "checkpoint", LAYOUT);
  const content = objectOf(await textOf(CONFIG), file);
  const config = readConfig(content, file);
  const block =
    content.lockedroom === undefined
      ? undefined
      : readBlock(CHECKPOINT_BLOCK, content, file, "checkpoint");
  const architecture = { ...config.architecture, valueHead: block?.value_head ?? false };
  const text = await textOf(TOKENIZER_FILE);
  const tokenizer = await readTokenizer(folder, text, config);
  const { list: placed } = place(parametersOf(architecture));
  const weights = await readWeights(folder, placed);
  const known = block
    ? await readSeen(dir, block.files, "checkpoint")
    : { seen: null, files: [] as const };
  if (block) checkFiles(dir, block.files, tokenizer.files, [...weights.files, ...known.files]);
  const { seen } = known;
  const { parameters, dtypes } = weights;
  const { maxLength, modelType } = config;
  const trained = block?.trained ?? null;
  const checkpoint = checkpointOf(
    { architecture, tokenizer, parameters, trained, seen, maxLength },
    dir,
  );
  if (block && block.fingerprint !== checkpoint.fingerprint) throw damaged(file, "checkpoint");
  requirePromoted(given, checkpoint.fingerprint);
  const own = block !== undefined;
  const files = [
    ...weights.files.map(({ name, bytes }) => ({ name, bytes })),
    { name: TOKENIZER_FILE, bytes: Buffer.byteLength(text) },
    ...known.files.map(({ name, bytes }) => ({ name, bytes })),
  ];
  return { checkpoint, stored: { modelType, dtypes, files, own } };
}

/** With `dir` null, a checkpoint that is not on disk yet. */
export function checkpointOf(content: CheckpointContent, dir: string | null = null): Checkpoint {
  const { architecture, tokenizer, parameters } = content;
  const { list: placed, total } = place(parametersOf(architecture));
  if (parameters.length !== total) {
    throw usageError(`${parameters.length} numbers are no model of ${total} parameters`);
  }
  requireSize("the tokenizer", tokenizer, architecture);
  return {
    ...content,
    dir,
    placed,
    seen: content.seen ?? null,
    fingerprint: checkpointFingerprint(architecture, tokenizer, parameters),
    chat: chatOf(dir ?? "the policy", tokenizer),
  };
}

export function checkpointFingerprint(
  architecture: Architecture,
  tokenizer: PolicyTokenizer,
  parameters: Float32Array,
): string {
  const weights = hashOfWeights(parameters);
  return fingerprint({ architecture, tokenizer: tokenizer.fingerprint, weights });
}

/** Writes the folder; the only thing that it replaces is an older checkpoint. */
export async function saveCheckpoint(dir: string, content: CheckpointContent): Promise<string> {
  const { architecture, tokenizer, parameters, trained, maxLength } = content;
  const { placed, fingerprint: print, seen } = checkpointOf(content);
  refuseNotFinite("the weights", parameters, placed);
  const names = [CONFIG, WEIGHTS, ...TOKENIZER_FILES, ...SEEN_FILES];
  await requireReplaceable(dir, "checkpoint", SCHEMA, names);
  const prompts = seenFiles(seen);
  const { bytes, sha256: weightsHash } = storedVector(parameters, placed);
  const hashes = Object.entries(tokenizer.files).map(([name, text]) => [name, sha256(text)]);
  const { endTokens, bosToken: beginToken } = tokenizer;
  const config = signedConfig(configOf(architecture, { maxLength, beginToken, endTokens }), {
    schema: SCHEMA,
    fingerprint: print,
    files: { ...Object.fromEntries(hashes), ...prompts.hashes, [WEIGHTS]: weightsHash },
    value_head: architecture.valueHead,
    trained,
  });
  await replaceFolder(dir, {
    ...{ [WEIGHTS]: bytes, ...tokenizer.files, ...prompts.files, [CONFIG]: config },
  });
  return print;
}

/** The files are those that config.json was written with. */
function checkFiles(
  dir: string,
  expected: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
  others: readonly (ReadWeights["files"][number] | ReadSeen["files"][number])[],
): void {
  const found = new Map([
    ...Object.entries(texts).map(([name, text]) => [name, sha256(text)] as const),
    ...others.map(({ name, sha256 }) => [name, sha256] as const),
  ]);
  for (const name of new Set([...Object.keys(expected), ...found.keys()])) {
    if (expected[name] !== found.get(name)) {
      throw damaged(path.join(dir, name), "checkpoint");
    }
  }
}
