/** The arrays that a packed graph is fed with. */

import type { PackShape, Part } from "./packing.ts";
import { MASKED } from "./transformer.ts";

export interface PackedFeeds {
  readonly [name: string]: Float32Array | BigInt64Array;
  readonly tokens: BigInt64Array;
  readonly positions: BigInt64Array;
  readonly visible: Float32Array;
  readonly predicting: BigInt64Array;
  readonly predicting_back: BigInt64Array;
  readonly targets: BigInt64Array;
}

/** Arrays for `packedInputs` of the same shape. */
export function packedFeeds(part: Part, { packs, length, targets: count }: PackShape): PackedFeeds {
  const size = packs * length;
  const spare = BigInt(count - 1);
  const feeds = {
    tokens: new BigInt64Array(size),
    positions: new BigInt64Array(size),
    visible: new Float32Array(size * length).fill(MASKED),
    predicting: new BigInt64Array(count),
    predicting_back: new BigInt64Array(size).fill(spare),
    targets: new BigInt64Array(count),
  };
  let target = 0;
  for (const [p, pack] of part.packs.entries()) {
    let next = 0;
    /** Puts a token into the next place of the pack; it sees its prompt and its own text so far. */
    const put = (
      token: number,
      position: number,
      prompt: number,
      before: number,
      begin: number,
    ) => {
      const at = p * length + next;
      feeds.tokens[at] = BigInt(token);
      feeds.positions[at] = BigInt(position);
      feeds.visible.fill(0, at * length + prompt, at * length + prompt + before);
      feeds.visible.fill(0, at * length + begin, at * length + next + 1);
      next++;
    };
    for (const { pieces } of pack) {
      const prompt = next;
      const { tokens = [], from: shared = 0 } = pieces[0] ?? {};
      for (let i = 0; i < shared; i++) put(tokens[i] as number, i, prompt, 0, prompt);
      for (const piece of pieces) {
        const begin = next;
        for (let i = piece.from; i < piece.to; i++) {
          put(piece.tokens[i] as number, i, prompt, shared, begin);
        }
        for (const action of piece.actions) {
          const at = p * length + begin + action - 1 - piece.from;
          feeds.targets[target] = BigInt(piece.tokens[action] as number);
          feeds.predicting[target] = BigInt(at);
          feeds.predicting_back[at] = BigInt(target);
          target++;
        }
      }
    }
    // Padding sees itself, because the softmax of nothing is no number.
    for (; next < length; ) put(0, 0, next, 0, next);
  }
  for (let at = part.packs.length * length; at < size; at++) {
    feeds.visible[at * length + (at % length)] = 0;
  }
  return feeds;
}
