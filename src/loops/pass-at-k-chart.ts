/** pass@k against k, drawn. */

import { chartFiles } from "../charts/index.ts";
import type { PassAtK } from "./selection-tally.ts";

export async function passAtKCharts(
  points: readonly PassAtK[],
): Promise<Record<string, string | Uint8Array>> {
  if (points.length === 0) return {};
  return chartFiles("pass_at_k", {
    title: "pass@k against k",
    subtitle:
      "The chance that at least one of k samples passes. The policy is the same at every k.",
    x: { label: "k", unit: "samples", integer: true },
    y: { label: "pass@k", unit: "share of examples", range: [0, 1] },
    series: [
      { label: "pass@k, unbiased", points: points.map(({ k, value }) => ({ x: k, y: value })) },
    ],
  });
}
