/** The policy while it learns: it samples and judges with its weights of the moment, beside a frozen start. */

import { sha256 } from "../core/fingerprint.ts";
import type { SamplingSettings } from "../core/policy.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import { EmbeddedPolicy } from "../policy/embedded.ts";
import type { Generation, GenerationRequest } from "../policy/generate.ts";
import { TeacherForced, type TokenStats, type Written } from "../policy/teacher-forced.ts";
import type { Sabotage } from "./sabotage.ts";

export interface LiveOptions {
  readonly threads: number;
  /** Rows that are judged at once; at most as many are sampled. */
  readonly rows: number;
  /** Tokens of the longest row. */
  readonly length: number;
  readonly sabotage?: Sabotage;
}

/** Rows that have ended wait for the longest of their batch, so that smaller batches wait less. */
const SAMPLED_AT_ONCE = 128;

export class LivePolicy {
  readonly checkpoint: Checkpoint;
  /** Tokens of the longest row that it judges. */
  readonly length: number;
  readonly #frozen: Float32Array;
  readonly #frozenHash: string;
  readonly #aliased: boolean;
  readonly #sampler: EmbeddedPolicy;
  readonly #teacher: TeacherForced;
  /** The weights, or how to make them: merging adapters is work that not every step needs. */
  #parameters: Float32Array | (() => Float32Array);

  constructor(checkpoint: Checkpoint, { threads, rows, length, sabotage }: LiveOptions) {
    this.checkpoint = checkpoint;
    this.length = length;
    this.#frozen = Float32Array.from(checkpoint.parameters);
    this.#frozenHash = hashOf(this.#frozen);
    this.#aliased = sabotage === "aliased_reference";
    this.#parameters = checkpoint.parameters;
    const { architecture, placed } = checkpoint;
    this.#sampler = new EmbeddedPolicy(checkpoint, {
      ...{ threads, batch: Math.min(rows, SAMPLED_AT_ONCE) },
      sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 },
    });
    this.#teacher = new TeacherForced(architecture, placed, { rows, length, threads });
  }

  /** From now on it speaks with these, which are asked for when they are first needed. */
  become(parameters: () => Float32Array): void {
    this.#parameters = parameters;
  }

  get parameters(): Float32Array {
    if (typeof this.#parameters === "function") this.#parameters = this.#parameters();
    return this.#parameters;
  }

  /** The start, which nothing may change. */
  get reference(): Float32Array {
    return this.#aliased ? this.parameters : this.#frozen;
  }

  promptTokens(text: string): number[] {
    return this.#sampler.promptTokens(text);
  }

  async sample(
    wanted: readonly GenerationRequest[],
    sampling: SamplingSettings,
  ): Promise<Generation[]> {
    const said: Generation[] = [];
    for (let at = 0; at < wanted.length; at += this.#sampler.batch) {
      const part = wanted.slice(at, at + this.#sampler.batch);
      said.push(...(await this.#sampler.generate(part, { parameters: this.parameters, sampling })));
    }
    return said;
  }

  judge(rows: readonly Written[]): Promise<TokenStats[]> {
    return this.#teacher.judge(this.parameters, rows);
  }

  judgeByReference(rows: readonly Written[]): Promise<TokenStats[]> {
    return this.#teacher.judge(this.reference, rows);
  }

  /** With the exact KL to the reference. */
  compare(rows: readonly Written[]): Promise<TokenStats[]> {
    return this.#teacher.judge(this.parameters, rows, this.reference);
  }

  /** Whether the reference is what it was at the start, to the bit, and not the policy's own memory. */
  referenceIsFrozen(): boolean {
    return (
      this.reference.buffer !== this.parameters.buffer &&
      hashOf(this.reference) === this.#frozenHash
    );
  }

  async close(): Promise<void> {
    await this.#sampler.close();
    await this.#teacher.close();
  }
}

function hashOf({ buffer, byteOffset, byteLength }: Float32Array): string {
  return sha256(new Uint8Array(buffer, byteOffset, byteLength));
}
