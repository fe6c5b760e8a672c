import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  argmax,
  samplesFromPolicy,
  sampleToken,
  type TokenSampling,
  topLogprobs,
} from "./sample-token.ts";

const FULL: TokenSampling = { temperature: 1, top_k: 0, top_p: 1 };
const LOGITS = [2, 1, 0];

test("softmax([2, 1, 0]) is 0.665, 0.245, 0.090, and tokens are sampledLogprob so", () => {
  const counts = [0, 0, 0];
  const draws = 10_000;
  for (let i = 0; i < draws; i++) {
    const { token } = sampleToken(LOGITS, FULL, i / draws);
    counts[token] = (counts[token] ?? 0) + 1;
  }
  expect(counts.map((n) => Number((n / draws).toFixed(3)))).toEqual([0.665, 0.245, 0.09]);
});

test("one log-prob is the policy's own, whatever the sampling; the other that of sampling", () => {
  const { logprob, sampledLogprob } = sampleToken(LOGITS, { ...FULL, temperature: 0.5 }, 0);
  expect(logprob).toBeCloseTo(-0.408, 3);
  const weights = LOGITS.map((x) => Math.exp(2 * x));
  expect(sampledLogprob).toBeCloseTo(
    Math.log((weights[0] as number) / weights.reduce((a, b) => a + b)),
    9,
  );
});

describe("truncation", () => {
  test("top-k keeps the likeliest, and renormalises their probabilities", () => {
    for (const u of [0, 0.5, 0.999]) {
      const { token, sampledLogprob } = sampleToken(LOGITS, { ...FULL, top_k: 2 }, u);
      expect(token).toBeLessThan(2);
      const share = Math.exp(LOGITS[token] as number) / (Math.exp(2) + Math.exp(1));
      expect(sampledLogprob).toBeCloseTo(Math.log(share), 9);
    }
    expect(sampleToken(LOGITS, { ...FULL, top_k: 1 }, 0.99)).toMatchObject({
      token: 0,
      sampledLogprob: 0,
    });
  });

  test("top-p keeps the fewest that reach the mass", () => {
    expect(sampleToken(LOGITS, { ...FULL, top_p: 0.6 }, 0.99).token).toBe(0);
    expect(sampleToken(LOGITS, { ...FULL, top_p: 0.7 }, 0.99).token).toBe(1);
    expect(sampleToken(LOGITS, { ...FULL, top_p: 0.95 }, 0.999).token).toBe(2);
  });

  test("of equal logits the smaller id goes first", () => {
    expect(sampleToken([1, 1, 1], { ...FULL, top_k: 1 }, 0.9).token).toBe(0);
    expect(argmax([1, 3, 3])).toBe(1);
  });
});

test("greedy takes the likeliest, with its log-prob under the policy", () => {
  const { token, logprob, sampledLogprob } = sampleToken(LOGITS, { ...FULL, temperature: 0 }, 0.9);
  expect([token, sampledLogprob]).toEqual([0, 0]);
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

test("samplesFromPolicy: temperature 1 without truncation", () => {
  expect(samplesFromPolicy(FULL)).toBe(true);
  for (const other of [{ temperature: 0.9 }, { top_k: 5 }, { top_p: 0.9 }]) {
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
      (values, u, temperature, top_k, top_p) => {
        const { token, logprob, sampledLogprob } = sampleToken(
          values,
          { temperature, top_k, top_p },
          u,
        );
        expect(token).toBeGreaterThanOrEqual(0);
        expect(token).toBeLessThan(values.length);
        expect(logprob).toBeLessThanOrEqual(1e-9);
        expect(sampledLogprob).toBeLessThanOrEqual(1e-9);
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});
