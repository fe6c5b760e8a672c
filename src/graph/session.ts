/** Runs a graph with ONNX Runtime, which is an optional dependency. */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import { type OnnxModel, toOnnx } from "./onnx.ts";
import { type Shape, shapeError, sizeOf } from "./shape.ts";
import type { DType, Tensor } from "./tensor.ts";
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
  /**
   * Whether the memory of a run is kept for the next (default: true). Otherwise graphs of several sizes
   * share it, and a large one is about 3 % slower.
   */
  readonly keepMemory?: boolean;
  /**
   * Whether the runtime's threads wait busily for the next product (default: true). They go on for a
   * while after a run, and then take a processor from other sessions.
   */
  readonly busyWaiting?: boolean;
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

/** A graph as bytes, which another thread can open as well. */
export interface GraphFile extends OnnxModel {
  readonly outputs: Readonly<Record<string, { readonly shape: Shape; readonly dtype: DType }>>;
  readonly provider: "cpu" | "webgpu";
  readonly threads: number;
  readonly keepMemory: boolean;
  readonly busyWaiting: boolean;
}

export function graphFile(
  results: Readonly<Record<string, Tensor>>,
  options: SessionOptions = {},
): GraphFile {
  const { provider = "cpu", threads = 1, keepMemory = true, busyWaiting = true } = options;
  const outputs = Object.entries(results).map(([name, { shape, dtype }]) => [
    name,
    { shape, dtype },
  ]);
  return {
    // The fused ops give different numbers on WebGPU; the standard ops do not.
    ...toOnnx(results, { standard: provider !== "cpu" }),
    outputs: Object.fromEntries(outputs),
    ...{ provider, keepMemory, busyWaiting },
    threads: sameBytesThreads(Object.values(results), threads),
  };
}

/** A compiled graph. */
export class Session {
  readonly #runtime: Runtime;
  readonly #session: RuntimeSession;
  readonly inputs: OnnxModel["inputs"];
  readonly #outputs: GraphFile["outputs"];

  private constructor(
    runtime: Runtime,
    session: RuntimeSession,
    inputs: OnnxModel["inputs"],
    outputs: GraphFile["outputs"],
  ) {
    this.#runtime = runtime;
    this.#session = session;
    this.inputs = inputs;
    this.#outputs = outputs;
  }

  static async create(
    results: Readonly<Record<string, Tensor>>,
    options: SessionOptions = {},
  ): Promise<Session> {
    return Session.open(graphFile(results, options));
  }

  static async open(file: GraphFile): Promise<Session> {
    const { bytes, inputs, outputs, provider, threads, keepMemory, busyWaiting } = file;
    const runtime = await loadRuntime();
    const session = await runtime.InferenceSession.create(bytes, {
      executionProviders: [provider],
      enableCpuMemArena: keepMemory,
      enableMemPattern: keepMemory,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3,
      extra: {
        session: {
          // Flush denormals to 0: softmax makes many, and each costs a hundred cycles.
          set_denormal_as_zero: "1",
          intra_op: { allow_spinning: busyWaiting ? "1" : "0" },
        },
      },
    });
    return new Session(runtime, session, inputs, outputs);
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
      Object.entries(this.#outputs).map(([name, { shape, dtype }]) => [
        name,
        this.tensor(new MEMORY[dtype](sizeOf(shape)), shape),
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
