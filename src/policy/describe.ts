/** A checkpoint in numbers, for people and programs that have not loaded it. */

import type { JsonObject } from "../core/json.ts";
import type { Architecture } from "./architecture.ts";
import type { Checkpoint, Stored } from "./checkpoint.ts";

export interface PolicyDescription {
  readonly schema: "lockedroom.policy@1";
  readonly fingerprint: string;
  readonly model_type: string;
  readonly architecture: Architecture;
  readonly parameters: {
    readonly total: number;
    readonly embedding: number;
    /** 0 when the head reads the embedding. */
    readonly head: number;
    readonly per_layer: number;
    /** The last norm, and the value head where there is one. */
    readonly rest: number;
  };
  readonly max_length: number;
  readonly tokenizer: {
    readonly kind: string;
    readonly tokens: number;
    readonly begin_token: number | null;
    readonly end_tokens: readonly number[];
  };
  readonly chat_template: boolean;
  readonly stored: {
    readonly own: boolean;
    readonly dtypes: readonly string[];
    readonly bytes: number;
    readonly files: Stored["files"];
  };
  /** Null when nobody said. */
  readonly trained: JsonObject | null;
}

export function describeCheckpoint(checkpoint: Checkpoint, stored: Stored): PolicyDescription {
  const { architecture, tokenizer } = checkpoint;
  const count = (pattern: RegExp) =>
    checkpoint.placed
      .filter(({ name }) => pattern.test(name))
      .reduce((sum, { size }) => sum + size, 0);
  return {
    schema: "lockedroom.policy@1",
    fingerprint: checkpoint.fingerprint,
    model_type: stored.modelType,
    architecture,
    parameters: {
      total: checkpoint.parameters.length,
      embedding: count(/^model\.embed_tokens\./),
      head: count(/^lm_head\./),
      per_layer: count(/^model\.layers\./) / architecture.layers,
      rest: count(/^(model\.norm|value_head)\./),
    },
    max_length: checkpoint.maxLength,
    tokenizer: {
      kind: tokenizer.name,
      tokens: tokenizer.tokens,
      begin_token: tokenizer.beginToken,
      end_tokens: tokenizer.endTokens,
    },
    chat_template: checkpoint.chat !== null,
    stored: {
      own: stored.own,
      dtypes: stored.dtypes,
      bytes: stored.files.reduce((sum, { bytes }) => sum + bytes, 0),
      files: stored.files,
    },
    trained: checkpoint.trained,
  };
}
