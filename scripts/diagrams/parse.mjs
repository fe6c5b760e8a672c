/**
 * Reads the part of Mermaid that the manual's diagrams use: flowcharts with three shapes, labelled
 * solid and dotted arrows and subgraphs that arrows name as a whole, and line charts. Whatever else
 * a source holds is refused, so that nothing is left out of a picture in silence.
 */

const SHAPES = [
  { shape: "stadium", pattern: /^\(\["(.*?)"\]\)/ },
  { shape: "diamond", pattern: /^\{"(.*?)"\}/ },
  { shape: "box", pattern: /^\["(.*?)"\]/ },
];
const ARROW = /^\s*(-->|-\.->)(?:\|([^|]*)\|)?\s*/;

/** @returns {object} `kind` is "flowchart" or "xychart" */
export function parseDiagram(source) {
  const lines = source
    .split("\n")
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== "" && !text.startsWith("%%"));
  const { text: first } = lines.shift() ?? { text: "" };
  const words = { title: "", about: "" };
  const body = lines.filter(({ text }) => {
    const [, key, value] = /^acc(Title|Descr): (.+)$/.exec(text) ?? [];
    if (key === "Title") words.title = value;
    if (key === "Descr") words.about = value;
    return key === undefined;
  });
  if (words.title === "" || words.about === "") throw new Error("accTitle or accDescr is missing");
  if (first === "xychart-beta") return { kind: "xychart", ...words, ...parseChart(body) };
  const [, direction] = /^flowchart (TD|LR)$/.exec(first) ?? [];
  if (direction === undefined) throw new Error(`line 1: not a diagram that is known: ${first}`);
  return { kind: "flowchart", ...words, ...parseGraph(body, direction) };
}

// --- flowcharts -----------------------------------------------------------------------------------

/** A graph has nodes by id, some of them graphs, and edges between them. */
function parseGraph(lines, direction) {
  const stack = [newGraph(direction)];
  for (const { text, number } of lines) {
    const graph = stack.at(-1);
    const [, id, label] = /^subgraph (\w+)\["(.*)"\]$/.exec(text) ?? [];
    if (id !== undefined) {
      const inner = { ...newGraph(direction), shape: "group", label: [label] };
      graph.nodes.set(id, inner);
      stack.push(inner);
    } else if (text === "end") stack.pop();
    else if (text.startsWith("direction ")) graph.direction = text.slice(10);
    else if (!readChain(graph, text)) throw new Error(`line ${number}: cannot read ${text}`);
  }
  if (stack.length !== 1) throw new Error("a subgraph has no end");
  return checked(stack[0]);
}

const newGraph = (direction) => ({ direction, nodes: new Map(), edges: [] });

/** `A["…"] -->|label| B:::class`; false when something is left over. */
function readChain(graph, text) {
  let [from, rest] = readNode(graph, text);
  while (from !== undefined && rest !== "") {
    const arrow = ARROW.exec(rest);
    if (arrow === null) return false;
    const [to, after] = readNode(graph, rest.slice(arrow[0].length));
    if (to === undefined) return false;
    graph.edges.push({ from, to, dotted: arrow[1] !== "-->", label: arrow[2] });
    [from, rest] = [to, after];
  }
  return from !== undefined;
}

function readNode(graph, text) {
  const id = /^\w+/.exec(text)?.[0];
  if (id === undefined) return [undefined, text];
  let rest = text.slice(id.length);
  const node = graph.nodes.get(id) ?? { label: undefined };
  for (const { shape, pattern } of SHAPES) {
    const found = pattern.exec(rest);
    if (found === null) continue;
    Object.assign(node, { shape, label: found[1].split(/<br ?\/?>/) });
    rest = rest.slice(found[0].length);
    break;
  }
  const style = /^:::(\w+)/.exec(rest);
  if (style !== null) node.style = style[1];
  graph.nodes.set(id, node);
  return [id, rest.slice(style?.[0].length ?? 0).trimEnd()];
}

function checked(graph) {
  for (const [id, node] of graph.nodes) {
    if (node.label === undefined) throw new Error(`${id} has an arrow and no label`);
    if (node.shape === "group") checked(node);
  }
  return graph;
}

// --- charts ---------------------------------------------------------------------------------------

function parseChart(lines) {
  const chart = { x: undefined, y: undefined, series: [] };
  for (const { text, number } of lines) {
    const list = /^(x-axis|line) "(.+)" \[(.*)\]$/.exec(text);
    const range = /^y-axis "(.+)" (\S+) --> (\S+)$/.exec(text);
    if (range) chart.y = { label: range[1], low: Number(range[2]), high: Number(range[3]) };
    else if (list?.[1] === "x-axis") chart.x = { label: list[2], names: list[3].split(", ") };
    else if (list) chart.series.push({ label: list[2], values: list[3].split(", ").map(Number) });
    else throw new Error(`line ${number}: cannot read ${text}`);
  }
  const { length } = chart.x?.names ?? [];
  for (const { label, values } of chart.series) {
    if (values.length !== length) throw new Error(`${label}: not as many values as the x axis has`);
  }
  return chart;
}
