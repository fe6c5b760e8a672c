import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOTE, textWidth } from "./_text.ts";
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

  test("labels beside near lines end before one and begin after the other, on one row", () => {
    const svg = chart([{ label: "", points: points([0, 1]) }], {
      verticals: [
        { x: 0.5, label: "margin", side: "left" },
        { x: 0.52, label: "no change", side: "right" },
      ],
    });
    const place = (label: string) => {
      const [, x, y] = new RegExp(`<text x="([^"]+)" y="([^"]+)"[^>]*>${label}<`).exec(svg) ?? [];
      return { middle: Number(x), y, half: textWidth(label, NOTE) / 2 };
    };
    const [, first, second] =
      /d="M([\d.]+) [^M"]*M([\d.]+) [^M"]*"[^>]*stroke-dasharray/.exec(svg) ?? [];
    const [margin, none] = [place("margin"), place("no change")];
    expect(margin.y).toBe(none.y);
    expect(margin.middle + margin.half).toBeLessThan(Number(first));
    expect(none.middle - none.half).toBeGreaterThan(Number(second));
  });

  test("is well formed and holds no element of a label's", () => {
    const svg = lineChart({
      title: HOSTILE,
      subtitle: HOSTILE,
      description: HOSTILE,
      x: { label: HOSTILE, unit: HOSTILE },
      y: { label: HOSTILE, unit: HOSTILE },
      series: [{ label: HOSTILE, points: [{ x: 0, y: 1, label: HOSTILE }, ...points([1, 2])] }],
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
    const label = fc.option(fc.string({ unit: "binary" }), { nil: undefined });
    const point = fc.record({ x: fc.double(), y: value, low: value, high: value, label });
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

describe("labels of points", () => {
  interface Box {
    readonly text: string;
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  }
  const isApart = (a: Box, b: Box) =>
    a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

  /** The labels, from the group after the data, with the room that their letters take. */
  function labelsOf(svg: string): Box[] {
    const labels = /<g [^>]*paint-order[^>]*>.*?<\/g>/.exec(svg)?.[0] ?? "";
    const found = labels.matchAll(
      /<text x="([\d.]+)" y="([\d.]+)"(?: text-anchor="(\w+)")?>([^<]*)</g,
    );
    return [...found].map(([, x = "", y = "", anchor, text = ""]) => {
      const wide = textWidth(text, NOTE);
      const left = Number(x) - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
      const top = Number(y) - NOTE.size * 0.73;
      return { text, left, right: left + wide, top, bottom: Number(y) };
    });
  }

  const markersOf = (svg: string): Box[] =>
    [...svg.matchAll(/<path d="M([\d.]+) ([\d.]+)a4 4/g)].slice(0, -1).map(([, x, y]) => {
      const [left, middle] = [Number(x), Number(y)];
      return { text: "", left, right: left + 8, top: middle - 4, bottom: middle + 4 };
    });

  /** Dots along the lines, close enough that nothing of a letter's size fits between two. */
  function dotsOf(svg: string): Box[] {
    return dataPaths(svg).flatMap((d) => {
      const spots = [...d.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [+`${x}`, +`${y}`]);
      return spots.slice(1).flatMap(([x = 0, y = 0], i) => {
        const [fromX = 0, fromY = 0] = spots[i] ?? [];
        const count = Math.ceil(Math.hypot(x - fromX, y - fromY));
        return Array.from({ length: count }, (_, j) => {
          const [dotX, dotY] = [
            fromX + ((x - fromX) * j) / count,
            fromY + ((y - fromY) * j) / count,
          ];
          return { text: "", left: dotX, right: dotX, top: dotY, bottom: dotY };
        });
      });
    });
  }

  const plotOf = (svg: string) => {
    const box = /<svg x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/.exec(svg);
    const [left = 0, top = 0, width = 0, height = 0] = (box ?? []).slice(1).map(Number);
    return { left, top, right: left + width, bottom: top + height };
  };

  test("stand beside their points, each by its own", () => {
    const rising = [0, 1, 2, 3].map((x) => ({ x, y: x * x, label: `β${x}` }));
    const svg = chart([{ label: "a", points: rising }]);
    const markers = markersOf(svg);
    for (const [i, label] of labelsOf(svg).entries()) {
      expect(label.text).toBe(`β${i}`);
      const gaps = markers.map((marker) =>
        Math.max(
          marker.left - label.right,
          label.left - marker.right,
          marker.top - label.bottom,
          label.top - marker.bottom,
        ),
      );
      expect(Math.min(...gaps)).toBe(gaps[i]);
      expect(gaps[i]).toBeGreaterThan(0);
      expect(gaps[i]).toBeLessThan(12);
    }
    expect(labelsOf(svg)).toHaveLength(4);
  });

  test("touch neither each other nor markers nor lines nor the frame, however crowded", () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true });
    const label = fc.constantFrom("0", "0.03", "0.125", "kl.coefficient=0.3", "adaptive");
    const point = fc.record({ x: place, y: place, label });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 24 }), (all) => {
        const svg = chart([{ label: "a", points: all }]);
        const [labels, frame] = [labelsOf(svg), plotOf(svg)];
        const others = [...markersOf(svg), ...dotsOf(svg)];
        for (const [i, one] of labels.entries()) {
          const touched = [...labels.slice(i + 1), ...others].filter((box) => !isApart(one, box));
          expect(touched).toEqual([]);
          expect(one.left).toBeGreaterThanOrEqual(frame.left);
          expect(one.right).toBeLessThanOrEqual(frame.right);
          expect(one.top).toBeGreaterThanOrEqual(frame.top);
          expect(one.bottom).toBeLessThanOrEqual(frame.bottom);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("of points on top of each other are put together, and the same word is said once", () => {
    const crowd = [
      { x: 0, y: 0, label: "10" },
      { x: 0.001, y: 0.001, label: "3" },
      { x: 1, y: 1, label: "0.1" },
    ];
    const svg = chart([
      { label: "a", points: crowd },
      { label: "b", points: crowd },
    ]);
    expect(labelsOf(svg).map(({ text }) => text)).toEqual(["10, 3", "0.1"]);
  });

  test("have a marker each, in a long series too, and none outside the axes", () => {
    const long = Array.from({ length: 200 }, (_, x) => ({
      x,
      y: x,
      label: x === 101 ? "here" : "",
    }));
    const svg = chart([{ label: "a", points: long }], { y: { label: "r", range: [0, 150] } });
    const [label] = labelsOf(svg);
    expect(label?.text).toBe("here");
    const gaps = markersOf(svg).map(({ left, top }) =>
      Math.hypot(left - (label?.left ?? 0), top - (label?.top ?? 0)),
    );
    expect(Math.min(...gaps)).toBeLessThan(60);
    const outside = chart([{ label: "a", points: [{ x: 0, y: 9, label: "gone" }] }], {
      y: { label: "r", range: [0, 1] },
    });
    expect(textsOf(outside)).not.toContain("gone");
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
