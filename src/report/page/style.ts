/** The look of the page: the colours of the charts, one column on a phone, several on a desk. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1e24; --muted: #5b616b; --line: #e3e6ea; --tint: #f5f6f8;
  --accent: #0b5fa8; --good: #0a6b55; --bad: #a8200d; --warn: #7a5200;
  --text: system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --ink: #e8ebf0; --muted: #a3abb8; --line: #2b3038; --tint: #1c2027;
    --accent: #6cb2f0; --good: #3ecfa8; --bad: #ff8a75; --warn: #e6b84d;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem / 1.55 var(--text); overflow-wrap: break-word; }
header, main, footer { max-width: 86rem; margin: 0 auto; padding: 0 1.25rem; }
a { color: var(--accent); text-underline-offset: 0.18em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: anywhere; }
h1 { margin: 1.75rem 0 0.75rem; font-size: 1.75rem; letter-spacing: -0.015em; }
h2 { margin: 0 0 0.9rem; font-size: 1.375rem; }
h3 { margin: 1.75rem 0 0.75rem; font-size: 1.0625rem; }
h4 { margin: 0 0 0.4rem; font-size: 0.9375rem; }
p { margin: 0 0 0.9rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.35rem 1.25rem; margin-bottom: 1.5rem; }
section { margin-top: 2rem; padding-top: 1.75rem; border-top: 1px solid var(--line); }
.muted { color: var(--muted); }
.unseen {
  position: absolute; width: 1px; height: 1px; margin: -1px;
  overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}

/* The head of each run */
.runs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.25rem; }
.run { min-width: 0; padding: 1.1rem 1.25rem 0.35rem; border: 1px solid var(--line); border-radius: 12px; }
.body { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 0 2.5rem; }
.body > * { min-width: 0; }
.verdict { padding: 0.55rem 0.9rem; border-left: 4px solid var(--good); border-radius: 4px; background: var(--tint); }
.verdict:is(.early, .unfinished, .alarmed) { border-color: var(--warn); }
.verdict.alarm { border-color: var(--bad); }
.verdict strong { color: var(--good); }
.verdict:is(.early, .unfinished, .alarmed) strong { color: var(--warn); }
.verdict.alarm strong { color: var(--bad); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12rem), 1fr)); gap: 0.9rem 1.25rem; margin: 0 0 1.1rem; }
.figures dt { color: var(--muted); font-size: 0.875rem; }
.figures dd { margin: 0; font-size: 1.25rem; font-weight: 620; font-variant-numeric: tabular-nums; }
.figures .note { color: var(--muted); font-size: 0.8125rem; font-weight: 400; line-height: 1.4; }

/* Tables */
.wide { overflow-x: auto; margin-bottom: 0.9rem; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0 0.3rem 1.1rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th:first-child, td:first-child, .plain :is(th, td), .failures :is(th, td) { text-align: left; }
th:first-child { padding-left: 0; }
th { font-weight: 500; }
thead th { border-bottom-color: var(--muted); color: var(--muted); font-weight: 400; }
.time { white-space: nowrap; }
.bar { display: inline-block; margin-left: 0.5rem; vertical-align: 0.05em; fill: var(--accent); }
.bar .rest { fill: var(--line); }

/* Charts */
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 1rem 1.25rem; align-items: start; }
.chart { min-width: 0; margin: 0; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.chart > svg { display: block; width: 100%; height: auto; }
.stacked path[fill-opacity] { fill-opacity: 0.72; }
.chart details { padding: 0 1.1rem 0.7rem; font-size: 0.875rem; }
details > :not(summary) { margin-top: 0.5rem; }
summary { width: fit-content; cursor: pointer; color: var(--accent); }

/* Alarms and failure modes */
.chip { display: inline-block; padding: 0.05rem 0.6rem; border: 1px solid currentcolor; border-radius: 999px; font-size: 0.8125rem; white-space: nowrap; }
.bad { color: var(--bad); font-weight: 620; }
.good { color: var(--good); }
.open { color: var(--muted); border-style: dashed; }
td > .chip.open { white-space: normal; border-radius: 0.8rem; }
.alarms { margin: 0; padding-left: 1.4rem; }
.alarms > li { max-width: 60rem; margin-bottom: 1.1rem; }
.alarms p { margin-bottom: 0.35rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.15rem 1.5rem; margin: 0; font-size: 0.875rem; }
.facts div { display: flex; gap: 0.5rem; min-width: 0; }
.facts :is(dt, dd) { margin: 0; overflow-wrap: anywhere; }
.facts dt { color: var(--muted); }
.failures { width: 100%; table-layout: fixed; font-size: 0.9375rem; }
.failures thead th:nth-child(1) { width: 14%; }
.failures thead th:nth-child(2) { width: 11%; }
.failures thead th:nth-child(3) { width: 43%; }
.failures.counted thead th:nth-child(1) { width: 11%; }
.failures.counted thead th:is(:nth-child(2), :nth-child(3)) { width: 9%; }
.failures.counted thead th:nth-child(4) { width: 41%; }
.failures.compared thead th:is(:nth-child(2), :nth-child(3), :nth-child(4)) { width: 9%; }
.failures.compared thead th:nth-child(5) { width: 36%; }
.failures th[scope="row"] { font-weight: 620; }
.failures p { max-width: 44rem; margin-bottom: 0.25rem; }
.failures ul { margin: 0; padding: 0; list-style: none; }
.failures pre { margin: 0.15rem 0 0.5rem; }

/* Text of policies */
code, pre { font-family: var(--mono); font-size: 0.875em; }
code { overflow-wrap: anywhere; }
pre {
  tab-size: 4; margin: 0; padding: 0.5rem 0.75rem; border-radius: 8px; background: var(--tint);
  font-size: 0.8125rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere;
}
.blank { color: var(--muted); font-style: normal; opacity: 0.85; }
.sample { margin-bottom: 1.5rem; scroll-margin-top: 1rem; }
.sample:target h4 { color: var(--accent); }
.prompt { margin-bottom: 0.5rem; background: none; border: 1px solid var(--line); }
.completions { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 0.75rem; }
.completions p { margin-bottom: 0.25rem; color: var(--muted); font-size: 0.8125rem; }
footer { margin-top: 2.5rem; padding-block: 1.25rem; color: var(--muted); font-size: 0.875rem; }

@media (max-width: 46rem) {
  header, main, footer { padding-inline: 1rem; }
  h1 { font-size: 1.4rem; }
  .run { padding-inline: 0.9rem; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures dd { font-size: 1.0625rem; }
  th, td { padding-left: 0.75rem; }
  .completions { grid-auto-flow: row; }
  .bar, .failures .none { display: none; }
  .failures thead { display: none; }
  .failures :is(tbody, tr, th, td) { display: block; padding-left: 0; border: 0; }
  .failures tr { margin-bottom: 1rem; padding-bottom: 0.6rem; border-bottom: 1px solid var(--line); }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --ink: #000000; --muted: #444444; --line: #bbbbbb; --tint: #f5f5f5;
    --accent: #000000; --good: #00543f; --bad: #8a1000; --warn: #5c3d00;
  }
  body { font-size: 10pt; }
  nav { display: none; }
  .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .run, .chart, .sample, .alarms > li, tr { break-inside: avoid; }
  h1, h2, h3, h4 { break-after: avoid; }
  .wide { overflow: visible; }
  /* Back to the colours that the drawings carry as attributes, which are the light ones. */
  svg.lockedroom-chart [class] { fill: revert-layer; stroke: revert-layer; }
  .chart details:not([open]) { display: none; }
}
`;
