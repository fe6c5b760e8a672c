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
    samples: fc.array(
      fc
        .record({ completion: fc.string(), reward: fc.option(number), outcome_code: fc.string() })
        .chain((sample) =>
          fc.oneof(
            fc.constant(sample),
            number.map((n) => ({ ...sample, sum_logprob: n })),
          ),
        ),
    ),
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

test("the written-out key order is the canonical one, for every row the schema allows", () => {
  fc.assert(
    fc.property(row, (value) => {
      expect(resultRowSchema.safeParse(value).success).toBe(true);
      expect(rowJson(value)).toBe(canonicalJson(value));
    }),
  );
});

test("kl_est is the difference of the log-probabilities, and only there when both are", () => {
  const judged = { reward: 1, code: "ok", details: {} };
  const example = { id: "a", prompt: "p" };
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: -1, sum_ref_logprob: -1.5 }, judged)
      .kl_est,
  ).toBe(0.5);
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: -1 }, judged),
  ).not.toHaveProperty("kl_est");
  expect(
    resultRow(example, { id: "a", completion: "x", sum_logprob: null }, judged),
  ).not.toHaveProperty("sum_logprob");
});
