/** From the folders of training runs to one page about them. */

import { readTrainingRun } from "../../runs/read-training-run.ts";
import { nameRuns } from "./named.ts";
import { pageHtml } from "./page.ts";
import { alarmCount, verdictOf } from "./verdict.ts";

export interface TrainingReportOptions {
  /** Folders of runs; several are drawn over each other. */
  readonly runs: readonly string[];
  /** Of the machine, in any currency. */
  readonly pricePerHour?: number | undefined;
}

export interface TrainingReport {
  /** The page: needs no other file and no network, and is the same for the same runs. */
  readonly html: string;
  readonly runs: readonly { readonly name: string; readonly verdict: string }[];
}

/**
 * One HTML page about training runs, to read offline.
 *
 * @example
 * ```ts
 * import { train, trainingReport } from "lockedroom";
 *
 * await train({
 *   ...{ algorithm: "sft", dataset: "texts.jsonl", init: "scratch", size: "nano" },
 *   ...{ settings: { steps: 2, batch: 2 }, outdir: "runs/sft", threads: 1, saveEvery: 100 },
 * });
 * const { html, runs } = await trainingReport({ runs: ["runs/sft"] });
 * console.log(runs[0]?.verdict, html.length);
 * ```
 */
export async function trainingReport(options: TrainingReportOptions): Promise<TrainingReport> {
  const read = [];
  for (const dir of options.runs) read.push(await readTrainingRun(dir));
  const runs = nameRuns(read);
  return {
    html: pageHtml(runs, options.pricePerHour),
    runs: runs.map(({ name, run }) => {
      const { word } = verdictOf(run);
      return { name, verdict: `${word.toLowerCase()}, ${alarmCount(run)}` };
    }),
  };
}
