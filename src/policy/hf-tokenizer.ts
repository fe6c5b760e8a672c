/** The tokenizer of a Hugging Face checkpoint: its tokenizer.json, run by their library. */

import * as library from "@huggingface/tokenizers";
import { dataError, messageOf } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { type PolicyTokenizer, TOKENIZER_FILE } from "./tokenizer.ts";

/** What is used of the library, whose own types do not resolve in an ES module. */
interface Library {
  encode(
    text: string,
    options?: { add_special_tokens?: boolean },
  ): { readonly ids: number[]; readonly tokens: string[] };
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string;
  id_to_token(id: number): string | undefined;
  get_vocab(): Map<string, number>;
  get_added_tokens_decoder(): Map<number, { readonly id: number; readonly special: boolean }>;
}

const Library = library.Tokenizer as unknown as new (
  content: JsonObject,
  settings: JsonObject,
) => Library;

export interface HuggingFaceTokenizerOptions {
  /** The text of tokenizer.json and of its companions, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Of tokenizer.json, for errors. */
  readonly path: string;
  /** Rows of the embedding: often more than there are tokens, never fewer. */
  readonly vocabulary: number;
  readonly endTokens: readonly number[];
  /** The content of tokenizer_config.json. */
  readonly settings?: JsonObject | undefined;
  /** The `bos_token_id` of config.json, whether or not prompts begin with it. */
  readonly bosToken?: number | null | undefined;
}

const NOTHING = new Uint8Array();
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class HuggingFaceTokenizer implements PolicyTokenizer {
  readonly name = "hugging-face";
  readonly size: number;
  readonly endTokens: readonly number[];
  readonly beginToken: number | null;
  readonly bosToken: number | null;
  readonly files: Readonly<Record<string, string>>;
  readonly fingerprint: string;
  readonly tokens: number;
  readonly #library: Library;
  readonly #special: ReadonlySet<number>;
  readonly #added: ReadonlySet<number>;
  readonly #byteLevel: boolean;
  readonly #bytes = new Map<number, Uint8Array>();

  constructor(options: HuggingFaceTokenizerOptions) {
    const { files, path, vocabulary, settings } = options;
    const file = files[TOKENIZER_FILE] ?? "";
    const content = attempt(path, () => parsed(file));
    this.#library = attempt(path, () => new Library(content, settings ?? {}));
    const added = [...this.#library.get_added_tokens_decoder().values()];
    this.#added = new Set(added.map(({ id }) => id));
    this.#special = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.#byteLevel = isByteLevel(content.decoder ?? null);
    this.tokens = 1 + Math.max(-1, ...this.#added, largest(this.#library));
    if (this.tokens > vocabulary) {
      throw dataError(
        `${path} has ${this.tokens} tokens, but the vocabulary of the model has ${vocabulary}`,
        "Put the tokenizer beside the model that it was made for.",
      );
    }
    this.files = files;
    this.fingerprint = sha256(file);
    this.size = vocabulary;
    this.endTokens = options.endTokens;
    this.bosToken = options.bosToken ?? null;
    this.beginToken = attempt(path, () => beginTokenOf(this.#library));
  }

  /** The text of a special token becomes that token, which chat templates rely on. */
  encode(text: string): number[] {
    if (text === "") return [];
    const { ids, tokens } = this.#library.encode(text, { add_special_tokens: false });
    const unknown = ids.findIndex((id) => !Number.isInteger(id));
    if (unknown >= 0) {
      throw dataError(`the tokenizer has no token for "${tokens[unknown]}"`);
    }
    return ids;
  }

  /** Special tokens have no text. */
  decode(ids: Iterable<number>): string {
    const kept = [...ids].filter((id) => this.#tokenOf(id) !== null && !this.#special.has(id));
    if (kept.length === 0) return "";
    if (this.#byteLevel) return UTF8.decode(Buffer.concat(kept.map((id) => this.bytesOf(id))));
    return this.#library.decode(kept, { clean_up_tokenization_spaces: false });
  }

  bytesOf(id: number): Uint8Array {
    const known = this.#bytes.get(id);
    if (known) return known;
    const token = this.#tokenOf(id);
    const bytes = token === null || this.#special.has(id) ? NOTHING : this.#bytesOfToken(id, token);
    this.#bytes.set(id, bytes);
    return bytes;
  }

  contentOf(id: number | null): string | null {
    return id === null ? null : this.#tokenOf(id);
  }

  #tokenOf(id: number): string | null {
    if (!Number.isInteger(id) || id < 0 || id >= this.size) {
      throw new RangeError(`there is no token ${id} among ${this.size}`);
    }
    return this.#library.id_to_token(id) ?? null;
  }

  #bytesOfToken(id: number, token: string): Uint8Array {
    if (this.#added.has(id)) return Buffer.from(token, "utf8");
    if (this.#byteLevel) return Uint8Array.from(token, (character) => byteOf(character));
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1];
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
    return Buffer.from(token.replaceAll("▁", " "), "utf8");
  }
}

function parsed(text: string): JsonObject {
  const content: unknown = JSON.parse(text);
  if (!isFields(content)) throw new TypeError("it is no JSON object");
  // The library requires the key.
  return { added_tokens: [], ...content } as JsonObject;
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw dataError(`${path} is no sound tokenizer: ${messageOf(error)}`, "Fetch it again.");
  }
}

function largest(tokenizer: Library): number {
  let most = -1;
  for (const id of tokenizer.get_vocab().values()) most = Math.max(most, id);
  return most;
}

/** The token that the tokenizer itself puts before a text, if any. */
function beginTokenOf(tokenizer: Library): number | null {
  const whole = tokenizer.encode("a").ids;
  const bare = tokenizer.encode("a", { add_special_tokens: false }).ids;
  return whole.length > bare.length && whole[0] !== bare[0] ? (whole[0] ?? null) : null;
}

function isByteLevel(decoder: Json): boolean {
  const { type, decoders } = (decoder ?? {}) as JsonObject;
  return type === "ByteLevel" || (Array.isArray(decoders) && decoders.some(isByteLevel));
}

/** GPT-2 writes bytes as characters: printable ones as they are, the others from U+0100 up. */
const PRINTABLE = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;
const isPrintable = (byte: number) => PRINTABLE.some(([from, to]) => byte >= from && byte <= to);
const HIDDEN_BYTES = Array.from({ length: 256 }, (_, byte) => byte).filter((b) => !isPrintable(b));

function byteOf(character: string): number {
  const code = character.codePointAt(0) as number;
  return code < 0x100 ? code : (HIDDEN_BYTES[code - 0x100] ?? 0x3f);
}
