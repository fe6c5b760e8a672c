/** An endpoint: how its requests are read, and how its responses are written. */

import type { Checkpoint } from "../policy/checkpoint.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import type { ChoiceDelta } from "./choices.ts";
import type { CompletionRequest } from "./request.ts";

/** The same for each part of a response. */
export interface ResponseFormat {
  readonly tokenizer: PolicyTokenizer;
  readonly logprobs: boolean;
}

export interface Endpoint {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  read(body: unknown, checkpoint: Checkpoint): CompletionRequest;
  /** A whole choice. */
  choice(choice: ChoiceDelta, format: ResponseFormat): object;
  /** What a stream sends before the first token of a choice, if anything. */
  opening(index: number): object | undefined;
  /** A part of a choice, in a stream. */
  delta(delta: ChoiceDelta, format: ResponseFormat): object;
}
