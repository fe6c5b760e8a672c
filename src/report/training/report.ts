/** One HTML page about one or more training runs. */

import { usageError } from "../../core/errors.ts";
import { readTrainingRun } from "../../runs/read-training-run.ts";
import { type Prices, requireAlias } from "../business/business.ts";
import { nameRuns } from "../page/run-names.ts";
import { isJudged } from "./judged/judge-of.ts";
import { pageHtml } from "./page.ts";
import { alarmCount, statusOf } from "./run-status.ts";

export interface TrainingReportOptions {
  /** Run folders; several share the charts. */
  readonly runs: readonly string[];
  /** Price of the machine, in any currency. */
  readonly pricePerHour?: number | undefined;
  /** Of a million tokens of the judge, for runs without a stated price. */
  readonly prices?: Prices | undefined;
  /** The alias that a trained policy has, or is to have. */
  readonly alias?: string | undefined;
}

export interface TrainingReport {
  /** The page: self-contained, and the same bytes for the same runs. */
  readonly html: string;
  readonly runs: readonly { readonly name: string; readonly status: string }[];
}

/**
 * One HTML page about training runs, to read offline.
 * @example
 * ```ts
 * import { train, trainingReport } from "lockedroom";
 * await train({
 *   ...{ algorithm: "sft", dataset: "texts.jsonl", init: "scratch", size: "nano" },
 *   ...{ settings: { steps: 2, batch: 2 }, outdir: "runs/sft", threads: 1, saveEvery: 100 },
 * });
 * const { html, runs } = await trainingReport({ runs: ["runs/sft"] });
 * console.log(runs[0]?.status, html.length);
 * ```
 */
export async function trainingReport(options: TrainingReportOptions): Promise<TrainingReport> {
  requireAlias(options);
  const read = [];
  for (const dir of options.runs) read.push(await readTrainingRun(dir));
  if (options.prices && !read.some(isJudged))
    throw usageError(
      "--price-in and --price-out are the price of a judge's tokens, and no run here has a judge",
      "Leave them out; --price-per-hour is the price of the machine.",
    );
  const runs = nameRuns(read);
  return {
    html: pageHtml(runs, options),
    runs: runs.map(({ name, run }) => {
      const { word } = statusOf(run);
      return { name, status: `${word.toLowerCase()}, ${alarmCount(run)}` };
    }),
  };
}
