/** What the checkpoint had met of the examples, counted again from the prompts that it carries. */

import type { SeenPrompts } from "../core/policy.ts";
import type { PromptSet } from "../core/prompt-set.ts";
import type { Exposure } from "../runs/schemas.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { Comparison, skipped } from "./part.ts";

interface Prompted {
  readonly id: string;
  readonly prompt: string;
}

const NAMED = 5;

/**
 * `whole`: the run's rows are all that were counted. A run may use a part of what was sampled, and then
 * it may have fewer such rows, never more.
 */
export async function verifyExposure(
  recorded: Exposure | undefined,
  seen: SeenPrompts | undefined,
  rows: AsyncIterable<readonly Prompted[]>,
  whole: boolean,
): Promise<VerificationPart> {
  if (!seen) return skipped("exposure", "The checkpoint does not carry the prompts of its past.");
  const counts = { learned: new Overlap(seen.learned), validated: new Overlap(seen.validated) };
  let total = 0;
  for await (const batch of rows) {
    total += batch.length;
    for (const row of batch) for (const count of Object.values(counts)) count.add(row);
  }
  const comparison = new Comparison();
  comparison.repeated = total;
  for (const kind of ["learned", "validated"] as const) {
    const expected = counts[kind].result();
    const found = recorded?.[kind] ?? { ...expected, rows: 0, first_ids: [] };
    const same = whole
      ? JSON.stringify(Object.entries(expected)) === JSON.stringify(inOrder(found, expected))
      : expected.rows <= found.rows && expected.of === found.of;
    if (!same) comparison.differs("manifest.json", `exposure.${kind}`, expected, found);
  }
  if (!recorded && comparison.differences === 0)
    return skipped("exposure", "The run does not state it.");
  return comparison.part("exposure", total, "prompts of the rows among those of the training");
}

function inOrder(found: object, expected: object): unknown[] {
  return Object.keys(expected).map((name) => [name, (found as Record<string, unknown>)[name]]);
}

class Overlap {
  readonly #set: PromptSet;
  readonly #first: string[] = [];
  #rows = 0;

  constructor(set: PromptSet) {
    this.#set = set;
  }

  add({ id, prompt }: Prompted): void {
    if (!this.#set.has(prompt)) return;
    this.#rows++;
    if (this.#first.length < NAMED) this.#first.push(id);
  }

  result() {
    const { size, falsePositiveRate } = this.#set;
    return {
      ...{ rows: this.#rows, first_ids: this.#first },
      ...{ of: size, false_positive_rate: falsePositiveRate },
    };
  }
}
