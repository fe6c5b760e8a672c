/** A checkpoint as a policy: prompts in, sampled completions with their log-probs out. */

import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { Policy, SampledCompletion, SampleRequest, SamplingSettings } from "../core/policy.ts";
import { type Checkpoint, loadCheckpoint } from "./checkpoint.ts";
import { Decoder } from "./decoder.ts";
import {
  type Drawn,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
  generateBatch,
  generateSteps,
} from "./generate.ts";
import { promptTokens } from "./prompt.ts";

export interface EmbeddedOptions {
  readonly sampling: SamplingSettings;
  /** Stands before every prompt; a chat template makes a system message of it. */
  readonly system?: string | undefined;
  readonly threads?: number | undefined;
  /** Rows decoded at once; it cannot change a sample. */
  readonly batch?: number | undefined;
  /** Which step of training this is, part of every address. */
  readonly step?: number | undefined;
}

const BATCH = 64;

/**
 * Opens a checkpoint folder as a policy. Needs `onnxruntime-node`.
 *
 * @example
 * ```ts
 * import { openEmbeddedPolicy } from "lockedroom";
 *
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
      // How it was learned, so that whoever compares two policies sees what differs between them.
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

  /** The tokens of an example's prompt, as the policy was trained to read them. */
  promptTokens(text: string): number[] {
    return promptTokens(this.checkpoint, text, this.#options.system);
  }

  async *sample(
    requests: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    const { seed } = this.sampling;
    const step = this.#options.step ?? 0;
    for (const batch of batchesOf(requests, this.#decoder.batch)) {
      const wanted = batch.map(({ example, sample }) => ({
        prompt: this.promptTokens(example.prompt),
        address: [seed, step, example.id, sample],
      }));
      const sampled = await this.generate(wanted);
      for (const [i, request] of batch.entries()) yield [request, sampled[i] as Generation];
    }
  }

  /** At most one batch of completions of any prompts. */
  async generate(
    wanted: readonly GenerationRequest[],
    overrides: Partial<GenerateOptions> = {},
  ): Promise<Generation[]> {
    return generateBatch(this.#decoder, wanted, { ...this.#usual(), ...overrides });
  }

  /** The same, token by token. */
  generateSteps(
    wanted: readonly GenerationRequest[],
    overrides: Partial<GenerateOptions> = {},
  ): AsyncGenerator<readonly Drawn[], void, void> {
    return generateSteps(this.#decoder, wanted, { ...this.#usual(), ...overrides });
  }

  #usual(): GenerateOptions {
    const { parameters, tokenizer, maxLength } = this.checkpoint;
    return { parameters, tokenizer, maxLength, sampling: this.sampling };
  }

  /** How many completions one batch holds. */
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
