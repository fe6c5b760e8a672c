/** Prompts with completions as tokens, held compactly, and batches of them in a seeded order. */

import { dataError } from "../../core/errors.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { Row } from "../algorithm.ts";
import type { HeldOutPrompts } from "../held-out.ts";
import type { InputRecord } from "../source.ts";
import type { SeededOrder } from "./order.ts";

export interface Text {
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
}

/** How texts become tokens. */
export interface Reading {
  readonly promptTokens: (text: string) => readonly number[];
  readonly encode: (text: string) => readonly number[];
  readonly end: number;
  readonly maxLength: number;
}

/**
 * A file of items, each of which is one text or several that belong together, such as the chosen and
 * the rejected completion of a prompt.
 */
export class Texts {
  /** Items. */
  readonly count: number;
  /** Tokens of the longest text, the end token included. */
  readonly longest: number;
  /** Tokens of the longest completion. */
  readonly mostTokens: number;
  readonly input: InputRecord;
  readonly #tokens: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #prompts: Uint32Array;
  readonly #each: number;

  private constructor(rows: readonly TokenRow[], each: number, input: InputRecord) {
    const starts = new Uint32Array(rows.length + 1);
    for (const [i, { tokens }] of rows.entries()) {
      starts[i + 1] = (starts[i] as number) + tokens.length;
    }
    this.#tokens = new Uint32Array(starts[rows.length] as number);
    for (const [i, { tokens }] of rows.entries()) this.#tokens.set(tokens, starts[i]);
    this.#starts = starts;
    this.#prompts = Uint32Array.from(rows, ({ prompt }) => prompt);
    this.#each = each;
    this.count = rows.length / each;
    this.longest = rows.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
    this.mostTokens = rows.reduce(
      (most, { tokens, prompt }) => Math.max(most, tokens.length - prompt),
      0,
    );
    this.input = input;
  }

  /** Reads JSONL; a line that does not fit is refused by its place. */
  static async read(
    file: string,
    toTexts: (fields: Record<string, unknown>) => readonly Text[],
    reading: Reading,
    heldOut?: HeldOutPrompts,
  ): Promise<Texts> {
    const lines = new JsonlFile(file, toTexts);
    const rows: TokenRow[] = [];
    let each = 1;
    for await (const batch of lines.batches()) {
      for (const texts of batch) {
        each = texts.length;
        for (const text of texts) {
          heldOut?.refuse(text.prompt, text.id, file);
          rows.push(tokensOf(text, reading, file));
        }
      }
    }
    if (rows.length === 0) throw dataError(`${file} is empty`, "Give at least one row.");
    return new Texts(rows, each, lines.asInput("texts"));
  }

  /** An item's rows, without columns. */
  rowsOf(item: number): Row[] {
    return Array.from({ length: this.#each }, (_, k) => {
      const text = item * this.#each + k;
      const [start, end] = [this.#starts[text] as number, this.#starts[text + 1] as number];
      const tokens = Array.from(this.#tokens.subarray(start, end));
      return { tokens, prompt: this.#prompts[text] as number, columns: {} };
    });
  }
}

/** Which items a step learns from. */
export function itemsOf(step: number, size: number, order: SeededOrder): number[] {
  return Array.from({ length: size }, (_, i) => order.at((step - 1) * size + i));
}

interface TokenRow {
  readonly tokens: readonly number[];
  readonly prompt: number;
}

function tokensOf({ id, prompt, completion }: Text, reading: Reading, file: string): TokenRow {
  const before = reading.promptTokens(prompt);
  const tokens = [...before, ...reading.encode(completion), reading.end];
  if (tokens.length <= reading.maxLength) return { tokens, prompt: before.length };
  throw dataError(
    `${file}: the text "${id}" has ${tokens.length} tokens, and the policy looks at ${reading.maxLength} at most`,
    "Shorten it, or train a policy with a longer view.",
  );
}

export function toText(fields: Record<string, unknown>): readonly [Text] {
  const { id = "", prompt, completion } = fields;
  if (typeof prompt === "string" && typeof completion === "string") {
    return [{ id: String(id), prompt, completion }];
  }
  throw new TypeError("a text needs prompt and completion, both strings");
}
