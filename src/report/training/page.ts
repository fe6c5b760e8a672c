/** The page: one self-contained HTML file that loads nothing. */

import { alarmList } from "./alarms.ts";
import { costSection } from "./cost.ts";
import { curvesSection } from "./curves.ts";
import { failureTable } from "./failures/table.ts";
import { type Html, html, trusted } from "./html.ts";
import { hasOutcomes, outcomesSection } from "./outcomes.ts";
import type { NamedRun } from "./run-names.ts";
import { runSummary } from "./run-summary.ts";
import { sampleList } from "./samples.ts";
import { settingsSection } from "./settings.ts";
import { STYLE } from "./style.ts";

/** Loads nothing and runs no script, whatever the data holds. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

export function pageHtml(runs: readonly NamedRun[], pricePerHour: number | undefined): string {
  const title = `Training report: ${runs.map(({ name }) => name).join(", ")}`;
  const heads = runs.map((run) => runSummary(run, runs.length > 1, pricePerHour));
  const sections = sectionsOf(runs, pricePerHour);
  const links = sections.map(({ id, title: text }) => html`<a href="#${id}">${text}</a>\n`);
  const bodies = sections.map(
    ({ id, title: text, body }) =>
      html`<section id="${id}">\n<h2>${text}</h2>\n${body}</section>\n`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(CONTENT_SECURITY_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<nav aria-label="Sections">
${links}</nav>
</header>
<main>
<div class="runs">
${heads}</div>
${bodies}</main>
<footer>Written by Locked Room. Intervals are 95 % intervals.</footer>
</body>
</html>
`.text;
}

function sectionsOf(runs: readonly NamedRun[], pricePerHour: number | undefined): Section[] {
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
  return [
    { id: "curves", title: "Curves", body: curvesSection(runs) },
    { id: "outcomes", title: "Outcomes over time", body: outcomes },
    { id: "alarms", title: "Alarms", body: alarms },
    { id: "failures", title: "Failure modes", body: failures },
    { id: "samples", title: "Sampled completions", body: samples },
    { id: "cost", title: "Cost", body: costSection(runs, pricePerHour) },
    { id: "settings", title: settings, body: settingsSection(runs) },
  ];
}

/** A part per run, under its name where there are several. */
function perRun(runs: readonly NamedRun[], show: (run: NamedRun, place: number) => Html): Html {
  return html`${runs.map(
    (run, place) => html`${runs.length > 1 && html`<h3>${run.name}</h3>\n`}${show(run, place)}`,
  )}`;
}
