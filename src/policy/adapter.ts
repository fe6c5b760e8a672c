/**
 * Low-rank adapters on disk, as PEFT lays them out: adapter_config.json, adapter_model.safetensors.
 * An adapter says which policy it belongs to, and is never put on another.
 */

import { createHash } from "node:crypto";
import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import { place } from "../graph/parameters.ts";
import { sameShape, showShape, sizeOf } from "../graph/shape.ts";
import { requireKind } from "../runs/folder-kind.ts";
import { namesIn, replaceFolder, wholeFolder } from "../runs/replace-folder.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";
import {
  ADAPTER_SCHEMA,
  type AdapterDescription,
  adapterConfig,
  damagedAdapter,
  readAdapterConfig,
} from "./adapter-config.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { type Checkpoint, type CheckpointContent, checkpointFingerprint } from "./checkpoint.ts";
import { adapterParameters, type LoraSettings, mergeAdapters } from "./lora.ts";
import { SafetensorsFile, type StoredTensor, safetensorsBytes } from "./safetensors.ts";
import { refuseNotFinite } from "./weights.ts";

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";

export interface Adapter extends AdapterDescription {
  readonly dir: string;
  /** By the names of PEFT. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
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
}

/** Writes the folder; an older adapter there is replaced as a whole, and nothing else ever is. */
export async function saveAdapter(dir: string, content: AdapterContent): Promise<void> {
  const { base, settings, vector, merged, trained } = content;
  const { list, total } = adapterParameters(base.architecture, settings);
  if (vector.length !== total) {
    throw usageError(`${vector.length} numbers are no adapter of ${total} parameters`);
  }
  refuseNotFinite("the adapter", vector, list);
  await refuseForeignFolder(dir);
  const tensors = list.map(({ name, shape, offset, size }) => ({
    ...{ name: peftName(name), shape },
    data: vector.subarray(offset, offset + size),
  }));
  const hash = createHash("sha256");
  for (const part of safetensorsBytes(tensors)) hash.update(part);
  await replaceFolder(dir, {
    [WEIGHTS]: safetensorsBytes(tensors),
    [CONFIG]: adapterConfig({
      ...{ settings, merged, trained, base: base.fingerprint },
      valueHead: base.architecture.valueHead,
      files: { [WEIGHTS]: hash.digest("hex") },
    }),
  });
}

/** `….q_proj.weight.lora_A` is `base_model.model.….q_proj.lora_A.weight` to PEFT. */
function peftName(name: string): string {
  return `base_model.model.${name.replace(/\.weight\.(lora_[AB])$/, ".$1.weight")}`;
}

/** Whether the folder is meant as an adapter, sound or not. */
export function isAdapter(dir: string): boolean {
  return fileExists(path.join(wholeFolder(dir), CONFIG));
}

export async function loadAdapter(dir: string): Promise<Adapter> {
  const folder = wholeFolder(dir);
  const text = await readIfThere(path.join(folder, CONFIG));
  if (text === undefined) {
    if (!fileExists(folder)) throw dataError(`there is no folder ${dir}`, "Check the path.");
    await requireKind(dir, ["adapter"]);
    throw dataError(
      `${dir} is no adapter: it has no ${CONFIG}`,
      `An adapter is a folder with ${CONFIG} and ${WEIGHTS}, such as \`train\` writes with the setting lora.`,
    );
  }
  const described = readAdapterConfig(text, path.join(dir, CONFIG));
  const { tensors, sha256 } = await readTensors(path.join(folder, WEIGHTS));
  if (described.files[WEIGHTS] !== sha256) throw damagedAdapter(path.join(dir, WEIGHTS));
  return { ...described, dir, tensors };
}

async function readTensors(
  file: string,
): Promise<{ tensors: Map<string, StoredTensor>; sha256: string }> {
  const stored = await SafetensorsFile.open(file);
  const tensors = new Map<string, StoredTensor>();
  try {
    const sha256 = await stored.read(({ name, dtype, shape }) => {
      const data = new Float32Array(sizeOf(shape));
      tensors.set(name, { dtype, shape, data });
      return data;
    });
    return { tensors, sha256 };
  } finally {
    await stored.close();
  }
}

/** The adapter as the vector that is trained; what does not fit the architecture is named. */
export function adapterVector(
  { dir, settings, tensors }: Adapter,
  architecture: Architecture,
): Float32Array {
  const { list, total } = adapterParameters(architecture, settings);
  const vector = new Float32Array(total);
  const wanted = new Map(list.map((parameter) => [peftName(parameter.name), parameter]));
  for (const name of tensors.keys()) {
    if (!wanted.has(name)) throw unfit(dir, `it holds ${visibleShort(name, 80)} besides`);
  }
  for (const [name, { shape, offset }] of wanted) {
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

/** The base with the adapter in it, as the training run wrote it to its checkpoint, to the bit. */
export function mergedPolicy(base: Checkpoint, adapter: Adapter): CheckpointContent {
  const { settings, trained } = adapter;
  if (adapter.base !== base.fingerprint) throw otherBase(base, adapter);
  const valueHead = adapter.valueHead || base.architecture.valueHead;
  const architecture = { ...base.architecture, valueHead };
  const { list: places, total } = place(parametersOf(architecture));
  const { list } = adapterParameters(architecture, settings);
  const vector = adapterVector(adapter, architecture);
  const whole = lengthened(base.parameters, total);
  const parameters = mergeAdapters(whole, places, vector, list, settings);
  const { tokenizer, maxLength } = base;
  if (checkpointFingerprint(architecture, tokenizer, parameters) !== adapter.merged) {
    throw unfit(adapter.dir, "together they are not the policy that was trained");
  }
  return { architecture, tokenizer, parameters, trained, maxLength };
}

/** A value head lies behind all other parameters, and a new one says 0. */
function lengthened(parameters: Float32Array, total: number): Float32Array {
  if (parameters.length === total) return parameters;
  const longer = new Float32Array(total);
  longer.set(parameters);
  return longer;
}

function otherBase(base: Checkpoint, { dir, base: wanted }: Adapter): Error {
  return dataError(
    `${dir} is an adapter of the policy ${wanted.slice(0, 16)}…, and ${base.dir ?? "this one"} is ${base.fingerprint.slice(0, 16)}…`,
    "Name the checkpoint that it was trained on; `policy show` gives the fingerprint of each.",
  );
}

async function refuseForeignFolder(dir: string): Promise<void> {
  const names = await namesIn(dir);
  if (names.length === 0) return;
  const foreign = names.find((name) => name !== CONFIG && name !== WEIGHTS);
  const config = (await readIfThere(path.join(dir, CONFIG))) ?? "";
  if (foreign === undefined && config.includes(ADAPTER_SCHEMA)) return;
  throw usageError(
    `${dir} holds ${visibleShort(foreign ?? names[0] ?? "", 60)}, which is not of an adapter of ours`,
    "An adapter replaces a whole folder: choose one that is new, or that holds only an older one.",
  );
}
