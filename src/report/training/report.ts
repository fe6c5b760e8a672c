/** One HTML page about one or more training runs. */

import { readTrainingRun } from "../../runs/training-records.ts";
import { pageHtml } from "./page.ts";
import { nameRuns } from "./run-names.ts";
import { alarmCount, statusOf } from "./run-status.ts";

export interface TrainingReportOptions {
  /** Run folders; several share the charts. */
  readonly runs: readonly string[];
  /** Price of the machine, in any currency. */
  readonly pricePerHour?: number | undefined;
}

export interface TrainingReport {
  /** The page: self-contained, and the same bytes for the same runs. */
  readonly html: string;
  readonly runs: readonly { readonly name: string; readonly status: string }[];
}

export async function trainingReport(options: TrainingReportOptions): Promise<TrainingReport> {
  const read = [];
  for (const dir of options.runs) read.push(await readTrainingRun(dir));
  const runs = nameRuns(read);
  return {
    html: pageHtml(runs, options.pricePerHour),
    runs: runs.map(({ name, run }) => {
      const { word } = statusOf(run);
      return { name, status: `${word.toLowerCase()}, ${alarmCount(run)}` };
    }),
  };
}
