/**
 * A completion as it may be shown while it grows: whole characters only, and nothing that may turn out
 * to be the beginning of a stop text.
 */

import type { Drawn } from "../policy/generate.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";

/** A token, and where in the completion's text it begins, in characters. */
export interface Placed extends Drawn {
  readonly offset: number;
}

/** What can be shown of one completion now. */
export interface Shown {
  readonly text: string;
  /** All tokens since the last time. */
  readonly tokens: readonly Placed[];
  /** Null while there is more to come. */
  readonly finish: "stop" | "length" | null;
}

export class Unfolding {
  readonly #tokenizer: PolicyTokenizer;
  readonly #stop: readonly string[];
  readonly #ids: number[] = [];
  #waiting: Placed[] = [];
  /** The text but for a character that is not whole yet, and how many characters that is. */
  #whole = "";
  #characters = 0;
  #shown = 0;

  constructor(tokenizer: PolicyTokenizer, stop: readonly string[]) {
    this.#tokenizer = tokenizer;
    this.#stop = stop;
  }

  /** Undefined when nothing new can be shown. */
  take(drawn: Drawn): Shown | undefined {
    this.#waiting.push({ ...drawn, offset: this.#characters });
    this.#ids.push(drawn.token);
    const { said } = drawn;
    if (said) return this.#show(said.completion, said.completion.length, said.finish);
    const before = this.#whole.length;
    // Bytes that are no character yet are decoded as one U+FFFD, at the end.
    this.#whole = this.#tokenizer.decode(this.#ids).replace(/\uFFFD$/, "");
    this.#characters += [...this.#whole.slice(before)].length;
    const end = this.#whole.length - Math.max(0, ...this.#stop.map((stop) => this.#begun(stop)));
    return end > this.#shown ? this.#show(this.#whole, end, null) : undefined;
  }

  #show(text: string, end: number, finish: Shown["finish"]): Shown {
    const shown = { text: text.slice(this.#shown, end), tokens: this.#waiting, finish };
    this.#shown = end;
    this.#waiting = [];
    return shown;
  }

  /** How much of a stop text stands at the end. */
  #begun(stop: string): number {
    let length = Math.min(stop.length - 1, this.#whole.length);
    while (length > 0 && !this.#whole.endsWith(stop.slice(0, length))) length--;
    return length;
  }
}
