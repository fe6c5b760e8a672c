/** Sampling from a small policy: batches cannot change a sample, and log-probs are the policy's own. */

import { afterAll, describe, expect, test, vi } from "vitest";
import type { SamplingSettings } from "../core/policy.ts";
import { pick } from "../graph/ops/indexing.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { CharacterTokenizer } from "./characters.ts";
import { Decoder } from "./decoder.ts";
import { Decoding } from "./decoding.ts";
import { type Generation, type GenerationRequest, generateAll, generateSteps } from "./generate.ts";
import { initialise, SIZES } from "./initialise.ts";
import { logitsOf } from "./transformer.ts";

const tokenizer = new CharacterTokenizer("0123456789+-= Final:");
const architecture: Architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
const { list: placed } = place(parametersOf(architecture));
// Ten times the usual spread, so that some tokens are likelier than others.
const parameters = initialise(architecture, 1).map((x) => (x === 1 ? 1 : 10 * x));

const SAMPLING: SamplingSettings = {
  ...{ temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, seed: 3 },
  stop: [],
};
const decoders = new Map<number, Decoder>();
afterAll(async () => {
  for (const decoder of decoders.values()) await decoder.close();
});

function decoder(batch: number): Decoder {
  const made = decoders.get(batch) ?? new Decoder(architecture, placed, { batch });
  decoders.set(batch, made);
  return made;
}

const options = (sampling: Partial<SamplingSettings> = {}) => ({
  ...{ parameters, tokenizer, maxLength: 64 },
  sampling: { ...SAMPLING, ...sampling },
});

const requests: GenerationRequest[] = ["1+2=", "12+34=", "7-8=", "99+1=", "5="].flatMap(
  (text, example) =>
    [0, 1].map((sample) => ({
      prompt: [tokenizer.beginToken, ...tokenizer.encode(text)],
      address: [SAMPLING.seed, 0, `e${example}`, sample],
    })),
);

test("the order of rows, and how many there are, cannot change a sample", async () => {
  const eight = decoder(8);
  const first = await generateAll(eight, requests.slice(0, 8), options());
  const backwards = await generateAll(eight, requests.slice(0, 8).toReversed(), options());
  expect(backwards.toReversed()).toEqual(first);
  for (const [i, one] of requests.slice(0, 3).entries()) {
    expect(await generateAll(eight, [one], options())).toEqual([first[i]]);
  }
  const samples = first.map(({ completion }) => completion);
  expect(new Set(samples).size).toBeGreaterThan(6);
});

test("longer prompts in the batch and more room cannot change a sample either", async () => {
  const eight = decoder(8);
  const alone = await generateAll(eight, requests.slice(0, 4), options());
  const long = { prompt: Array.from({ length: 45 }, (_, i) => 3 + (i % 10)), address: ["long"] };
  const beside = await generateAll(eight, [...requests.slice(0, 4), long], options());
  expect(beside.slice(0, 4)).toEqual(alone);
  const roomy = await generateAll(eight, requests.slice(0, 4), options({ max_tokens: 50 }));
  for (const [i, { tokens, logprobs }] of alone.entries()) {
    expect(roomy[i]?.tokens.slice(0, tokens.length)).toEqual(tokens);
    expect(roomy[i]?.logprobs?.slice(0, tokens.length)).toEqual(logprobs);
  }
});

test("a prompt that many samples share is read once, and they are the same as alone", async () => {
  const prompt = requests[2]?.prompt ?? [];
  const samples = Array.from({ length: 8 }, (_, i) => ({ prompt: [...prompt], address: ["s", i] }));
  const own = new Decoder(architecture, placed, { batch: 8 });
  const graphs = vi.spyOn(Session, "create");
  const together = await generateAll(own, samples, options());
  const read = graphs.mock.calls.map(([results]) => results.keys0?.shape[0]);
  graphs.mockRestore();
  expect(read).toContain(2); // Rows of the graph that reads: two at least.
  expect(read).not.toContain(8);
  for (const [i, one] of samples.entries()) {
    expect(await generateAll(decoder(8), [one], options())).toEqual([together[i]]);
  }
  await own.close();
});

test("decoders of other sizes, and with another number of threads, give the same bytes", async () => {
  const first = await generateAll(decoder(8), requests.slice(0, 4), options());
  for (const [batch, threads] of [
    [4, 1],
    [32, 1],
    [128, 2],
  ] as const) {
    const other = new Decoder(architecture, placed, { batch, threads });
    expect(await generateAll(other, requests.slice(0, 4), options())).toEqual(first);
    await other.close();
  }
});

test("what a broken policy left behind does not reach the next batch", async () => {
  const own = new Decoder(architecture, placed, { batch: 8 });
  const broken = { ...options(), parameters: parameters.map(() => Number.NaN) };
  const healthy = await generateAll(own, requests.slice(0, 8), options());
  await generateAll(own, requests.slice(0, 8), broken);
  expect(await generateAll(own, requests.slice(0, 8), options())).toEqual(healthy);
  await own.close();
});

describe("log-probs", () => {
  const texts = async (sampling: Partial<SamplingSettings> = {}) =>
    generateAll(decoder(8), requests.slice(0, 8), options(sampling));

  test("agree with those that the whole text gives, to 1e-5", async () => {
    for (const [i, generation] of (await texts()).entries()) {
      const prompt = requests[i]?.prompt ?? [];
      const right = await teacherForced([...prompt, ...generation.tokens], prompt.length);
      generation.logprobs?.forEach((logprob, t) => {
        expect(Math.abs(logprob - (right[t] as number))).toBeLessThan(1e-5);
      });
    }
  });

  test("under truncation both are given, and they differ", async () => {
    const check = ({ logprobs, sampled_logprobs: sampled }: Generation) => {
      expect(sampled).toHaveLength(logprobs?.length ?? -1);
      expect(sampled?.some((x, i) => x > (logprobs?.[i] as number) + 1e-6)).toBe(true);
    };
    for (const generation of await texts({ top_k: 3 })) check(generation);
    for (const generation of await texts()) expect(generation.sampled_logprobs).toBeNull();
  });
});

test("a stop text ends a completion and is cut off; the end token ends it too", async () => {
  const [plain] = await generateAll(decoder(8), requests.slice(0, 1), options({ max_tokens: 20 }));
  const stop = plain?.completion.slice(2, 4) ?? "";
  const [cut] = await generateAll(
    decoder(8),
    requests.slice(0, 1),
    options({ max_tokens: 20, stop: [stop] }),
  );
  expect(cut?.finish).toBe("stop");
  expect(cut?.completion).toBe(plain?.completion.slice(0, plain.completion.indexOf(stop)));
});

test("a stop text is looked for at the end alone, however long the completion", async () => {
  const decode = vi.spyOn(tokenizer, "decode");
  await generateAll(decoder(8), requests.slice(0, 1), options({ max_tokens: 50, stop: ["§"] }));
  const lengths = decode.mock.calls.map(([ids]) => [...ids].length);
  decode.mockRestore();
  expect(lengths.filter((length) => length > 20)).toHaveLength(1); // The completion itself.
  expect(lengths.length).toBeGreaterThan(30);
});

test("a prompt that is too long is refused with both lengths", async () => {
  const long = { prompt: Array.from({ length: 64 }, () => 3), address: [0] };
  await expect(generateAll(decoder(8), [long], options())).rejects.toThrow(
    /64 tokens.*context length is 64/,
  );
});

/** Log-probs of the tokens after the prompt, from one pass over the whole text. */
async function teacherForced(ids: readonly number[], from: number): Promise<number[]> {
  const length = ids.length - 1;
  const leaves = new Map(placed.map(({ name, shape }) => [name, input(name, shape)]));
  const tokens = input("tokens", [1, length], "i64");
  const targets = input("targets", [1, length], "i64");
  const logits = logitsOf(architecture, (name) => leaves.get(name) as Tensor, tokens);
  const session = await Session.create({ logprobs: pick(logSoftmax(logits), targets) });
  const weights = Object.fromEntries(
    placed.map(({ name, offset, size }) => [name, parameters.subarray(offset, offset + size)]),
  );
  const { logprobs } = await session.run({
    ...weights,
    tokens: BigInt64Array.from(ids.slice(0, -1), BigInt),
    targets: BigInt64Array.from(ids.slice(1), BigInt),
  });
  await session.close();
  return Array.from(logprobs as Float32Array).slice(from - 1);
}

describe("token by token", () => {
  test("the same completions, with the likeliest tokens beside each", async () => {
    const whole = await generateAll(decoder(8), requests.slice(0, 4), options());
    const steps = [];
    const settings = { ...options(), alternatives: 3 };
    for await (const step of generateSteps(decoder(8), requests.slice(0, 4), settings)) {
      steps.push(...step);
    }
    expect(
      steps.flatMap(({ row, generation }) => (generation ? [[row, generation]] : [])).sort(),
    ).toEqual([...whole.entries()]);
    for (const [row, { tokens }] of whole.entries()) {
      expect(steps.filter((step) => step.row === row).map(({ token }) => token)).toEqual(tokens);
    }
    for (const { token, logprob, alternatives } of steps) {
      expect(alternatives).toHaveLength(3);
      const sampled = alternatives.find((one) => one.token === token);
      if (sampled) expect(sampled.logprob).toBe(logprob);
      else expect(logprob).toBeLessThanOrEqual(alternatives[2]?.logprob as number);
    }
  });

  test("whoever stops listening stops the sampling", async () => {
    const append = vi.spyOn(Decoding.prototype, "append");
    for await (const _ of generateSteps(decoder(8), requests.slice(0, 4), options())) break;
    expect(append).not.toHaveBeenCalled();
    append.mockRestore();
  });
});
