/** From a Mermaid source to an SVG. The same source gives the same bytes. */

import { lineChart } from "../../dist/charts/index.js";
import { drawFlowchart } from "./flowchart.mjs";
import { parseDiagram } from "./parse.mjs";

export function renderDiagram(source) {
  const diagram = parseDiagram(source);
  return diagram.kind === "flowchart" ? drawFlowchart(diagram) : drawChart(diagram);
}

/** Values are written beside their points, where there is room. */
function drawChart({ title, about, x, y, series }) {
  return lineChart({
    title,
    description: about,
    x,
    y: { label: y.label, range: [y.low, y.high] },
    series: series.map(({ label, values }) => ({
      label,
      points: values.map((value, at) => ({ x: at, y: value, label: value.toFixed(3) })),
    })),
  });
}
