/**
 * The decoder for sampling: whole prompts, then one token at a time, with the keys and values of
 * earlier positions kept outside of the graph. A step returns only the new ones, so that nothing large
 * is copied.
 */

import { add, lessOrEqual, mul, where } from "../graph/ops/elementwise.ts";
import { gather } from "../graph/ops/indexing.ts";
import { concat, reshape, slice, transpose } from "../graph/ops/layout.ts";
import { matmul } from "../graph/ops/product.ts";
import { sum } from "../graph/ops/reduce.ts";
import { softmaxOf } from "../graph/ops/softmax.ts";
import { constant, input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import { Block, byHead, head, hiddenOf, MASKED, rotationsOf, type Weights } from "./transformer.ts";

/**
 * Reads prompts [batch, length]. Gives for each layer the keys and values, both [batch, key heads, 1,
 * length, head size], and the last layer's input at the last token of each prompt.
 */
export function readPrompts(
  a: Architecture,
  weights: Weights,
  batch: number,
  length: number,
): Record<string, Tensor> {
  const tokens = input("tokens", [batch, length], "i64");
  /** Where the last tokens lie among those of all rows. */
  const last = input("last", [batch, 1], "i64");
  const read: Record<string, Tensor> = {};
  hiddenOf(a, weights, tokens, (layer, x, keys, values) => {
    read.ends = gather(reshape(x, [batch * length, a.width]), last);
    read[`keys${layer}`] = byHead(a, keys);
    read[`values${layer}`] = byHead(a, values);
  });
  return read;
}

/**
 * Copies of the last token's query. The runtime multiplies a single row with other kernels than
 * several, which round differently; the logits must be those of a pass over the whole text.
 */
const COPIES = 2;

/**
 * The logits after prompts, from the last layer's results of `readPrompts`. A separate graph, because
 * it has few rows, and with few rows the number of threads can change the rounding.
 */
export function afterPrompts(
  a: Architecture,
  weights: Weights,
  batch: number,
  length: number,
): Record<string, Tensor> {
  const x = input("ends", [batch, 1, a.width]);
  const positions = input("positions", [batch, 1], "i64");
  const [keys, values] = ["keys", "values"].map((kind) =>
    input(`${kind}${a.layers - 1}`, [batch, a.keyHeads, 1, length, a.headSize]),
  ) as [Tensor, Tensor];
  const block = new Block(a, weights, a.layers - 1);
  const { queries } = block.heads(x, rotationsOf(a, positions, length));
  const copies = byHead(a, concat(Array(COPIES).fill(queries), 1));
  const mask = reshape(maskOf(positions, 0, length), [batch, 1, 1, 1, length]);
  const attention = softmaxOf(add(matmul(copies, transpose(keys)), mask));
  const output = slice(matmul(attention, values), 3, 0, 1);
  const y = block.finish(x, reshape(output, queries.shape));
  return scoresOf(head(a, weights, reshape(y, [batch, a.width])));
}

/** What a row gives for every token of the vocabulary. */
export type Scores = "logits" | "probabilities";

/** A call asks for one of them: the probabilities where tokens are sampled from the policy itself. */
function scoresOf(logits: Tensor): Record<Scores, Tensor> {
  return { logits, probabilities: softmaxOf(logits) };
}

/** The mask of `count` positions from `first` on, [batch, count]: those after each row's are masked. */
function maskOf(positions: Tensor, first: number, count: number): Tensor {
  const all = Array.from({ length: count }, (_, i) => first + i);
  return where(lessOrEqual(constant(all, [1, count], "i64"), positions), 0, MASKED);
}

/**
 * One token for each row, at its own position, with a cache of `room` earlier ones. Gives the scores
 * and the keys and values of every layer; those as one tensor, because each result costs time.
 */
export function nextToken(
  a: Architecture,
  weights: Weights,
  batch: number,
  room: number,
): Record<string, Tensor> {
  const tokens = input("tokens", [batch, 1], "i64");
  const positions = input("positions", [batch, 1], "i64");
  const rotations = rotationsOf(a, positions, room + 1);
  // The cache does not hold the token's own key and value.
  const mask = reshape(maskOf(positions, 1, room), [batch, 1, 1, room]);
  const fresh: Tensor[] = [];
  let x = gather(weights("model.embed_tokens.weight"), tokens);
  for (let i = 0; i < a.layers; i++) {
    const block = new Block(a, weights, i);
    const { queries, keys, values } = block.heads(x, rotations);
    // The queries of a key head are the rows of one product.
    const heads = (y: Tensor) => reshape(y, [batch, a.keyHeads, -1, a.headSize]);
    const [query, key, value] = [heads(queries), heads(keys), heads(values)];
    const kept = [batch, a.keyHeads, room, a.headSize];
    const [oldKeys, oldValues] = [input(`keys${i}`, kept), input(`values${i}`, kept)];
    const old = add(matmul(query, transpose(oldKeys)), mask);
    const own = ownScore(query, key);
    const attention = softmaxOf(concat([old, own], -1));
    const output = add(
      matmul(slice(attention, -1, 0, room), oldValues),
      mul(slice(attention, -1, room, room + 1), value),
    );
    fresh.push(keys, values);
    x = block.finish(x, reshape(output, queries.shape));
  }
  const logits = head(a, weights, reshape(x, [batch, a.width]));
  return { ...scoresOf(logits), fresh: concat(fresh, 0) };
}

/**
 * Of a query with its own key. The sum is faster, but its rounding depends on the row's place in memory
 * unless the head size is a multiple of four.
 */
function ownScore(query: Tensor, key: Tensor): Tensor {
  const whole = (key.shape.at(-1) as number) % 4 === 0;
  return whole ? sum(mul(query, key), -1, true) : matmul(query, transpose(key));
}
