/** The first rows of each of several groups, as HTML: a page does not grow with its run. */

import type { Html } from "./html.ts";

export interface RowGroup {
  readonly name: string;
  readonly count: number;
  /** The first ones, in input order. */
  readonly rows: readonly Html[];
}

/** A run with a group for every row still takes little memory. */
const MAX_GROUPS = 100;

export class RowGroups {
  readonly #limit: number;
  readonly #groups = new Map<string, { name: string; count: number; rows: Html[] }>();
  /** Rows of groups that came when there were too many. */
  #others = 0;

  /** Rows to keep of each group. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `show` is called only for a row that is kept; its HTML holds no more of the row than is shown. */
  add(name: string, show: () => Html): void {
    let group = this.#groups.get(name);
    if (!group) {
      if (this.#groups.size >= MAX_GROUPS) {
        this.#others++;
        return;
      }
      group = { name, count: 0, rows: [] };
      this.#groups.set(name, group);
    }
    group.count++;
    if (group.rows.length < this.#limit) group.rows.push(show());
  }

  get others(): number {
    return this.#others;
  }

  /** The largest first. */
  get all(): RowGroup[] {
    return [...this.#groups.values()].sort(
      (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
    );
  }
}
