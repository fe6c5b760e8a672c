import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { COLOURS } from "./_paint.ts";
import { lineChart } from "./line-chart.ts";
import { toPng } from "./png.ts";
import type { ChartSpec } from "./spec.ts";

const spec: ChartSpec = {
  title: "pass@k",
  x: { label: "k", integer: true },
  y: { label: "share", range: [0, 1] },
  series: [
    { label: "first", points: [1, 2, 3, 4].map((x) => ({ x, y: x / 8 })) },
    { label: "second", points: [1, 2, 3, 4].map((x) => ({ x, y: 1 - x / 8 })) },
  ],
};

interface Picture {
  readonly width: number;
  readonly height: number;
  /** "#rrggbb" */
  at(x: number, y: number): string;
  count(colour: string): number;
}

/** Reads what resvg writes: 8-bit RGBA without interlacing. */
function readPng(bytes: Uint8Array): Picture {
  const file = Buffer.from(bytes);
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  expect([...file.subarray(24, 29)]).toEqual([8, 6, 0, 0, 0]);
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12) {
    const isData = file.toString("latin1", at + 4, at + 8) === "IDAT";
    if (isData) parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  }
  const data = unfilter(inflateSync(Buffer.concat(parts)), width * 4, height);
  const at = (x: number, y: number) =>
    `#${data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3).toString("hex")}`;
  const count = (colour: string) => {
    const wanted = Number.parseInt(`${colour.slice(1)}ff`, 16);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) if (data.readUInt32BE(i) === wanted) found++;
    return found;
  };
  return { width, height, at, count };
}

function unfilter(raw: Buffer, stride: number, height: number): Buffer {
  const out = Buffer.alloc(stride * height);
  const get = (x: number, y: number) => (x < 0 || y < 0 ? 0 : (out[y * stride + x] ?? 0));
  for (let y = 0; y < height; y++) {
    const guess = GUESSES[raw[y * (stride + 1)] ?? 0] ?? GUESSES[0];
    for (let x = 0; x < stride; x++) {
      const byte = raw[y * (stride + 1) + 1 + x] ?? 0;
      out[y * stride + x] = byte + guess(get(x - 4, y), get(x, y - 1), get(x - 4, y - 1));
    }
  }
  return out;
}

type Guess = (left: number, up: number, corner: number) => number;
const GUESSES: [Guess, ...Guess[]] = [
  () => 0,
  (left) => left,
  (_, up) => up,
  (left, up) => (left + up) >> 1,
  (left, up, corner) => {
    const [toLeft, toUp] = [Math.abs(up - corner), Math.abs(left - corner)];
    const toCorner = Math.abs(left + up - 2 * corner);
    if (toLeft <= toUp && toLeft <= toCorner) return left;
    return toUp <= toCorner ? up : corner;
  },
];

const render = async (chart: ChartSpec) => readPng(await toPng(lineChart(chart), { scale: 1 }));
const light = (role: string) => COLOURS[role]?.[0] ?? "";
const dark = (role: string) => COLOURS[role]?.[1] ?? "";

describe("toPng", () => {
  test("gives a PNG of the chart's size, times the scale", async () => {
    const svg = lineChart(spec);
    const height = Number(/ height="(\d+)"/.exec(svg)?.[1]);
    for (const scale of [1, 2]) {
      const png = await toPng(svg, { scale });
      expect([...png.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
      const { width, height: found } = readPng(png);
      expect([width, found]).toEqual([720 * scale, height * scale]);
    }
    expect(await toPng(svg)).toEqual(await toPng(svg, { scale: 2 }));
  });

  test("draws each series in its colour, on solid paper", async () => {
    const picture = await render(spec);
    expect(picture.count(light("c0"))).toBeGreaterThan(200);
    expect(picture.count(light("c1"))).toBeGreaterThan(200);
    expect(picture.count(light("c2"))).toBe(0);
    expect(picture.count(light("paper"))).toBeGreaterThan(picture.width * picture.height * 0.8);
  });

  test("sets text in the font of assets: without a title there is less ink", async () => {
    const ink = async (title: string) => (await render({ ...spec, title })).count(light("ink"));
    expect(await ink("MMMMMMMM")).toBeGreaterThan((await ink(" ")) + 200);
  });

  test("sets the labels of points", async () => {
    const ink = async (label: string) => {
      const points = [1, 2, 3].map((x) => ({ x, y: x / 8, label }));
      return (await render({ ...spec, series: [{ label: "first", points }] })).count(light("ink"));
    };
    expect(await ink("MMMM")).toBeGreaterThan((await ink("")) + 40);
  });

  test("of the auto theme is the light picture; a dark one can be asked for", async () => {
    const auto = await toPng(lineChart(spec));
    expect(auto).toEqual(await toPng(lineChart({ ...spec, theme: "light" })));
    const picture = await render({ ...spec, theme: "dark" });
    expect(picture.at(0, 0)).toBe(dark("paper"));
    expect(picture.count(dark("c0"))).toBeGreaterThan(200);
  });

  test("gives the same bytes twice, and side by side", async () => {
    const [a, b] = await Promise.all([toPng(lineChart(spec)), toPng(lineChart(spec))]);
    expect(a).toEqual(b);
  });

  test.each(["below", "right"] as const)("nothing is cut, legend %s", async (legend) => {
    const long = "WMW a very long text WMW ".repeat(12);
    const { width, height, at } = await render({
      ...spec,
      legend,
      title: long,
      subtitle: long,
      x: { label: long, range: [-1e12, 1e12] },
      y: { label: long, range: [-1.5e-9, 1e-9] },
      series: spec.series.map((series) => ({ ...series, label: long })),
      verticals: [-1e12, 0, 1e12].map((x) => ({ x, label: long })),
    });
    const border = new Set<string>();
    for (let x = 0; x < width; x++) for (const y of [4, height - 5]) border.add(at(x, y));
    for (let y = 0; y < height; y++) for (const x of [4, width - 5]) border.add(at(x, y));
    expect([...border]).toEqual([light("paper")]);
  });

  test.each([0, -1, 9, Number.NaN])("refuses scale %d", async (scale) => {
    await expect(toPng(lineChart(spec), { scale })).rejects.toThrow("between 0.1 and 8");
  });

  test("refuses what is not SVG", async () => {
    await expect(toPng("<svg><g></svg>")).rejects.toThrow();
  });
});
