/** Reads a selection: its rows are counted again, and the samples of each with them. */

import { canonicalJson } from "../../core/json.ts";
import { SUMMARY } from "../../runs/artifacts.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { type Business, businessOfScored } from "../business/business.ts";
import type { Html } from "../page/html.ts";
import type { ReportOptions } from "../report-type.ts";
import { readScoredRun, type ScoredRun } from "../scored/read.ts";
import { FailingRows } from "../scored/rows.ts";
import { ChangedRows } from "./changed-rows.ts";
import { type PassAtK, PassCounts } from "./pass-counts.ts";
import { otherSamples } from "./samples.ts";

export interface SelectionRun extends ScoredRun {
  readonly business: Business;
  readonly passAtK: readonly PassAtK[];
  readonly changed: Html;
  readonly failing: Html;
}

/** `level` is that of headings below the run's own. */
export async function readSelection(
  dir: string,
  level: number,
  { slice: fields = [], ...options }: Omit<ReportOptions, "runs">,
): Promise<SelectionRun> {
  const failing = new FailingRows(level, otherSamples);
  const changed = new ChangedRows(level);
  const counts = new PassCounts();
  const see = (row: ResultRow) => {
    failing.add(row);
    changed.add(row);
    counts.add(row);
  };
  const run = await readScoredRun(dir, see, fields);
  const passAtK = counts.passAtK;
  const isSame = canonicalJson(passAtK) === canonicalJson(run.summary.metrics.pass_at_k ?? []);
  const edited = isSame || run.edited.includes(SUMMARY) ? run.edited : [...run.edited, SUMMARY];
  const business = await businessOfScored(run, options);
  return { ...run, business, edited, passAtK, failing: failing.html, changed: changed.html };
}
