/** One token for each character of a fixed alphabet, and three tokens that steer. */

import { dataError, usageError } from "../core/errors.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { codePoint, visible } from "../core/visible.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

export const CHARACTERS_SCHEMA = "lockedroom.characters@1";

const PAD = 0;
const BEGIN = 1;
const END = 2;
/** In the order of their ids; the characters come after them. */
export const SPECIAL_TOKENS: readonly string[] = ["<pad>", "<begin>", "<end>"];

const NOTHING = new Uint8Array();

export class CharacterTokenizer implements PolicyTokenizer {
  readonly name = "characters";
  readonly size: number;
  readonly endTokens: readonly number[] = [END];
  readonly beginToken = BEGIN;
  readonly padToken = PAD;
  readonly file: string;
  /** By id; null for the tokens that are no text. */
  readonly #characters: readonly (string | null)[];
  readonly #ids: ReadonlyMap<string, number>;

  /** The alphabet, in the order of the ids. */
  constructor(characters: string) {
    const list = [...characters];
    const seen = new Set<string>();
    for (const character of list) {
      if (/\p{Cs}/u.test(character)) {
        throw usageError(`the alphabet holds ${codePoint(character)}, half of a character`);
      }
      if (seen.has(character)) {
        throw usageError(
          `the alphabet holds ${named(character)} more than once`,
          "Give each character once.",
        );
      }
      seen.add(character);
    }
    this.#characters = [...SPECIAL_TOKENS.map(() => null), ...list];
    this.#ids = new Map(list.map((character, i) => [character, i + SPECIAL_TOKENS.length]));
    this.size = this.#characters.length;
    const content = { characters, schema: CHARACTERS_SCHEMA, special_tokens: SPECIAL_TOKENS };
    this.file = `${canonicalJson(content)}\n`;
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

  /** Tokens that steer stand for no bytes. */
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
      `Its ${this.#ids.size} characters are: ${alphabet}`,
    );
  }
}

/** A character so that it is seen whatever it is: `"é" (U+00E9)`. */
function named(character: string): string {
  return `"${visible(character)}" (${codePoint(character)})`;
}

/** The tokenizer that a file holds; undefined when the content is of another kind. */
export function characterTokenizerOf(content: Json, file: string): CharacterTokenizer | undefined {
  const { schema, characters, special_tokens } = (content ?? {}) as Record<string, Json>;
  if (schema !== CHARACTERS_SCHEMA) return undefined;
  if (typeof characters !== "string") throw damaged(file, "characters is no text");
  if (canonicalJson(special_tokens ?? null) !== canonicalJson(SPECIAL_TOKENS)) {
    throw damaged(file, `special_tokens are not ${SPECIAL_TOKENS.join(", ")}`);
  }
  return new CharacterTokenizer(characters);
}

function damaged(file: string, problem: string): Error {
  return dataError(`${file} is no sound tokenizer: ${problem}`, "Write the checkpoint again.");
}
