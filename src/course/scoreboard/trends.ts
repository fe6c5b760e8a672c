/** The weeks as curves: a picture with one panel per unit, and sparklines for the terminal. */

import path from "node:path";
import { type ChartSpec, lineChart, type Series, toPng } from "../../charts/index.ts";
import { writeWhole } from "../workspace-files.ts";
import { MOST_SKILL, SKILLS } from "./skills.ts";
import { refuseLinkedFolder, SCOREBOARD, type Week } from "./week.ts";

const TRENDS = [`${SCOREBOARD}/trends.svg`, `${SCOREBOARD}/trends.png`] as const;

const PLOT_HEIGHT = 170;

/** Draws the weeks and writes the two files; gives their paths. */
export async function writeTrends(dir: string, weeks: readonly Week[]): Promise<readonly string[]> {
  refuseLinkedFolder(dir);
  const svg = trendsSvg(weeks);
  const [svgFile, pngFile] = TRENDS.map((file) => path.join(dir, file)) as [string, string];
  await writeWhole(svgFile, svg, { replace: true });
  await writeWhole(pngFile, await toPng(svg), { replace: true });
  return TRENDS;
}

/** Panels under each other, because shares, characters and nats have no common axis. */
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
  /** One line for each room, the latest first: a change of data or scorer is no trend. */
  const rooms = (label: string, of: (week: Week) => number | null | undefined): Series[] =>
    [...new Set(weeks.flatMap(({ run }) => (run ? [run.room_sha256] : [])).toReversed())]
      .map((room, i) =>
        series(i === 0 ? label : `${label}, earlier room ${i}`, (week) =>
          week.run?.room_sha256 === room ? of(week) : null,
        ),
      )
      .filter(({ points }) => points.some(({ y }) => y !== null));
  const x = { label: "week", integer: true };
  const shares: ChartSpec = {
    title: "Success, drift and hallucination, week by week",
    subtitle: "From the run that each week names; a gap is a week without a measurement.",
    x,
    y: { label: "share of rows" },
    series: [
      ...rooms("success", ({ metrics }) => metrics.success),
      ...rooms("format drift", ({ metrics }) => metrics.format_drift),
      ...rooms("hallucination proxy", ({ metrics }) => metrics.hallucination_proxy),
    ],
  };
  const length: ChartSpec = {
    title: "Output length",
    x,
    y: { label: "mean length", unit: "characters", range: [0, undefined] },
    series: rooms("mean length", ({ metrics }) => metrics.mean_length),
  };
  const kl: ChartSpec = {
    title: "Drift from the reference policy",
    x,
    y: { label: "KL", unit: "nats" },
    series: [series("KL", ({ metrics }) => metrics.kl?.value)],
  };
  const skills: ChartSpec = {
    title: "Skills, each with a link to what shows it",
    x,
    y: { label: "score", range: [0, MOST_SKILL], ticks: [0, 1, 2, 3, 4, 5] },
    series: SKILLS.map((name) =>
      series(name.replace("_", " "), (week) => week.skills[name]?.score),
    ),
  };
  return [shares, length, kl, skills].map((spec) => ({ ...spec, plotHeight: PLOT_HEIGHT }));
}

/** From the first to the last, with those that nobody added: a line must not run across them. */
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
