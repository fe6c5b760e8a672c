/** Rows that end leave their place to the next request, and no sample depends on where it was decoded. */

import { afterAll, expect, test, vi } from "vitest";
import { place } from "../graph/parameters.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { Decoder, type DecoderOptions } from "./decoder.ts";
import { Decoding } from "./decoding.ts";
import {
  type Generation,
  type GenerationRequest,
  generateAll,
  generateEach,
  generateSteps,
} from "./generate.ts";
import { initialise, SIZES } from "./initialise.ts";
import { fittingPlaces } from "./places.ts";

const VOCABULARY = 43;
const architecture: Architecture = { ...SIZES.nano, vocabulary: VOCABULARY };
const { list: placed } = place(parametersOf(architecture));
const parameters = initialise(architecture, 5).map((x) => (x === 1 ? 1 : 6 * x));
const GROUP = 4;
const MAX_TOKENS = 24;

/** Groups of samples; prompts have 1 to 61 tokens. */
const requests: GenerationRequest[] = Array.from({ length: 150 }, (_, i) => {
  const prompt = Math.floor(i / GROUP);
  return {
    prompt: Array.from({ length: 1 + ((prompt * 23) % 61) }, (_, k) => (5 * prompt + 3 * k) % 40),
    address: ["prompt", prompt, "sample", i % GROUP],
  };
});

const options = (sampling: object = {}) => ({
  ...{ parameters, maxLength: 128 },
  // Two of 43 end a completion, so that lengths differ much.
  tokenizer: { endTokens: [41, 42], decode: () => "" } as never,
  sampling: {
    ...{ temperature: 1, top_k: 0, top_p: 1, max_tokens: MAX_TOKENS, stop: [], seed: 0 },
    ...sampling,
  },
});

const open: Decoder[] = [];
afterAll(async () => {
  for (const decoder of open) await decoder.close();
});

function decoderOf(decoderOptions: DecoderOptions): Decoder {
  const made = new Decoder(architecture, placed, decoderOptions);
  open.push(made);
  return made;
}

const bytes = (generations: readonly Generation[]) =>
  generations.map(({ tokens, logprobs, sampled_logprobs: sampled }) => [tokens, logprobs, sampled]);

/** Each request in a call of its own. */
const alone = (async () => {
  const two = decoderOf({ batch: 2 });
  const all: Generation[] = [];
  for (const one of requests) all.push(...(await generateAll(two, [one], options())));
  return bytes(all);
})();

test("lengths differ, and some completions reach the limit or end at once", async () => {
  const lengths = (await alone).map(([tokens]) => tokens?.length ?? 0);
  expect(Math.min(...lengths)).toBe(1);
  expect(Math.max(...lengths)).toBe(MAX_TOKENS);
  expect(new Set(lengths).size).toBeGreaterThan(20);
});

test.each([
  [2, 1],
  [3, 1],
  [8, 1],
  [8, 2],
  [64, 1],
  [128, 2],
])(
  "%i places, %i threads: the same bytes as alone, in the order of the requests",
  async (batch, threads) => {
    const decoder = decoderOf({ batch, threads });
    expect(bytes(await generateAll(decoder, requests, options()))).toEqual(await alone);
  },
);

test("the order and number of requests change nothing", async () => {
  const decoder = decoderOf({ batch: 16 });
  const expected = await alone;
  const backwards = await generateAll(decoder, requests.toReversed(), options());
  expect(bytes(backwards.toReversed())).toEqual(expected);
  // All first samples, then all second ones: more prompts wait than are kept.
  const order = requests.map((_, i) => i).sort((a, b) => (a % GROUP) - (b % GROUP) || a - b);
  const mixed = await generateAll(
    decoder,
    order.map((i) => requests[i] as GenerationRequest),
    options(),
  );
  expect(bytes(mixed)).toEqual(order.map((i) => expected[i]));
  expect(bytes(await generateAll(decoder, requests.slice(40, 57), options()))).toEqual(
    expected.slice(40, 57),
  );
  expect(await generateAll(decoder, [], options())).toEqual([]);
});

test("truncated sampling does not depend on places either", async () => {
  const truncated = options({ temperature: 0.8, top_k: 9, top_p: 0.95 });
  const [few, many] = [decoderOf({ batch: 3 }), decoderOf({ batch: 64 })];
  expect(bytes(await generateAll(few, requests, truncated))).toEqual(
    bytes(await generateAll(many, requests, truncated)),
  );
});

test("places are refilled at once, and at the end fewer are computed", async () => {
  const lengths = (await alone).map(([tokens]) => tokens?.length ?? 0);
  const append = vi.spyOn(Decoding.prototype, "append");
  await generateAll(decoderOf({ batch: 32 }), requests, options());
  const steps = append.mock.calls.map(([tokens]) => tokens);
  append.mockRestore();
  const live = steps.map((tokens) => tokens.filter((token) => token >= 0).length);
  // Every token but a completion's last is appended.
  const appended = lengths.reduce((sum, length) => sum + length - 1, 0);
  expect(live.reduce((sum, n) => sum + n, 0)).toBe(appended);
  const full = steps.filter(({ length }) => length === 32);
  // While requests wait, no place is empty.
  expect(live.slice(0, Math.floor(full.length / 2)).every((n) => n === 32)).toBe(true);
  expect(new Set(steps.map(({ length }) => length))).toEqual(new Set([32, 16, 8]));
  for (const [i, { length }] of steps.entries()) {
    if (length === 16) expect(live[i]).toBeGreaterThan(8);
    if (length === 8) expect(live[i]).toBeLessThanOrEqual(8);
  }
});

test("completions are given in their order, as soon as those before them have ended", async () => {
  const append = vi.spyOn(Decoding.prototype, "append");
  const all: Generation[] = [];
  const steps: number[] = [];
  for await (const one of generateEach(decoderOf({ batch: 8 }), requests, options())) {
    all.push(one);
    steps.push(append.mock.calls.length);
  }
  append.mockRestore();
  expect(bytes(all)).toEqual(await alone);
  expect(steps[10]).toBeLessThan((steps.at(-1) as number) / 4);
});

test("token by token, more requests than places give the same", async () => {
  const few = requests.slice(0, 20);
  const ended: Generation[] = [];
  const tokens: number[][] = few.map(() => []);
  const alternatives = { ...options(), alternatives: 2 };
  for await (const step of generateSteps(decoderOf({ batch: 8 }), few, alternatives)) {
    for (const { row, token, logprob, generation, alternatives: likely } of step) {
      tokens[row]?.push(token);
      const same = likely.find((one) => one.token === token);
      if (same) expect(same.logprob).toBe(logprob);
      else expect(logprob).toBeLessThanOrEqual(likely[1]?.logprob as number);
      if (generation) ended[row] = generation;
    }
  }
  expect(bytes(ended)).toEqual((await alone).slice(0, 20));
  expect(tokens).toEqual(ended.map((generation) => generation.tokens));
});

test("sizes are halves, down to two", () => {
  expect([99, 64, 33, 32, 17, 9, 1].map((rows) => fittingPlaces(64, rows))).toEqual([
    64, 64, 64, 32, 32, 16, 2,
  ]);
  expect([127, 64, 3, 1].map((rows) => fittingPlaces(127, rows))).toEqual([127, 64, 4, 2]);
  expect([100, 3, 2, 1].map((rows) => fittingPlaces(3, rows))).toEqual([3, 3, 2, 2]);
});
