/** Packing: every row whole, in its place, beside its prompt; little padding; the same every time. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actionIndices, completionRow, type TokenRow } from "../core/token-row.ts";
import { packedFeeds } from "./packed-feeds.ts";
import { type Packing, packRows } from "./packing.ts";
import { MASKED } from "./transformer.ts";

const OPTIONS = { attentionLength: 250 };

/** What the graph sees before it predicts a token: (token, position) of all visible places, by position. */
function contexts(rows: readonly TokenRow[], packing: Packing): Map<string, string> {
  const { shape, parts } = packing;
  const found = new Map<string, string>();
  for (const part of parts) {
    const feeds = packedFeeds(part, shape);
    for (const { row, target } of part.rows) {
      [...actionIndices(rows[row] as TokenRow)].forEach((index, j) => {
        const at = Number(feeds.predicting[target + j]);
        expect(Number(feeds.predicting_back[at])).toBe(target + j);
        const first = at - (at % shape.length);
        const seen = Array.from({ length: shape.length }, (_, i) => first + i)
          .filter((_, i) => feeds.visible[at * shape.length + i] === 0)
          .map((i) => [Number(feeds.positions[i]), Number(feeds.tokens[i])] as const)
          .sort((a, b) => a[0] - b[0]);
        found.set(`${row}:${index}`, `${seen.join(" ")} → ${feeds.targets[target + j]}`);
      });
    }
  }
  return found;
}

/** What each predicted token of a row depends on, from the row alone. */
function expected(rows: readonly TokenRow[]): Map<string, string> {
  return new Map(
    rows.flatMap((row, r) =>
      Array.from(actionIndices(row), (index): [string, string] => {
        const before = row.tokens.slice(0, index).map((token, i) => [i, token]);
        return [`${r}:${index}`, `${before.join(" ")} → ${row.tokens[index]}`];
      }),
    ),
  );
}

/** Groups of completions of one prompt, of any lengths, some of them empty. */
const groups = fc.array(
  fc.record({
    prompt: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }),
    completions: fc.array(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }), {
      minLength: 1,
      maxLength: 9,
    }),
  }),
  { minLength: 1, maxLength: 12 },
);
const rowsOf = (list: readonly { prompt: number[]; completions: number[][] }[]) =>
  list.flatMap(({ prompt, completions }) => completions.map((one) => completionRow(prompt, one)));

describe("packed rows", () => {
  test("every token is predicted from its own text and nothing else, packed or not", () => {
    fc.assert(
      fc.property(groups, fc.boolean(), (list, unpacked) => {
        const rows = rowsOf(list);
        const packing = packRows(rows, { ...OPTIONS, unpacked });
        expect(contexts(rows, packing)).toEqual(expected(rows));
        const placed = packing.parts.flatMap((part) => part.rows.map(({ row }) => row));
        expect(placed.sort((a, b) => a - b)).toEqual(rows.map((_, i) => i));
      }),
      { numRuns: 150 },
    );
  });

  test("turns that were read lie between those that were written", () => {
    const row = { tokens: [1, 2, 3, 4, 5, 6, 7, 8], actions: [[2, 4] as const, [6, 7] as const] };
    const rows = [row, completionRow([1, 2], [9, 9])];
    expect(contexts(rows, packRows(rows, OPTIONS))).toEqual(expected(rows));
  });

  test("rows that a loss compares stay in one part, one after the other", () => {
    fc.assert(
      fc.property(groups, (list) => {
        const rows = rowsOf(list.map((one) => ({ ...one, completions: [[1, 2], [3]] })));
        const { parts } = packRows(rows, { ...OPTIONS, together: 2 });
        for (const part of parts) {
          part.rows.forEach(({ row }, i) => {
            expect(row % 2).toBe(i % 2);
            if (row % 2 === 1) expect(part.rows[i - 1]?.row).toBe(row - 1);
          });
        }
      }),
    );
  });

  test("a pair of different prompts stays together too", () => {
    const rows = Array.from({ length: 40 }, (_, i) => completionRow([1, i, 2], [3, 4]));
    const packing = packRows(rows, { ...OPTIONS, together: 2 });
    for (const part of packing.parts) {
      for (let i = 0; i < part.rows.length; i += 2) {
        expect(part.rows[i + 1]?.row).toBe((part.rows[i]?.row as number) + 1);
      }
    }
    expect(contexts(rows, packing)).toEqual(expected(rows));
  });

  /** 32 prompts × 8 completions, as long as those of the GRPO recipe. */
  const recipe = Array.from({ length: 256 }, (_, i) => {
    const group = Math.floor(i / 8);
    const prompt = Array.from({ length: 34 + (group % 6) }, (_, t) => (group + t) % 61);
    return completionRow(prompt, Array(10 + ((i * 7) % 23 < 3 ? 22 : (i * 7) % 5)).fill(5));
  });

  test("a prompt is computed about once for its group, and little is padding", () => {
    const { usedShare, shape, parts } = packRows(recipe, OPTIONS);
    expect(usedShare).toBeGreaterThan(0.85);
    const alone = recipe.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect(parts.length * shape.packs * shape.length).toBeLessThan(alone / 2);
  });

  test("a batch has parts for several threads, and more if few rows are allowed", () => {
    expect(packRows(recipe, OPTIONS).parts.length).toBeGreaterThanOrEqual(2);
    for (const mostRows of [1, 5, 20]) {
      const { parts } = packRows(recipe, { ...OPTIONS, mostRows });
      expect(Math.max(...parts.map(({ rows }) => rows.length))).toBeLessThanOrEqual(mostRows);
    }
  });

  test("short texts share packs", () => {
    const texts = Array.from({ length: 64 }, (_, i) =>
      completionRow([1], Array(8 + (i % 9)).fill(i)),
    );
    expect(packRows(texts, OPTIONS).usedShare).toBeGreaterThan(0.85);
  });

  test("a row must begin with something that is read", () => {
    const row = { tokens: [5, 6], actions: [[0, 2] as const] };
    expect(() => packRows([completionRow([1], [2]), row], OPTIONS)).toThrow(/row 1/);
  });

  test("padding sees itself only", () => {
    const rows = [completionRow([1, 2, 3], [4, 5])];
    const { shape, parts } = packRows(rows, OPTIONS);
    const { visible } = packedFeeds(parts[0] as Packing["parts"][number], shape);
    const open = Array.from(visible.subarray(shape.length * (shape.length - 1), shape.length ** 2));
    expect(open.map((x) => x === 0)).toEqual(open.map((_, i) => i === shape.length - 1));
    expect(visible[1]).toBe(Math.fround(MASKED));
  });
});
