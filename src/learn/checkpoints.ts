/** The checkpoints that a run writes: the last policy in checkpoint/, the best one in best/. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { type Described, holdoutsBefore, trainedBlock } from "./describe-run.ts";

/** Where the adapters of each checkpoint lie. */
const ADAPTERS = { checkpoint: "adapter", best: "best-adapter" } as const;
type Name = keyof typeof ADAPTERS;

export class Checkpoints {
  readonly #described: Described;
  readonly #engine: Engine;
  /** Hash of the weights in best/; null where none were kept. */
  best: string | null = null;
  /** Evaluations on the holdout set in this run. */
  tested = 0;

  constructor(described: Described, engine: Engine) {
    this.#described = described;
    this.#engine = engine;
  }

  /** Writes the policy as that of a step; returns its fingerprint. */
  async export(name: Name, step: number): Promise<string> {
    const tested = holdoutsBefore(this.#described.start) + this.tested;
    const { fingerprint } = await this.#engine.exportCheckpoint(this.#path(name), {
      trained: trainedBlock(this.#described, step, tested),
      seen: this.#described.seen,
      adapterDir: this.#adapterDir(name),
    });
    return fingerprint;
  }

  async keepBest(step: number): Promise<void> {
    await this.export("best", step);
    this.best = await this.#engine.hashOf("policy");
  }

  async restoreBest(): Promise<void> {
    const best = this.#path("best");
    await this.#engine.loadCheckpoint(best, { adapterDir: this.#adapterDir("best") });
    if ((await this.#engine.hashOf("policy")) === this.best) return;
    throw dataError(
      `${best} is not the policy that this run kept there`,
      "It was damaged, edited or exchanged. Start over with --force.",
    );
  }

  /** A policy trained from scratch has no base checkpoint for an adapter. */
  #adapterDir(name: Name): string | undefined {
    const { options, settings } = this.#described;
    return settings.lora && options.init !== "scratch" ? this.#path(ADAPTERS[name]) : undefined;
  }

  #path(name: string): string {
    return path.join(this.#described.options.outdir, name);
  }
}
