/**
 * The prompts of a list of requests, in their order. Several are read at a time, each once for all the
 * requests for it that follow each other.
 */

import type { ReadPrompt } from "./prompt-reader.ts";

type Tokens = readonly number[];

/** Reads prompts, and may overwrite those that it read before. */
type Read = (prompts: readonly Tokens[]) => Promise<ReadPrompt[]>;

export class Prompts {
  readonly #read: Read;
  readonly #prompts: readonly Tokens[];
  /** Equal for equal prompts. */
  readonly #keys: readonly string[];
  readonly #together: number;
  /** Those that were read last. */
  #atHand = new Map<string, ReadPrompt>();

  /** `together` prompts are read at a time. */
  constructor(read: Read, prompts: readonly Tokens[], together: number) {
    this.#read = read;
    this.#prompts = prompts;
    this.#keys = keysOf(prompts);
    this.#together = together;
  }

  /** The prompt of a request; valid until the next call. */
  async of(request: number): Promise<ReadPrompt> {
    const key = this.#keys[request] as string;
    return this.#atHand.get(key) ?? (await this.#readFrom(request));
  }

  /** Reads the prompt of this request, and with it those of the next ones. */
  async #readFrom(request: number): Promise<ReadPrompt> {
    const wanted = new Map<string, Tokens>();
    for (let i = request; i < this.#keys.length && wanted.size < this.#together; i++) {
      wanted.set(this.#keys[i] as string, this.#prompts[i] as Tokens);
    }
    const read = await this.#read([...wanted.values()]);
    this.#atHand = new Map([...wanted.keys()].map((key, i) => [key, read[i] as ReadPrompt]));
    return read[0] as ReadPrompt;
  }
}

/** Requests for one prompt usually follow each other, and comparing is faster than joining. */
function keysOf(prompts: readonly Tokens[]): string[] {
  const keys: string[] = [];
  for (const [i, prompt] of prompts.entries()) {
    const before = prompts[i - 1];
    keys.push(before && isSame(before, prompt) ? (keys[i - 1] as string) : prompt.join());
  }
  return keys;
}

function isSame(a: Tokens, b: Tokens): boolean {
  return a === b || (a.length === b.length && a.every((token, i) => token === b[i]));
}
