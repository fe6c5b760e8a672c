/** SVG to PNG by resvg, with our own font and none of the system's, which differ between machines. */

import { fileURLToPath } from "node:url";
import { lineChart } from "./line-chart.ts";
import type { ChartSpec } from "./spec.ts";

/** Rasterises a chart. `scale` is pixels per unit of the SVG, 0.1 to 8; the default suits screens. */
export async function toPng(svg: string, options: { scale?: number } = {}): Promise<Uint8Array> {
  const { scale = 2 } = options;
  if (!(scale >= 0.1 && scale <= 8)) {
    throw new RangeError(`scale must lie between 0.1 and 8, found ${scale}`);
  }
  const { Resvg } = await import("@resvg/resvg-js"); // A native module: loaded when a picture is wanted.
  const renderer = new Resvg(svg, {
    fitTo: { mode: "zoom", value: scale },
    font: {
      loadSystemFonts: false,
      fontFiles: FONTS,
      defaultFontFamily: FAMILY,
      sansSerifFamily: FAMILY,
    },
  });
  return renderer.render().asPng();
}

const FAMILY = "Room Sans";
/** The same relative place from src/charts and from dist/charts. */
const FONTS = ["regular", "bold"].map((weight) =>
  fileURLToPath(new URL(`../../assets/room-sans-${weight}.ttf`, import.meta.url)),
);

/** A chart as the two files that a run keeps of it. */
export async function chartFiles(
  name: string,
  spec: ChartSpec,
): Promise<Record<string, string | Uint8Array>> {
  const svg = lineChart(spec);
  return { [`${name}.svg`]: svg, [`${name}.png`]: await toPng(svg) };
}
