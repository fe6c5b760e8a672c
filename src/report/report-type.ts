/** What every kind of page is made from, and what comes of it. */

import type { BusinessOptions } from "./business/business.ts";

export interface ReportOptions extends BusinessOptions {
  /** Run folders of one kind; several share a page. */
  readonly runs: readonly string[];
  /** Fields of the data set, such as "metadata.topic": rates of each value; of scored runs. */
  readonly slice?: readonly string[] | undefined;
}

/** A page about runs. @see {@link report} */
export interface Report {
  /**
   * The page: self-contained, and the same bytes for the same runs and options, whatever the current
   * folder, while the rollouts behind the runs are where they were. With an alias, its history counts too.
   */
  readonly html: string;
  readonly runs: readonly { readonly name: string; readonly status: string }[];
}
