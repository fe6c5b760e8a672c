/** Prompts with completions as tokens, held compactly, and batches of them in a seeded order. */

import { dataError } from "../core/errors.ts";
import { rngAt } from "../core/rng.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import { JsonlFile } from "../runs/jsonl.ts";

export interface Text {
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
}

/** A batch as a graph takes it; `weights` is 1 on the tokens that are learned, 0 elsewhere. */
export interface TextBatch {
  readonly tokens: BigInt64Array;
  readonly targets: BigInt64Array;
  readonly weights: Float32Array;
  /** Tokens that are not padding. */
  readonly used: number;
}

export class Texts {
  readonly count: number;
  /** Tokens of the longest text, the end token included. */
  readonly longest: number;
  readonly sha256: string;
  /** Of the file. */
  readonly bytes: number;
  readonly #tokens: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #prompts: Uint32Array;
  /** Which order is at hand: it takes a while to make. */
  #orderOf = "";
  #order: Uint32Array = new Uint32Array();

  private constructor(
    tokens: Uint32Array,
    starts: Uint32Array,
    prompts: Uint32Array,
    file: { readonly sha256: string; readonly bytes: number },
  ) {
    this.#tokens = tokens;
    this.#starts = starts;
    this.#prompts = prompts;
    this.count = prompts.length;
    this.sha256 = file.sha256;
    this.bytes = file.bytes;
    let longest = 0;
    for (let i = 0; i < this.count; i++) {
      longest = Math.max(longest, (starts[i + 1] as number) - (starts[i] as number));
    }
    this.longest = longest;
  }

  /** Reads JSONL rows with prompt and completion; one that does not fit is refused by its place. */
  static async read(
    file: string,
    tokenizer: PolicyTokenizer,
    maxLength: number,
    onBytes?: (bytes: number) => void,
  ): Promise<Texts> {
    const rows = new JsonlFile(file, toText, { onBytes });
    const tokens: number[][] = [];
    const prompts: number[] = [];
    for await (const batch of rows.batches()) {
      for (const { id, prompt, completion } of batch) {
        const begin = tokenizer.beginToken === null ? [] : [tokenizer.beginToken];
        const before = [...begin, ...tokenizer.encode(prompt)];
        const after = [...tokenizer.encode(completion), tokenizer.endTokens[0] as number];
        if (before.length + after.length > maxLength) {
          throw dataError(
            `${file}: the text "${id}" has ${before.length + after.length} tokens, and the policy looks at ${maxLength} at most`,
            "Shorten it, or train a policy with a longer view.",
          );
        }
        prompts.push(before.length);
        tokens.push([...before, ...after]);
      }
    }
    if (prompts.length === 0)
      throw dataError(`${file} is empty`, "Give rows with prompt and completion.");
    const starts = new Uint32Array(prompts.length + 1);
    for (const [i, row] of tokens.entries()) starts[i + 1] = (starts[i] as number) + row.length;
    const flat = new Uint32Array(starts[prompts.length] as number);
    for (const [i, row] of tokens.entries()) flat.set(row, starts[i]);
    return new Texts(flat, starts, Uint32Array.from(prompts), rows);
  }

  /** The batch of a step: every text once in each epoch, in an order that only the seed decides. */
  batch(step: number, size: number, length: number, seed: number): TextBatch {
    const tokens = new BigInt64Array(size * length);
    const targets = new BigInt64Array(size * length);
    const weights = new Float32Array(size * length);
    let used = 0;
    for (let row = 0; row < size; row++) {
      const text = this.#textAt((step - 1) * size + row, seed);
      const [start, end] = [this.#starts[text] as number, this.#starts[text + 1] as number];
      const prompt = this.#prompts[text] as number;
      for (let i = 0; i < end - start - 1; i++) {
        const at = row * length + i;
        tokens[at] = BigInt(this.#tokens[start + i] as number);
        targets[at] = BigInt(this.#tokens[start + i + 1] as number);
        weights[at] = i + 1 >= prompt ? 1 : 0;
      }
      used += end - start - 1;
    }
    return { tokens, targets, weights, used };
  }

  #textAt(index: number, seed: number): number {
    const epoch = Math.floor(index / this.count);
    if (this.#orderOf !== `${seed} ${epoch}`) {
      this.#orderOf = `${seed} ${epoch}`;
      this.#order = permutation(this.count, seed, epoch);
    }
    return this.#order[index % this.count] as number;
  }
}

function permutation(count: number, seed: number, epoch: number): Uint32Array {
  const rng = rngAt(seed, "order of texts", epoch);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = rng.below(i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

export function toText(fields: Record<string, unknown>): Text {
  const { id = "", prompt, completion } = fields;
  if (typeof prompt === "string" && typeof completion === "string") {
    return { id: String(id), prompt, completion };
  }
  throw new TypeError("a text needs prompt and completion, both strings");
}
