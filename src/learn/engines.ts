/** Every engine that a training can run on, by name. */

import type { Engine } from "../engine/engine.ts";
import { LocalEngine } from "../engine/local-engine.ts";
import type { Algorithm } from "./algorithm.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";
import { startingPolicy } from "./starting-policy.ts";

/** What an engine is opened for. */
export interface EngineRequest {
  readonly options: Pick<TrainOptions, "dataset" | "init" | "size" | "threads">;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
}

export const ENGINES: Readonly<Record<string, (request: EngineRequest) => Promise<Engine>>> = {
  async local({ options, algorithm, settings }) {
    const start = await startingPolicy(options, algorithm, settings.seed);
    const { lora, seed } = settings;
    return new LocalEngine(start, { threads: options.threads, lora, seed });
  },
};
