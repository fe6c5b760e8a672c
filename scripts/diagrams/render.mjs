/** From a Mermaid source to an SVG. The same source gives the same bytes. */

import { drawChart } from "./chart.mjs";
import { drawFlowchart } from "./flowchart.mjs";
import { parseDiagram } from "./parse.mjs";

export function renderDiagram(source) {
  const diagram = parseDiagram(source);
  return diagram.kind === "flowchart" ? drawFlowchart(diagram) : drawChart(diagram);
}
