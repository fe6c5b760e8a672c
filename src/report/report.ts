/** Entry point of the pages about runs: each kind of run has its own folder. */

import { dataError, usageError } from "../core/errors.ts";
import { requireKind, SCORED } from "../runs/folder-kind.ts";
import { aRun, KINDS, type RunKind } from "../runs/kinds.ts";
import { isMatrix } from "../runs/matrix-report.ts";
import { hasTrajectories } from "../runs/recorded-episodes.ts";
import { episodesReport } from "./episodes/report.ts";
import { evaluationReport } from "./evaluation/report.ts";
import { judgeAuditReport } from "./judge-audit/report.ts";
import { matrixReport } from "./matrix/report.ts";
import { pairsReport } from "./pairs/report.ts";
import type { Report, ReportOptions } from "./report-type.ts";
import { reviewReport } from "./review/report.ts";
import { rolloutReport } from "./rollout/report.ts";
import { selectionReport } from "./selection/report.ts";
import { trainingReport } from "./training/report.ts";

const PAGES: Record<RunKind, (options: ReportOptions) => Promise<Report>> = {
  eval: (options) => evaluationReport(options),
  select: selectionReport,
  experiment: (options) => evaluationReport(options, "Experiment"),
  rollout: rolloutPage,
  pairs: pairsReport,
  review: reviewReport,
  train: trainingReport,
  "judge-audit": judgeAuditReport,
};

/** Episodes of environments, or completions of prompts. */
function rolloutPage(options: ReportOptions): Promise<Report> {
  const [first = "", ...others] = options.runs;
  const inEnvironment = hasTrajectories(first);
  const other = others.find((dir) => hasTrajectories(dir) !== inEnvironment);
  if (other !== undefined)
    throw usageError(
      `${inEnvironment ? first : other} is a rollout in an environment, and ${inEnvironment ? other : first} is not`,
      "Write a page for each.",
    );
  return inEnvironment ? episodesReport(options) : rolloutReport(options);
}

/**
 * One HTML page about runs of one kind, to read offline.
 * @example
 * ```ts
 * import { report } from "lockedroom";
 * const { html, runs } = await report({ runs: ["runs/baseline", "runs/candidate"] });
 * console.log(runs[0]?.status, html.length);
 * ```
 */
export async function report(options: ReportOptions): Promise<Report> {
  const [first, ...others] = options.runs;
  if (first === undefined) throw usageError("no run is given", "Name at least one run folder.");
  if (others.length === 0 && isMatrix(first)) {
    if (options.slice === undefined) return matrixReport(first);
    throw usageError(
      `${first} is a matrix, whose slices are those of its file`,
      `Add slice: [${options.slice.join(", ")}] to the file and run it again: finished samples are kept.`,
    );
  }
  const kind = await kindOf(first);
  for (const dir of others) {
    const other = await kindOf(dir);
    if (other !== kind)
      throw usageError(
        `${first} is ${aRun(kind)}, and ${dir} is ${aRun(other)}`,
        "A page is about runs of one kind. Write one for each kind.",
      );
  }
  if (options.slice !== undefined && !SCORED.includes(kind))
    throw usageError(
      `${first} is ${aRun(kind)}, which has no rates to slice`,
      "Use --slice with evaluations and selections.",
    );
  refuseUnused(options, kind, first);
  return PAGES[kind](options);
}

/** Which pages show what an option gives. */
const USED_BY: Readonly<
  Record<"pricePerHour" | "prices" | "alias", { flag: string; kinds: readonly RunKind[] }>
> = {
  pricePerHour: { flag: "--price-per-hour", kinds: ["train", "eval", "select", "rollout"] },
  prices: {
    flag: "--price-in and --price-out",
    kinds: ["eval", "select", "experiment", "rollout", "train"],
  },
  alias: { flag: "--alias", kinds: ["train", "eval", "select", "experiment", "rollout"] },
};

function refuseUnused(options: ReportOptions, kind: RunKind, run: string): void {
  for (const [name, { flag, kinds }] of Object.entries(USED_BY)) {
    if (options[name as keyof typeof USED_BY] === undefined || kinds.includes(kind)) continue;
    throw usageError(
      `${run} is ${aRun(kind)}, whose page does not use ${flag}`,
      `Leave it out, or write the page of a run of ${kinds.join(", ")}.`,
    );
  }
}

async function kindOf(dir: string): Promise<RunKind> {
  const { kind } = await requireKind(dir, Object.keys(KINDS) as RunKind[]);
  if (kind === undefined)
    throw dataError(`${dir} is not a run: it has no manifest.json`, "Name a run folder.");
  return kind;
}
