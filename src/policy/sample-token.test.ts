import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argmax, choose, type Sampling, samplesFromPolicy, topLogprobs } from "./sample-token.ts";

const FULL: Sampling = { temperature: 1, topK: 0, topP: 1 };
const LOGITS = [2, 1, 0];

test("softmax([2, 1, 0]) is 0.665, 0.245, 0.090, and so are the draws", () => {
  const counts = [0, 0, 0];
  const draws = 10_000;
  for (let i = 0; i < draws; i++) {
    const { token } = choose(LOGITS, FULL, i / draws);
    counts[token] = (counts[token] ?? 0) + 1;
  }
  expect(counts.map((n) => Number((n / draws).toFixed(3)))).toEqual([0.665, 0.245, 0.09]);
});

test("the log-prob is the policy's own, whatever the sampling; the other is that of the draw", () => {
  const { logprob, sampled } = choose(LOGITS, { ...FULL, temperature: 0.5 }, 0);
  expect(logprob).toBeCloseTo(-0.408, 3);
  const weights = LOGITS.map((x) => Math.exp(2 * x));
  expect(sampled).toBeCloseTo(
    Math.log((weights[0] as number) / weights.reduce((a, b) => a + b)),
    9,
  );
});

describe("truncation", () => {
  test("top-k keeps the likeliest, and the draw's log-prob is among them", () => {
    for (const u of [0, 0.5, 0.999]) {
      const { token, sampled } = choose(LOGITS, { ...FULL, topK: 2 }, u);
      expect(token).toBeLessThan(2);
      const share = Math.exp(LOGITS[token] as number) / (Math.exp(2) + Math.exp(1));
      expect(sampled).toBeCloseTo(Math.log(share), 9);
    }
    expect(choose(LOGITS, { ...FULL, topK: 1 }, 0.99)).toMatchObject({ token: 0, sampled: 0 });
  });

  test("top-p keeps the fewest that reach the mass", () => {
    expect(choose(LOGITS, { ...FULL, topP: 0.6 }, 0.99).token).toBe(0);
    expect(choose(LOGITS, { ...FULL, topP: 0.7 }, 0.99).token).toBe(1);
    expect(choose(LOGITS, { ...FULL, topP: 0.95 }, 0.999).token).toBe(2);
  });

  test("of equal logits the smaller id goes first", () => {
    expect(choose([1, 1, 1], { ...FULL, topK: 1 }, 0.9).token).toBe(0);
    expect(argmax([1, 3, 3])).toBe(1);
  });
});

test("greedy takes the likeliest, and says how likely it was", () => {
  const { token, logprob, sampled } = choose(LOGITS, { ...FULL, temperature: 0 }, 0.9);
  expect([token, sampled]).toEqual([0, 0]);
  expect(logprob).toBeCloseTo(-0.408, 3);
});

test("the likeliest come in their order, with log-probs of the full softmax", () => {
  const found = topLogprobs([0, 2, 1, 2], 3);
  expect(found.map(({ token }) => token)).toEqual([1, 3, 2]);
  const total = Math.log(1 + 2 * Math.exp(2) + Math.exp(1));
  expect(found.map(({ logprob }) => logprob + total)).toEqual([2, 2, 1].map(near));
  expect(topLogprobs(LOGITS, 0)).toEqual([]);
  expect(topLogprobs(LOGITS, 9)).toHaveLength(3);
});

const near = (x: number) => expect.closeTo(x, 12);

test("it is said when tokens are drawn from the policy itself", () => {
  expect(samplesFromPolicy(FULL)).toBe(true);
  for (const other of [{ temperature: 0.9 }, { topK: 5 }, { topP: 0.9 }]) {
    expect(samplesFromPolicy({ ...FULL, ...other })).toBe(false);
  }
});

test("any logits and settings give a token that is kept, with log-probs at most 0", () => {
  const logits = fc.array(fc.float({ noNaN: true, min: -50, max: 50 }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(
      logits,
      fc.double({ min: 0, max: 0.9999999, noNaN: true }),
      fc.constantFrom(0, 0.3, 1, 2),
      fc.nat(10),
      fc.constantFrom(0.1, 0.5, 1),
      (values, u, temperature, topK, topP) => {
        const { token, logprob, sampled } = choose(values, { temperature, topK, topP }, u);
        expect(token).toBeGreaterThanOrEqual(0);
        expect(token).toBeLessThan(values.length);
        expect(logprob).toBeLessThanOrEqual(1e-9);
        expect(sampled).toBeLessThanOrEqual(1e-9);
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});
