/** A chart as the two files that a run keeps of it. */

import { lineChart } from "./line-chart.ts";
import { toPng } from "./png.ts";
import type { ChartSpec } from "./spec.ts";

export async function chartFiles(
  name: string,
  spec: ChartSpec,
): Promise<Record<string, string | Uint8Array>> {
  const svg = lineChart(spec);
  return { [`${name}.svg`]: svg, [`${name}.png`]: await toPng(svg) };
}
