/** The page: one file with everything in it, and nothing that it would have to ask for. */

import { alarmList } from "./alarms.ts";
import { costSection } from "./cost.ts";
import { curvesSection } from "./curves.ts";
import { failureTable } from "./failures/table.ts";
import { runHead } from "./head.ts";
import { type Html, html, trusted } from "./html.ts";
import type { Named } from "./named.ts";
import { hasOutcomes, outcomesSection } from "./outcomes.ts";
import { sampleList } from "./samples.ts";
import { settingsSection } from "./settings.ts";
import { STYLE } from "./style.ts";

/** Nothing is fetched and nothing is run, whatever the data holds. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

export function pageHtml(runs: readonly Named[], pricePerHour: number | undefined): string {
  const title = `Training report: ${runs.map(({ name }) => name).join(", ")}`;
  const heads = runs.map((run) => runHead(run, runs.length > 1, pricePerHour));
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
<meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}">
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

function sectionsOf(runs: readonly Named[], pricePerHour: number | undefined): Section[] {
  const withOutcomes = runs.filter(({ run }) => hasOutcomes(run));
  const hasSamples = runs.some(({ run }) => run.samples.length > 0);
  const none = (what: string) => html`<p>${what}</p>\n`;
  return [
    { id: "curves", title: "Curves", body: curvesSection(runs) },
    {
      id: "outcomes",
      title: "Outcomes over time",
      body: withOutcomes.length > 0 ? outcomesSection(withOutcomes) : none("None were written."),
    },
    { id: "alarms", title: "Alarms", body: ofEach(runs, ({ run }) => alarmList(run)) },
    {
      id: "failures",
      title: "Failure modes",
      body: ofEach(runs, ({ run }, place) => failureTable(run, place)),
    },
    {
      id: "samples",
      title: "Sampled completions",
      body: hasSamples
        ? ofEach(runs, ({ run }, place) => sampleList(run, place))
        : none("No samples were written."),
    },
    { id: "cost", title: "Cost", body: costSection(runs, pricePerHour) },
    {
      id: "settings",
      title: runs.length > 1 ? "Settings" : "Manifest",
      body: settingsSection(runs),
    },
  ];
}

/** What each run has for itself, under its name where there are several. */
function ofEach(runs: readonly Named[], show: (run: Named, place: number) => Html): Html {
  return html`${runs.map(
    (run, place) => html`${runs.length > 1 && html`<h3>${run.name}</h3>\n`}${show(run, place)}`,
  )}`;
}
