/** Whether a run may count as evidence: as its command wrote it, in its place, every row judged. */

import path from "node:path";
import { MISSING_COMPLETION, messageOf, SCORER_ERROR } from "../core/index.ts";
import { editedFiles } from "../gate/index.ts";
import type { Run } from "../runs/index.ts";
import { type Rescored, Rescorer } from "./rescore.ts";

/** Judges the runs of a workspace. */
export class RunJudge {
  readonly #rescorer: Rescorer;

  constructor(dir: string) {
    this.#rescorer = new Rescorer(dir);
  }

  /** Why a run is no evidence, if it is none; otherwise whether a scorer confirmed its rows. */
  async judge(run: Run): Promise<Rescored> {
    const problem = await problemOfRun(run);
    return problem === undefined ? this.#rescorer.rescore(run) : { problem };
  }
}

/** Why a run is no evidence, if it is none. Its counts are believed once the rows confirm them. */
async function problemOfRun(run: Run): Promise<string | undefined> {
  try {
    const [edited] = await editedFiles(run);
    if (edited !== undefined)
      return `It was edited: ${edited} is not what was written with the run.`;
    const original = copiedFrom(run);
    if (original !== undefined) return `It was made as ${original}, then copied or renamed.`;
    return unjudged(run) ?? (await alarm(run));
  } catch (error) {
    return messageOf(error);
  }
}

/** The name under which a run was made, when it is not the name that its folder has. */
export function copiedFrom({ dir, manifest }: Run): string | undefined {
  const { folder } = manifest.volatile;
  return folder === path.basename(dir) ? undefined : folder;
}

function unjudged({ summary: { metrics, outcomes } }: Run): string | undefined {
  const missing = outcomes.counts[MISSING_COMPLETION] ?? 0;
  if (missing > 0) return `${missing} of its ${metrics.n_examples} rows are without a completion.`;
  const broken = Math.max(
    outcomes.counts[SCORER_ERROR] ?? 0,
    metrics.n_examples - metrics.n_scored,
  );
  if (broken > 0) return `The scorer broke on ${broken} of its ${metrics.n_examples} rows.`;
  return metrics.n_scored === 0 ? "It has no judged row." : undefined;
}

/** What a run says against itself. Rows of a selection speak for themselves, should it be silent. */
async function alarm(run: Run): Promise<string | undefined> {
  const [first] = run.summary.alarms;
  if (first || run.manifest.loop !== "B") return first?.message;
  for await (const batch of run.results().batches())
    if (batch.some(({ unstable }) => unstable)) return "Its selection contradicted itself.";
  return undefined;
}
