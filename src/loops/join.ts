/**
 * Joins a data set with the answers to it, in data-set order. Rows in the same order are
 * joined as they flow; an answer that comes early is held until its example arrives.
 */

import { dataError } from "../core/errors.ts";
import { IdSet } from "../core/id-set.ts";
import type { Example } from "../core/records.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { RowCursor, type Rows } from "../runs/rows.ts";
import { isPipe } from "../runs/whole-file.ts";

export interface Joined<T> {
  readonly example: Example;
  /** Undefined when no answer names this example. */
  readonly answer: T | undefined;
}

/** Answers that name no example; complete once the join has ended. */
export interface Unknown {
  count: number;
  readonly first_ids: string[];
}

const FIRST_IDS = 5;

export async function* joinById<T extends { readonly id: string }>(
  examples: Rows<Example>,
  answers: Rows<T>,
  unknown: Unknown,
  batchSize = 256,
): AsyncGenerator<Joined<T>[], void, void> {
  const seen = new IdSet();
  const early = new Map<string, T>();
  const next = new RowCursor(answers);
  try {
    for await (const batch of examples.batches()) {
      let joined: Joined<T>[] = [];
      for (const example of batch) {
        if (seen.add(example.id)) await refuseDuplicate(examples, example.id);
        joined.push({ example, answer: await answerTo(example.id) });
        if (joined.length < batchSize) continue;
        yield joined;
        joined = [];
      }
      if (joined.length > 0) yield joined;
    }
    if (examples.rows === 0)
      throw dataError(`${examples.label} is empty`, "Give at least one example.");
    await answerTo(undefined);
  } finally {
    await next.close();
  }
  if (answers.rows === 0) throw dataError(`${answers.label} is empty`, "Give one row per example.");
  unknown.count = early.size;
  unknown.first_ids.push(...[...early.keys()].slice(0, FIRST_IDS));

  /** Reads on until the answer to `id` is found, or to the end, holding what belongs elsewhere. */
  async function answerTo(id: string | undefined): Promise<T | undefined> {
    const held = id === undefined ? undefined : early.get(id);
    if (held && early.delete(held.id)) return held;
    for (;;) {
      const answer = next.buffered() ?? (await next.read());
      if (answer === undefined || answer.id === id) return answer;
      if (early.has(answer.id) || seen.has(answer.id)) await refuseDuplicate(answers, answer.id);
      early.set(answer.id, answer);
    }
  }
}

/** Reads the file again to be sure; an id that occurs exactly once was a hash collision. */
export async function refuseDuplicate<T>({ path, label }: Rows<T>, id: string): Promise<void> {
  const again = path !== null && !isPipe(path); // A pipe cannot be read again.
  let found = 0;
  for await (const batch of again ? new JsonlFile(path, (fields) => fields.id).batches() : []) {
    found += batch.filter((other) => other === id).length;
  }
  if (found === 1) return;
  throw dataError(
    `${label}: the id ${JSON.stringify(id)} appears more than once`,
    "Give every row an id of its own.",
  );
}
