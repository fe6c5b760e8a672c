/** A comparison of several runs as text and as Markdown. */

import { visible, visibleShort } from "../core/visible.ts";
import type { ComparedRun, Comparison } from "../gate/compare.ts";
import { markdownCell as cell, intervalName, pCell, signed } from "../gate/words.ts";
import { counted, wrap } from "./terminal.ts";

type Side = Pick<ComparedRun, "pass_rate" | "mean_reward">;

/** A table of 80 columns, with the reasons below it where a run could not be compared. */
export function compareText(found: Comparison): string {
  const { baseline, runs, metric, alpha } = found;
  const figure = (side: Side) => figureOf(metric, side).padStart(6);
  const line = (run: string, ...rest: string[]) =>
    `${endOf(run, 20).padEnd(20)} ${rest.join(" ")}`.trimEnd();
  return [
    line(
      "run",
      metric === "pass rate" ? "  rate" : "reward",
      " change",
      intervalName(1 - alpha).padEnd(16),
      "p (Holm)",
      "changed",
    ),
    line(baseline.run, figure(baseline), "baseline"),
    ...runs.map(({ run, delta, ci, p_holm: p, changed, refused, ...side }) => {
      if (delta === null || ci === null || p === null)
        return line(run, figure(side), notCompared(refused));
      return line(
        run,
        figure(side),
        signed(delta).padStart(7),
        `${signed(ci.low, 3)} to ${signed(ci.high, 3)}`.padEnd(16),
        pCell(p).padStart(8),
        visibleShort(changed.join(", ") || "nothing", 17),
      );
    }),
    "",
    wrap(footer(found)),
    ...runs.flatMap(({ run, refused }) =>
      refused.map(({ code, message }) => wrap(`${visible(run)}: ${code}: ${message}`)),
    ),
  ].join("\n");
}

/** Folders differ at their ends. */
function endOf(text: string, width: number): string {
  const shown = visible(text);
  return shown.length <= width ? shown : `…${shown.slice(1 - width)}`;
}

export function compareMarkdown(found: Comparison): string {
  const { baseline, runs, metric, alpha } = found;
  return [
    `| run | ${metric} | change | ${intervalName(1 - alpha)} | p (Holm) | changed |`,
    "|---|---|---|---|---|---|",
    `| ${cell(baseline.run)} (baseline) | ${figureOf(metric, baseline)} | | | | |`,
    ...runs.map(({ run, delta, ci, p_holm: p, changed, refused, ...side }) =>
      delta === null || ci === null || p === null
        ? `| ${cell(run)} | ${figureOf(metric, side)} | ${notCompared(refused)} | | | |`
        : `| ${cell(run)} | ${figureOf(metric, side)} | ${signed(delta)} | ${signed(ci.low)} to ${signed(ci.high)} | ${pCell(p)} | ${cell(changed.join(", ") || "nothing")} |`,
    ),
    "",
    footer(found),
    "",
    ...runs.flatMap(({ run, refused }) =>
      refused.map(({ code, message }) => `- ${cell(run)}: \`${code}\`: ${cell(message)}`),
    ),
  ].join("\n");
}

function figureOf(metric: Comparison["metric"], { pass_rate, mean_reward }: Side): string {
  return (metric === "pass rate" ? pass_rate : mean_reward)?.toFixed(4) ?? "–";
}

function notCompared(refused: ComparedRun["refused"]): string {
  return `not comparable: ${refused[0]?.code ?? "nothing scored"}`;
}

/** Runs that were refused have no p-value, so they do not count. */
function footer({ comparisons }: Comparison): string {
  if (comparisons === 0) return "No run could be compared.";
  return `Differences are paired by example. Intervals are not adjusted for multiple comparisons; p-values are (Holm, ${counted(comparisons, "comparison")}).`;
}
