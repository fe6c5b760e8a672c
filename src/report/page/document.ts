/** The frame of every page: one self-contained HTML file that loads nothing. */

import { optionsMeta, type PageOptions } from "../page-options.ts";
import { type Html, html, trusted } from "./html.ts";
import type { Named } from "./run-names.ts";
import { STYLE } from "./style.ts";

/** Loads nothing and runs no script, whatever the data holds. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

export interface PageParts {
  readonly title: string;
  /** An article for each run, above the sections. */
  readonly heads: readonly Html[];
  readonly sections: readonly Section[];
  /** Rules that only this kind of page needs. */
  readonly style?: string;
  /** Of pages about runs. */
  readonly options?: PageOptions;
}

export function documentHtml({ title, heads, sections, style = "", options }: PageParts): string {
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
${options && optionsMeta(options)}<title>${title}</title>
<style>${trusted(STYLE + style)}</style>
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

/** A part per run, under its name where there are several. */
export function perRun<R>(
  runs: readonly Named<R>[],
  show: (run: Named<R>, place: number) => Html | undefined,
): Html {
  return html`${runs.map(
    (run, place) => html`${runs.length > 1 && html`<h3>${run.name}</h3>\n`}${show(run, place)}`,
  )}`;
}
