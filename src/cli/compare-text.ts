/** A comparison of several runs as text and as Markdown. */

import { visible, visibleShort } from "../core/visible.ts";
import type { ComparedRun, Comparison } from "../gate/compare.ts";
import { pText } from "../gate/words.ts";
import { wrap } from "./terminal.ts";

type Side = Pick<ComparedRun, "pass_rate" | "mean_reward">;

const signed = (value: number, digits: number) =>
  `${value >= 0 ? "+" : ""}${value.toFixed(digits)}`;
const bare = (p: number) => pText(p).replace(/^p (= )?/, "");

/** A table of 80 columns, with the reasons below it where a run could not be compared. */
export function compareText(found: Comparison): string {
  const { baseline, runs, metric, alpha } = found;
  const figure = ({ pass_rate, mean_reward }: Side) =>
    ((metric === "pass rate" ? pass_rate : mean_reward)?.toFixed(4) ?? "–").padStart(6);
  const line = (run: string, ...rest: string[]) =>
    `${endOf(run, 20).padEnd(20)} ${rest.join(" ")}`.trimEnd();
  const percent = Number((100 * (1 - alpha)).toFixed(2));
  return [
    line(
      "run",
      metric === "pass rate" ? "  rate" : "reward",
      " change",
      `${percent} % interval`.padEnd(16),
      "p (Holm)",
      "changed",
    ),
    line(baseline.run, figure(baseline), "baseline"),
    ...runs.map(({ run, delta, ci, p_holm: p, changed, refused, ...side }) => {
      if (delta === null || ci === null || p === null)
        return line(run, figure(side), `not comparable: ${refused[0]?.code ?? "nothing scored"}`);
      const interval = `${signed(ci.low, 3)} to ${signed(ci.high, 3)}`.padEnd(16);
      const what = visibleShort(changed.join(", ") || "nothing", 17);
      return line(
        run,
        figure(side),
        signed(delta, 4).padStart(7),
        interval,
        bare(p).padStart(8),
        what,
      );
    }),
    "",
    wrap(
      `Differences are paired by example. Each interval holds for itself; p-values are corrected for ${runs.length === 1 ? "1 comparison" : `${runs.length} comparisons`} (Holm).`,
    ),
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

export function compareMarkdown({ baseline, runs, metric }: Comparison): string {
  const figure = ({ pass_rate, mean_reward }: Side) =>
    (metric === "pass rate" ? pass_rate : mean_reward)?.toFixed(4) ?? "–";
  const cell = (text: string) => visible(text).replaceAll("|", "\\|").replaceAll("<", "&lt;");
  return [
    `| run | ${metric} | change | interval | p (Holm) | changed |`,
    "|---|---|---|---|---|---|",
    `| ${cell(baseline.run)} (baseline) | ${figure(baseline)} | | | | |`,
    ...runs.map(({ run, delta, ci, p_holm: p, changed, refused, ...side }) =>
      delta === null || ci === null || p === null
        ? `| ${cell(run)} | ${figure(side)} | not comparable: ${refused[0]?.code ?? "nothing scored"} | | | |`
        : `| ${cell(run)} | ${figure(side)} | ${signed(delta, 4)} | ${signed(ci.low, 4)} to ${signed(ci.high, 4)} | ${bare(p)} | ${changed.join(", ") || "nothing"} |`,
    ),
    "",
  ].join("\n");
}
