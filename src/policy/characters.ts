/** One token for each character of a fixed alphabet, and three special tokens. */

import { dataError, usageError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { codePoint, visible } from "../core/visible.ts";
import { characterFiles, SPECIAL_TOKENS } from "./character-files.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

const [PAD, BEGIN, END] = [0, 1, 2];
const SCHEMA = "lockedroom.characters@1";

const NOTHING = new Uint8Array();

export class CharacterTokenizer implements PolicyTokenizer {
  readonly name = "characters";
  readonly size: number;
  readonly tokens: number;
  readonly endTokens: readonly number[] = [END];
  readonly beginToken = BEGIN;
  readonly bosToken = BEGIN;
  readonly padToken = PAD;
  readonly files: Readonly<Record<string, string>>;
  readonly fingerprint: string;
  /** By id; null for special tokens. */
  readonly #characters: readonly (string | null)[];
  readonly #ids: ReadonlyMap<string, number>;

  /** The alphabet, in the order of the ids, and the files that it was read from, if any. */
  constructor(characters: string, files?: Readonly<Record<string, string>>) {
    const list = [...characters];
    this.#characters = [...SPECIAL_TOKENS.map(() => null), ...list];
    this.#ids = new Map(list.map((character, i) => [character, i + SPECIAL_TOKENS.length]));
    const half = list.find((character) => /\p{Cs}/u.test(character));
    if (half !== undefined) {
      throw usageError(`the alphabet holds ${codePoint(half)}, half of a character`);
    }
    const twice = list.find(
      (character, i) => this.#ids.get(character) !== i + SPECIAL_TOKENS.length,
    );
    if (twice !== undefined) {
      throw usageError(
        `the alphabet holds ${named(twice)} more than once`,
        "Give each character once.",
      );
    }
    this.size = this.#characters.length;
    this.tokens = this.size;
    this.files = files ?? characterFiles(list);
    // Of the alphabet, not of the file: the layout of the file does not change the policy.
    const content = { characters, schema: SCHEMA, special_tokens: SPECIAL_TOKENS };
    this.fingerprint = sha256(`${canonicalJson(content)}\n`);
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    for (const character of text) {
      const id = this.#ids.get(character);
      if (id === undefined) throw this.#unknown(character, ids.length);
      ids.push(id);
    }
    return ids;
  }

  decode(ids: Iterable<number>): string {
    let text = "";
    for (const id of ids) text += this.#characterOf(id) ?? "";
    return text;
  }

  contentOf(id: number | null): string | null {
    return id === null ? null : (this.#characterOf(id) ?? SPECIAL_TOKENS[id] ?? null);
  }

  /** Special tokens have no bytes. */
  bytesOf(id: number): Uint8Array {
    const character = this.#characterOf(id);
    return character === null ? NOTHING : new TextEncoder().encode(character);
  }

  #characterOf(id: number): string | null {
    const character = this.#characters[id];
    if (character === undefined) {
      throw new RangeError(`there is no token ${id} among ${this.size} characters`);
    }
    return character;
  }

  #unknown(character: string, before: number): Error {
    const alphabet = visible(this.#characters.join(""));
    return dataError(
      `the policy does not know the character ${named(character)} (character ${before + 1} of the text)`,
      `Replace it in the data, or use a policy that knows it: train sft makes one from texts (--alphabet). The ${this.#ids.size} characters of this one are: ${alphabet}`,
    );
  }
}

/** Also visible for control characters: `"é" (U+00E9)`. */
function named(character: string): string {
  return `"${visible(character)}" (${codePoint(character)})`;
}
