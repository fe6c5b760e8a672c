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
  return { width, height, at };
}

function unfilter(raw: Buffer, stride: number, height: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let i = 0; i < stride; i++) {
      const left = i < 4 ? 0 : (out[y * stride + i - 4] ?? 0);
      const up = y === 0 ? 0 : (out[(y - 1) * stride + i] ?? 0);
      const corner = y === 0 || i < 4 ? 0 : (out[(y - 1) * stride + i - 4] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      out[y * stride + i] = (raw[y * (stride + 1) + 1 + i] ?? 0) + guess;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const nearest = Math.min(...[left, up, corner].map((value) => Math.abs(guess - value)));
  return [left, up, corner].find((value) => Math.abs(guess - value) === nearest) ?? 0;
}

function count({ width, height, at }: Picture, colour: string): number {
  let found = 0;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (at(x, y) === colour) found++;
  return found;
}

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
    const picture = readPng(await toPng(lineChart(spec)));
    expect(count(picture, light("c0"))).toBeGreaterThan(500);
    expect(count(picture, light("c1"))).toBeGreaterThan(500);
    expect(count(picture, light("c2"))).toBe(0);
    expect(count(picture, light("paper"))).toBeGreaterThan(picture.width * picture.height * 0.8);
  });

  test("sets text in the font of assets: a chart without a title has less ink", async () => {
    const ink = async (title: string) =>
      count(readPng(await toPng(lineChart({ ...spec, title }))), light("ink"));
    expect(await ink("MMMMMMMM")).toBeGreaterThan((await ink("    ")) + 1000);
  });

  test("of the auto theme is the light picture; a dark one can be asked for", async () => {
    const auto = await toPng(lineChart(spec));
    expect(auto).toEqual(await toPng(lineChart({ ...spec, theme: "light" })));
    const picture = readPng(await toPng(lineChart({ ...spec, theme: "dark" })));
    expect(picture.at(0, 0)).toBe(dark("paper"));
    expect(count(picture, dark("c0"))).toBeGreaterThan(500);
  });

  test("gives the same bytes twice, and side by side", async () => {
    const [a, b] = await Promise.all([toPng(lineChart(spec)), toPng(lineChart(spec))]);
    expect(a).toEqual(b);
  });

  test.each(["below", "right"] as const)("nothing is cut, legend %s", async (legend) => {
    const long = "WMW a very long text WMW ".repeat(12);
    const picture = readPng(
      await toPng(
        lineChart({
          ...spec,
          legend,
          title: long,
          subtitle: long,
          x: { label: long, range: [-1e12, 1e12] },
          y: { label: long, range: [-1.5e-9, 1e-9] },
          series: spec.series.map((series) => ({ ...series, label: long })),
          verticals: [-1e12, 0, 1e12].map((x) => ({ x, label: long })),
        }),
        { scale: 1 },
      ),
    );
    const { width, height, at } = picture;
    for (let x = 0; x < width; x++) {
      for (const y of [0, 4, height - 5, height - 1]) expect(at(x, y)).toBe(light("paper"));
    }
    for (let y = 0; y < height; y++) {
      for (const x of [0, 4, width - 5, width - 1]) expect(at(x, y)).toBe(light("paper"));
    }
  });

  test.each([0, -1, 9, Number.NaN])("refuses scale %d", async (scale) => {
    await expect(toPng(lineChart(spec), { scale })).rejects.toThrow("between 0.1 and 8");
  });

  test("refuses what is not SVG", async () => {
    await expect(toPng("<svg><g></svg>")).rejects.toThrow();
  });
});
