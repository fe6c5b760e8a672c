/** Counts the examples of a rollout whose prompts the policy met in training. */

import type { SeenPrompts } from "../core/policy.ts";
import type { PromptSet } from "../core/prompt-set.ts";
import type { Example } from "../core/records.ts";
import type { Exposure } from "../runs/schemas.ts";

const FIRST_IDS = 5;

class Overlap {
  readonly #met: PromptSet;
  readonly #firstIds: string[] = [];
  #rows = 0;

  constructor(met: PromptSet) {
    this.#met = met;
  }

  add({ id, prompt }: Example): void {
    if (!this.#met.has(prompt)) return;
    this.#rows++;
    if (this.#firstIds.length < FIRST_IDS) this.#firstIds.push(id);
  }

  counted(): NonNullable<Exposure>["learned"] {
    const { size: of, falsePositiveRate } = this.#met;
    return {
      ...{ rows: this.#rows, first_ids: this.#firstIds },
      ...{ of, false_positive_rate: falsePositiveRate },
    };
  }
}

export class ExposureCount {
  readonly #learned: Overlap | undefined;
  readonly #validated: Overlap | undefined;

  constructor(seen: SeenPrompts | undefined) {
    this.#learned = seen && new Overlap(seen.learned);
    this.#validated = seen && new Overlap(seen.validated);
  }

  add(example: Example): void {
    this.#learned?.add(example);
    this.#validated?.add(example);
  }

  /** Null where nothing is known of what the policy met. */
  exposure(): Exposure {
    if (!this.#learned || !this.#validated) return null;
    return { learned: this.#learned.counted(), validated: this.#validated.counted() };
  }
}
