/** Puts answers, which arrive in any order, in the order of the data set. */

import { dataError } from "../core/errors.ts";
import type { Answer } from "../core/policy.ts";
import type { Example } from "../core/records.ts";
import type { Journaled } from "../runs/rollout-schemas.ts";

export interface Answered {
  readonly example: Example;
  /** By number of the sample, all of them. */
  readonly answers: readonly Answer[];
  /** Of each answer in milliseconds; undefined where it was not measured. */
  readonly latencies: readonly (number | undefined)[];
}

type Held = Pick<Journaled, "answer" | "ms">;

/**
 * Joins as both flow: an answer is held only until its example comes. Requests follow the
 * data set's order, so that is about as many as were in flight.
 */
export async function* inDataSetOrder(
  examples: AsyncIterable<readonly Example[]>,
  journal: AsyncGenerator<readonly Journaled[], void, void>,
  n: number,
): AsyncGenerator<Answered, void, void> {
  const early = new Map<string, (Held | undefined)[]>();
  try {
    for await (const batch of examples) {
      for (const example of batch) {
        const held = await answersTo(example.id);
        const answers = held.map(({ answer }) => answer);
        yield { example, answers, latencies: held.map(({ ms }) => ms) };
      }
    }
  } finally {
    await journal.return();
  }

  async function answersTo(id: string): Promise<Held[]> {
    for (;;) {
      const found = early.get(id);
      if (found?.length === n && !found.includes(undefined)) {
        early.delete(id);
        return found as Held[];
      }
      const step = await journal.next();
      if (step.done) {
        throw dataError(
          `the journal holds no answer for every sample of example ${JSON.stringify(id)}`,
          "It was changed by hand, or the disk lost a part of it: start over with --force.",
        );
      }
      for (const { id: other, sample, ...held } of step.value) place(other, sample, held);
    }
  }

  function place(id: string, sample: number, held: Held): void {
    const list = early.get(id) ?? [];
    while (list.length <= sample && list.length < n) list.push(undefined);
    list[sample] = held;
    early.set(id, list);
  }
}
