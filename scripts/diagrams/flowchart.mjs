/** Lays a flowchart out, each subgraph by itself as one box of the graph around it, and draws it. */

import { Graph, layout } from "@dagrejs/dagre";
import { element, frame, paint, px, textWidth, words } from "./svg.mjs";

const LABEL = { size: 14, leading: 19 };
const HEADING = { size: 14, leading: 19, bold: true, role: "muted" };
const ARROW = { size: 12.5, leading: 16, role: "muted" };
const PAD = { x: 12, y: 9, group: 14, heading: 30, page: 10 };
const HEAD = 8;

export function drawFlowchart(diagram) {
  const placed = place(diagram);
  const content = draw(placed, PAD.page, PAD.page);
  return frame(diagram, placed.width + 2 * PAD.page, placed.height + 2 * PAD.page, ...content);
}

// --- layout ---------------------------------------------------------------------------------------

/** Every node gets its middle and size, every edge its points, from the graph's own corner. */
function place({ direction, nodes, edges }) {
  const graph = new Graph({ multigraph: true });
  const rankdir = direction === "LR" ? "LR" : "TB";
  graph.setGraph({ rankdir, nodesep: 22, ranksep: 26, edgesep: 14 });
  for (const [id, node] of nodes) graph.setNode(id, { ...sizeOf(node) });
  const back = backEdges(nodes, edges);
  const ends = (edge) => (back.has(edge) ? [edge.to, edge.from] : [edge.from, edge.to]);
  edges.forEach((edge, index) => {
    const size = edge.label === undefined ? {} : textSize([edge.label], ARROW, 6, 3);
    graph.setEdge(...ends(edge), { labelpos: "c", ...size }, String(index));
  });
  layout(graph);
  keepOrder(graph, nodes, rankdir);
  const boxes = new Map([...nodes].map(([id, node]) => [id, { ...node, ...graph.node(id) }]));
  const routes = edges.map((edge, index) => {
    const { points, x, y, width } = graph.edge(...ends(edge), String(index));
    const along = back.has(edge) ? points.toReversed() : points;
    const clipped = clip(along, boxes.get(edge.from), boxes.get(edge.to));
    return { ...edge, points: clipped, at: edge.label === undefined ? undefined : { x, y, width } };
  });
  const { width, height } = graph.graph();
  return { boxes, routes, width, height };
}

/** The edges that close a circle when nodes are visited as they were written. */
function backEdges(nodes, edges) {
  const back = new Set();
  const state = new Map();
  const visit = (id) => {
    state.set(id, "open");
    for (const edge of edges.filter(({ from }) => from === id)) {
      if (state.get(edge.to) === "open") back.add(edge);
      else if (!state.has(edge.to)) visit(edge.to);
    }
    state.set(id, "done");
  };
  for (const id of nodes.keys()) if (!state.has(id)) visit(id);
  return back;
}

/** The layout may as well come out mirrored; what was written first stands first. */
function keepOrder(graph, nodes, rankdir) {
  const [along, across, size] = rankdir === "TB" ? ["y", "x", "width"] : ["x", "y", "height"];
  const ids = [...nodes.keys()];
  const steps = ids.flatMap((id, i) =>
    ids
      .slice(i + 1)
      .filter((other) => Math.abs(graph.node(id)[along] - graph.node(other)[along]) < 1)
      .map((other) => Math.sign(graph.node(other)[across] - graph.node(id)[across])),
  );
  if (steps.reduce((sum, step) => sum + step, 0) >= 0) return;
  const whole = graph.graph()[size];
  const mirror = (point) => {
    point[across] = whole - point[across];
  };
  for (const id of graph.nodes()) mirror(graph.node(id));
  for (const edge of graph.edges()) {
    const label = graph.edge(edge);
    if (label[across] !== undefined) mirror(label);
    label.points.forEach(mirror);
  }
}

function sizeOf(node) {
  if (node.shape === "group") {
    const inner = place(node);
    const heading = textSize(node.label, HEADING, PAD.group, 0).width;
    const width = Math.max(inner.width + 2 * PAD.group, heading);
    return { inner, width, height: inner.height + PAD.heading + PAD.group };
  }
  const { width, height } = textSize(node.label, LABEL, PAD.x, PAD.y);
  if (node.shape === "stadium") return { width: width + 8, height };
  return node.shape === "diamond"
    ? { width: width * 1.3, height: height * 1.75 }
    : { width, height };
}

function textSize(lines, type, padX, padY) {
  const style = { size: type.size, weight: type.bold ? "bold" : "regular" };
  const widest = Math.max(...lines.map((line) => textWidth(line, style)));
  return { width: widest + 2 * padX, height: lines.length * type.leading + 2 * padY };
}

/** The layout ends edges at rectangles; a diamond's sides lie further in. */
function clip(points, from, to) {
  const ends = [...points];
  if (from.shape === "diamond") ends[0] = onDiamond(from, points[1]);
  if (to.shape === "diamond") ends[ends.length - 1] = onDiamond(to, points.at(-2));
  return ends;
}

function onDiamond({ x, y, width, height }, towards) {
  const [dx, dy] = [towards.x - x, towards.y - y];
  const scale = 0.5 / (Math.abs(dx) / width + Math.abs(dy) / height);
  return { x: x + dx * scale, y: y + dy * scale };
}

// --- drawing --------------------------------------------------------------------------------------

/** Boxes, then arrows over them, then the arrows' labels. */
function draw({ boxes, routes }, left, top) {
  return [
    element(
      "g",
      { transform: `translate(${px(left)} ${px(top)})` },
      ...[
        ...[...boxes.values()].map(drawBox),
        ...routes.map(drawArrow),
        ...routes.filter(({ at }) => at).map(drawArrowLabel),
      ],
    ),
  ];
}

const STYLES = {
  plain: { stroke: "muted", fill: "grid", opacity: 0.45 },
  still: { stroke: "muted", fill: "paper", dashes: "4 3" },
  moves: { stroke: "c0", fill: "c0", opacity: 0.14 },
  warn: { stroke: "c1", fill: "c1", opacity: 0.13 },
};

function drawBox(box) {
  if (box.shape === "group") return drawGroup(box);
  const look = STYLES[box.style ?? "plain"];
  if (look === undefined) throw new Error(`no such style: ${box.style}`);
  return drawShape(box, look) + words(box.label, box.x, box.y, LABEL);
}

function drawShape({ shape, x, y, width, height }, { stroke, fill, opacity, dashes }) {
  const attributes = {
    ...paint({ fill, stroke }),
    "fill-opacity": opacity,
    "stroke-width": 1.3,
    "stroke-dasharray": dashes,
  };
  const [w, h] = [width / 2, height / 2];
  if (shape !== "diamond") {
    const rx = shape === "stadium" ? Math.min(h, 22) : 5;
    return element("rect", { x: x - w, y: y - h, width, height, rx, ...attributes });
  }
  const d = `M${px(x)} ${px(y - h)}L${px(x + w)} ${px(y)}L${px(x)} ${px(y + h)}L${px(x - w)} ${px(y)}z`;
  return element("path", { d, "stroke-linejoin": "round", ...attributes });
}

function drawGroup({ x, y, width, height, label, inner }) {
  const [left, top] = [x - width / 2, y - height / 2];
  const look = { ...paint({ fill: "paper", stroke: "grid" }), "stroke-width": 1.5 };
  return [
    element("rect", { x: left, y: top, width, height, rx: 8, ...look }),
    words(label, x, top + PAD.heading / 2 + 1, HEADING),
    ...draw(inner, left + (width - inner.width) / 2, top + PAD.heading),
  ].join("");
}

function drawArrow({ points, dotted }) {
  const [before, tip] = [points.at(-2), points.at(-1)];
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [ux, uy] = [(tip.x - before.x) / length, (tip.y - before.y) / length];
  const neck = { x: tip.x - ux * HEAD, y: tip.y - uy * HEAD };
  const side = (s) => `${px(neck.x - uy * s)} ${px(neck.y + ux * s)}`;
  const line = {
    d: spline([...points.slice(0, -1), neck]),
    ...paint({ stroke: "muted" }),
    "stroke-width": 1.3,
    "stroke-dasharray": dotted ? "3 4" : undefined,
  };
  const head = `M${px(tip.x)} ${px(tip.y)}L${side(4)}L${side(-4)}z`;
  return element("path", line) + element("path", { d: head, ...paint({ fill: "muted" }) });
}

/** A uniform cubic B-spline that begins and ends in its outer points. */
function spline(points) {
  const at = (i) => points[Math.max(0, Math.min(points.length - 1, i))];
  const mix = (a, b, share) => ({ x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share });
  const joint = (i) => mix(mix(at(i - 1), at(i), 2 / 3), mix(at(i), at(i + 1), 1 / 3), 1 / 2);
  const show = ({ x, y }) => `${px(x)} ${px(y)}`;
  let d = `M${show(at(0))}L${show(joint(0))}`;
  for (let i = 0; i < points.length - 1; i++) {
    const controls = [mix(at(i), at(i + 1), 1 / 3), mix(at(i), at(i + 1), 2 / 3), joint(i + 1)];
    d += `C${controls.map(show).join(" ")}`;
  }
  return `${d}L${show(points.at(-1))}`;
}

function drawArrowLabel({ label, at: { x, y, width } }) {
  const box = { x: x - width / 2 + 2, y: y - 9, width: width - 4, height: 18, rx: 3 };
  return element("rect", { ...box, ...paint({ fill: "paper" }) }) + words([label], x, y, ARROW);
}
