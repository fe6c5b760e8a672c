/** A trade-off curve: two measures of runs that differ in one setting, and which runs no other beats. */

import type { ChartSpec, Point } from "../charts/spec.ts";
import { usageError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { TrainingRunRecords } from "../runs/read-training-run.ts";
import type { Tradeoff } from "../runs/sweep-schema.ts";
import { type Measure, measuredOf, measureOf } from "./measures.ts";
import { paretoOptimal } from "./pareto.ts";

/** What is traded, as names of measures. */
export interface MeasurePair {
  readonly y: string;
  readonly x: string;
}

export const USUAL_PAIR: MeasurePair = { y: "reward", x: "kl" };

/** "reward:kl": the objective, then what it costs. */
export function parseMeasurePair(text: string): MeasurePair {
  const [y = "", x = "", ...more] = text.split(":");
  if (more.length > 0 || x === "" || x === y) {
    throw usageError(
      `"${text}" does not name two measures`,
      "Write OBJECTIVE:OTHER, such as reward:kl, reward:length or reward:tokens.",
    );
  }
  return { y: measureOf(y).name, x: measureOf(x).name };
}

export interface TradedRun {
  readonly value: Json;
  /** Its folder's name within that of the sweep. */
  readonly name: string;
  readonly run: TrainingRunRecords;
}

export function tradeoffOf(
  {
    over,
    algorithm,
    runs,
  }: Pick<Tradeoff, "over" | "algorithm"> & {
    readonly runs: readonly TradedRun[];
  },
  measures: MeasurePair,
): Tradeoff {
  const [y, x] = [measureOf(measures.y), measureOf(measures.x)];
  const measured = runs.map(({ value, name, run }) => ({
    ...{ value: value as Tradeoff["points"][number]["value"], run: name },
    ...{ x: measuredOf(run, x.name) ?? null, y: measuredOf(run, y.name) ?? null },
  }));
  return { over, algorithm, x: described(x), y: described(y), points: withOptima(measured, x, y) };
}

/** Without how it is read. */
function described({ name, label, unit, better }: Measure): Measure {
  return { name, label, unit, better };
}

type Bare = Omit<Tradeoff["points"][number], "pareto">;

/** A point without one of the measures is not compared. */
function withOptima(points: readonly Bare[], x: Measure, y: Measure): Tradeoff["points"] {
  const signed = ({ better }: Measure, value: number) => (better === "higher" ? value : -value);
  const whole = points.filter((point) => point.x !== null && point.y !== null);
  const optimal = paretoOptimal(
    whole.map((point) => [signed(x, point.x as number), signed(y, point.y as number)]),
  );
  return points.map((point) => ({ ...point, pareto: optimal[whole.indexOf(point)] ?? null }));
}

/** Pareto-optimal points are joined by a line; the others are markers. */
export function tradeoffChart({ over, algorithm, x, y, points }: Tradeoff): ChartSpec {
  const drawn = (isOptimal: boolean): Point[] =>
    points
      .flatMap(({ value, x, y, pareto }) =>
        x === null || y === null || pareto !== isOptimal ? [] : [{ x, y, label: String(value) }],
      )
      .toSorted((a, b) => a.x - b.x || a.y - b.y);
  const [optimal, rest] = [drawn(true), drawn(false)];
  return {
    title: `${capitalised(y.label)} against ${x.label}`,
    subtitle: `${algorithm}; beside each point its ${over}: ${points.map(({ value }) => String(value)).join(", ")}`,
    x: { label: x.label, unit: x.unit, range: [0, undefined] },
    y: { label: y.label, unit: y.unit },
    series: [
      { label: "Pareto-optimal", points: optimal, markers: "all", line: "solid" },
      ...(rest.length === 0
        ? []
        : [
            {
              label: "another value is at least as good in both",
              points: rest,
              markers: "all" as const,
              line: "none" as const,
            },
          ]),
    ],
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
