/** Low-rank adapters: W + (alpha / rank) B A, with only A and B in the optimiser's vector. */

import { usageError } from "../core/errors.ts";
import { rngAt } from "../core/rng.ts";
import { add, mul } from "../graph/ops/elementwise.ts";
import { matmul } from "../graph/ops/product.ts";
import { type Parameter, type Placed, place } from "../graph/parameters.ts";
import type { Tensor } from "../graph/tensor.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import type { Weights } from "./transformer.ts";

export interface LoraSettings {
  readonly rank: number;
  readonly alpha: number;
  /** Projections by the last part of their name: q_proj, k_proj, v_proj, o_proj, gate_proj, … */
  readonly targets: readonly string[];
}

/** Every matrix that can have an adapter. */
export const PROJECTIONS = [
  ...(["q_proj", "k_proj", "v_proj", "o_proj"] as const),
  ...(["gate_proj", "up_proj", "down_proj"] as const),
] as const;

export const LORA: LoraSettings & { readonly targets: readonly (typeof PROJECTIONS)[number][] } = {
  rank: 8,
  alpha: 16,
  targets: ["q_proj", "v_proj"],
};

/** The matrices that have an adapter. */
function adapted(a: Architecture, { targets }: LoraSettings): Parameter[] {
  const all = parametersOf(a).filter(({ name }) => /_proj\.weight$/.test(name));
  const unknown = targets.find(
    (target) => !all.some(({ name }) => name.endsWith(`${target}.weight`)),
  );
  if (unknown !== undefined) {
    const known = [...new Set(all.map(({ name }) => name.split(".").at(-2)))];
    throw usageError(`there is no projection "${unknown}"`, `Name some of ${known.join(", ")}.`);
  }
  return all.filter(({ name }) => targets.some((target) => name.endsWith(`${target}.weight`)));
}

/** The adapters as parameters: A is [rank, inputs], B is [outputs, rank]. */
export function adapterParameters(
  a: Architecture,
  settings: LoraSettings,
): { list: readonly Placed[]; total: number } {
  return place(
    adapted(a, settings).flatMap(({ name, shape: [outputs = 0, inputs = 0] }) => [
      { name: `${name}.lora_A`, shape: [settings.rank, inputs] },
      { name: `${name}.lora_B`, shape: [outputs, settings.rank] },
    ]),
  );
}

/** A is uniform, B zero: at the start the policy is unchanged. */
export function initialiseAdapters(
  placed: readonly Placed[],
  total: number,
  seed: number,
): Float32Array {
  const vector = new Float32Array(total);
  for (const { name, shape, offset, size } of placed) {
    if (name.endsWith("lora_B")) continue;
    const rng = rngAt(seed, "lora", name);
    const bound = 1 / Math.sqrt(shape[1] as number);
    for (let i = 0; i < size; i++) vector[offset + i] = bound * (2 * rng.next() - 1);
  }
  return vector;
}

/** The base's weights plus the adapters. */
export function withAdapters(
  base: Weights,
  adapters: ReadonlyMap<string, Tensor>,
  { rank, alpha }: LoraSettings,
): Weights {
  return (name) => {
    const [down, up] = [adapters.get(`${name}.lora_A`), adapters.get(`${name}.lora_B`)];
    return down && up ? add(base(name), mul(matmul(up, down), alpha / rank)) : base(name);
  };
}

/** The full vector with the adapters merged into it. */
export function mergeAdapters(
  base: Float32Array,
  placed: readonly Placed[],
  adapters: Float32Array,
  adapterPlaces: readonly Placed[],
  { rank, alpha }: LoraSettings,
): Float32Array {
  const merged = Float32Array.from(base);
  const at = new Map(adapterPlaces.map((place) => [place.name, place]));
  for (const { name, shape, offset } of placed) {
    const [down, up] = [at.get(`${name}.lora_A`), at.get(`${name}.lora_B`)];
    if (!down || !up) continue;
    const [outputs = 0, inputs = 0] = shape;
    for (let o = 0; o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        let sum = 0;
        for (let r = 0; r < rank; r++) {
          sum +=
            (adapters[up.offset + o * rank + r] as number) *
            (adapters[down.offset + r * inputs + i] as number);
        }
        const place = offset + o * inputs + i;
        merged[place] = (merged[place] as number) + (alpha / rank) * sum;
      }
    }
  }
  return merged;
}
