/** What the sabotages start from: examples with the answers of a policy, of a given run or of π₀. */

import { dataError } from "../core/errors.ts";
import { passes } from "../core/score.ts";
import { openRun } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { fileExists } from "../runs/whole-file.ts";

/** As many rows as the laboratory works with. */
export const ROWS = 200;
/** Half of the passes are taken from the weaker policy; fewer would not be significant. */
const LEAST_PASSES = 16;

export interface BaseRow {
  readonly id: string;
  readonly prompt: string;
  readonly expected_answer: ResultRow["expected_answer"];
  readonly completion: string;
  readonly passes: boolean;
}

export interface Base {
  /** The run that the rows are from. */
  readonly run: string;
  readonly rows: readonly BaseRow[];
  /** The scorer's name or file. */
  readonly scorer: string;
}

/** The first rows of a finished evaluation. */
export async function readBase(dir: string): Promise<Base> {
  const run = await openRun(dir);
  const { manifest } = run;
  if (manifest.loop !== "A") {
    throw dataError(`${dir} is not an evaluation`, "Name a run that `lockedroom eval` wrote.");
  }
  const rows: BaseRow[] = [];
  for await (const batch of run.results().batches()) {
    for (const { id, prompt, expected_answer, completion, reward } of batch) {
      if (rows.length < ROWS && completion !== null)
        rows.push({ id, prompt, expected_answer, completion, passes: passes(reward) });
    }
  }
  const passed = rows.filter((row) => row.passes).length;
  if (passed < LEAST_PASSES || passed === rows.length) {
    throw dataError(
      `${passed} of the first ${rows.length} rows of ${dir} pass; the sabotages need ${LEAST_PASSES} that pass and one that fails`,
      "Name another run, or leave --run out to use one of the embedded policy.",
    );
  }
  const { path, name } = manifest.scorer;
  if (path !== null && !fileExists(path)) {
    throw dataError(
      `the scorer of ${dir}, ${path}, is not there`,
      "Start from the folder where the run was made.",
    );
  }
  return { run: dir, rows, scorer: path ?? name };
}

/** What a weaker policy says: every second answer that passes is withheld. */
export function weaker(rows: readonly BaseRow[], every = 2): string[] {
  let passed = 0;
  return rows.map(({ completion, passes: right }) =>
    right && passed++ % every === 0 ? WITHHELD : completion,
  );
}

export const WITHHELD = "I do not know.";
