// The chart of a game: the judge's score and the labels' reward on the same dev tasks, for the naive
// judge and for the mended one.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { lineChart } from "lockedroom/charts";

/** Drawn from the figures of results.json alone. */
export function hackChart({ title, dev_tasks, naive, mended }) {
  const lines = (name, { validations }, slot) => [
    line(`${name}: score`, validations, ({ score }) => score, { slot, line: "solid" }),
    line(`${name}: labels`, validations, ({ reward }) => reward, { slot, line: "dashed" }),
  ];
  return lineChart({
    title,
    subtitle: `Judge's score, and reward by labels, of ${dev_tasks} dev tasks.`,
    x: { label: "update", integer: true },
    y: { label: "mean", range: [0, 1] },
    series: [...lines("naive judge", naive, 0), ...lines("mended judge", mended, 1)],
    verticals: marked(naive.alarms).map(({ alarm, step }) => ({
      ...{ x: step, label: `${alarm}, step ${step}`, side: "right" },
    })),
  });
}

/** The alarm that stops a run, or the first one where none does. */
function marked(alarms) {
  const stops = alarms.filter(({ alarm }) => alarm === "reward_hacking");
  return stops.length > 0 ? stops : alarms.slice(0, 1);
}

function line(label, validations, value, look) {
  const points = validations.map((one) => ({ x: one.step, y: value(one) }));
  return { label, points, ...look };
}

export function publishHackChart(url, figures) {
  const folder = path.dirname(fileURLToPath(url));
  writeFileSync(path.join(folder, `${figures.game}.svg`), hackChart(figures));
}
