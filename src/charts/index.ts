/** Charts of a run: `lineChart` makes an SVG, `toPng` makes a picture of it. Neither writes a file. */

export * from "./line-chart.ts";
export * from "./png.ts";
export * from "./spec.ts";
