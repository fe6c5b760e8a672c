/** What a sweep shows: reward against drift, in the order of the drift. */

import type { ChartSpec } from "../charts/index.ts";
import type { Json } from "../core/json.ts";

/** Of one value, what the chart needs. */
export interface TradeoffPoint {
  readonly value: Json;
  readonly reward_mean: number;
  readonly proxy_mean: number;
  readonly kl_exact: number;
}

export interface Tradeoff {
  readonly over: string;
  readonly algorithm: string;
  readonly points: readonly TradeoffPoint[];
}

export function tradeoffChart({ over, algorithm, points }: Tradeoff): ChartSpec {
  const sorted = points.toSorted((a, b) => a.kl_exact - b.kl_exact);
  const series = (label: string, measure: "proxy_mean" | "reward_mean") => ({
    label,
    points: sorted.map((point) => ({
      x: point.kl_exact,
      y: point[measure],
      label: String(point.value),
    })),
    markers: "all" as const,
  });
  return {
    title: `Reward against drift, over ${over}`,
    subtitle: `${algorithm}; beside each point its ${over}: ${points.map(({ value }) => String(value)).join(", ")}`,
    x: { label: "exact KL to the start", unit: "nats per token", range: [0, undefined] },
    y: { label: "mean reward", unit: "validation set" },
    series: [series("rewarding scorers", "proxy_mean"), series("validation scorer", "reward_mean")],
  };
}
