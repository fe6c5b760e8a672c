/** Tokenizers: text as a list of numbers, each of which stands for some bytes. */

export interface Tokenizer {
  readonly name: string;
  /**
   * The tokens of a text. Their bytes, one after the other, are the text's UTF-8 bytes. A lone
   * surrogate has no UTF-8 form and becomes U+FFFD.
   */
  encode(text: string): number[];
  /** The text of tokens; bytes that are not UTF-8 become U+FFFD. */
  decode(ids: Iterable<number>): string;
  /** The bytes of one token, which may be part of a character. An unknown id throws. */
  bytesOf(id: number): Uint8Array;
}

/** The tokenizer of a checkpoint, with its special tokens and its files. */
export interface PolicyTokenizer extends Tokenizer {
  /** Rows of the embedding; the ids from `tokens` on are unused. */
  readonly size: number;
  readonly tokens: number;
  /** End a completion; never part of its text. */
  readonly endTokens: readonly number[];
  /** Begins a prompt, if the policy was trained so. */
  readonly beginToken: number | null;
  /** The `bos_token_id` of config.json, whether or not prompts begin with it. */
  readonly bosToken: number | null;
  /** The text of a token, special or not; null for an unused id. */
  contentOf(id: number | null): string | null;
  /** Its files in a checkpoint, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Its part of the checkpoint's fingerprint. */
  readonly fingerprint: string;
}

export const TOKENIZER_FILE = "tokenizer.json";
export const TOKENIZER_SETTINGS = "tokenizer_config.json";
