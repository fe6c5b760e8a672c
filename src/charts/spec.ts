/** What a chart is made of. Plain data: the same spec gives the same bytes. */

export interface ChartSpec {
  readonly title: string;
  /** A quieter line below the title: seed, data set, number of examples. */
  readonly subtitle?: string | undefined;
  /** For screen readers; without it one is made from the axes and the series. */
  readonly description?: string | undefined;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Labelled vertical lines, such as the step of an update. */
  readonly verticals?: readonly Vertical[] | undefined;
  /** Outside the plot either way, so that it never covers data. Default "below". */
  readonly legend?: "below" | "right" | undefined;
  readonly theme?: Theme | undefined;
  /** Of the whole picture, in pixels at scale 1. Default 720. */
  readonly width?: number | undefined;
  /** Of the plot alone; title, axis and legend come on top. Default 300. */
  readonly plotHeight?: number | undefined;
}

/** "auto" (the default) follows the colour scheme of the system; PNGs of it are light. */
export type Theme = "auto" | "light" | "dark";

export interface Axis {
  readonly label: string;
  /** Shown in parentheses after the label. */
  readonly unit?: string | undefined;
  readonly scale?: "linear" | "log" | undefined;
  /** Pins one end or both; an end left undefined follows the data. */
  readonly range?: readonly [low: number | undefined, high: number | undefined] | undefined;
  /** Only whole numbers make sense here: steps, samples. */
  readonly integer?: boolean | undefined;
  /** Exactly these ticks, such as 1, 2, 4, 8. */
  readonly ticks?: readonly number[] | undefined;
  /** Named places instead of numbers: the first name stands at 0, the next at 1, and so on. */
  readonly names?: readonly string[] | undefined;
}

export interface Series {
  readonly label: string;
  /** Drawn in this order; x may go back, as in reward against KL. */
  readonly points: readonly Point[];
  /** By default each series has its own dash pattern. "none" leaves only the markers. */
  readonly line?: LineStyle | undefined;
  /** "some" (the default) marks every point of a short series and a few of a long one. */
  readonly markers?: "all" | "some" | "none" | undefined;
  /** The colour: a place in the palette of six, from 0. Without it, the place in the list. */
  readonly slot?: number | undefined;
}

export type LineStyle = "solid" | "dashed" | "dotted" | "dashdot" | "none";

export interface Point {
  readonly x: number;
  /** Null or undefined leaves a gap; NaN and infinities leave one that is reported. */
  readonly y?: number | null | undefined;
  /** The shaded band, where both ends are given. */
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
  /** A label beside the point, left out where it does not fit. */
  readonly label?: string | undefined;
}

export interface Vertical {
  readonly x: number;
  readonly label: string;
  /** On which side of the line the label is; without it, in the middle. */
  readonly side?: "left" | "right" | undefined;
}
