import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngAt, shuffled } from "../core/rng.ts";
import {
  compareCodePoints,
  firstValid,
  majorityVote,
  pickBest,
  RULES,
  type ScoredSample,
  tieBreakKey,
} from "./decide.ts";

const sample = (
  index: number,
  completion: string,
  reward: number | null,
  more: Partial<ScoredSample> = {},
): ScoredSample => ({
  index,
  completion,
  reward,
  sum_logprob: null,
  code: reward === null ? "scorer_error" : "x",
  details: {},
  ...more,
});

describe("pickBest", () => {
  test.each<[string, ScoredSample[], number]>([
    ["the higher reward", [sample(0, "a", 0, { sum_logprob: 0 }), sample(1, "zzzz", 1)], 1],
    [
      "then the higher log-probability",
      [sample(0, "a", 1, { sum_logprob: -2 }), sample(1, "zz", 1, { sum_logprob: -1 })],
      1,
    ],
    [
      "a log-probability before none",
      [sample(0, "a", 1), sample(1, "zz", 1, { sum_logprob: -99 })],
      1,
    ],
    ["then the shorter", [sample(0, "aa", 1), sample(1, "z", 1)], 1],
    ["then the earlier by code point", [sample(0, "b", 1), sample(1, "a", 1)], 1],
    ["then the earlier drawn", [sample(0, "a", 1), sample(1, "a", 1)], 0],
    ["anything before a broken sample", [sample(0, "a", null), sample(1, "zz", -5)], 1],
  ])("prefers %s", (_, samples, index) => {
    expect(pickBest(samples)?.index).toBe(index);
    expect(pickBest(samples.toReversed())?.index).toBe(index);
  });

  test("of nothing is nothing", () => {
    expect(pickBest([])).toBeUndefined();
  });

  test("a key of one's own only breaks ties", () => {
    const samples = [sample(0, "a", 0), sample(1, "b", 1), sample(2, "c", 1)];
    expect(pickBest(samples, ({ completion }) => [-completion.charCodeAt(0)])?.completion).toBe(
      "c",
    );
  });
});

describe("code points", () => {
  test("are not UTF-16 units: U+FF21 comes before U+1F600", () => {
    expect("\uff21" < "\u{1f600}").toBe(false);
    expect(compareCodePoints("\uff21", "\u{1f600}")).toBeLessThan(0);
  });

  test("order like arrays of code points", () => {
    const points = (text: string) => [...text].map((c) => c.codePointAt(0) as number);
    const reference = (a: number[], b: number[]) => {
      for (let i = 0; i < Math.min(a.length, b.length); i++)
        if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
      return a.length - b.length;
    };
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(reference(points(a), points(b))));
      }),
    );
  });
});

const packs = fc.array(
  fc.record({
    completion: fc.constantFrom("Final: 1", "Final: 2", "x", "yy", "\u{1f600}", "\uff21"),
    reward: fc.constantFrom(0, 1, 0.5, null),
    sum_logprob: fc.constantFrom(null, -1, -2, -2.5),
    details: fc.constantFrom({}, { parsed: "1" }, { parsed: "2" }),
  }),
  { minLength: 1, maxLength: 12 },
);

test.each(Object.entries(RULES))(
  "%s: the order in which samples come never changes the pick",
  (_, rule) => {
    fc.assert(
      fc.property(packs, fc.integer(), (pack, seed) => {
        const samples = pack.map(
          (fields, index) => ({ index, code: "x", ...fields }) as ScoredSample,
        );
        expect(rule(shuffled(samples, rngAt(seed)))).toEqual(rule(samples));
      }),
      { numRuns: 500 },
    );
  },
);

test("majority goes by the parsed answer and does not look at rewards", () => {
  const said = (index: number, parsed: string | undefined, reward: number) =>
    sample(index, `Final: ${parsed}`, reward, { details: parsed === undefined ? {} : { parsed } });
  expect(majorityVote([said(0, "7", 1), said(1, "8", 0), said(2, "8", 0)])?.index).toBe(1);
  expect(majorityVote([said(0, undefined, 0), said(1, undefined, 0), said(2, "8", 0)])?.index).toBe(
    2,
  );
  expect(majorityVote([said(0, undefined, 0)])?.index).toBe(0);
});

test("first-valid takes the earliest that parses, right or wrong", () => {
  const samples = [
    sample(0, "no", 0),
    sample(1, "w", 0, { details: { parsed: "3" } }),
    sample(2, "r", 1, { details: { parsed: "4" } }),
  ];
  expect(firstValid(samples)?.index).toBe(1);
  expect(firstValid([samples[0] as ScoredSample])?.index).toBe(0);
});

test("the key is open to read: presence, minus the log-probability, length, text", () => {
  expect(tieBreakKey({ completion: "abc", sum_logprob: -1.5 })).toEqual([0, 1.5, 3, "abc"]);
  expect(tieBreakKey({ completion: "abc", sum_logprob: null })).toEqual([1, 0, 3, "abc"]);
});
