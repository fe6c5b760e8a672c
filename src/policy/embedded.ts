/** A checkpoint as a policy: prompts in, sampled completions with their log-probs out. */

import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { Policy, SampledCompletion, SampleRequest, SamplingSettings } from "../core/policy.ts";
import { promptTokens } from "./chat.ts";
import { type Checkpoint, loadCheckpoint } from "./checkpoint.ts";
import { Decoder } from "./decoder.ts";
import {
  type GeneratedToken,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
  generateBatch,
  generateSteps,
} from "./generate.ts";

export interface EmbeddedOptions {
  readonly sampling: SamplingSettings;
  /** The system message; without a chat template, a text before every prompt. */
  readonly system?: string | undefined;
  readonly threads?: number | undefined;
  /** Rows per batch; samples do not depend on it. */
  readonly batch?: number | undefined;
  /** The training step, part of the address of every random number. */
  readonly step?: number | undefined;
}

const BATCH = 64;

/**
 * Opens a checkpoint folder as a policy. Needs `onnxruntime-node`.
 * @example
 * ```ts
 * import { openEmbeddedPolicy } from "lockedroom";
 * const sampling = { temperature: 0, top_k: 0, top_p: 1, max_tokens: 16, stop: [], seed: 0 };
 * const policy = await openEmbeddedPolicy("checkpoint", { sampling });
 * console.log(policy.identity);
 * await policy.close();
 * ```
 */
export async function openEmbeddedPolicy(
  folder: string,
  options: EmbeddedOptions,
): Promise<EmbeddedPolicy> {
  return new EmbeddedPolicy(await loadCheckpoint(folder), options);
}

export class EmbeddedPolicy implements Policy {
  readonly identity: JsonObject;
  readonly prompt: JsonObject;
  readonly sampling: SamplingSettings;
  readonly checkpoint: Checkpoint;
  readonly #decoder: Decoder;
  readonly #options: EmbeddedOptions;

  constructor(checkpoint: Checkpoint, options: EmbeddedOptions) {
    const { architecture, placed, chat } = checkpoint;
    this.checkpoint = checkpoint;
    this.sampling = options.sampling;
    this.identity = {
      kind: "checkpoint",
      fingerprint: checkpoint.fingerprint,
      // So that a comparison of two policies shows how their training differs.
      ...(checkpoint.trained && { learning: checkpoint.trained }),
    };
    this.prompt = {
      form: chat ? "chat template" : "text",
      ...(chat && { template_sha256: sha256(chat.source) }),
      system_sha256: options.system === undefined ? null : fingerprint(options.system),
    };
    this.#options = options;
    this.#decoder = new Decoder(architecture, placed, {
      batch: options.batch ?? BATCH,
      threads: options.threads ?? 1,
    });
  }

  promptTokens(text: string): number[] {
    return promptTokens(this.checkpoint, text, this.#options.system);
  }

  async *sample(
    samples: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    const { seed } = this.sampling;
    const step = this.#options.step ?? 0;
    for (const batch of batchesOf(samples, this.batch)) {
      const requests = batch.map(({ example, sample }) => ({
        prompt: this.promptTokens(example.prompt),
        address: [seed, step, example.id, sample],
      }));
      const generations = await this.generate(requests);
      for (const [i, sample] of batch.entries()) yield [sample, generations[i] as Generation];
    }
  }

  /** At most one batch of completions of any prompts. */
  async generate(
    requests: readonly GenerationRequest[],
    overrides: Partial<GenerateOptions> = {},
  ): Promise<Generation[]> {
    return generateBatch(this.#decoder, requests, { ...this.#defaults(), ...overrides });
  }

  /** The same, token by token. */
  generateSteps(
    requests: readonly GenerationRequest[],
    overrides: Partial<GenerateOptions> = {},
  ): AsyncGenerator<readonly GeneratedToken[], void, void> {
    return generateSteps(this.#decoder, requests, { ...this.#defaults(), ...overrides });
  }

  #defaults(): GenerateOptions {
    const { parameters, tokenizer, maxLength } = this.checkpoint;
    return { parameters, tokenizer, maxLength, sampling: this.sampling };
  }

  /** Completions per batch. */
  get batch(): number {
    return this.#decoder.batch;
  }

  async close(): Promise<void> {
    await this.#decoder.close();
  }
}

function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
