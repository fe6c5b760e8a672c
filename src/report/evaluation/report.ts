/** The page about evaluations, or about tabular experiments, whose runs hold the same records. */

import type { Manifest, ResultRow, Summary } from "../../runs/schemas.ts";
import { AxisRows } from "../axes/axis-rows.ts";
import { axesSection, failureSection, type MeasuredOnAxes } from "../axes/section.ts";
import { type Business, businessOfScored } from "../business/business.ts";
import { businessSection } from "../business/section.ts";
import { conversationOf } from "../conversation.ts";
import { CONVERSATION_STYLE, ConversationGroups } from "../episodes/conversations.ts";
import { episodeMetrics } from "../episodes/metrics.ts";
import { FailureModes } from "../failures/rows/failure-modes.ts";
import { documentHtml, perRun, type Section } from "../page/document.ts";
import { ROW_STYLE } from "../page/extra-style.ts";
import { headArticle } from "../page/head.ts";
import { type Html, html } from "../page/html.ts";
import { percent } from "../page/numbers.ts";
import { type Named, nameRuns } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import { pageOptions } from "../page-options.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import {
  commonFigures,
  factsOf,
  passFigure,
  passRateOf,
  sentenceOf,
  warningsOf,
} from "../scored/head.ts";
import { outcomeTable } from "../scored/outcomes.ts";
import { passRateFigure } from "../scored/pass-rates.ts";
import { readScoredRun, type ScoredRun } from "../scored/read.ts";
import { FailingRows } from "../scored/rows.ts";
import { slicesSection } from "../scored/slices.ts";
import { metricsSection } from "./metrics.ts";

interface EvaluationRun extends ScoredRun, MeasuredOnAxes {
  readonly business: Business;
  readonly failing: Html;
  /** Of a run of episodes. */
  readonly conversations: Html | undefined;
  readonly episodes: Summary["episodes"];
}

type Runs = readonly Named<EvaluationRun>[];

/** One more table on the page is one more entry; undefined where the runs have nothing for it. */
const SECTIONS: readonly ((runs: Runs) => Section | undefined)[] = [
  (runs) => ({
    id: "outcomes",
    title: "Outcomes",
    body: html`${passRateFigure(runs)}${outcomeTable(runs)}`,
  }),
  episodeMetrics,
  slicesSection,
  axesSection,
  failureSection,
  metricsSection,
  // Episodes of a tabular experiment have no tokens.
  (runs) => (runs.some(({ run }) => run.manifest.loop === "C") ? undefined : businessSection(runs)),
  (runs) =>
    runs.some(({ run }) => run.conversations)
      ? {
          id: "conversations",
          title: "Conversations",
          body: perRun(runs, ({ run }) => run.conversations),
        }
      : undefined,
  (runs) =>
    runs.every(({ run }) => run.conversations)
      ? undefined
      : {
          id: "failures",
          title: "Failing rows",
          body: perRun(runs, ({ run }) => (run.conversations ? undefined : run.failing)),
        },
  settingsOfRuns,
];

export async function evaluationReport(
  { runs: dirs, ...options }: ReportOptions,
  what = "Evaluation",
): Promise<Report> {
  const read = [];
  for (const dir of dirs) read.push(await readEvaluation(dir, dirs.length > 1, options));
  const runs = nameRuns(read);
  const html = documentHtml({
    title: `${what} report: ${runs.map(({ name }) => name).join(", ")}`,
    heads: runs.map((run) => head(run, runs.length > 1)),
    sections: SECTIONS.map((section) => section(runs)).filter((section) => section !== undefined),
    style: runs.some(({ run }) => run.conversations) ? ROW_STYLE + CONVERSATION_STYLE : ROW_STYLE,
    options: pageOptions(runs, options),
  });
  return { html, runs: runs.map(({ name, run }) => ({ name, status: statusOf(run) })) };
}

async function readEvaluation(
  dir: string,
  isOneOfSeveral: boolean,
  options: Omit<ReportOptions, "runs">,
): Promise<EvaluationRun> {
  const level = isOneOfSeveral ? 4 : 3;
  const failing = new FailingRows(level);
  const conversations = new ConversationGroups(level);
  const onAxes = new AxisRows(level);
  let modes: FailureModes | undefined;
  const see = (row: ResultRow, manifest: Manifest) => {
    modes ??= new FailureModes(manifest);
    for (const part of [failing, onAxes, modes]) part.add(row);
    const conversation = conversationOf(row);
    if (conversation) conversations.add(conversation);
  };
  const run = await readScoredRun(dir, see, options.slice);
  const business = await businessOfScored(run, options);
  return {
    ...{ ...run, business, failing: failing.html, failingOnAxes: onAxes.html },
    conversations: run.manifest.environment && conversations.html,
    episodes: run.summary.episodes,
    modes: (modes ?? new FailureModes(run.manifest)).findings(),
  };
}

function statusOf(run: ScoredRun): string {
  const rate = passRateOf(run);
  const edited = run.edited.length === 0 ? "" : ", edited";
  return `${rate === undefined ? "nothing scored" : `pass rate ${percent(rate).replace("\u00a0", " ")}`}${edited}`;
}

function head({ name, run }: Named<EvaluationRun>, isTitled: boolean): Html {
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: sentenceOf(run),
    warnings: warningsOf(run),
    verification: run.verification,
    figures: [passFigure(run), ...commonFigures(run)],
    facts: factsOf(run),
  });
}
