/** Counts of whole numbers in bins that grow with the largest; memory does not follow the data. */

import { figure } from "./chart-figure.ts";
import { type Html, html } from "./html.ts";
import { grouped } from "./numbers.ts";

const BINS = 40;

export class Histogram {
  #width = 1;
  #bins: number[] = new Array(BINS).fill(0);
  #sum = 0;
  count = 0;
  smallest = Number.POSITIVE_INFINITY;
  largest = 0;

  add(value: number): void {
    while (value >= this.#width * BINS) this.#double();
    const at = Math.floor(value / this.#width);
    this.#bins[at] = (this.#bins[at] ?? 0) + 1;
    this.#sum += value;
    this.count++;
    this.smallest = Math.min(this.smallest, value);
    this.largest = Math.max(this.largest, value);
  }

  get mean(): number | undefined {
    return this.count === 0 ? undefined : this.#sum / this.count;
  }

  /** Every value lies in one of them; those above the largest value are left out. */
  get bins(): { from: number; to: number; count: number }[] {
    const used = Math.floor(this.largest / this.#width) + 1;
    return this.#bins
      .slice(0, used)
      .map((count, i) => ({ from: i * this.#width, to: (i + 1) * this.#width, count }));
  }

  #double(): void {
    this.#width *= 2;
    const old = this.#bins;
    this.#bins = old.map((_, i) => (old[2 * i] ?? 0) + (old[2 * i + 1] ?? 0));
  }
}

/** Bins as columns; `unit` is what is counted along the axis. */
export function histogramFigure(
  title: string,
  unit: string,
  histograms: readonly { readonly label: string; readonly histogram: Histogram }[],
): Html {
  const series = histograms.map(({ label, histogram }) => ({
    label,
    line: "solid" as const,
    markers: "none" as const,
    points: histogram.bins.flatMap(({ from, to, count }) =>
      [from, to].map((x) => ({ x, y: count, low: 0, high: count })),
    ),
  }));
  const spec = {
    title,
    subtitle: "",
    x: { label: "length", unit, range: [0, undefined] as const },
    y: { label: "completions", range: [0, undefined] as const },
    series,
  };
  const rows = histograms.flatMap(({ label, histogram }) =>
    histogram.bins
      .filter(({ count }) => count > 0)
      .map(
        ({ from, to, count }) =>
          html`<tr><th scope="row">${label}</th><td>${to - from === 1 ? grouped(from) : `${grouped(from)} to ${grouped(to - 1)}`}</td><td>${grouped(count)}</td></tr>`,
      ),
  );
  const table = html`<table><thead><tr><th scope="col">run</th><th scope="col">${unit}</th>
<th scope="col">completions</th></tr></thead><tbody>${rows}</tbody></table>`;
  return figure(spec, table);
}
