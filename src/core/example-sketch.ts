/**
 * Which examples a rollout answered, in a few thousand characters: their prompts, and their prompts with
 * their ids. Of a large data set only those with the smallest hashes are kept, which are the same in
 * every large part of it, so that two rollouts that share examples are recognised.
 */

import { normalisedPrompt } from "./prompt-fingerprint.ts";
import { numberOf, PromptSet } from "./prompt-set.ts";

const KEPT = 1000;

/** As base64. */
export interface StoredSketch {
  readonly prompts: string;
  readonly named: string;
}

export class ExampleSketch {
  readonly prompts: PromptSet;
  /** Samples are addressed by ids too: the same prompt under another id is another draw. */
  readonly named: PromptSet;

  private constructor(prompts: PromptSet, named: PromptSet) {
    this.prompts = prompts;
    this.named = named;
  }

  static of(examples: Iterable<readonly [prompt: number, named: number]>): ExampleSketch {
    const all = [...examples];
    return new ExampleSketch(
      new PromptSet(all.map(([prompt]) => prompt)),
      new PromptSet(all.map(([, named]) => named)),
    );
  }

  /** Undefined where it is no such sketch. */
  static read(stored: unknown): ExampleSketch | undefined {
    const { prompts, named } = (stored ?? {}) as Partial<StoredSketch>;
    if (typeof prompts !== "string" || typeof named !== "string") return undefined;
    const set = (text: string) => PromptSet.fromBytes(Buffer.from(text, "base64"));
    try {
      return new ExampleSketch(set(prompts), set(named));
    } catch {
      return undefined;
    }
  }

  stored(): StoredSketch {
    const text = (set: PromptSet) => Buffer.from(set.toBytes()).toString("base64");
    return { prompts: text(this.prompts), named: text(this.named) };
  }

  shares(other: ExampleSketch): boolean {
    return this.prompts.sharedWith(other.prompts) > 0;
  }

  /** Whether a shared prompt has another id there. */
  renames(other: ExampleSketch): boolean {
    return this.named.sharedWith(other.named) < this.prompts.sharedWith(other.prompts);
  }
}

/** Takes examples one by one and keeps few of them. */
export class SketchMaker {
  #kept: [prompt: number, named: number][] = [];

  add({ id, prompt }: { readonly id: string; readonly prompt: string }): void {
    const text = normalisedPrompt(prompt);
    this.#kept.push([numberOf(text), numberOf(`${JSON.stringify(id)} ${text}`)]);
    if (this.#kept.length >= 4 * KEPT) this.#kept = smallest(this.#kept);
  }

  sketch(): ExampleSketch {
    return ExampleSketch.of(smallest(this.#kept));
  }
}

/** Those with the smallest hashes: of each prompt several ids, if there are not too many. */
function smallest(examples: readonly [number, number][]): [number, number][] {
  const sorted = [...examples].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let prompts = 0;
  const kept = sorted.filter(([prompt, named], i) => {
    const before = sorted[i - 1];
    if (prompt !== before?.[0]) prompts++;
    return prompts <= KEPT && !(prompt === before?.[0] && named === before[1]);
  });
  return kept.slice(0, 2 * KEPT);
}
