/**
 * The decoder for sampling: a prompt is read at once, then one token at a time, with the keys and
 * values of earlier positions kept outside of the graph. Only the new ones come back from a step, so
 * that nothing large is copied.
 */

import { add, lessOrEqual, mul, where } from "../graph/ops/elementwise.ts";
import { gather } from "../graph/ops/indexing.ts";
import { concat, reshape, slice, transpose } from "../graph/ops/layout.ts";
import { matmul } from "../graph/ops/product.ts";
import { sum } from "../graph/ops/reduce.ts";
import { softmaxOf } from "../graph/ops/softmax.ts";
import { constant, input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import {
  attend,
  Block,
  byHead,
  causal,
  fromZero,
  HIDDEN,
  head,
  turningOf,
  type Weights,
} from "./transformer.ts";

/**
 * Reads prompts [batch, length]. Gives the logits after the last token of each, and for each layer
 * the keys and values, both [batch, key heads, 1, length, head size].
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
  const turning = turningOf(a, fromZero(batch, length), length);
  const mask = causal(length);
  const kept: Record<string, Tensor> = {};
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x, turning);
    kept[`keys${i}`] = byHead(a, keys);
    kept[`values${i}`] = byHead(a, values);
    x = block.finish(x, attend(a, queries, keys, values, mask));
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
  const positions = input("positions", [batch, 1], "i64");
  const turning = turningOf(a, positions, room + 1);
  const places = constant(
    Array.from({ length: room }, (_, i) => i + 1),
    [1, room],
    "i64",
  );
  const seenBefore = lessOrEqual(places, positions);
  const mask = where(reshape(seenBefore, [batch, 1, 1, room]), 0, HIDDEN);
  const fresh: Record<string, Tensor> = {};
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x, turning);
    // The queries of a key head are the rows of one product.
    const heads = (y: Tensor) => reshape(y, [batch, a.keyHeads, -1, a.headSize]);
    const [query, key, value] = [heads(queries), heads(keys), heads(values)];
    const kept = [batch, a.keyHeads, room, a.headSize];
    const [oldKeys, oldValues] = [input(`keys${i}`, kept), input(`values${i}`, kept)];
    const old = add(matmul(query, transpose(oldKeys)), mask);
    const own = sum(mul(query, key), -1, true);
    const looks = softmaxOf(concat([old, own], -1));
    const seen = add(
      matmul(slice(looks, -1, 0, room), oldValues),
      mul(slice(looks, -1, room, room + 1), value),
    );
    fresh[`key${i}`] = keys;
    fresh[`value${i}`] = values;
    x = block.finish(x, reshape(seen, queries.shape));
  }
  return { logits: head(a, weights, reshape(x, [batch, a.width])), ...fresh };
}
