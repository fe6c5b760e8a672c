import { expect, test } from "vitest";
import { columns } from "../core/visible.ts";
import { SliceRates } from "../stats/slice-rates.ts";
import { sliceTable } from "./slice-text.ts";

function ratesOf(rewards: readonly (readonly number[])[]) {
  const rates = new SliceRates();
  for (const [i, pack] of rewards.entries())
    for (const [sample, reward] of pack.entries())
      rates.add(
        { language: i % 2 ? "de" : "a language with a very long name 日本語" },
        { reward, passed: reward >= 1, ...(pack.length > 1 && { sample }) },
      );
  return rates.table();
}

test("samples and examples are counted apart", () => {
  const once = sliceTable(ratesOf([[1], [0], [1], [1]]));
  expect(once[1]).toMatch(/^ {2}language +scored {2}pass rate {2}95 % interval$/);
  expect(once.at(-1)).toMatch(/^ {2}de +2 +0\.5000 +0\.\d{3} to 0\.\d{3}$/);
  const packs = [
    [1, 0, 1],
    [0, 1, 0],
    [1, 1, 1],
    [1, 1, 0],
  ];
  const often = sliceTable(ratesOf(packs), { repeats: 3 });
  expect(often[1]).toMatch(/language +examples {2}samples {2}pass rate/);
  expect(often.at(-1)).toMatch(/de +2 +6 +0\.5000/);
});

test("graded rewards have their mean and its interval", () => {
  const lines = sliceTable(ratesOf([[0.5], [0.4], [1], [0.6]]));
  expect(lines[1]).toMatch(/pass rate +mean +95 % interval$/);
  expect(lines.at(-1)).toMatch(/de +2 +0\.0000 +0\.5000 +0\.304 to 0\.696$/);
});

test("lines fit into 80 columns", () => {
  const packs = Array.from({ length: 6 }, (_, i) => [0.1 * i, 0.5, 0.25]);
  const lines = sliceTable(ratesOf(packs), { repeats: 3 });
  expect(lines.filter((line) => columns(line) > 80)).toEqual([]);
});
