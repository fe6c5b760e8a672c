/** The weeks as charts: one panel per unit, and sparklines for the terminal. */

import path from "node:path";
import { type ChartSpec, lineChart, type Series, toPng } from "../../charts/index.ts";
import { writeAtomically } from "../workspace-files.ts";
import { MAX_SKILL, SKILLS } from "./skills.ts";
import {
  HALLUCINATION_AXIS,
  refuseLinkedFolder,
  SCOREBOARD,
  type Week,
  WRONG_ANSWERS,
} from "./week.ts";

const TRENDS = [`${SCOREBOARD}/trends.svg`, `${SCOREBOARD}/trends.png`] as const;

const PLOT_HEIGHT = 170;

/** Two measures, so two lines. */
const PROXIES = [
  ["hallucination (axis)", HALLUCINATION_AXIS],
  ["hallucination (wrong answers)", WRONG_ANSWERS],
] as const;

/** Draws the weeks and writes the two files; returns their paths. */
export async function writeTrends(dir: string, weeks: readonly Week[]): Promise<readonly string[]> {
  refuseLinkedFolder(dir);
  const svg = trendsSvg(weeks);
  const [svgFile, pngFile] = TRENDS.map((file) => path.join(dir, file)) as [string, string];
  await writeAtomically(svgFile, svg, { replace: true });
  await writeAtomically(pngFile, await toPng(svg), { replace: true });
  return TRENDS;
}

/** Panels below each other, because shares, characters and nats have no common axis. */
function trendsSvg(weeks: readonly Week[]): string {
  const panels = specs(weeks).map(lineChart);
  const sizes = panels.map(sizeOf);
  const width = Math.max(...sizes.map((size) => size.width));
  let top = 0;
  const placed = panels.map((panel, i) => {
    const inner = panel.trimEnd().replace("<svg ", `<svg y="${top}" `);
    top += sizes[i]?.height ?? 0;
    return inner;
  });
  const title = `<title>Scoreboard, ${weeks.length} ${weeks.length === 1 ? "week" : "weeks"}</title>`;
  const size = `width="${width}" height="${top}" viewBox="0 0 ${width} ${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${title}${placed.join("")}</svg>\n`;
}

function sizeOf(svg: string): { width: number; height: number } {
  const [, width, height] = /^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
  return { width: Number(width), height: Number(height) };
}

function specs(weeks: readonly Week[]): ChartSpec[] {
  const series = (label: string, of: (week: Week) => number | null | undefined): Series => ({
    label,
    points: everyWeek(weeks).map(({ x, week }) => ({ x, y: (week && of(week)) ?? null })),
    markers: "all",
  });
  /** One line for each set of conditions, latest first: other data or another scorer is no trend. */
  const lines = (label: string, of: (week: Week) => number | null | undefined): Series[] =>
    [...new Set(weeks.flatMap(({ run }) => (run ? [run.conditions_sha256] : [])).toReversed())]
      .map((conditions, i) =>
        series(i === 0 ? label : `${label}, earlier conditions ${i}`, (week) =>
          week.run?.conditions_sha256 === conditions ? of(week) : null,
        ),
      )
      .filter(({ points }) => points.some(({ y }) => y !== null));
  const x = { label: "week", integer: true };
  const shares: ChartSpec = {
    title: "Success, drift and hallucination by week",
    subtitle: "From the run of each week; a gap is a week without a measurement.",
    x,
    y: { label: "share of rows" },
    series: [
      ...lines("success", ({ metrics }) => metrics.success),
      ...lines("format drift", ({ metrics }) => metrics.format_drift),
      ...lines("safety drift", ({ metrics }) => metrics.safety_drift),
      ...lines("refusal drift", ({ metrics }) => metrics.refusal_drift),
      ...PROXIES.flatMap(([label, from]) =>
        lines(label, ({ metrics: { hallucination_proxy: proxy } }) =>
          proxy?.from === from ? proxy.value : null,
        ),
      ),
    ],
  };
  const length: ChartSpec = {
    title: "Output length",
    x,
    y: { label: "mean length", unit: "characters", range: [0, undefined] },
    series: lines("mean length", ({ metrics }) => metrics.mean_length),
  };
  const kl: ChartSpec = {
    title: "Drift from the reference policy",
    x,
    y: { label: "KL", unit: "nats" },
    series: [series("KL", ({ metrics }) => metrics.kl?.value)],
  };
  const skills: ChartSpec = {
    title: "Skills, each with a linked artifact",
    x,
    y: { label: "score", range: [0, MAX_SKILL], ticks: [0, 1, 2, 3, 4, 5] },
    series: SKILLS.map((name) =>
      series(name.replace("_", " "), (week) => week.skills[name]?.score),
    ),
  };
  return [shares, length, kl, skills].map((spec) => ({ ...spec, plotHeight: PLOT_HEIGHT }));
}

/** From the first to the last week, with gaps for the weeks that were not added. */
export function everyWeek(weeks: readonly Week[]): { x: number; week: Week | undefined }[] {
  const [first, last] = [weeks[0]?.week ?? 1, weeks.at(-1)?.week ?? 0];
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const x = first + i;
    return { x, week: weeks.find((one) => one.week === x) };
  });
}

const BLOCKS = "▁▂▃▄▅▆▇█";

/** One block per value between the least and the most; a dot where nothing was measured. */
export function sparkline(values: readonly (number | null)[]): string {
  const measured = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...measured), Math.max(...measured)];
  return values
    .map((value) => {
      if (value === null) return "·";
      const share = most === least ? 0.5 : (value - least) / (most - least);
      return BLOCKS[Math.round(share * (BLOCKS.length - 1))];
    })
    .join("");
}
