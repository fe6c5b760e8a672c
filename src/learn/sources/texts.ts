/** Prompts with completions as tokens, held compactly, and batches of them in a seeded order. */

import { dataError } from "../../core/errors.ts";
import { PromptSet } from "../../core/prompt-set.ts";
import { actionCount, completionRow, promptLength, type TokenRow } from "../../core/token-row.ts";
import type { Encoder } from "../../engine/engine.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { encodedAt, type InputRecord } from "./examples.ts";
import { type HeldOutPrompts, overlap } from "./held-out.ts";
import type { SeededOrder } from "./order.ts";

export interface Text {
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
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
  readonly maxTokens: number;
  readonly input: InputRecord;
  /** The prompts, and what the texts hold that may be prompts. */
  readonly prompts: PromptSet;
  readonly #tokens: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #prompts: Uint32Array;
  readonly #each: number;

  private constructor(
    rows: readonly TokenRow[],
    each: number,
    input: InputRecord,
    prompts: PromptSet,
  ) {
    const starts = new Uint32Array(rows.length + 1);
    for (const [i, { tokens }] of rows.entries()) {
      starts[i + 1] = (starts[i] as number) + tokens.length;
    }
    this.#tokens = new Uint32Array(starts[rows.length] as number);
    for (const [i, { tokens }] of rows.entries()) this.#tokens.set(tokens, starts[i]);
    this.#starts = starts;
    this.#prompts = Uint32Array.from(rows, promptLength);
    this.#each = each;
    this.count = rows.length / each;
    this.longest = rows.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
    this.maxTokens = rows.reduce((most, row) => Math.max(most, actionCount(row)), 0);
    this.input = input;
    this.prompts = prompts;
  }

  /** Reads JSONL; a line that does not fit is refused by its place. */
  static async read(
    file: string,
    toTexts: (fields: Record<string, unknown>) => readonly Text[],
    encoder: Encoder,
    heldOut?: HeldOutPrompts,
  ): Promise<Texts> {
    const lines = new JsonlFile(file, (fields, line) => ({ texts: toTexts(fields), line }));
    const rows: TokenRow[] = [];
    const prompts = new PromptSet();
    let each = 1;
    let first: Parameters<typeof overlap>[0] | undefined;
    let leaks = 0;
    for await (const batch of lines.batches()) {
      for (const { texts, line } of batch) {
        each = texts.length;
        const place = `${file}:${line}`;
        const [{ id = "", prompt = "" } = {}] = texts;
        const other = heldOut?.find(prompt);
        if (other) {
          leaks++;
          first ??= { one: { id, place }, other };
        }
        for (const text of texts) {
          rows.push(tokensOf(text, encoder, place));
          addTo(prompts, text);
        }
      }
    }
    if (first) throw overlap(first, leaks, lines.rows, file);
    if (rows.length === 0) throw dataError(`${file} is empty`, "Give at least one row.");
    return new Texts(rows, each, lines.asInput("texts"), prompts);
  }

  rowsOf(item: number): TokenRow[] {
    return Array.from({ length: this.#each }, (_, k) => {
      const text = item * this.#each + k;
      const [start, end] = [this.#starts[text] as number, this.#starts[text + 1] as number];
      const tokens = Array.from(this.#tokens.subarray(start, end));
      return { tokens, actions: [[this.#prompts[text] as number, tokens.length]] };
    });
  }
}

/** A prompt may be split between the two fields, or stand in the completion alone. */
function addTo(set: PromptSet, { prompt, completion }: Text): void {
  set.add(prompt);
  set.addText(prompt + completion);
  set.addText(completion);
}

/** Which items a step learns from. */
export function itemsOf(step: number, size: number, order: SeededOrder): number[] {
  return Array.from({ length: size }, (_, i) => order.at((step - 1) * size + i));
}

function tokensOf({ id, prompt, completion }: Text, encoder: Encoder, place: string): TokenRow {
  const row = encodedAt(place, id, () =>
    completionRow(encoder.promptTokens(prompt), [...encoder.encode(completion), encoder.endToken]),
  );
  if (row.actions[0]?.[0] === 0) {
    throw dataError(
      `${place}: the prompt of "${id}" is empty, and the policy has no token to begin with`,
      "Give every prompt a text.",
    );
  }
  if (row.tokens.length <= encoder.maxLength) return row;
  throw dataError(
    `${place}: the text "${id}" has ${row.tokens.length} tokens, and the policy's context length is ${encoder.maxLength}`,
    "Shorten it, or train a policy with a longer context.",
  );
}

export function toText(fields: Record<string, unknown>): readonly [Text] {
  const { id = "", prompt, completion } = fields;
  if (typeof prompt === "string" && typeof completion === "string") {
    return [{ id: String(id), prompt, completion }];
  }
  throw new TypeError("a text needs prompt and completion, both strings");
}
