/** The page about selections: first samples against selected ones, and pass@k. */

import { businessSection } from "../business/section.ts";
import { documentHtml, perRun, type Section } from "../page/document.ts";
import { ROW_STYLE } from "../page/extra-style.ts";
import { percent } from "../page/numbers.ts";
import { type Named, nameRuns } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import { pageOptions } from "../page-options.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import { passRateOf } from "../scored/head.ts";
import { outcomeTable } from "../scored/outcomes.ts";
import { slicesSection } from "../scored/slices.ts";
import { selectionHead } from "./head.ts";
import { passAtKSection } from "./pass-at-k.ts";
import { readSelection, type SelectionRun } from "./read.ts";

type Runs = readonly Named<SelectionRun>[];

const SECTIONS: readonly ((runs: Runs) => Section | undefined)[] = [
  passAtKSection,
  (runs) => ({
    id: "changed",
    title: "Rescued and lost",
    body: perRun(runs, ({ run }) => run.changed),
  }),
  (runs) => ({ id: "outcomes", title: "Outcomes of the selected", body: outcomeTable(runs) }),
  slicesSection,
  businessSection,
  (runs) => ({
    id: "failures",
    title: "Failing rows",
    body: perRun(runs, ({ run }) => run.failing),
  }),
  settingsOfRuns,
];

export async function selectionReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read = [];
  for (const dir of dirs) read.push(await readSelection(dir, dirs.length > 1 ? 4 : 3, options));
  const runs = nameRuns(read);
  return {
    html: documentHtml({
      title: `Selection report: ${runs.map(({ name }) => name).join(", ")}`,
      heads: runs.map((run) => selectionHead(run, runs.length > 1)),
      sections: SECTIONS.map((section) => section(runs)).filter((section) => section !== undefined),
      style: ROW_STYLE,
      options: pageOptions(runs, options),
    }),
    runs: runs.map(({ name, run }) => ({ name, status: statusOf(run) })),
  };
}

function statusOf(run: SelectionRun): string {
  const after = passRateOf(run);
  const before = run.summary.metrics.pass_at_1;
  const edited = run.edited.length === 0 ? "" : ", edited";
  if (after === undefined || typeof before !== "number") return `nothing scored${edited}`;
  const text = `pass rate ${percent(before)} of the first samples, ${percent(after)} of the selected`;
  return `${text.replaceAll("\u00a0", " ")}${edited}`;
}
