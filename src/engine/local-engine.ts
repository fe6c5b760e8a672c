/** The embedded engine: a checkpoint's weights in this process, run by ONNX Runtime. */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import type { SamplingSettings } from "../core/policy.ts";
import type { TokenRow } from "../core/token-row.ts";
import { adapterVector, loadAdapter, saveAdapter } from "../policy/adapter.ts";
import { promptTokens } from "../policy/chat.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { conversation } from "../policy/conversation.ts";
import type { Generation, GenerationRequest } from "../policy/generate.ts";
import { Lanes, VECTORS } from "../policy/lanes.ts";
import type { LoraSettings } from "../policy/lora.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import { TeacherForced, type TokenStats } from "../policy/teacher-forced.ts";
import { readText, writeHashed } from "../runs/whole-file.ts";
import type {
  CheckpointOptions,
  Encoder,
  Engine,
  EngineAbilities,
  EngineIdentity,
  UpdateOptions,
  UpdateResult,
  WeightSet,
} from "./engine.ts";
import type { LossCall, TrainingRow } from "./loss.ts";
import { startState, type TrainState } from "./optimiser.ts";
import { adapters, everything, type Trainable } from "./trainable.ts";
import { Updater } from "./updater.ts";

export interface LocalEngineOptions {
  readonly threads: number;
  /** Train low-rank adapters in place of all parameters. */
  readonly lora?: LoraSettings | null | undefined;
  /** Random seed of the adapters' first weights. */
  readonly seed?: number | undefined;
  /** Computes each row for itself, without packing: slow, to compare with. */
  readonly unpacked?: boolean | undefined;
}

/** Rows that each lane samples at once. */
const PLACES = 64;

const STATE = "engine.safetensors";
const STEPS = "engine.json";

export class LocalEngine implements Engine {
  readonly identity: EngineIdentity;
  readonly can: EngineAbilities = {
    ...{ graphLoss: true, losses: [], exactKl: true, sameBytes: true },
  };
  readonly encoder: Encoder;
  readonly #start: Checkpoint;
  readonly #frozen: Float32Array;
  readonly #lanes: Lanes;
  readonly #teacher: TeacherForced;
  readonly #trainable: Trainable;
  readonly #lora: LoraSettings | null;
  readonly #updater: Updater;
  /** All weights as they are now; made when they are first needed, because merging adapters is work. */
  #whole: Float32Array | undefined;
  /** The call that was made last; it never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  /** The merged weights that the lanes have. */
  #published: Float32Array | undefined;

  constructor(start: Checkpoint, options: LocalEngineOptions) {
    const { threads, lora = null, seed = 0, unpacked = false } = options;
    const { architecture, placed, trained, seen, fingerprint } = start;
    this.identity = {
      ...{ kind: "local", fingerprint, architecture: { ...architecture }, trained, seen },
    };
    this.encoder = encoderOf(start);
    this.#start = start;
    this.#frozen = Float32Array.from(start.parameters);
    this.#lora = lora;
    this.#trainable = lora ? adapters(start, lora, seed) : everything(start);
    this.#lanes = new Lanes({ architecture, placed, places: PLACES, threads });
    this.#lanes.put(VECTORS.reference, this.#frozen);
    this.#teacher = new TeacherForced(architecture, placed, this.#lanes, { unpacked });
    this.#updater = new Updater(
      { architecture, trainable: this.#trainable, lanes: this.#lanes, threads, unpacked },
      startState(this.#trainable.start),
    );
  }

  sample(
    requests: readonly GenerationRequest[],
    sampling: SamplingSettings,
  ): Promise<Generation[]> {
    const { tokenizer, maxLength } = this.#start;
    return this.#inTurn(() => {
      this.#publish();
      return this.#lanes.sample(VECTORS.policy, requests, { tokenizer, maxLength, sampling });
    });
  }

  tokenStats(
    rows: readonly TokenRow[],
    of: WeightSet,
    { exactKl = false }: { readonly exactKl?: boolean } = {},
  ): Promise<TokenStats[]> {
    const other = exactKl ? VECTORS.reference : undefined;
    return this.#inTurn(() => {
      this.#publish();
      return this.#teacher.tokenStats(VECTORS[of], rows, other);
    });
  }

  async update(
    rows: readonly TrainingRow[],
    loss: LossCall,
    options: UpdateOptions,
  ): Promise<UpdateResult> {
    if (loss.kind !== "graph") {
      throw usageError(
        `the embedded engine has no loss named "${loss.name}"`,
        "Give it the loss as a graph.",
      );
    }
    return this.#inTurn(async () => {
      const result = await this.#updater.update(rows, loss, options);
      this.#whole = undefined;
      return result;
    });
  }

  async hashOf(of: WeightSet): Promise<string> {
    const { buffer, byteOffset, byteLength } = of === "policy" ? this.#policy : this.#frozen;
    return sha256(new Uint8Array(buffer, byteOffset, byteLength));
  }

  async saveState(dir: string): Promise<Readonly<Record<string, string>>> {
    const { step, ...vectors } = this.#updater.state;
    const tensors = Object.entries(vectors).map(([name, data]) => ({
      ...{ name, data, shape: [data.length] },
    }));
    return {
      [STATE]: await writeHashed(path.join(dir, STATE), safetensorsBytes(tensors)),
      [STEPS]: await writeHashed(path.join(dir, STEPS), `${JSON.stringify({ step })}\n`),
    };
  }

  async loadState(dir: string): Promise<void> {
    const file = path.join(dir, STATE);
    const tensors = await readSafetensors(file);
    const vector = (name: string, length: number) => {
      const data = tensors.get(name)?.data;
      if (data?.length === length) return data;
      throw dataError(
        `${file} has ${data ? `${data.length} numbers` : "nothing"} for ${name}, expected ${length}`,
        "Start the training again with --force.",
      );
    };
    const { length } = this.#trainable.start;
    const { step } = JSON.parse(await readText(path.join(dir, STEPS)));
    if (!Number.isInteger(step)) throw new Error(`${STEPS} has no step`);
    await this.#become({
      step,
      parameters: vector("parameters", length),
      m: vector("m", length),
      v: vector("v", length),
    });
  }

  async exportCheckpoint(
    dir: string,
    { trained, seen, adapterDir }: CheckpointOptions,
  ): Promise<{ fingerprint: string }> {
    const { architecture, tokenizer, maxLength } = this.#start;
    const fingerprint = await saveCheckpoint(dir, {
      ...{ architecture, tokenizer, maxLength, trained, seen },
      parameters: Float32Array.from(this.#policy),
    });
    if (this.#lora && adapterDir !== undefined) {
      await saveAdapter(adapterDir, {
        ...{ base: this.#start, settings: this.#lora, trained, seen, merged: fingerprint },
        vector: this.#updater.state.parameters,
      });
    }
    return { fingerprint };
  }

  async loadCheckpoint(
    dir: string,
    { adapterDir }: Pick<CheckpointOptions, "adapterDir"> = {},
  ): Promise<void> {
    const { parameters } = await loadCheckpoint(dir);
    const { m, v, step } = this.#updater.state;
    if (!this.#lora) await this.#become({ step, parameters, m, v });
    else if (adapterDir !== undefined) {
      const vector = adapterVector(await loadAdapter(adapterDir), this.#start.architecture);
      await this.#become({ step, parameters: vector, m, v });
    }
    this.#whole = parameters;
  }

  async close(): Promise<void> {
    await this.#lanes.close();
    await this.#updater.close();
  }

  /** Calls that come at the same time are made one after the other: they share graphs and weights. */
  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(call);
    this.#last = answer.catch(() => {});
    return answer;
  }

  get #policy(): Float32Array {
    this.#whole ??= this.#trainable.whole(this.#updater.state.parameters);
    return this.#whole;
  }

  /** Adapters have to be merged before the policy can be sampled; otherwise the updater has done it. */
  #publish(): void {
    if (!this.#lora || this.#published === this.#policy) return;
    this.#published = this.#policy;
    this.#lanes.put(VECTORS.policy, this.#published);
  }

  async #become(state: TrainState): Promise<void> {
    await this.#updater.become(state);
    this.#whole = undefined;
  }
}

function encoderOf({ tokenizer, chat, maxLength }: Checkpoint): Encoder {
  return {
    promptTokens: (text) => promptTokens({ tokenizer, chat }, text),
    encode: (text) => tokenizer.encode(text),
    conversation: conversation(chat, tokenizer),
    endToken: tokenizer.endTokens[0] as number,
    maxLength,
  };
}
