/** A checkpoint in numbers, for people and programs that have not loaded it. */

import type { Checkpoint, Stored } from "./checkpoint.ts";

export type PolicyDescription = ReturnType<typeof describeCheckpoint>;

export function describeCheckpoint(checkpoint: Checkpoint, stored: Stored) {
  const { architecture, tokenizer, placed } = checkpoint;
  const count = (pattern: RegExp) =>
    placed.reduce((sum, { name, size }) => sum + (pattern.test(name) ? size : 0), 0);
  return {
    schema: "lockedroom.policy@1" as const,
    fingerprint: checkpoint.fingerprint,
    model_type: stored.modelType,
    architecture,
    parameters: {
      total: checkpoint.parameters.length,
      embedding: count(/^model\.embed_tokens\./),
      /** 0 when the head reads the embedding. */
      head: count(/^lm_head\./),
      per_layer: count(/^model\.layers\./) / architecture.layers,
      /** The last norm, and the value head if there is one. */
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
