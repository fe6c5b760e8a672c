/**
 * The text of a growing completion that can be sent: whole characters only, and nothing that may be
 * the beginning of a stop text.
 */

import type { GeneratedToken } from "../policy/generate.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";

/** A token, and where in the completion's text it begins, in characters. */
export interface PlacedToken extends GeneratedToken {
  readonly offset: number;
}

/** What can be sent of one completion now. */
export interface TextDelta {
  readonly text: string;
  /** All tokens since the last delta. */
  readonly tokens: readonly PlacedToken[];
  /** Null until the last delta. */
  readonly finish: "stop" | "length" | null;
}

export class StreamingText {
  readonly #tokenizer: PolicyTokenizer;
  readonly #stop: readonly string[];
  readonly #ids: number[] = [];
  #waiting: PlacedToken[] = [];
  /** The text without a last character of which bytes are missing, and its number of characters. */
  #whole = "";
  #characters = 0;
  #sent = 0;

  constructor(tokenizer: PolicyTokenizer, stop: readonly string[]) {
    this.#tokenizer = tokenizer;
    this.#stop = stop;
  }

  /** Undefined when nothing new can be sent. */
  push(token: GeneratedToken): TextDelta | undefined {
    this.#waiting.push({ ...token, offset: this.#characters });
    this.#ids.push(token.token);
    if (token.generation) {
      const { completion, finish } = token.generation;
      return this.#delta(completion, completion.length, finish);
    }
    const before = this.#whole.length;
    // Bytes that are no character yet are decoded as one U+FFFD, at the end.
    this.#whole = this.#tokenizer.decode(this.#ids).replace(/\uFFFD$/, "");
    this.#characters += [...this.#whole.slice(before)].length;
    const end =
      this.#whole.length - Math.max(0, ...this.#stop.map((stop) => this.#partialStop(stop)));
    return end > this.#sent ? this.#delta(this.#whole, end, null) : undefined;
  }

  #delta(text: string, end: number, finish: TextDelta["finish"]): TextDelta {
    const delta = { text: text.slice(this.#sent, end), tokens: this.#waiting, finish };
    this.#sent = end;
    this.#waiting = [];
    return delta;
  }

  /** How many characters at the end may belong to this stop text. */
  #partialStop(stop: string): number {
    let length = Math.min(stop.length - 1, this.#whole.length);
    while (length > 0 && !this.#whole.endsWith(stop.slice(0, length))) length--;
    return length;
  }
}
