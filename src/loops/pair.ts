/**
 * Joins a data set with the file of answers to it, in data-set order. Files in the same order are
 * joined as they flow; an answer that comes early is held until its example arrives.
 */

import { dataError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import type { JsonlFile } from "../runs/jsonl.ts";

export interface Pair<T> {
  readonly example: Example;
  /** Undefined when no answer names this example. */
  readonly answer: T | undefined;
}

/** What the join found besides pairs; complete once it has ended. */
export interface Unknown {
  count: number;
  readonly first_ids: string[];
}

const FIRST_IDS = 5;

export async function* pair<T extends { readonly id: string }>(
  examples: JsonlFile<Example>,
  answers: JsonlFile<T>,
  unknown: Unknown,
): AsyncGenerator<Pair<T>[], void, void> {
  const seen = new Set<string>();
  const early = new Map<string, T>();
  const next = pull(answers);
  for await (const batch of examples.batches()) {
    const pairs: Pair<T>[] = [];
    for (const example of batch) {
      if (seen.has(example.id)) throw duplicate(examples.path, example.id);
      seen.add(example.id);
      pairs.push({ example, answer: await answerTo(example.id) });
    }
    yield pairs;
  }
  if (examples.rows === 0)
    throw dataError(
      `${examples.path} holds no examples`,
      "Give a data set with at least one line.",
    );
  for (
    let answer = next.buffered() ?? (await next.read());
    answer;
    answer = next.buffered() ?? (await next.read())
  ) {
    keep(answer);
  }
  if (answers.rows === 0) throw dataError(`${answers.path} is empty`, "Give one line per example.");
  unknown.count = early.size;
  unknown.first_ids.push(...[...early.keys()].slice(0, FIRST_IDS));

  /** Reads on until the answer is found, holding what belongs to later examples. */
  async function answerTo(id: string): Promise<T | undefined> {
    const held = early.get(id);
    if (held && early.delete(id)) return held;
    for (;;) {
      const answer = next.buffered() ?? (await next.read());
      if (answer === undefined || answer.id === id) return answer;
      keep(answer);
    }
  }

  function keep(answer: T): void {
    if (early.has(answer.id) || seen.has(answer.id)) throw duplicate(answers.path, answer.id);
    early.set(answer.id, answer);
  }
}

/** A row at a time from batches, without a promise for each row. */
function pull<T>(file: JsonlFile<T>): {
  buffered(): T | undefined;
  read(): Promise<T | undefined>;
} {
  const batches = file.batches();
  let batch: T[] = [];
  let index = 0;
  return {
    buffered: () => batch[index++],
    read: async () => {
      const step = await batches.next();
      batch = step.done ? [] : step.value;
      index = 1;
      return batch[0];
    },
  };
}

function duplicate(path: string, id: string): Error {
  return dataError(
    `${path}: the id ${JSON.stringify(id)} appears more than once`,
    "Give every row an id of its own.",
  );
}
