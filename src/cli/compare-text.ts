/** A comparison of several runs as text and as Markdown. */

import { visible } from "../core/visible.ts";
import { SHOWN_IN_TABLES } from "../gate/changes.ts";
import type { ComparedRun, Comparison } from "../gate/compare.ts";
import { ON_VALIDATION_DATA } from "../gate/history.ts";
import { markdownCell as cell, intervalName, pCell, signed } from "../gate/words.ts";
import { counted, endOf, wrap } from "./terminal.ts";

type Side = Pick<ComparedRun, "pass_rate" | "mean_reward">;

/** What a change is called that is a warning about the figures. */
const SEEN = SHOWN_IN_TABLES.get(ON_VALIDATION_DATA) as string;
const SEEN_NOTE =
  "One of the two policies was validated on these examples while it was trained, so its figure may be too high. Compare on held-out examples.";

const NAME_WIDTH = 36;

/** A table of 80 columns. What changed has a line of its own, because it is never cut. */
export function compareText(found: Comparison): string {
  const { baseline, runs, metric, alpha } = found;
  const figure = (side: Side) => figureOf(metric, side).padStart(6);
  const line = (run: string, ...rest: string[]) =>
    `${endOf(run, NAME_WIDTH).padEnd(NAME_WIDTH)} ${rest.join(" ")}`.trimEnd();
  return [
    line(
      "run",
      metric === "pass rate" ? "  rate" : "reward",
      " change",
      intervalName(1 - alpha).padEnd(16),
      "p (Holm)",
    ),
    line(baseline.run, figure(baseline), "baseline"),
    ...runs.map(({ run, delta, ci, p_holm: p, changed, refused, ...side }) => {
      if (delta === null || ci === null || p === null)
        return line(run, figure(side), notCompared(refused));
      const row = line(
        run,
        figure(side),
        signed(delta).padStart(7),
        `${signed(ci.low, 3)} to ${signed(ci.high, 3)}`.padEnd(16),
        pCell(p).padStart(8),
      );
      return `${row}\n${wrap(`changed: ${shownChanges(changed)}`, "    ")}`;
    }),
    "",
    ...footer(found, "*").map((text) => wrap(text)),
    ...runs.flatMap(({ run, refused }) =>
      refused.map(({ code, message }) => wrap(`${visible(run)}: ${code}: ${message}`)),
    ),
  ].join("\n");
}

/** "policy, prompt"; a star refers to the note below the table. */
function shownChanges(changed: readonly string[]): string {
  const others = changed.filter((change) => change !== SEEN).join(", ") || "nothing";
  return changed.includes(SEEN) ? `${others} *` : others;
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
    footer(found, `${SEEN}:`).join("\n\n"),
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
function footer({ comparisons, runs }: Comparison, mark: string): string[] {
  if (comparisons === 0) return ["No run could be compared."];
  const seen = runs.some(({ delta, changed }) => delta !== null && changed.includes(SEEN));
  return [
    ...(seen ? [`${mark} ${SEEN_NOTE}`] : []),
    `Differences are paired by example. Intervals are not adjusted for multiple comparisons; p-values are (Holm, ${counted(comparisons, "comparison")}).`,
  ];
}
