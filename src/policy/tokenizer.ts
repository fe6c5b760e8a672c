/** What a policy acts on: text as a list of numbers, each of which stands for some bytes. */

export interface Tokenizer {
  readonly name: string;
  /**
   * The tokens of a text. Their bytes, one after the other, are the text's UTF-8 bytes. A lone
   * surrogate has no UTF-8 form and becomes U+FFFD, as everywhere that strings become bytes.
   */
  encode(text: string): number[];
  /** The text of tokens; bytes that are not UTF-8 become U+FFFD. */
  decode(ids: Iterable<number>): string;
  /** What one token stands for, which may be a part of a character. An unknown id throws. */
  bytesOf(id: number): Uint8Array;
}

/** A tokenizer that belongs to a checkpoint: it knows its size and the tokens that steer. */
export interface PolicyTokenizer extends Tokenizer {
  readonly size: number;
  /** Ends a completion; it is never part of its text. */
  readonly endTokens: readonly number[];
  /** Begins a prompt, where the policy was trained so. */
  readonly beginToken: number | null;
  /** The file that goes into a checkpoint, as text. */
  readonly file: string;
}
