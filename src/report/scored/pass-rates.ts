/** Pass rates of several runs with their intervals, as a chart. */

import { type Html, html } from "../page/html.ts";
import { intervalFigure } from "../page/interval-chart.ts";
import type { Named } from "../page/run-names.ts";
import { passInterval } from "./interval.ts";
import type { ScoredRun } from "./read.ts";

/** Undefined for one run, whose pass rate and interval are in its head. */
export function passRateFigure(runs: readonly Named<ScoredRun>[]): Html | undefined {
  if (runs.length < 2) return undefined;
  const estimates = runs.flatMap(({ name, run }) => {
    const { passed, scored } = run;
    const [low, high] = passInterval(run) ?? [];
    return low === undefined || high === undefined
      ? []
      : [{ label: name, value: passed / scored, low, high }];
  });
  if (estimates.length === 0) return undefined;
  return html`<div class="charts">
${intervalFigure({
  title: "Pass rates",
  subtitle: "95 % intervals of each run by itself",
  x: { label: "pass rate", range: [0, 1] },
  estimates,
})}</div>
<p>These intervals do not show whether two runs differ: gate and compare test that, paired by example.</p>
`;
}
