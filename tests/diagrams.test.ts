/** The manual's ten diagrams: drawn from their sources, from real runs, and readable everywhere. */

import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { parseDiagram } from "../scripts/diagrams/parse.mjs";
// @ts-expect-error plain JavaScript
import { renderedDiagrams } from "../scripts/render-diagrams.mjs";
import { Workspace } from "./cli.ts";

const FOLDER = new URL("../docs/manual/diagrams/", import.meta.url);
const files = readdirSync(FOLDER);
const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
const NAMES = files.filter((name) => name.endsWith(".mmd")).map((name) => name.slice(0, -4));

test("there are eleven, each with its source and its picture, and nothing else", () => {
  const numbers = NAMES.map((name) => Number(name.split("-")[0])).sort((a, b) => a - b);
  expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect([...files].sort()).toEqual(NAMES.flatMap((name) => [`${name}.mmd`, `${name}.svg`]).sort());
});

describe("committed", () => {
  let fresh: Record<string, string>;
  beforeAll(async () => {
    fresh = await renderedDiagrams();
  });

  test.each(files)("%s is what the script draws (npm run diagrams)", (name) => {
    expect(read(name)).toBe(fresh[name]);
  });
});

describe.each(NAMES)("%s", (name) => {
  const svg = read(`${name}.svg`);
  const { title, about, ...diagram } = parseDiagram(read(`${name}.mmd`));

  test("says what it is to those who do not see it", () => {
    expect(svg).toMatch(/^<svg [^>]*role="img"/);
    expect(decoded(svg)).toContain(`<title>${title}</title>`);
    expect(decoded(svg)).toContain(`<desc>${about}</desc>`);
  });

  test("asks nothing of the network and runs nothing", () => {
    const rest = svg.replace('xmlns="http://www.w3.org/2000/svg"', "");
    expect(rest).not.toMatch(/https?:|@import|url\(|<script|href=|<image|<foreignObject|\son\w+=/i);
  });

  test("has its labels as text, and a dark dress", () => {
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
      decoded(text ?? ""),
    );
    expect(labelsOf(diagram).filter((label) => !texts.includes(label))).toEqual([]);
    expect(svg).toContain("@media (prefers-color-scheme:dark)");
  });

  test("is small, and not wider than a page of text can show", () => {
    expect(svg.length).toBeLessThan(15_000);
    expect(Number(/width="(\d+)"/.exec(svg)?.[1])).toBeLessThanOrEqual(770);
  });
});

/** Recomputed here from the runs' own tables, not by the script. */
describe("the curves are those of the runs", () => {
  const workspace = new Workspace();
  const table = async (command: string, file: string) => {
    await workspace.run([command, "--quiet", "--outdir", command]);
    const [head = "", ...rows] = workspace.read(command, file).trim().split("\n");
    const keys = head.split(",");
    return rows.map((row) =>
      Object.fromEntries(row.split(",").map((cell, i) => [keys[i] ?? "", cell])),
    );
  };
  const values = (name: string): number[][] =>
    parseDiagram(read(`${name}.mmd`)).series.map((one: { values: number[] }) => one.values);
  const rounded = (cells: readonly (number | string | undefined)[]) =>
    cells.map((cell) => Number(Number(cell).toFixed(3)));

  test("Goodhart", async () => {
    const rows = await table("goodhart-demo", "goodhart.csv");
    const naive = rows.filter((row) => row.verifier === "naive");
    expect(naive.length).toBeGreaterThan(5);
    const [proxy, truth] = values("6-goodhart");
    expect(proxy).toEqual(rounded(naive.map((row) => row.proxy_reward)));
    expect(truth).toEqual(rounded(naive.map((row) => row.true_reward)));
    const { names } = parseDiagram(read("6-goodhart.mmd")).x;
    expect(names).toEqual(naive.map((row) => row.pressure));
  });

  test("KL", async () => {
    const rows = await table("kl-tradeoff-demo", "kl_tradeoff.csv");
    const kl = rows.map((row) => Number(row.kl));
    const [reward, drift] = values("7-kl-tradeoff");
    expect(reward).toEqual(rounded(rows.map((row) => row.expected_reward)));
    expect(drift).toEqual(rounded(kl.map((value) => value / Math.max(...kl))));
    const { names } = parseDiagram(read("7-kl-tradeoff.mmd")).x;
    expect(names).toEqual(rows.map((row) => row.beta));
    expect(read("7-kl-tradeoff.mmd")).toContain(`${Math.max(...kl).toFixed(2)} nats`);
  });
});

test("the debugging tree doubts the expected answer before it blames model or verifier", () => {
  const { nodes, edges }: { nodes: Map<string, { label: string[] }>; edges: Arrow[] } =
    parseDiagram(read("8-debugging.mmd"));
  const labelled = (id: string) => nodes.get(id)?.label.join(" ") ?? "";
  const asked = (id: string): string[] => {
    const above = edges.find(({ to }) => to === id);
    return above ? [...asked(above.from), labelled(above.from)] : [];
  };
  const endings = [...nodes.keys()].filter((id) => edges.every(({ from }) => from !== id));
  expect(endings).toHaveLength(8);
  for (const id of endings.filter((end) => !/^(measurement|data)/.test(labelled(end))))
    expect(asked(id)[2], labelled(id)).toBe("Is the expected answer right and unambiguous?");
  // A text that was not parsed can be the fault of parser, spec or model.
  const unparsed = endings.filter((id) => asked(id).includes("Is the text in spec?")).map(labelled);
  expect(unparsed.map((label) => label.split(":")[0]).sort()).toEqual([
    "model, format",
    "parser bug",
    "spec",
  ]);
});

test("the debugging tree asks for all that must be the same, and keeps the holdout", () => {
  const { nodes, about }: Drawn & { about: string } = parseDiagram(read("8-debugging.mmd"));
  const labels = [...nodes.values()].map(({ label }) => label.join(" "));
  expect(labels).toContain("Same data, prompts, scorer, sampling?");
  expect(about).toContain("data, prompts, scorer and sampling settings are the same");
  expect(labels.find((label) => label.startsWith("reward hack"))).toContain("holdout untouched");
});

test("the objects include the environment, and the metric that can lie", () => {
  const drawn: Drawn = parseDiagram(read("9-objects.mmd"));
  const environment = [...drawn.nodes.values()].find(({ nodes }) => nodes);
  expect(environment?.label).toEqual(["ENVIRONMENT"]);
  expect([...(environment?.nodes.values() ?? [])].map(({ label }) => label[0])).toEqual([
    ...["PROMPTS", "SPEC", "REWARD r"],
  ]);
  expect(labelsOf(drawn)).toContain("it can lie if the spec drifts");
});

test("each loop says what is logged, what changes and what stays", () => {
  const { nodes }: { nodes: Map<string, Drawn & { label: string[] }> } = parseDiagram(
    read("1-three-loops.mmd"),
  );
  const loops = [...nodes.values()].filter((node) => node.nodes);
  expect(loops).toHaveLength(3);
  for (const loop of loops) {
    const text = labelsOf(loop).join(" ");
    for (const word of ["log ", "knob: ", "changes: ", "stays: "]) expect(text).toContain(word);
  }
  expect(labelsOf(loops[2] as Drawn).join(" ")).toContain("KL penalty");
});

describe("a source that would not be drawn as it says is refused", () => {
  const head = "flowchart TD\n  accTitle: t\n  accDescr: d\n";
  test.each([
    ["an unknown arrow", `${head}  A["a"] ==> B["b"]`],
    ["an unknown shape", `${head}  A>"a"]`],
    ["a node without a label", `${head}  A["a"] --> B`],
    ["an open subgraph", `${head}  subgraph S["s"]\n  A["a"]`],
    ["no title", `flowchart TD\n  A["a"]`],
    [
      "too few values",
      'xychart-beta\n  accTitle: t\n  accDescr: d\n  x-axis "x" [1, 2]\n  y-axis "y" 0 --> 1\n  line "l" [1]',
    ],
  ])("%s", (_, source) => {
    expect(() => parseDiagram(source)).toThrow();
  });
});

interface Arrow {
  from: string;
  to: string;
}

interface Drawn {
  kind: string;
  nodes: Map<string, Drawn & { label: string[] }>;
  edges: { label?: string }[];
  x: { label: string; names: string[] };
  y: { label: string };
  series: { label: string }[];
}

function labelsOf(diagram: Drawn): string[] {
  if (diagram.kind === "xychart") {
    const { x, y, series } = diagram;
    return [x.label, ...x.names, y.label, ...series.map(({ label }) => label)];
  }
  const nodes = [...diagram.nodes.values()].flatMap((node) =>
    node.nodes ? [...node.label, ...labelsOf(node)] : node.label,
  );
  return [...nodes, ...diagram.edges.flatMap(({ label }) => label ?? [])];
}

function decoded(text: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return text.replace(/&(#?\w+);/g, (_, name: string) => entities[name] ?? name);
}
