/** A checkpoint as a policy: prompts in, sampled completions with their log-probs out. */

import type { ActingPolicy } from "../core/actor.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  CheckpointPlace,
  SampledCompletion,
  SampleRequest,
  SamplingSettings,
  SeenPrompts,
} from "../core/policy.ts";
import { ALIAS_PREFIX } from "../runs/alias-history.ts";
import { realPath } from "../runs/whole-file.ts";
import { promptTokens } from "./chat.ts";
import { type Checkpoint, inspectCheckpoint } from "./checkpoint.ts";
import { conversation } from "./conversation.ts";
import {
  type GeneratedToken,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
  requirePromptTokens,
} from "./generate.ts";
import { Lanes, VECTORS } from "./lanes.ts";
import { PI0 } from "./pi0.ts";
import { TokenActor } from "./token-actor.ts";

export interface EmbeddedOptions {
  readonly sampling: SamplingSettings;
  /** The system message; without a chat template, a text before every prompt. */
  readonly system?: string | undefined;
  readonly threads?: number | undefined;
  /** How many samples grow at a time in each thread; they do not depend on it. */
  readonly batch?: number | undefined;
  /** Measure the latency of each sample, which is in a batch with others. */
  readonly timed?: boolean | undefined;
  /** The training step, part of the address of every random number. */
  readonly step?: number | undefined;
}

type Sampling = Omit<GenerateOptions, "parameters">;

const BATCH = 64;

/**
 * Samples are taken from their list in parts, of this many for each place. Places run empty at the end
 * of a part: larger parts keep them full, and cost memory.
 */
const TURNS = 16;

/** Fewer than samples, because an episode is kept only when it has ended. */
const EPISODES_PER_PLACE = 4;

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
  const { checkpoint, stored } = await inspectCheckpoint(folder);
  const counts = stored.own && realPath(checkpoint.dir ?? "") !== realPath(PI0);
  // An alias may name another checkpoint later.
  const path = folder.startsWith(ALIAS_PREFIX) ? (checkpoint.dir ?? folder) : folder;
  const place = { path, ledger: counts ? checkpoint.dir : null };
  return new EmbeddedPolicy(checkpoint, options, place);
}

export class EmbeddedPolicy implements ActingPolicy {
  readonly identity: JsonObject;
  readonly prompt: JsonObject;
  readonly sampling: SamplingSettings;
  readonly checkpoint: Checkpoint;
  readonly seen: SeenPrompts | undefined;
  readonly place: CheckpointPlace | undefined;
  /** Samples that are taken from their list at a time. */
  readonly #part: number;
  /** Episodes that are played at a time. */
  readonly #episodes: number;
  readonly #lanes: Lanes;
  readonly #options: EmbeddedOptions;

  constructor(checkpoint: Checkpoint, options: EmbeddedOptions, place?: CheckpointPlace) {
    const { architecture, placed, parameters, chat } = checkpoint;
    this.checkpoint = checkpoint;
    this.seen = checkpoint.seen ?? undefined;
    this.place = place;
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
    const { batch: places = BATCH, threads = 1 } = options;
    this.#lanes = new Lanes({ architecture, placed, places, threads });
    this.#lanes.put(VECTORS.policy, parameters);
    this.#part = places * TURNS * this.#lanes.count;
    this.#episodes = places * EPISODES_PER_PLACE * this.#lanes.count;
  }

  promptTokens(text: string): number[] {
    return promptTokens(this.checkpoint, text, this.#options.system);
  }

  requirePrompt(text: string): void {
    requirePromptTokens([this.promptTokens(text)], this.checkpoint.maxLength);
  }

  async *sample(
    samples: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    const { seed } = this.sampling;
    const step = this.#options.step ?? 0;
    for (const part of partsOf(samples, this.#part)) {
      const requests = part.map(({ example, sample }) => ({
        prompt: this.promptTokens(example.prompt),
        address: [seed, step, example.id, sample],
      }));
      let next = 0;
      for await (const generation of this.#lanes.each(VECTORS.policy, requests, this.#defaults())) {
        yield [part[next++] as SampleRequest, generation];
      }
    }
  }

  /** Tools are offered by the environment's own texts: a template is not told of them. */
  actor(): TokenActor {
    const { chat, tokenizer, maxLength } = this.checkpoint;
    const player = {
      ...{ conversation: conversation(chat, tokenizer), maxLength },
      sample: (requests: readonly GenerationRequest[]) => this.generate(requests),
    };
    return new TokenActor(player, { batch: this.#episodes, system: this.#options.system });
  }

  /** Completions of any prompts. */
  async generate(
    requests: readonly GenerationRequest[],
    overrides: Partial<Sampling> = {},
  ): Promise<Generation[]> {
    return this.#lanes.sample(VECTORS.policy, requests, { ...this.#defaults(), ...overrides });
  }

  /** The same, token by token. */
  generateSteps(
    requests: readonly GenerationRequest[],
    overrides: Partial<Sampling> = {},
  ): AsyncGenerator<readonly GeneratedToken[], void, void> {
    return this.#lanes.steps(VECTORS.policy, requests, { ...this.#defaults(), ...overrides });
  }

  #defaults(): Sampling {
    const { tokenizer, maxLength } = this.checkpoint;
    return { tokenizer, maxLength, sampling: this.sampling, timed: this.#options.timed };
  }

  async close(): Promise<void> {
    await this.#lanes.close();
  }
}

function* partsOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let part: T[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length === size) {
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
