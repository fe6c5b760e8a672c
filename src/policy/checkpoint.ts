/**
 * A checkpoint: a folder with config.json, model.safetensors and tokenizer.json, as Hugging Face lays
 * it out. Ours say in config.json which content belongs together, so that damage is noticed.
 */

import { createHash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { dataError, usageError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import { type Placed, place } from "../graph/parameters.ts";
import { requireKind } from "../runs/folder-kind.ts";
import { namesIn, replaceFolder, wholeFolder } from "../runs/replace-folder.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import type { ChatTemplate } from "./chat.ts";
import { chatOf, objectOf, readTokenizer, requireSize, TOKENIZER_FILES } from "./hf-folder.ts";
import { configOf, readConfig } from "./hugging-face.ts";
import { checkpointFolder } from "./pi0.ts";
import { hashOfWeights, safetensorsBytes } from "./safetensors.ts";
import { type PolicyTokenizer, TOKENIZER_FILE } from "./tokenizer.ts";
import { type ReadWeights, readWeights, refuseNotFinite, WEIGHTS } from "./weights.ts";

export interface Checkpoint {
  /** Null when it has never been written. */
  readonly dir: string | null;
  readonly architecture: Architecture;
  readonly tokenizer: PolicyTokenizer;
  /** All parameters in one vector, each where `placed` says. */
  readonly parameters: Float32Array;
  readonly placed: readonly Placed[];
  /** Of the content: the same wherever it lies, in however many files. */
  readonly fingerprint: string;
  /** What it was trained on; null when nobody said. */
  readonly trained: JsonObject | null;
  readonly chat: ChatTemplate | null;
  /** The most tokens that it was made for, prompt included. */
  readonly maxLength: number;
}

export interface CheckpointContent {
  readonly architecture: Architecture;
  readonly tokenizer: PolicyTokenizer;
  readonly parameters: Float32Array;
  readonly trained: JsonObject | null;
  readonly maxLength: number;
}

const SCHEMA = "lockedroom.checkpoint@1";
const CONFIG = "config.json";

const BLOCK = z.strictObject({
  schema: z.literal(SCHEMA),
  fingerprint: z.string(),
  /** SHA-256 of each other file. */
  files: z.record(z.string(), z.string()),
  value_head: z.boolean(),
  trained: z.record(z.string(), z.json()).nullable(),
  /** Of this file without this line. */
  config_sha256: z.string(),
});

/** From a folder; `pi0` is the embedded one. */
export async function loadCheckpoint(given: string): Promise<Checkpoint> {
  return (await inspectCheckpoint(given)).checkpoint;
}

/** What only the files themselves tell. */
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
  const content = objectOf(await textIn(folder, CONFIG), file);
  const config = readConfig(content, file);
  const block = blockOf(content, file);
  const architecture = { ...config.architecture, valueHead: block?.value_head ?? false };
  const text = await textIn(folder, TOKENIZER_FILE);
  const tokenizer = await readTokenizer(folder, text, config);
  const { list: placed } = place(parametersOf(architecture));
  const weights = await readWeights(folder, placed);
  if (block) checkFiles(dir, block.files, tokenizer.files, weights);
  const print = checkpointFingerprint(architecture, tokenizer, weights.parameters);
  if (block && block.fingerprint !== print) throw damaged(file);
  const checkpoint: Checkpoint = {
    dir,
    architecture,
    tokenizer,
    parameters: weights.parameters,
    placed,
    fingerprint: print,
    trained: (block?.trained ?? null) as JsonObject | null,
    chat: chatOf(dir, tokenizer),
    maxLength: config.maxLength,
  };
  const own = block !== undefined;
  const { dtypes } = weights;
  const files = [
    ...weights.files.map(({ name, bytes }) => ({ name, bytes })),
    { name: TOKENIZER_FILE, bytes: Buffer.byteLength(text) },
  ];
  return { checkpoint, stored: { modelType: config.modelType, dtypes, files, own } };
}

/** A checkpoint that is not on disk yet. */
export function checkpointOf(content: CheckpointContent): Checkpoint {
  const { architecture, tokenizer, parameters } = content;
  const { list: placed, total } = place(parametersOf(architecture));
  if (parameters.length !== total) {
    throw usageError(`${parameters.length} numbers are no model of ${total} parameters`);
  }
  requireSize("the tokenizer", tokenizer, architecture);
  return {
    ...content,
    dir: null,
    placed,
    fingerprint: checkpointFingerprint(architecture, tokenizer, parameters),
    chat: chatOf("the policy", tokenizer),
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

/** Writes the folder; an older checkpoint there is replaced as a whole, and nothing else ever is. */
export async function saveCheckpoint(dir: string, content: CheckpointContent): Promise<string> {
  const { architecture, tokenizer, parameters, trained, maxLength } = content;
  const { placed, fingerprint: print } = checkpointOf(content);
  refuseNotFinite("the weights", parameters, placed);
  await refuseForeignFolder(dir);
  const tensors = placed.map(({ name, shape, offset, size }) => ({
    ...{ name, shape },
    data: parameters.subarray(offset, offset + size),
  }));
  const hashes = Object.entries(tokenizer.files).map(([name, text]) => [name, sha256(text)]);
  const block = {
    schema: SCHEMA,
    fingerprint: print,
    files: { ...Object.fromEntries(hashes), [WEIGHTS]: sha256OfParts(safetensorsBytes(tensors)) },
    value_head: architecture.valueHead,
    trained,
  };
  const { endTokens, bosToken: beginToken } = tokenizer;
  const config = {
    ...configOf(architecture, { maxLength, beginToken, endTokens }),
    lockedroom: block,
  };
  const whole = { ...config, lockedroom: { ...block, config_sha256: fingerprint(config) } };
  await replaceFolder(dir, {
    [WEIGHTS]: safetensorsBytes(tensors),
    ...tokenizer.files,
    [CONFIG]: `${JSON.stringify(JSON.parse(canonicalJson(whole)), null, 2)}\n`,
  });
  return print;
}

function sha256OfParts(parts: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function refuseForeignFolder(dir: string): Promise<void> {
  const names = await namesIn(dir);
  if (names.length === 0) return;
  const own = [CONFIG, WEIGHTS, ...TOKENIZER_FILES];
  const foreign = names.find((name) => !own.includes(name));
  const config = (await readIfThere(path.join(dir, CONFIG))) ?? "";
  if (foreign === undefined && config.includes(SCHEMA)) return;
  throw usageError(
    `${dir} holds ${visibleShort(foreign ?? names[0] ?? "", 60)}, which is not of a checkpoint of ours`,
    "A checkpoint replaces a whole folder: choose one that is new, or that holds only an older one.",
  );
}

async function textIn(dir: string, name: string): Promise<string> {
  const text = await readIfThere(path.join(dir, name));
  if (text !== undefined) return text;
  if (!fileExists(dir)) {
    throw dataError(`there is no folder ${dir}`, "Check the path; pi0 names the embedded policy.");
  }
  await requireKind(dir, ["checkpoint"]);
  throw dataError(
    `${dir} is no checkpoint: it has no ${name}`,
    `A checkpoint is a folder with ${CONFIG}, ${WEIGHTS} (or its parts) and ${TOKENIZER_FILE}.`,
  );
}

/** Our own part of config.json; undefined in a checkpoint of others. */
function blockOf(content: JsonObject, file: string): z.infer<typeof BLOCK> | undefined {
  const { lockedroom, ...rest } = content;
  if (lockedroom === undefined) return undefined;
  const result = BLOCK.safeParse(lockedroom);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw dataError(
      `${file}: lockedroom.${issue?.path.join(".")}: ${issue?.message}`,
      "It was edited, or written by a newer release. Write the checkpoint again.",
    );
  }
  const { config_sha256, ...block } = result.data;
  if (fingerprint({ ...rest, lockedroom: block }) !== config_sha256) throw damaged(file);
  return result.data;
}

/** The files are those that config.json was written with. */
function checkFiles(
  dir: string,
  expected: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
  weights: ReadWeights,
): void {
  const found = new Map([
    ...Object.entries(texts).map(([name, text]) => [name, sha256(text)] as const),
    ...weights.files.map(({ name, sha256 }) => [name, sha256] as const),
  ]);
  for (const name of new Set([...Object.keys(expected), ...found.keys()])) {
    if (expected[name] !== found.get(name)) throw damaged(path.join(dir, name));
  }
}

function damaged(file: string): Error {
  return dataError(
    `${file} is not the file that the checkpoint was written with`,
    "It was damaged, edited or exchanged. Take the whole folder from where it came, or write it again.",
  );
}
