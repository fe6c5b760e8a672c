/** Runs a graph with ONNX Runtime, which is an optional dependency. */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import { type OnnxModel, toOnnx } from "./onnx.ts";
import { shapeError, sizeOf } from "./shape.ts";
import type { Tensor } from "./tensor.ts";
import { sameBytesThreads } from "./threads.ts";

/**
 * What is used of onnxruntime-node. Its own types are not named: they would be part of ours, and the
 * package need not be installed.
 */
export interface Runtime {
  readonly Tensor: new (type: string, data: Data, shape: readonly number[]) => RuntimeTensor;
  readonly InferenceSession: {
    create(bytes: Uint8Array, options: object): Promise<RuntimeSession>;
  };
}
export interface RuntimeTensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}
export interface RuntimeSession {
  run(
    feeds: Readonly<Record<string, RuntimeTensor>>,
    into?: Readonly<Record<string, RuntimeTensor | null>>,
  ): Promise<Record<string, RuntimeTensor>>;
  release(): Promise<void>;
}

export interface SessionOptions {
  readonly provider?: "cpu" | "webgpu";
  /** Maximum; fewer are used where more would change the result. */
  readonly threads?: number;
}

export type Data = Float32Array | BigInt64Array | Uint8Array;

const MEMORY = { f32: Float32Array, i64: BigInt64Array, bool: Uint8Array } as const;

/** Loads the runtime, or throws an error that says what to install. */
export async function loadRuntime(): Promise<Runtime> {
  try {
    return (await import("onnxruntime-node")) as unknown as Runtime;
  } catch (error) {
    throw new LockedRoomError(
      "usage",
      "the engine needs the package onnxruntime-node, which is not installed",
      {
        hint: `Install it beside lockedroom: npm install onnxruntime-node (${messageOf(error).split("\n")[0]}). Evaluation, selection and the gate work without it.`,
        cause: error,
      },
    );
  }
}

/** A compiled graph. */
export class Session {
  readonly #runtime: Runtime;
  readonly #session: RuntimeSession;
  readonly inputs: OnnxModel["inputs"];
  readonly #outputs: Readonly<Record<string, Tensor>>;

  private constructor(
    runtime: Runtime,
    session: RuntimeSession,
    inputs: OnnxModel["inputs"],
    outputs: Readonly<Record<string, Tensor>>,
  ) {
    this.#runtime = runtime;
    this.#session = session;
    this.inputs = inputs;
    this.#outputs = outputs;
  }

  static async create(
    results: Readonly<Record<string, Tensor>>,
    { provider = "cpu", threads = 1 }: SessionOptions = {},
  ): Promise<Session> {
    const runtime = await loadRuntime();
    // The fused ops give different numbers on WebGPU; the standard ops do not.
    const { bytes, inputs } = toOnnx(results, { standard: provider !== "cpu" });
    const fitting = sameBytesThreads(Object.values(results), threads);
    const session = await runtime.InferenceSession.create(bytes, {
      executionProviders: [provider],
      intraOpNumThreads: fitting,
      interOpNumThreads: 1,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3,
      // Flush denormals to 0: softmax makes many, and each costs a hundred cycles.
      extra: { session: { set_denormal_as_zero: "1" } },
    });
    return new Session(runtime, session, inputs, results);
  }

  /** A tensor of the runtime over this memory, without a copy. */
  tensor(data: Data, shape: readonly number[]): RuntimeTensor {
    if (data.length !== sizeOf(shape)) {
      throw shapeError("tensor", `${data.length} values do not fill the shape`, shape);
    }
    const type =
      data instanceof Float32Array ? "float32" : data instanceof BigInt64Array ? "int64" : "bool";
    return new this.#runtime.Tensor(type, data, shape);
  }

  /** Preallocated tensors for all results, to pass as `into`. */
  results(): Record<string, RuntimeTensor> {
    return Object.fromEntries(
      Object.entries(this.#outputs).map(([name, { shape, dtype, size }]) => [
        name,
        this.tensor(new MEMORY[dtype](size), shape),
      ]),
    );
  }

  /** Runs once. `into` names preallocated tensors for results. */
  async run(
    feeds: Readonly<Record<string, Data | RuntimeTensor>>,
    into: Readonly<Record<string, RuntimeTensor>> = {},
  ): Promise<Record<string, Data>> {
    const wanted = Object.fromEntries(
      Object.keys(this.#outputs).map((name) => [name, into[name] ?? null]),
    );
    const results = await this.#session.run(this.#fed(feeds), wanted);
    return Object.fromEntries(
      Object.entries(results).map(([name, value]) => [name, value.data as Data]),
    );
  }

  /** Runs repeatedly over the same memory, with preallocated tensors for all results. */
  repeatedly(
    feeds: Readonly<Record<string, Data | RuntimeTensor>>,
    into: Readonly<Record<string, RuntimeTensor>>,
  ): () => Promise<unknown> {
    const fed = this.#fed(feeds);
    return () => this.#session.run(fed, into);
  }

  #fed(feeds: Readonly<Record<string, Data | RuntimeTensor>>): Record<string, RuntimeTensor> {
    const fed: Record<string, RuntimeTensor> = {};
    for (const { name, shape } of this.inputs) {
      const given = feeds[name];
      if (given === undefined) throw shapeError("run", `the input "${name}" is missing`, shape);
      fed[name] = ArrayBuffer.isView(given) ? this.tensor(given, shape) : (given as RuntimeTensor);
    }
    return fed;
  }

  async close(): Promise<void> {
    await this.#session.release();
  }
}
