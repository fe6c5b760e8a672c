import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  argmax,
  sampleProbability,
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

describe("from probabilities", () => {
  const softmax = (logits: readonly number[]) => {
    const weights = logits.map(Math.exp);
    const total = weights.reduce((a, b) => a + b);
    return Float32Array.from(weights, (weight) => weight / total);
  };

  test("tokens and log-probs are those that the logits give", () => {
    for (let i = 0; i < 1000; i++) {
      const uniform = (i + 0.5) / 1000;
      const found = sampleProbability(softmax(LOGITS), uniform);
      const { token, logprob } = sampleToken(LOGITS, FULL, uniform);
      expect(found).toEqual({ token, logprob: nearly(logprob), sampledLogprob: nearly(logprob) });
    }
  });

  test("what is rounded to 0 is never sampled, even where the sum is less than 1", () => {
    const probabilities = [0, 0.25, 0, 0.7499, 0, 0];
    expect(sampleProbability(probabilities, 0).token).toBe(1);
    expect(sampleProbability(probabilities, 0.2501).token).toBe(3);
    expect(sampleProbability(probabilities, 0.99999).token).toBe(3);
  });

  test("the last token is sampled as often as its probability says, where the sum exceeds 1", () => {
    const probabilities = [0.6, 0.402, 0.001];
    expect(sampleProbability(probabilities, 0.9985).token).toBe(1);
    expect(sampleProbability(probabilities, 0.9995).token).toBe(2);
  });

  test("the likeliest come in their order, with the log-prob that sampling reports", () => {
    const probabilities = softmax([0, 2, 1, 2]);
    const found = topLogprobs(probabilities, 3, "probabilities");
    expect(found.map(({ token }) => token)).toEqual([1, 3, 2]);
    expect(found[0]?.logprob).toBe(sampleProbability(probabilities, 0.1).logprob);
    expect(topLogprobs([1, 0], 2, "probabilities")[1]?.logprob).toBeCloseTo(-87.3, 1);
    expect(topLogprobs(probabilities, 0, "probabilities")).toEqual([]);
  });

  const nearly = (x: number) => expect.closeTo(x, 6);
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
