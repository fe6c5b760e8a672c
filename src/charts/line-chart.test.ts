import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineChart } from "./line-chart.ts";
import type { ChartSpec, Point, Series } from "./spec.ts";

const points = (ys: (number | null | undefined)[]): Point[] => ys.map((y, x) => ({ x, y }));
const chart = (series: Series[], more: Partial<ChartSpec> = {}): string =>
  lineChart({ title: "t", x: { label: "step" }, y: { label: "reward" }, series, ...more });

const HOSTILE = `</svg><script>alert("1")</script>&amp;'\u0000\ud800\u202e`;

/** Throws where the text is not one well-formed XML element with known entities. */
function readXml(text: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  const token =
    /<(\/?)([a-zA-Z]+)((?: [\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot|#39);[^"<&]*)*")*)(\/?)>|[^<&]+|&(?:amp|lt|gt|quot|#39);/y;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`not XML at ${text.slice(at, at + 60)}`);
    const [, closes, name, , empty] = found;
    if (name === undefined) continue;
    if (closes === "/" && open.pop() !== name) throw new Error(`</${name}> closes nothing`);
    if (closes === "" && empty === "") open.push(name);
    if (closes === "") names.push(name);
    if (open.length === 0 && text.slice(token.lastIndex).trim() !== "")
      throw new Error("two roots");
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)}> stays open`);
  if (/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
    throw new Error("not XML 1.0");
  return names;
}

/** What a reader sees: the text elements, entities undone. */
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) =>
    text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&"),
  );

/** The lines of the data, which alone are inside the inner svg. */
const dataPaths = (svg: string): string[] => {
  const inner = /<svg x=.*?<\/svg>/.exec(svg)?.[0] ?? "";
  return [...inner.matchAll(/<path d="([^"]*)"/g)].map(([, d = ""]) => d);
};

describe("the document", () => {
  test("has a title, a description, axes with units, a legend, and is an image to readers", () => {
    const svg = chart([{ label: "arm 0", points: points([0.1, 0.9]) }], {
      title: "Bandit",
      subtitle: "seed 7",
      y: { label: "KL", unit: "nats" },
    });
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*role="img"/);
    expect(svg).toContain("<title>Bandit</title>");
    expect(svg).toMatch(/<desc>[^<]*arm 0: 2 points, first 0\.1, last 0\.9\./);
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining(["Bandit", "seed 7", "step", "KL (nats)", "arm 0", "0.2"]),
    );
  });

  test("is well formed and holds no element of a label's", () => {
    const svg = lineChart({
      title: HOSTILE,
      subtitle: HOSTILE,
      description: HOSTILE,
      x: { label: HOSTILE, unit: HOSTILE },
      y: { label: HOSTILE, unit: HOSTILE },
      series: [{ label: HOSTILE, points: points([1, 2]) }],
      verticals: [{ x: 0.5, label: HOSTILE }],
    });
    const names = new Set(readXml(svg));
    expect([...names].sort()).toEqual(
      ["desc", "g", "path", "rect", "style", "svg", "text", "title"].sort(),
    );
    expect(textsOf(svg).join()).toContain("</svg><script>");
  });

  test("is well formed, finite and the same twice, whatever the spec holds", () => {
    const value = fc.oneof(fc.double(), fc.double({ min: -2, max: 2 }), fc.constant(null));
    const point = fc.record({ x: fc.double(), y: value, low: value, high: value });
    const series = fc.record({ label: fc.string(), points: fc.array(point, { maxLength: 8 }) });
    const axis = fc.record({
      label: fc.string({ unit: "binary" }),
      scale: fc.constantFrom("linear" as const, "log" as const),
    });
    const spec = fc.record({
      title: fc.string({ unit: "binary", maxLength: 300 }),
      x: axis,
      y: axis,
      series: fc.array(series, { maxLength: 8 }),
      verticals: fc.array(fc.record({ x: fc.double(), label: fc.string() }), { maxLength: 3 }),
      legend: fc.constantFrom("below" as const, "right" as const),
    });
    fc.assert(
      fc.property(spec, (any) => {
        const svg = lineChart(any);
        readXml(svg);
        const attributes = [...svg.matchAll(/ (?:d|x|y|width|height|viewBox)="([^"]*)"/g)].join();
        expect(attributes).not.toMatch(/NaN|Infinity|undefined|\de[+-]?\d/);
        expect(lineChart(structuredClone(any))).toBe(svg);
      }),
      { numRuns: 60 },
    );
  });

  test("obeys a dark reader only in the auto theme", () => {
    const series = [{ label: "a", points: points([1, 2]) }];
    expect(chart(series)).toContain("@media (prefers-color-scheme:dark)");
    expect(chart(series, { theme: "auto" })).toBe(chart(series));
    expect(chart(series, { theme: "light" })).not.toMatch(/<style|var\(/);
    expect(chart(series, { theme: "light" })).toContain('fill="#ffffff"');
    expect(chart(series, { theme: "dark" })).not.toContain('fill="#ffffff"');
  });

  test.each([
    [{ width: 100 }, "width must lie between 320 and 4000"],
    [{ plotHeight: Number.NaN }, "plotHeight must lie between 120 and 4000"],
  ])("refuses sizes that hold no chart", (more, message) => {
    expect(() => chart([], more)).toThrow(message);
  });
});

describe("series", () => {
  test("a missing point is a gap, and a point alone between gaps is a marker", () => {
    const svg = chart([{ label: "a", points: points([1, 2, null, 3, undefined, 4, 5]) }]);
    const [line = ""] = dataPaths(svg);
    expect(line.match(/M/g)).toHaveLength(2);
    expect(line.match(/L/g)).toHaveLength(2);
    const bare = chart([{ label: "a", points: points([1, 2, null, 3, null]), markers: "none" }]);
    expect(bare.match(/<path d="M[^"]*a4 4/g)).toHaveLength(1);
    expect(svg).not.toContain("not drawn");
  });

  test("what was measured and cannot be drawn is reported", () => {
    const svg = chart([{ label: "a", points: points([1, Number.NaN, 2, 30]) }], {
      x: { label: "β", scale: "log" },
      y: { label: "r", range: [0, 10] },
    });
    expect(textsOf(svg)).toContain(
      "2 points are not drawn (not finite, or not above 0 on a log axis). 1 point is outside the axes.",
    );
  });

  test("x may go back", () => {
    const loop = [0, 2, 1, 0].map((x, i) => ({ x, y: i }));
    const xs = dataPaths(chart([{ label: "a", points: loop }]))[0]?.match(/(?<=[ML])[\d.]+/g);
    const [a = 0, b = 0, c = 0, d = 0] = (xs ?? []).map(Number);
    expect(b).toBeGreaterThan(c);
    expect(c).toBeGreaterThan(d);
    expect(a).toBe(d);
  });

  test("a band is drawn below the line, where both ends are known", () => {
    const banded = points([1, 2, 3]).map((point, i) =>
      i === 2 ? point : { ...point, low: i, high: i + 2 },
    );
    const [band = "", line = ""] = dataPaths(chart([{ label: "a", points: banded }]));
    expect(band.match(/[ML]/g)).toHaveLength(4);
    expect(band.endsWith("z")).toBe(true);
    expect(line.match(/[ML]/g)).toHaveLength(3);
  });

  test("differ in more than colour, past the palette too", () => {
    const many = Array.from({ length: 18 }, (_, i) => ({ label: `s${i}`, points: points([i, i]) }));
    const svg = chart(many);
    const inner = /<svg x=.*?<\/svg>/.exec(svg)?.[0] ?? "";
    const looks = [...inner.matchAll(/stroke="(#\w+)".*?(?:stroke-dasharray="([^"]*)")?\/>/g)];
    expect(looks).toHaveLength(18);
    expect(new Set(looks.map(([, colour, dashes]) => `${colour} ${dashes}`)).size).toBe(18);
    expect(new Set(looks.slice(0, 6).map(([, , dashes]) => dashes)).size).toBe(6);
    for (const { label } of many) expect(textsOf(svg)).toContain(label);
  });

  test("without points are listed as such, and a chart without data says so", () => {
    const one = { label: "a", points: points([1, 2]) };
    expect(textsOf(chart([one, { label: "b", points: [] }]))).toContain("b (no data)");
    expect(textsOf(chart([one]))).not.toContain("no data");
    expect(textsOf(chart([]))).toContain("no data");
    expect(textsOf(chart([{ label: "b", points: [] }]))).toContain("no data");
  });

  test("of very many points keep their extremes and stay small", () => {
    const ys = Array.from({ length: 50_000 }, (_, i) => (i === 25_000 ? 9 : Math.sin(i / 50)));
    const svg = chart([{ label: "a", points: points(ys) }], { y: { label: "r", range: [-1, 9] } });
    expect(svg.length).toBeLessThan(60_000);
    const top = Math.min(...(dataPaths(svg)[0]?.match(/(?<= )[\d.]+/g) ?? []).map(Number));
    const frame = Number(/<svg x="[\d.]+" y="([\d.]+)"/.exec(svg)?.[1]);
    expect(top).toBeCloseTo(frame + 1.5, 1);
  });

  test.each([-1, 0.5, Number.NaN])("refuse slot %d", (slot) => {
    expect(() => chart([{ label: "a", points: [], slot }])).toThrow("slot must be a whole number");
  });
});

describe("axes", () => {
  test("a log axis puts decades at equal distances", () => {
    const svg = chart([{ label: "a", points: [0.01, 1, 100].map((x) => ({ x, y: x })) }], {
      x: { label: "β", scale: "log" },
    });
    const at = (label: string) =>
      Number(new RegExp(`<text x="([\\d.]+)"[^>]*>${label}</text>`).exec(svg)?.[1]);
    expect(at("0.1") - at("0.01")).toBeCloseTo(at("100") - at("10"), 1);
    expect(at("1") - at("0.1")).toBeGreaterThan(20);
  });

  test("labels of crowded ticks are left out rather than set over each other", () => {
    const svg = chart([{ label: "a", points: points([0, 1]) }], {
      x: { label: "k", range: [0, 1000], ticks: [1, 2, 4, 8, 16, 500, 1000] },
    });
    expect(textsOf(svg)).toEqual(expect.arrayContaining(["1", "500", "1000"]));
    expect(textsOf(svg)).not.toContain("2");
  });

  test("verticals are named above the plot, in rows where they would touch", () => {
    const svg = chart([{ label: "a", points: points([0, 1]) }], {
      verticals: [
        { x: 0.5, label: "first update" },
        { x: 0.51, label: "second update" },
      ],
    });
    const plotTop = Number(/<svg x="[\d.]+" y="([\d.]+)"/.exec(svg)?.[1]);
    const [a = 0, b = 0] = [...svg.matchAll(/y="([\d.]+)"[^>]*>(?:first|second) update/g)].map(
      ([, y]) => Number(y),
    );
    expect(Math.max(a, b)).toBeLessThan(plotTop);
    expect(Math.abs(a - b)).toBeGreaterThan(10);
    const titleAt = Number(/y="([\d.]+)"[^>]*>t<\/text>/.exec(svg)?.[1]);
    expect(Math.min(a, b)).toBeGreaterThan(titleAt + 16);
  });

  test("the legend is below the plot, or right of it", () => {
    const label = "a series";
    const place = (legend: "below" | "right") => {
      const svg = chart([{ label, points: points([0, 1]) }], { legend });
      const [, x, y] = new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)">${label}`).exec(svg) ?? [];
      const box = /<svg x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/.exec(svg);
      const [left = 0, top = 0, width = 0, height = 0] = (box ?? []).slice(1).map(Number);
      return { x: Number(x), y: Number(y), right: left + width, bottom: top + height };
    };
    const [below, right] = [place("below"), place("right")];
    expect(below.y).toBeGreaterThan(below.bottom);
    expect(right.x).toBeGreaterThan(right.right);
  });
});
