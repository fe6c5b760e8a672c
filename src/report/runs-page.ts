/** A page about runs of one kind: a head for each, and sections about all of them. */

import { documentHtml, type Section } from "./page/document.ts";
import { ROW_STYLE } from "./page/extra-style.ts";
import type { Html } from "./page/html.ts";
import { type Named, nameRuns } from "./page/run-names.ts";
import { pageOptions } from "./page-options.ts";
import type { Report, ReportOptions } from "./report-type.ts";

export interface RunsPage<R> {
  /** What stands before the runs' names. */
  readonly title: string;
  head(run: Named<R>, isTitled: boolean): Html;
  readonly sections: readonly ((runs: readonly Named<R>[]) => Section)[];
  /** What the command prints of a run. */
  status(run: R): string;
}

export function runsPage<R extends { readonly dir: string }>(
  read: readonly R[],
  { title, head, sections, status }: RunsPage<R>,
  options: Omit<ReportOptions, "runs">,
): Report {
  const runs = nameRuns(read);
  return {
    html: documentHtml({
      title: `${title}: ${runs.map(({ name }) => name).join(", ")}`,
      heads: runs.map((run) => head(run, runs.length > 1)),
      sections: sections.map((section) => section(runs)),
      style: ROW_STYLE,
      options: pageOptions(runs, options),
    }),
    runs: runs.map(({ name, run }) => ({ name, status: status(run) })),
  };
}
