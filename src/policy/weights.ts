/** The weights of a folder, in one file or in several, as one flat vector. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import type { Placed } from "../graph/parameters.ts";
import { sameShape, showShape, sizeOf } from "../graph/shape.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";
import { objectOf } from "./config-files.ts";
import { SafetensorsFile, type StoredEntry } from "./safetensors.ts";

export const WEIGHTS = "model.safetensors";
const INDEX = "model.safetensors.index.json";
const EMBEDDING = "model.embed_tokens.weight";
const HEAD = "lm_head.weight";
/** Tables that old releases of transformers stored, which follow from config.json. */
const IGNORED = /\.rotary_emb\.inv_freq$/;

export interface WeightsFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ReadWeights {
  readonly parameters: Float32Array;
  /** The types of the stored numbers, such as F32 and BF16. */
  readonly dtypes: readonly string[];
  readonly files: readonly WeightsFile[];
}

/** Reads every parameter; throws if one is missing, unknown or of another shape. */
export async function readWeights(dir: string, placed: readonly Placed[]): Promise<ReadWeights> {
  const files: SafetensorsFile[] = [];
  try {
    for (const name of await fileNames(dir)) {
      files.push(await SafetensorsFile.open(path.join(dir, name)));
    }
    const all = files.flatMap(({ file, entries }) => entries.map((entry) => ({ file, entry })));
    checkNames(dir, all, placed);
    const places = new Map(placed.map((parameter) => [parameter.name, parameter]));
    const parameters = new Float32Array(placed.reduce((sum, { size }) => sum + size, 0));
    let tiedHead: Float32Array | undefined;
    const targetOf = ({ name, shape }: StoredEntry) => {
      const own = places.get(name);
      if (own) return parameters.subarray(own.offset, own.offset + own.size);
      const values = new Float32Array(sizeOf(shape));
      if (name === HEAD) tiedHead = values;
      return values;
    };
    const read: WeightsFile[] = [];
    for (const stored of files) {
      const sha256 = await stored.read(targetOf);
      read.push({ name: path.basename(stored.file), bytes: stored.size, sha256 });
    }
    checkTiedHead(dir, tiedHead, places.get(EMBEDDING), parameters);
    refuseNotFinite(`the weights of ${dir}`, parameters, placed);
    const dtypes = [...new Set(all.map(({ entry }) => entry.dtype))].sort();
    return { parameters, dtypes, files: read };
  } finally {
    for (const file of files) await file.close();
  }
}

/** One file, or those that the index of a large model names. */
async function fileNames(dir: string): Promise<string[]> {
  if (fileExists(path.join(dir, WEIGHTS))) return [WEIGHTS];
  const index = path.join(dir, INDEX);
  const text = await readIfThere(index);
  if (text === undefined) return [WEIGHTS];
  const names = new Set(Object.values(weightMap(index, text)));
  for (const name of names) {
    if (typeof name !== "string" || !/^[^/\\]+\.safetensors$/.test(name)) {
      throw dataError(
        `${index} names ${visibleShort(JSON.stringify(name), 60)}, which is no file beside it`,
        "Fetch it again.",
      );
    }
  }
  return [...(names as Set<string>)].sort();
}

function weightMap(index: string, text: string): Record<string, unknown> {
  const { weight_map: map } = objectOf(text, index);
  if (isFields(map) && Object.keys(map).length > 0) return map;
  throw dataError(`${index} has no weight_map`, "Fetch it again.");
}

function checkNames(
  dir: string,
  stored: readonly { readonly file: string; readonly entry: StoredEntry }[],
  placed: readonly Placed[],
): void {
  const shapes = new Map(placed.map(({ name, shape }) => [name, shape]));
  const embedding = shapes.get(EMBEDDING);
  // A tied head may be stored as well; checkTiedHead compares it with the embedding.
  if (!shapes.has(HEAD) && embedding) shapes.set(HEAD, embedding);
  const found = new Map<string, string>();
  for (const { file, entry } of stored) {
    const { name, shape } = entry;
    const shown = visibleShort(name, 60);
    const twin = found.get(name);
    if (twin !== undefined) throw mismatch(`${shown} is both in ${twin} and in ${file}`);
    found.set(name, file);
    const expected = shapes.get(name);
    if (!expected) {
      if (IGNORED.test(name)) continue;
      throw mismatch(`${file} holds ${shown}, which the model of config.json does not have`);
    }
    if (!sameShape(shape, expected)) {
      const sizes = `the shape ${showShape(shape)}, not ${showShape(expected)} as config.json says`;
      throw mismatch(`${file}: ${shown} has ${sizes}`);
    }
  }
  const missing = placed.filter(({ name }) => !found.has(name));
  if (missing.length > 0) {
    const others = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
    throw mismatch(`the weights of ${dir} lack ${missing[0]?.name}${others}`);
  }
}

function mismatch(problem: string): Error {
  return dataError(problem, "Put the weights beside the config.json that they were written with.");
}

function checkTiedHead(
  dir: string,
  head: Float32Array | undefined,
  embedding: Placed | undefined,
  parameters: Float32Array,
): void {
  if (!head || !embedding) return;
  for (let i = 0; i < head.length; i++) {
    if (head[i] !== parameters[embedding.offset + i]) {
      throw mismatch(
        `the weights of ${dir}: ${HEAD} is not ${EMBEDDING}, though config.json ties them`,
      );
    }
  }
}

/** One NaN would make every logit NaN. */
export function refuseNotFinite(
  what: string,
  parameters: Float32Array,
  placed: readonly Placed[],
): void {
  for (const { name, offset, size } of placed) {
    for (let i = offset; i < offset + size; i++) {
      const value = parameters[i] as number;
      if (value - value === 0) continue;
      throw dataError(
        `${what}: ${name} holds ${value} at place ${i - offset}`,
        "The training had gone wrong: go back to an earlier checkpoint.",
      );
    }
  }
}
