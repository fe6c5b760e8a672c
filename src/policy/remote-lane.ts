/** A lane that lies in another thread. */

import { Worker } from "node:worker_threads";
import { beforeExit } from "../core/before-exit.ts";
import { LockedRoomError } from "../core/errors.ts";
import type { Lane, LaneMethod, LaneSetup } from "./lane.ts";
import {
  buffersOf,
  type LaneAnswer,
  type LaneCall,
  type RemoteSetup,
  receivedError,
} from "./lane-messages.ts";
import { makeSignals, stopNativeCalls } from "./native-calls.ts";

type Waiting = { resolve(value: unknown): void; reject(error: Error): void };

export class RemoteLane implements Pick<Lane, LaneMethod> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #forget: () => void;
  #next = 0;
  #failure: Error | undefined;

  constructor(setup: LaneSetup) {
    const signals = makeSignals();
    const workerData: RemoteSetup = { setup, signals };
    // Node's own flags are those of the main program, such as the type of its source.
    this.#worker = new Worker(entry(), { workerData, execArgv: [] });
    this.#forget = beforeExit(() => stopNativeCalls(signals));
    // A thread that nobody waits for must not keep the process alive.
    this.#worker.unref();
    this.#worker.on("message", (answer: LaneAnswer) => this.#answered(answer));
    this.#worker.on("messageerror", (error) => this.#failed(error));
    this.#worker.on("error", (error) => this.#failed(error));
    this.#worker.on("exit", () => this.#failed(ended()));
  }

  put(...args: Parameters<Lane["put"]>): Promise<void> {
    return this.#call("put", args) as Promise<void>;
  }

  open(...args: Parameters<Lane["open"]>): Promise<void> {
    return this.#call("open", args) as Promise<void>;
  }

  run(...args: Parameters<Lane["run"]>): ReturnType<Lane["run"]> {
    return this.#call("run", args, buffersOf(args[1])) as ReturnType<Lane["run"]>;
  }

  drop(...args: Parameters<Lane["drop"]>): Promise<void> {
    return this.#call("drop", args) as Promise<void>;
  }

  sample(...args: Parameters<Lane["sample"]>): ReturnType<Lane["sample"]> {
    return this.#call("sample", args) as ReturnType<Lane["sample"]>;
  }

  async close(): Promise<void> {
    if (!this.#failure) await this.#call("close", []);
    this.#forget();
    await this.#worker.terminate();
  }

  #call(method: LaneMethod, args: readonly unknown[], handedOver: ArrayBuffer[] = []) {
    if (this.#failure) return Promise.reject(this.#failure);
    const call: LaneCall = { id: this.#next++, method, args };
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(call, handedOver);
      this.#waiting.set(call.id, { resolve, reject });
      this.#worker.ref();
    });
  }

  #answered(answer: LaneAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("value" in answer) waiting?.resolve(answer.value);
    else waiting?.reject(receivedError(answer.error));
  }

  #failed(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

function ended(): Error {
  return new LockedRoomError("io", "a thread of the engine has ended", {
    hint: "Continue with --resume; if memory was short, with fewer --threads.",
  });
}

/** Node runs JavaScript only: sources that are run as they are use the build. */
function entry(): URL {
  const built = import.meta.url.endsWith(".js");
  return new URL(built ? "./lane-entry.js" : "../../dist/policy/lane-entry.js", import.meta.url);
}
