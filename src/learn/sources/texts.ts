/** Prompts with completions as tokens, held compactly, and batches of them in a seeded order. */

import type { Message } from "../../core/environment.ts";
import { dataError } from "../../core/errors.ts";
import { PromptSet } from "../../core/prompt-set.ts";
import { actionCount, completionRow, type Span, type TokenRow } from "../../core/token-row.ts";
import type { Encoder } from "../../engine/engine.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { encodedAt, type InputRecord } from "./examples.ts";
import { type HeldOutPrompts, overlap } from "./held-out.ts";
import type { SeededOrder } from "./order.ts";

export interface Text {
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
  /** The turns of a conversation; prompt and completion are then the texts of the first. */
  readonly turns?: readonly TextTurn[];
}

/** What was read, and what was written after it. */
export interface TextTurn {
  readonly messages: readonly Message[];
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
  /** Where the policy's own tokens begin and end, and where the spans of each text begin. */
  readonly #spans: Uint32Array;
  readonly #spanStarts: Uint32Array;
  readonly #each: number;

  private constructor(
    rows: readonly TokenRow[],
    each: number,
    input: InputRecord,
    prompts: PromptSet,
  ) {
    [this.#tokens, this.#starts] = packed(rows, ({ tokens }) => tokens);
    [this.#spans, this.#spanStarts] = packed(rows, ({ actions }) => actions.flat());
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
      const part = (list: Uint32Array, starts: Uint32Array) =>
        Array.from(list.subarray(starts[text], starts[text + 1]));
      const ends = part(this.#spans, this.#spanStarts);
      const actions = ends.flatMap((from, i): Span[] =>
        i % 2 === 0 ? [[from, ends[i + 1] as number]] : [],
      );
      return { tokens: part(this.#tokens, this.#starts), actions };
    });
  }
}

/** Lists of numbers in one array, and where each begins. */
function packed<T>(
  items: readonly T[],
  listOf: (item: T) => readonly number[],
): [all: Uint32Array, starts: Uint32Array] {
  const starts = new Uint32Array(items.length + 1);
  for (const [i, item] of items.entries()) {
    starts[i + 1] = (starts[i] as number) + listOf(item).length;
  }
  const all = new Uint32Array(starts[items.length] as number);
  for (const [i, item] of items.entries()) all.set(listOf(item), starts[i]);
  return [all, starts];
}

/** A prompt may be split between the two fields, or stand in the completion alone. */
function addTo(set: PromptSet, text: Text): void {
  const parts = partsOf(text);
  set.add(text.prompt);
  set.addText(parts.flat().join(""));
  for (const [, completion] of parts) set.addText(completion);
}

/** What was read and what was written, in each turn; most texts have one. */
export function partsOf({ prompt, completion, turns }: Text): (readonly [string, string])[] {
  if (!turns) return [[prompt, completion]];
  return turns.map((turn) => [contentOf(turn.messages), turn.completion]);
}

function contentOf(messages: readonly Message[]): string {
  return messages.map(({ content }) => content).join("");
}

/** Which items a step learns from. */
export function itemsOf(step: number, size: number, order: SeededOrder): number[] {
  return Array.from({ length: size }, (_, i) => order.at((step - 1) * size + i));
}

function tokensOf(text: Text, encoder: Encoder, place: string): TokenRow {
  const { id } = text;
  const row = encodedAt(place, id, () => rowOf(text, encoder));
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

/** The row that the same conversation has when the policy plays it. */
function rowOf({ prompt, completion, turns }: Text, encoder: Encoder): TokenRow {
  const written = (text: string) => [...encoder.encode(text), encoder.endToken];
  if (!turns) return completionRow(encoder.promptTokens(prompt), written(completion));
  const tokens: number[] = [];
  const actions: Span[] = [];
  /** Everything up to the policy's last answer, which a chat template does not read. */
  let before: readonly Message[] = [];
  let last: readonly number[] = [];
  for (const [i, turn] of turns.entries()) {
    const { begin, next } = encoder.conversation;
    tokens.push(...(i === 0 ? begin(turn.messages) : next(before, last, turn.messages)));
    const answered = turns[i - 1];
    before = [
      ...before,
      ...(answered ? [{ role: "assistant" as const, content: answered.completion }] : []),
      ...turn.messages,
    ];
    last = written(turn.completion);
    actions.push([tokens.length, tokens.length + last.length]);
    tokens.push(...last);
  }
  return { tokens, actions };
}

export function toText(fields: Record<string, unknown>): readonly [Text] {
  const { id = "", prompt, completion, messages } = fields;
  if (Array.isArray(messages)) return [conversation(String(id), messages)];
  if (typeof prompt === "string" && typeof completion === "string") {
    return [{ id: String(id), prompt, completion }];
  }
  throw new TypeError("a text needs prompt and completion, both strings, or messages");
}

const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"];

const isRole = (role: unknown): role is Message["role"] => ROLES.includes(role);

/** The answers are learned, and what stands before them is read; what follows the last is left out. */
function conversation(id: string, messages: readonly unknown[]): Text {
  const turns: TextTurn[] = [];
  let read: Message[] = [];
  for (const message of messages) {
    const { role, content } = (message ?? {}) as Readonly<Record<string, unknown>>;
    if (!isRole(role) || typeof content !== "string") {
      throw new TypeError(`each of the messages needs content and a role: ${ROLES.join(", ")}`);
    }
    if (role === "assistant") {
      turns.push({ messages: read, completion: content });
      read = [];
    } else read.push({ role, content });
  }
  const [first] = turns;
  if (!first) throw new TypeError("the messages need one of the role assistant, to learn from");
  return { id, prompt: contentOf(first.messages), completion: first.completion, turns };
}
