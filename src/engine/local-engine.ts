/** The embedded engine: a checkpoint's weights in this process, run by ONNX Runtime. */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import type { SamplingSettings } from "../core/policy.ts";
import type { TokenRow } from "../core/token-row.ts";
import { adapterVector, loadAdapter, saveAdapter } from "../policy/adapter.ts";
import { promptTokens } from "../policy/chat.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { Decoder } from "../policy/decoder.ts";
import { type Generation, type GenerationRequest, generateBatch } from "../policy/generate.ts";
import type { LoraSettings } from "../policy/lora.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import { TeacherForced, type TokenStats } from "../policy/teacher-forced.ts";
import { readText, writeDurably } from "../runs/whole-file.ts";
import type {
  CallShape,
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
import { startState, type TrainState } from "./trainer.ts";
import { adapters, everything, type Trainable, Updater } from "./updater.ts";

export interface LocalEngineOptions {
  readonly threads: number;
  /** Train low-rank adapters in place of all parameters. */
  readonly lora?: LoraSettings | null | undefined;
  /** Random seed of the adapters' first weights. */
  readonly seed?: number | undefined;
}

/** A batch waits for its longest completion, so smaller batches wait less. */
const SAMPLED_AT_ONCE = 128;

/** Rows of a call unless reserved otherwise. */
const ROWS = 64;

const STATE = "engine.safetensors";
const STEPS = "engine.json";

export class LocalEngine implements Engine {
  readonly identity: EngineIdentity;
  readonly can: EngineAbilities = {
    ...{ graphLoss: true, losses: [], exactKl: true, sameBytes: true },
  };
  readonly encoder: Encoder;
  readonly #start: Checkpoint;
  readonly #threads: number;
  readonly #frozen: Float32Array;
  #decoder: Decoder;
  #teacher: TeacherForced;
  readonly #trainable: Trainable;
  readonly #lora: LoraSettings | null;
  readonly #updater: Updater;
  /** All weights as they are now; made when they are first needed, because merging adapters is work. */
  #whole: Float32Array | undefined;

  constructor(start: Checkpoint, { threads, lora = null, seed = 0 }: LocalEngineOptions) {
    const { architecture, trained, fingerprint } = start;
    this.identity = { kind: "local", fingerprint, architecture: { ...architecture }, trained };
    this.encoder = encoderOf(start);
    this.#start = start;
    this.#threads = threads;
    this.#frozen = Float32Array.from(start.parameters);
    this.#lora = lora;
    this.#trainable = lora ? adapters(start, lora, seed) : everything(start);
    const state = startState(this.#trainable.start);
    this.#updater = new Updater(architecture, this.#trainable, state, threads);
    this.#decoder = this.#makeDecoder(ROWS);
    this.#teacher = this.#makeTeacher({ rows: ROWS, length: start.maxLength });
  }

  /** The number of rows is fixed from then on, so that batches cannot change a result. */
  reserve({ rows, length }: CallShape): void {
    this.#decoder = this.#makeDecoder(Math.min(rows, SAMPLED_AT_ONCE));
    this.#teacher = this.#makeTeacher({ rows, length });
  }

  async sample(
    requests: readonly GenerationRequest[],
    sampling: SamplingSettings,
  ): Promise<Generation[]> {
    const { tokenizer, maxLength } = this.#start;
    const options = { tokenizer, maxLength, sampling, parameters: this.#policy };
    const generations: Generation[] = [];
    for (let at = 0; at < requests.length; at += this.#decoder.batch) {
      const part = requests.slice(at, at + this.#decoder.batch);
      generations.push(...(await generateBatch(this.#decoder, part, options)));
    }
    return generations;
  }

  tokenStats(
    rows: readonly TokenRow[],
    of: WeightSet,
    { exactKl = false }: { readonly exactKl?: boolean } = {},
  ): Promise<TokenStats[]> {
    const weights = of === "policy" ? this.#policy : this.#frozen;
    return this.#teacher.tokenStats(weights, rows, exactKl ? this.#frozen : undefined);
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
    const result = await this.#updater.update(rows, loss, options);
    this.#whole = undefined;
    return result;
  }

  async hashOf(of: WeightSet): Promise<string> {
    const { buffer, byteOffset, byteLength } = of === "policy" ? this.#policy : this.#frozen;
    return sha256(new Uint8Array(buffer, byteOffset, byteLength));
  }

  async saveState(dir: string): Promise<void> {
    const { step, ...vectors } = this.#updater.state;
    const tensors = Object.entries(vectors).map(([name, data]) => ({
      ...{ name, data, shape: [data.length] },
    }));
    await writeDurably(path.join(dir, STATE), safetensorsBytes(tensors));
    await writeDurably(path.join(dir, STEPS), `${JSON.stringify({ step })}\n`);
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
    this.#become({
      step,
      parameters: vector("parameters", length),
      m: vector("m", length),
      v: vector("v", length),
    });
  }

  async exportCheckpoint(
    dir: string,
    { trained, adapterDir }: CheckpointOptions,
  ): Promise<{ fingerprint: string }> {
    const { architecture, tokenizer, maxLength } = this.#start;
    const fingerprint = await saveCheckpoint(dir, {
      ...{ architecture, tokenizer, maxLength, trained },
      parameters: Float32Array.from(this.#policy),
    });
    if (this.#lora && adapterDir !== undefined) {
      await saveAdapter(adapterDir, {
        ...{ base: this.#start, settings: this.#lora, trained, merged: fingerprint },
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
    if (!this.#lora) this.#become({ step, parameters, m, v });
    else if (adapterDir !== undefined) {
      const vector = adapterVector(await loadAdapter(adapterDir), this.#start.architecture);
      this.#become({ step, parameters: vector, m, v });
    }
    this.#whole = parameters;
  }

  async close(): Promise<void> {
    await this.#updater.close();
    await this.#decoder.close();
    await this.#teacher.close();
  }

  #makeDecoder(batch: number): Decoder {
    const { architecture, placed } = this.#start;
    return new Decoder(architecture, placed, { batch, threads: this.#threads });
  }

  #makeTeacher(shape: CallShape): TeacherForced {
    const { architecture, placed } = this.#start;
    return new TeacherForced(architecture, placed, { ...shape, threads: this.#threads });
  }

  get #policy(): Float32Array {
    this.#whole ??= this.#trainable.whole(this.#updater.state.parameters);
    return this.#whole;
  }

  #become(state: TrainState): void {
    this.#updater.become(state);
    this.#whole = undefined;
  }
}

function encoderOf({ tokenizer, chat, maxLength }: Checkpoint): Encoder {
  return {
    promptTokens: (text) => promptTokens({ tokenizer, chat }, text),
    encode: (text) => tokenizer.encode(text),
    chat: chat !== null,
    endToken: tokenizer.endTokens[0] as number,
    maxLength,
  };
}
