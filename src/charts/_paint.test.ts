import { describe, expect, test } from "vitest";
import { COLOURS, SLOTS } from "./_paint.ts";

type Triple = [number, number, number];

function linearRgb(hex: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const times = (matrix: readonly Triple[], [r, g, b]: Triple) =>
  matrix.map(([x, y, z]) => x * r + y * g + z * b) as Triple;

/** WCAG 2 contrast ratio. */
function contrast(a: string, b: string): number {
  const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], linearRgb(hex))[0];
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1. */
const EYES: Record<string, readonly Triple[]> = {
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Ottosson's OKLab, in which distance is about how different two colours look. */
function oklab(rgb: Triple): Triple {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map(Math.cbrt) as Triple;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

describe.each([
  ["light", 0],
  ["dark", 1],
] as const)("on %s paper", (_, theme) => {
  const colour = (role: string) => COLOURS[role]?.[theme] ?? "";
  const slots = Array.from({ length: SLOTS }, (_, slot) => colour(`c${slot}`));

  test("text has a contrast of 4.5, and every series of 3", () => {
    for (const role of ["ink", "muted"]) {
      expect(contrast(colour(role), colour("paper")), role).toBeGreaterThan(4.5);
    }
    for (const slot of slots) expect(contrast(slot, colour("paper")), slot).toBeGreaterThan(3);
  });

  test.each(Object.entries(EYES))("%s eyes can tell the series apart", (_, matrix) => {
    const clamp = (value: number) => Math.min(1, Math.max(0, value));
    const seen = slots.map((hex) => oklab(times(matrix, linearRgb(hex)).map(clamp) as Triple));
    for (const [i, a] of seen.entries()) {
      for (const [j, b] of seen.slice(0, i).entries()) {
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        expect(distance, `${slots[i]} and ${slots[j]}`).toBeGreaterThan(0.075);
      }
    }
  });
});
