/** The page about rollouts: how answers ended, how long they are, what they cost, and a few of them. */

import path from "node:path";
import { businessSection } from "../business/section.ts";
import { barTable } from "../page/bars.ts";
import { perRun, type Section } from "../page/document.ts";
import type { Fact } from "../page/facts.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { editedWarning, headArticle } from "../page/head.ts";
import { histogramFigure } from "../page/histogram.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, many, moneyText, NONE, percent, plain } from "../page/numbers.ts";
import { LEGEND } from "../page/row-list.ts";
import type { Named } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import { runsPage } from "../runs-page.ts";
import { jsonFact } from "../scored/head.ts";
import { type RolloutRun, readRollout } from "./read.ts";

type Runs = readonly Named<RolloutRun>[];

const SECTIONS: readonly ((runs: Runs) => Section)[] = [
  (runs) => ({ id: "finish", title: "Finish reasons", body: finishTable(runs) }),
  (runs) => ({ id: "lengths", title: "Lengths", body: lengthCharts(runs) }),
  businessSection,
  (runs) => ({
    id: "completions",
    title: "Completions",
    body: html`${LEGEND}${perRun(runs, ({ run }) => completionList(run))}`,
  }),
  settingsOfRuns,
];

export async function rolloutReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read: RolloutRun[] = [];
  for (const dir of dirs) read.push(await readRollout(dir, dirs.length > 1 ? 4 : 3, options));
  const status = (run: RolloutRun) =>
    `${many(run.answers, "completion")}${run.edited.length === 0 ? "" : ", edited"}`;
  return runsPage(read, { title: "Rollout report", head, sections: SECTIONS, status }, options);
}

function head({ name, run }: Named<RolloutRun>, isTitled: boolean): Html {
  const { manifest, summary, edited, empty, refused } = run;
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: `${many(run.answers, "completion")} of ${many(summary.n_examples, "example")}.`,
    warnings: [
      ...editedWarning(edited),
      ...(empty > 0 ? [`${many(empty, "completion")} without any text.`] : []),
      ...(refused > 0 ? [`${many(refused, "answer")} with a refusal.`] : []),
    ],
    verification: run.verification,
    figures: figuresOf(run),
    facts: [
      ...manifest.inputs.map(
        ({ role, path: file, rows }): Fact => [
          role,
          html`${codeHtml(path.basename(file))}, ${many(rows, "row")}`,
        ],
      ),
      jsonFact("policy", manifest.policy),
      jsonFact("prompt", manifest.prompt),
      jsonFact("sampling", manifest.sampling),
    ],
  });
}

function figuresOf({ summary: { cost }, answers, finish, lengths, unit }: RolloutRun): Figure[] {
  const cut = finish.get("length") ?? 0;
  const uncounted = cost.n_uncounted > 0 ? `; ${grouped(cost.n_uncounted)} not counted` : "";
  return [
    {
      label: "Tokens",
      value: grouped(cost.completion_tokens),
      note: `completions; prompts ${grouped(cost.prompt_tokens)}${uncounted}`,
    },
    {
      label: "Mean length",
      value: plain(lengths.mean),
      note: `${unit}; ${grouped(lengths.count === 0 ? 0 : lengths.smallest)} to ${grouped(lengths.largest)}`,
    },
    {
      label: "Cut off",
      value: answers === 0 ? NONE : percent(cut / answers),
      note: "ended by the limit on tokens",
    },
    {
      label: "Cost",
      value: cost.total === null ? NONE : moneyText(cost.total),
      note:
        cost.total === null
          ? "no price given"
          : `at ${plain(cost.price_in)} and ${plain(cost.price_out)} for a million tokens in and out`,
    },
  ];
}

const REASONS_SHOWN = 20;

function finishTable(runs: Runs): Html {
  const reasons = [...new Set(runs.flatMap(({ run }) => [...run.finish.keys()]))];
  const total = (reason: string) =>
    runs.reduce((sum, { run }) => sum + (run.finish.get(reason) ?? 0), 0);
  const rows = reasons
    .sort((a, b) => total(b) - total(a) || (a < b ? -1 : 1))
    .slice(0, REASONS_SHOWN)
    .map((reason) => ({
      label: codeHtml(reason),
      counts: runs.map(({ run }) => run.finish.get(reason)),
    }));
  const columns = runs.map(({ name }) => (runs.length > 1 ? name : "completions"));
  return barTable(
    "finish reason",
    columns,
    runs.map(({ run }) => run.answers),
    rows,
  );
}

/** Runs that are measured in the same unit share a chart. */
function lengthCharts(runs: Runs): Html {
  const charts = (["tokens", "characters"] as const).map((unit) => {
    const some = runs.filter(({ run }) => run.unit === unit && run.answers > 0);
    const all = some.map(({ name, run }) => ({ label: name, histogram: run.lengths }));
    return all.length > 0 && histogramFigure("Length of completions", unit, all);
  });
  return html`<div class="charts">
${charts}</div>
`;
}

function completionList({ shown, hasPrompts, summary }: RolloutRun): Html {
  const missing =
    !hasPrompts &&
    html`<p class="muted">Without prompts: the data set is not where it was, or has changed.</p>\n`;
  const rest =
    summary.n_examples > shown.length &&
    html`<p class="muted">The first ${grouped(shown.length)} of ${many(summary.n_examples, "example")} are shown.</p>\n`;
  return html`${missing}${shown}${rest}`;
}
