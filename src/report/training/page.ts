/** The page about training runs. */

import type { BusinessOptions } from "../business/business.ts";
import { failureTable } from "../failures/training/table.ts";
import { documentHtml, perRun, type Section } from "../page/document.ts";
import { html } from "../page/html.ts";
import { settingsSection } from "../page/settings.ts";
import { pageOptions } from "../page-options.ts";
import { alarmList } from "./alarms.ts";
import { businessSection } from "./business.ts";
import { costSection } from "./cost.ts";
import { curvesSection } from "./curves.ts";
import { judgeSection } from "./judged/section.ts";
import { hasOutcomes, outcomesSection } from "./outcomes.ts";
import type { NamedRun } from "./run-names.ts";
import { runSummary } from "./run-summary.ts";
import { sampleList } from "./samples.ts";
import { tradeoffSection } from "./tradeoff.ts";
import { TREND_STYLE, trendSection } from "./trends.ts";

type Options = Pick<BusinessOptions, "pricePerHour" | "prices" | "alias">;

export function pageHtml(runs: readonly NamedRun[], options: Options): string {
  const { pricePerHour, prices, alias } = options;
  return documentHtml({
    title: `Training report: ${runs.map(({ name }) => name).join(", ")}`,
    heads: runs.map((run) => runSummary(run, runs.length > 1, options)),
    sections: sectionsOf(runs, options),
    style: TREND_STYLE,
    options: pageOptions(runs, { pricePerHour, prices, alias }),
  });
}

function sectionsOf(runs: readonly NamedRun[], options: Options): Section[] {
  const withOutcomes = runs.filter(({ run }) => hasOutcomes(run));
  const hasSamples = runs.some(({ run }) => run.samples.length > 0);
  const outcomes =
    withOutcomes.length > 0
      ? outcomesSection(withOutcomes)
      : html`<p>No outcomes were recorded.</p>\n`;
  const alarms = perRun(runs, ({ run }) => alarmList(run));
  const failures = perRun(runs, ({ run }, place) => failureTable(run, place));
  const samples = hasSamples
    ? perRun(runs, ({ run }, place) => sampleList(run, place))
    : html`<p>No samples were recorded.</p>\n`;
  const settings = runs.length > 1 ? "Settings" : "Manifest";
  const tradeoff = tradeoffSection(runs);
  const judge = judgeSection(runs);
  return [
    ...(tradeoff ? [{ id: "tradeoff", title: "Trade-off", body: tradeoff }] : []),
    { id: "curves", title: "Curves", body: curvesSection(runs) },
    ...(judge ? [judge] : []),
    {
      id: "trends",
      title: "Phases and trends",
      body: perRun(runs, ({ run }) => trendSection(run)),
    },
    { id: "outcomes", title: "Outcomes over time", body: outcomes },
    { id: "alarms", title: "Alarms", body: alarms },
    { id: "failures", title: "Failure modes", body: failures },
    { id: "samples", title: "Sampled completions", body: samples },
    { id: "cost", title: "Cost", body: costSection(runs, options.pricePerHour, options.prices) },
    businessSection(runs, options),
    { id: "settings", title: settings, body: settingsSection(runs, caution) },
  ];
}

function caution(different: number): string {
  return different === 1
    ? "The runs differ in one setting."
    : `The runs differ in ${different} settings, so a difference between their curves cannot be attributed to one of them.`;
}
