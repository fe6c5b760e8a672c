/**
 * Low-rank adapters on disk, as PEFT lays them out: adapter_config.json, adapter_model.safetensors.
 * An adapter names its base policy by fingerprint, and is refused for any other.
 */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { SeenPrompts } from "../core/policy.ts";
import { visibleShort } from "../core/visible.ts";
import { place } from "../graph/parameters.ts";
import { sameShape, showShape } from "../graph/shape.ts";
import { replaceFolder, wholeFolder } from "../runs/replace-folder.ts";
import { fileExists } from "../runs/whole-file.ts";
import {
  ADAPTER_SCHEMA,
  type AdapterDescription,
  adapterConfig,
  readAdapterConfig,
} from "./adapter-config.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { type Checkpoint, type CheckpointContent, checkpointFingerprint } from "./checkpoint.ts";
import { damaged, readRequired, requireReplaceable } from "./config-files.ts";
import { adapterParameters, type LoraSettings, mergeAdapters } from "./lora.ts";
import { readTensors, type StoredTensor, storedVector } from "./safetensors.ts";
import { readSeen, SEEN_FILES, seenFiles } from "./seen-prompts.ts";
import { refuseNotFinite } from "./weights.ts";

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";
const LAYOUT = `An adapter is a folder with ${CONFIG} and ${WEIGHTS}, such as \`train\` writes with the setting lora.`;

export interface Adapter extends AdapterDescription {
  readonly dir: string;
  /** By the names of PEFT. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Those of its base included; null if unknown. */
  readonly seen: SeenPrompts | null;
}

export interface AdapterContent {
  /** The policy that it was trained on. */
  readonly base: Checkpoint;
  readonly settings: LoraSettings;
  /** As `adapterParameters` places it. */
  readonly vector: Float32Array;
  /** Fingerprint of base and adapter together. */
  readonly merged: string;
  readonly trained: JsonObject | null;
  /** The prompts that base and adapter have seen; null if unknown. */
  readonly seen?: SeenPrompts | null | undefined;
}

/** Writes the folder; the only thing that it replaces is an older adapter. */
export async function saveAdapter(dir: string, content: AdapterContent): Promise<void> {
  const { base, settings, vector, merged, trained, seen = null } = content;
  const { list, total } = adapterParameters(base.architecture, settings);
  if (vector.length !== total) {
    throw usageError(`${vector.length} numbers are no adapter of ${total} parameters`);
  }
  refuseNotFinite("the adapter", vector, list);
  await requireReplaceable(dir, "adapter", ADAPTER_SCHEMA, [CONFIG, WEIGHTS, ...SEEN_FILES]);
  const { bytes, sha256 } = storedVector(vector, list, peftName);
  const prompts = seenFiles(seen);
  await replaceFolder(dir, {
    [WEIGHTS]: bytes,
    ...prompts.files,
    [CONFIG]: adapterConfig({
      ...{ settings, merged, trained, base: base.fingerprint },
      valueHead: base.architecture.valueHead,
      files: { ...prompts.hashes, [WEIGHTS]: sha256 },
    }),
  });
}

/** `….q_proj.weight.lora_A` is `base_model.model.….q_proj.lora_A.weight` to PEFT. */
function peftName(name: string): string {
  return `base_model.model.${name.replace(/\.weight\.(lora_[AB])$/, ".$1.weight")}`;
}

/** Whether the folder has an adapter's config, sound or not. */
export function isAdapter(dir: string): boolean {
  return fileExists(path.join(wholeFolder(dir), CONFIG));
}

export async function loadAdapter(dir: string): Promise<Adapter> {
  const text = await readRequired(dir, CONFIG, "adapter", LAYOUT);
  const described = readAdapterConfig(text, path.join(dir, CONFIG));
  const { tensors, sha256 } = await readTensors(path.join(wholeFolder(dir), WEIGHTS));
  if (described.files[WEIGHTS] !== sha256) {
    throw damaged(path.join(dir, WEIGHTS), "adapter");
  }
  const { seen } = await readSeen(dir, described.files, "adapter");
  return { ...described, dir, tensors, seen };
}

/** The adapter as the vector that is trained; throws if it does not fit the architecture. */
export function adapterVector(
  { dir, settings, tensors }: Adapter,
  architecture: Architecture,
): Float32Array {
  const { list, total } = adapterParameters(architecture, settings);
  const vector = new Float32Array(total);
  const expected = new Map(list.map((parameter) => [peftName(parameter.name), parameter]));
  for (const name of tensors.keys()) {
    if (!expected.has(name)) throw unfit(dir, `it holds ${visibleShort(name, 80)} besides`);
  }
  for (const [name, { shape, offset }] of expected) {
    const stored = tensors.get(name);
    if (!stored) throw unfit(dir, `it lacks ${name}`);
    if (!sameShape(stored.shape, shape)) {
      throw unfit(dir, `${name} has the shape ${showShape(stored.shape)}, not ${showShape(shape)}`);
    }
    vector.set(stored.data, offset);
  }
  refuseNotFinite(`the adapter ${dir}`, vector, list);
  return vector;
}

function unfit(dir: string, problem: string): Error {
  return dataError(
    `the adapter ${dir} does not fit the policy: ${problem}`,
    "Take the whole folder from where it came, or train it again.",
  );
}

/** The base with the adapter merged: to the bit the checkpoint of the training run. */
export function mergedPolicy(base: Checkpoint, adapter: Adapter): CheckpointContent {
  const { settings, trained, seen } = adapter;
  if (adapter.base !== base.fingerprint) {
    throw dataError(
      `${adapter.dir} is an adapter of the policy ${adapter.base.slice(0, 16)}…, and ${base.dir ?? "this one"} is ${base.fingerprint.slice(0, 16)}…`,
      "Name the checkpoint that it was trained on; `policy show` gives the fingerprint of each.",
    );
  }
  const valueHead = adapter.valueHead || base.architecture.valueHead;
  const architecture = { ...base.architecture, valueHead };
  const { list: places, total } = place(parametersOf(architecture));
  const { list } = adapterParameters(architecture, settings);
  const vector = adapterVector(adapter, architecture);
  // A value head comes after all other parameters, and a new one is 0.
  const padded = new Float32Array(total);
  padded.set(base.parameters);
  const parameters = mergeAdapters(padded, places, vector, list, settings);
  const { tokenizer, maxLength } = base;
  if (checkpointFingerprint(architecture, tokenizer, parameters) !== adapter.merged) {
    throw unfit(adapter.dir, "together they are not the policy that was trained");
  }
  return { architecture, tokenizer, parameters, trained, seen, maxLength };
}
