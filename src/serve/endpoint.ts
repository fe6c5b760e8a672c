/** What makes an endpoint: how its requests are read, and how its answers are written. */

import type { Checkpoint } from "../policy/checkpoint.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import type { Piece } from "./answer.ts";
import type { Asked } from "./asked.ts";

/** How an answer is written; the same for each of its parts. */
export interface Writing {
  readonly tokenizer: PolicyTokenizer;
  readonly logprobs: boolean;
}

export interface Endpoint {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  read(body: unknown, checkpoint: Checkpoint): Asked;
  /** A whole choice. */
  choice(piece: Piece, writing: Writing): object;
  /** What a stream says of a choice before its first token, if anything. */
  opening(index: number): object | undefined;
  /** A part of a choice, in a stream. */
  part(piece: Piece, writing: Writing): object;
}
