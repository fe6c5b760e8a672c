/** An estimate with its interval on an axis, in one line of text. */

export interface IntervalBar {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The ends of the axis. */
  readonly from: number;
  readonly to: number;
  /** Places that are marked, such as margins. */
  readonly marks: readonly number[];
  readonly width: number;
}

/** `··├──●──┤··┊···`: a mark inside the interval is `┼`. */
export function intervalBar({ value, low, high, from, to, marks, width }: IntervalBar): string {
  const at = (x: number) =>
    Math.round(Math.min(1, Math.max(0, (x - from) / (to - from))) * (width - 1));
  const cells = new Array<string>(width).fill("·");
  const [start, end] = [at(low), at(high)];
  for (let i = start; i <= end; i++) cells[i] = "─";
  for (const mark of marks) cells[at(mark)] = cells[at(mark)] === "─" ? "┼" : "┊";
  if (end > start) {
    cells[start] = "├";
    cells[end] = "┤";
  }
  cells[at(value)] = "●";
  return cells.join("");
}
