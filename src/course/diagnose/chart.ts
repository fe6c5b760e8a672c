/** The curves of a run: a list for every output, and one SVG with a panel for each. */

import { type ChartSpec, lineChart } from "../../charts/index.ts";
import type { CurveRun } from "./case.ts";

export interface ShownCurve {
  readonly name: string;
  readonly unit: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** The upper end of the axis where it is fixed. */
  readonly most?: number;
}

/** In the order in which one reads them. */
export function curvesOf({ steps, curves, validation }: CurveRun): ShownCurve[] {
  const trained = (name: string, unit: string, values: readonly number[] | undefined) =>
    values === undefined ? [] : [{ name, unit, steps, values }];
  return [
    { name: "reward", unit: "mean of a batch", steps, values: curves.reward, most: 1 },
    {
      ...{ name: "validation", unit: "pass rate by the scorer of the task", most: 1 },
      ...{ steps: validation.steps, values: validation.pass_rate },
    },
    ...trained("KL", "nats per token, to the initial policy", curves.kl),
    ...trained("entropy", "nats per token", curves.entropy),
    ...trained("length", "tokens per completion", curves.length),
    ...trained("value loss", "of the value head", curves.value_loss),
    ...trained("clip fraction", "share of tokens", curves.clip_fraction),
  ];
}

const PLOT_HEIGHT = 150;

/** Panels below each other, because the curves have no common axis. */
export function curvesSvg(title: string, run: CurveRun): string {
  const panels = curvesOf(run).map((curve) => lineChart(specOf(curve)));
  const sizes = panels.map((svg) => {
    const [, width, height] = /^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
    return { width: Number(width), height: Number(height) };
  });
  let top = 0;
  const placed = panels.map((panel, i) => {
    const inner = panel.trimEnd().replace("<svg ", `<svg y="${top}" `);
    top += sizes[i]?.height ?? 0;
    return inner;
  });
  const width = Math.max(...sizes.map((size) => size.width));
  const size = `width="${width}" height="${top}" viewBox="0 0 ${width} ${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><title>${title}</title>${placed.join("")}</svg>\n`;
}

function specOf({ name, unit, steps, values, most }: ShownCurve): ChartSpec {
  return {
    title: name,
    x: { label: "step", integer: true },
    y: { label: unit, range: [0, most] },
    series: [{ label: name, points: steps.map((x, i) => ({ x, y: values[i] ?? null })) }],
    plotHeight: PLOT_HEIGHT,
  };
}
