import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../core/json.ts";
import { type ResultRow, resultRowSchema } from "../runs/schemas.ts";
import { resultRow, rowJson } from "./row.ts";

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const choice = fc.record({
  index: fc.nat(),
  reward: fc.option(number),
  outcome_code: fc.string({ minLength: 1 }),
});
const optional = fc.record(
  {
    sum_logprob: number,
    sum_ref_logprob: number,
    kl_est: number,
    baseline: choice,
    selected: choice,
    unstable: fc.constant(true),
  },
  { requiredKeys: [] },
);
const row = fc
  .tuple(
    fc.record({
      id: fc.string({ minLength: 1 }),
      prompt: fc.string({ unit: "binary" }),
      expected_answer: fc.jsonValue(),
      completion: fc.option(fc.string({ unit: "binary" })),
      reward: fc.option(number),
      outcome_code: fc.string({ minLength: 1 }),
      details: fc.jsonValue(),
    }),
    optional,
  )
  .map(([base, more]) => ({ ...base, ...more }) as ResultRow);

const scored = fc.record({
  index: fc.nat(),
  completion: fc.string({ unit: "binary" }),
  sum_logprob: fc.option(number),
  reward: fc.option(number),
  code: fc.string(),
  details: fc.constant({}),
});

/** The same text has the same verdict, as the loop makes sure. */
const packs = fc.array(scored).map((drawn) =>
  drawn.map((sample) => {
    const { code, reward } = drawn.find((s) => s.completion === sample.completion) ?? sample;
    return { ...sample, code, reward };
  }),
);

test("the written-out key order is the canonical one, for every row the schema allows", () => {
  fc.assert(
    fc.property(row, fc.option(packs), (value, samples) => {
      if (!samples) {
        expect(rowJson(value)).toBe(canonicalJson(value));
        return;
      }
      const firstOf = samples.map(({ completion }) =>
        samples.findIndex((s) => s.completion === completion),
      );
      const written = samples.map(({ completion, reward, code, sum_logprob }) => ({
        completion,
        reward,
        outcome_code: code,
        ...(sum_logprob === null ? {} : { sum_logprob }),
      }));
      const whole = { ...value, samples: written };
      expect(resultRowSchema.safeParse(whole).success).toBe(true);
      expect(rowJson(value, { samples, firstOf })).toBe(canonicalJson(whole));
    }),
  );
});

test("kl_est is the difference of the log-probabilities, and only there when both are", () => {
  const scored = { reward: 1, code: "ok", details: {} };
  const example = { id: "a", prompt: "p" };
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: -1, sum_ref_logprob: -1.5 }, scored)
      .kl_est,
  ).toBe(0.5);
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: -1 }, scored),
  ).not.toHaveProperty("kl_est");
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: null }, scored),
  ).not.toHaveProperty("sum_logprob");
});
