/** Puts what arrives in any order, answers or episodes, in the order of the data set. */

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

/** All answers to each example. */
export async function* inDataSetOrder(
  examples: AsyncIterable<readonly Example[]>,
  journal: AsyncGenerator<readonly Journaled[], void, void>,
  n: number,
): AsyncGenerator<Answered, void, void> {
  for await (const { example, rows } of rowsInOrder(examples, journal, n)) {
    const answers = rows.map(({ answer }) => answer);
    yield { example, answers, latencies: rows.map(({ ms }) => ms) };
  }
}

interface Row {
  readonly id: string;
  readonly sample: number;
}

/**
 * Joins as both flow: a row is held only until its example comes. Requests follow the data set's
 * order, so that is about as many as were in flight. `isMissing` says for which samples there is none.
 */
export async function* rowsInOrder<R extends Row>(
  examples: AsyncIterable<readonly Example[]> | Iterable<readonly Example[]>,
  journal: AsyncGenerator<readonly R[], void, void>,
  n: number,
  isMissing: (row: Row) => boolean = () => false,
): AsyncGenerator<{ readonly example: Example; readonly rows: readonly R[] }, void, void> {
  const early = new Map<string, Map<number, R>>();
  try {
    for await (const batch of examples) {
      for (const example of batch) yield { example, rows: await rowsOf(example.id) };
    }
  } finally {
    await journal.return();
  }

  async function rowsOf(id: string): Promise<R[]> {
    const wanted = Array.from({ length: n }, (_, sample) => sample).filter(
      (sample) => !isMissing({ id, sample }),
    );
    for (;;) {
      const found = early.get(id);
      if (wanted.every((sample) => found?.has(sample))) {
        early.delete(id);
        return wanted.map((sample) => found?.get(sample) as R);
      }
      const step = await journal.next();
      if (step.done) {
        throw dataError(
          `the journal holds no answer for every sample of example ${JSON.stringify(id)}`,
          "It was changed by hand, or the disk lost a part of it: start over with --force.",
        );
      }
      for (const row of step.value) {
        const held = early.get(row.id) ?? new Map<number, R>();
        early.set(row.id, held.set(row.sample, row));
      }
    }
  }
}
