/** Reads prompts: their keys and values, and the scores of the first token after them. */

import type { RuntimeTensor, Session } from "../graph/session.ts";
import type { Architecture } from "./architecture.ts";
import { type KeysAndValues, namesOf } from "./cache.ts";
import { afterPrompts, readPrompts, type Scores } from "./decoder-graphs.ts";
import { roundedLength, roundedRows } from "./graph-sizes.ts";

/** A prompt as it was read: views of the reader's memory. */
export interface ReadPrompt extends KeysAndValues {
  /** Of the first token of a completion. */
  readonly next: Readonly<Record<Scores, Float32Array>>;
}

/** The session of a graph for this many rows of this length; a call computes so many tokens. */
export type SessionOf = (
  graph: typeof readPrompts,
  rows: number,
  length: number,
  tokens: number,
) => Promise<Session>;

export class PromptReader {
  readonly #architecture: Architecture;
  readonly #session: SessionOf;
  /** Keys and values by name. Reused, because memory from the runtime makes garbage collection slow. */
  readonly #memory = new Map<string, Float32Array>();

  constructor(architecture: Architecture, session: SessionOf) {
    this.#architecture = architecture;
    this.#session = session;
  }

  /** Overwrites what was read before. */
  async read(
    weights: Readonly<Record<string, Float32Array>>,
    prompts: readonly (readonly number[])[],
  ): Promise<ReadPrompt[]> {
    const length = roundedLength(Math.max(...prompts.map((prompt) => prompt.length)));
    const rows = roundedRows(prompts.length);
    const tokens = new BigInt64Array(rows * length);
    const [positions, last] = [new BigInt64Array(rows), new BigInt64Array(rows)];
    for (let row = 0; row < rows; row++) {
      const prompt = prompts[row] ?? [0];
      for (const [i, token] of prompt.entries()) tokens[row * length + i] = BigInt(token);
      positions[row] = BigInt(prompt.length - 1);
      last[row] = BigInt(row * length + prompt.length - 1);
    }
    const reader = await this.#session(readPrompts, rows, length, rows * length);
    const read = await reader.run({ ...weights, tokens, last }, this.#into(reader, rows, length));
    const finisher = await this.#session(afterPrompts, rows, length, rows);
    const finished = await finisher.run({ ...weights, ...read, positions });
    const results = { ...read, ...finished } as Record<string, Float32Array>;
    return prompts.map((prompt, row) => this.#promptOf(results, row, rows, prompt.length));
  }

  #into(reader: Session, rows: number, length: number): Record<string, RuntimeTensor> {
    const { keyHeads, headSize } = this.#architecture;
    const shape = [rows, keyHeads, 1, length, headSize];
    const size = rows * keyHeads * length * headSize;
    const tensors = namesOf(this.#architecture).map((name) => {
      const known = this.#memory.get(name);
      const array = known && known.length >= size ? known : new Float32Array(size);
      this.#memory.set(name, array);
      return [name, reader.tensor(array.subarray(0, size), shape)];
    });
    return Object.fromEntries(tensors);
  }

  #promptOf(
    results: Readonly<Record<string, Float32Array>>,
    row: number,
    rows: number,
    length: number,
  ): ReadPrompt {
    const { keyHeads, headSize } = this.#architecture;
    const part = (name: string, index: number, parts: number, size?: number) => {
      const array = results[name] as Float32Array;
      const step = array.length / parts;
      return array.subarray(index * step, index * step + (size ?? step));
    };
    return {
      length,
      byHead: namesOf(this.#architecture).map((name) =>
        Array.from({ length: keyHeads }, (_, head) =>
          part(name, row * keyHeads + head, rows * keyHeads, length * headSize),
        ),
      ),
      next: {
        logits: part("logits", row, rows),
        probabilities: part("probabilities", row, rows),
      },
    };
  }
}
