import { expect, test } from "vitest";
import { IdSet } from "./id-set.ts";

test("IdSet remembers a hundred thousand ids and no others", () => {
  const set = new IdSet();
  const numbers = [...Array(100_000).keys()];
  // One assertion for each hundred thousand: an expect costs far more than what is tested.
  expect(numbers.filter((i) => set.add(`id-${i}`))).toEqual([]);
  expect(numbers.filter((i) => !set.has(`id-${i}`))).toEqual([]);
  expect(numbers.filter((i) => set.has(`other-${i}`))).toEqual([]);
  expect(set.add("id-5")).toBe(true);
});
