/** Every metric against the vectors of Python's libraries: published ones, and recorded ones. */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METRIC_NAMES, type Metric, type SimilaritySettings, similarity } from "./index.ts";
import { lcsLength } from "./lcs.ts";
import { TooLarge } from "./limits.ts";

const DEFAULTS: SimilaritySettings = { fuzzy_match: "ratio", bleu: "nltk" };

/** A name is a metric, or a metric and the variant of it. */
function measured(name: string, input: string, reference: string): number {
  const [metric, variant] = name.split(":") as [Metric, string?];
  return similarity(metric, input, reference, {
    ...DEFAULTS,
    ...(variant && { [metric]: variant }),
  });
}

describe("two pairs, computed apart from this repository", () => {
  const OAK = "the red fox sleeps under the old oak tree";
  const OAK_REFERENCE = "a red fox slept under the old oak tree";
  const WHALE = "blue whale ate krill quickly";
  const WHALE_REFERENCE = "blue whale eats small fish";

  test.each([
    ["fuzzy_match", 0.911392, 0.666667],
    ["fuzzy_match:WRatio", 0.911392, 0.666667],
    ["bleu", 0.513345, 0],
    ["bleu:nltk_method1", 0.513345, 0.113622],
    ["bleu:sacrebleu", 0.513345, 0.213644],
    ["gleu", 0.566667, 0.214286],
    ["meteor", 0.768707, 0.375],
    ["rouge_1", 0.777778, 0.4],
    ["rouge_2", 0.625, 0.25],
    ["rouge_l", 0.777778, 0.4],
  ])("%s", (name, oak, whale) => {
    expect(measured(name, OAK, OAK_REFERENCE)).toBeCloseTo(oak, 6);
    expect(measured(name, WHALE, WHALE_REFERENCE)).toBeCloseTo(whale, 6);
  });
});

interface Vectors {
  readonly versions: Record<string, string>;
  readonly rows: readonly { readonly pair: [string, string]; readonly values: Values }[];
}
type Values = Record<string, number>;

describe("recorded vectors (npm run check:similarity -- --record)", () => {
  const file = new URL("../../../tests/fixtures/similarity.json", import.meta.url);
  const { rows, versions } = JSON.parse(readFileSync(file, "utf8")) as Vectors;
  const names = Object.keys(rows[0]?.values ?? {});

  test("cover every metric and every variant", () => {
    expect(rows.length).toBeGreaterThanOrEqual(300);
    expect(Object.keys(versions)).toEqual(["rapidfuzz", "nltk", "rouge-score", "sacrebleu"]);
    expect(new Set(names.map((name) => name.split(":")[0]))).toEqual(new Set(METRIC_NAMES));
    // Neither of few kinds nor trivial: most pairs are alike in part.
    const parts = rows.filter(({ values }) => (values.gleu ?? 0) > 0 && (values.gleu ?? 0) < 1);
    expect(parts.length).toBeGreaterThan(rows.length / 3);
  });

  test.each(names)("%s is what Python gives", (name) => {
    // WRatio compares every part of a text, which takes longer.
    const some = name === "fuzzy_match:WRatio" ? rows.slice(0, 100) : rows;
    const off = some.filter(
      ({ pair, values }) => Math.abs(measured(name, ...pair) - (values[name] as number)) > 1e-9,
    );
    expect(off).toEqual([]);
  });
});

describe("properties", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });

  test("any two texts give a number from 0 to 1", () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(...METRIC_NAMES), (one, other, metric) => {
        const value = measured(metric, one, other);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });

  test("the common subsequence is that of the textbook's table", () => {
    const units = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 100 });
    fc.assert(
      fc.property(units, units, (one, other) => {
        expect(lcsLength(Int32Array.from(one), Int32Array.from(other))).toBe(table(one, other));
      }),
    );
  });
});

function table(one: readonly number[], other: readonly number[]): number {
  let row = new Array<number>(other.length + 1).fill(0);
  for (const unit of one) {
    const next = [0];
    for (let j = 1; j <= other.length; j++) {
      const [above = 0, before = 0, corner = 0] = [row[j], next[j - 1], row[j - 1]];
      next.push(unit === other[j - 1] ? corner + 1 : Math.max(above, before));
    }
    row = next;
  }
  return row[other.length] as number;
}

describe("large texts", () => {
  const LARGE = "a b ".repeat(55_000);

  test.each(["fuzzy_match", "fuzzy_match:WRatio", "rouge_l"])(
    "%s refuses to compare two large texts, with its limit in the message",
    (name) => {
      const compare = () => measured(name, `x ${LARGE}`, `${LARGE} y`);
      expect(compare).toThrow(TooLarge);
      expect(compare).toThrow(/compares at most 1e10 pairs of (words|characters)/);
    },
  );

  test("a short answer to a reference of a megabyte is compared, and linear metrics take both", () => {
    const megabyte = "x".repeat(1_000_000);
    expect(measured("fuzzy_match", "x and y", megabyte)).toBeLessThan(0.001);
    expect(measured("gleu", LARGE, LARGE)).toBe(1);
    expect(measured("meteor", `${LARGE} no`, LARGE)).toBeGreaterThan(0.99);
  });
});
