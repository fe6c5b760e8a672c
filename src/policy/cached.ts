/**
 * The decoder for sampling: a prompt is read at once, then one token at a time, with the keys and
 * values of earlier positions kept outside of the graph. Only the new ones come back from a step, so
 * that nothing large is copied.
 */

import { add, lessOrEqual, mul, where } from "../graph/ops/elementwise.ts";
import { gather } from "../graph/ops/indexing.ts";
import { concat, reshape, slice, transpose } from "../graph/ops/layout.ts";
import { matmul } from "../graph/ops/product.ts";
import { softmaxOf } from "../graph/ops/softmax.ts";
import { constant, input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import {
  attend,
  Block,
  causal,
  HIDDEN,
  head,
  rotary,
  rotated,
  type Weights,
} from "./transformer.ts";

/**
 * Reads prompts [batch, length]. Gives the logits after the last token of each, and for each layer
 * the keys and values, both [batch, key heads, length, head size].
 */
export function readPrompts(
  a: Architecture,
  weights: Weights,
  batch: number,
  length: number,
): Record<string, Tensor> {
  const tokens = input("tokens", [batch, length], "i64");
  /** Where the last token of each row lies among all rows' positions. */
  const last = input("last", [batch], "i64");
  const rotation = rotary(a, length);
  const scaled = rotary(a, length, a.headSize ** -0.5);
  const mask = causal(length);
  const kept: Record<string, Tensor> = {};
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x);
    const turned = rotated(keys, rotation);
    kept[`keys${i}`] = reshape(turned, [batch, a.keyHeads, length, a.headSize]);
    kept[`values${i}`] = reshape(values, [batch, a.keyHeads, length, a.headSize]);
    x = block.finish(x, attend(rotated(queries, scaled), turned, values, mask));
  }
  const ends = gather(reshape(x, [batch * length, a.width]), last);
  return { logits: head(a, weights, ends), ...kept };
}

/** One token for each row, at positions of their own, with room for `room` earlier ones. */
export function nextToken(
  a: Architecture,
  weights: Weights,
  batch: number,
  room: number,
): Record<string, Tensor> {
  const tokens = input("tokens", [batch, 1], "i64");
  const positions = input("positions", [batch], "i64");
  const at = (table: Tensor) => reshape(gather(table, positions), [batch, 1, 1, 1, a.headSize]);
  const rotationOf = (scale: number) => {
    const { cosine, sine, quarter } = rotary(a, room + 1, scale);
    return { cosine: at(cosine), sine: at(sine), quarter };
  };
  const [rotation, scaled] = [rotationOf(1), rotationOf(a.headSize ** -0.5)];
  const places = constant(
    Array.from({ length: room }, (_, i) => i + 1),
    [1, room],
    "i64",
  );
  const seenBefore = lessOrEqual(places, reshape(positions, [batch, 1]));
  const mask = where(reshape(seenBefore, [batch, 1, 1, 1, room]), 0, HIDDEN);
  const fresh: Record<string, Tensor> = {};
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x);
    const [query, key] = [rotated(queries, scaled), rotated(keys, rotation)];
    const before = (name: string) =>
      reshape(input(`${name}${i}`, [batch, a.keyHeads, room, a.headSize]), [
        ...[batch, a.keyHeads, 1, room, a.headSize],
      ]);
    const [oldKeys, oldValues] = [before("keys"), before("values")];
    const old = add(matmul(query, transpose(oldKeys)), mask);
    const own = matmul(query, transpose(key));
    const weights5 = softmaxOf(concat([old, own], -1));
    const seen = add(
      matmul(slice(weights5, -1, 0, room), oldValues),
      mul(slice(weights5, -1, room, room + 1), values),
    );
    fresh[`key${i}`] = reshape(key, [batch, a.keyHeads, a.headSize]);
    fresh[`value${i}`] = reshape(values, [batch, a.keyHeads, a.headSize]);
    x = block.finish(x, seen);
  }
  return { logits: head(a, weights, reshape(x, [batch, a.width])), ...fresh };
}
