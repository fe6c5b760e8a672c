// The chart of a recipe: validation during training, with players that do not learn as levels.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { lineChart } from "lockedroom/charts";

/** Drawn from the figures of results.json alone. */
export function learningChart({ chart: { title, subtitle, label, levels = {} }, validations }) {
  const last = validations.at(-1).step;
  return lineChart({
    ...{ title, subtitle },
    x: { label: "update", integer: true },
    y: { label, range: [0, 1] },
    series: [
      {
        label: "policy in training",
        points: validations.map(({ step, share }) => ({ x: step, y: share })),
        line: "solid",
      },
      ...Object.entries(levels).map(([name, share]) => ({
        label: name,
        points: [0, last].map((x) => ({ x, y: share })),
        markers: "none",
      })),
    ],
  });
}

/** Writes learning.svg beside the recipe. */
export function publishChart(url, figures) {
  const file = path.join(path.dirname(fileURLToPath(url)), "learning.svg");
  writeFileSync(file, learningChart(figures));
}
