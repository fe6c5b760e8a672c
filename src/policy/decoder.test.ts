/** What a decoder gives for a row depends on nothing else: not on the other rows, room, rows or threads. */

import { afterEach, expect, test, vi } from "vitest";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { Decoder, type DecoderOptions } from "./decoder.ts";
import { type Generation, type GenerationRequest, generateAll, generateSteps } from "./generate.ts";
import { initialise, SIZES } from "./initialise.ts";

const VOCABULARY = 61;
const open: Decoder[] = [];
afterEach(async () => {
  for (const decoder of open.splice(0)) await decoder.close();
});

/** Weights with more spread than usual, so that tokens differ, and how to sample with them. */
function policy(own: Partial<Architecture>) {
  const architecture: Architecture = { ...SIZES.nano, vocabulary: VOCABULARY, ...own };
  const parameters = initialise(architecture, 3).map((x) => 4 * x);
  const { list } = place(parametersOf(architecture));
  return {
    parameters,
    decoder(options: DecoderOptions): Decoder {
      const made = new Decoder(architecture, list, options);
      open.push(made);
      return made;
    },
    settings: (tokens: number) => ({
      parameters,
      maxLength: 512,
      tokenizer: { endTokens: [], decode: () => "" } as never,
      sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: tokens, stop: [], seed: 0 },
    }),
  };
}

function requestsOf(...lengths: number[]): GenerationRequest[] {
  return lengths.map((length, row) => ({
    prompt: Array.from({ length }, (_, i) => (7 * row + 11 * i) % (VOCABULARY - 1)),
    address: ["row", row],
  }));
}

const bytes = (generations: readonly Generation[]) =>
  generations.map(({ tokens, logprobs }) => [tokens, logprobs]);

const SHAPES: readonly (readonly [string, Partial<Architecture>])[] = [
  ["shared keys and biases", { keyHeads: 2, biases: true }],
  [
    "one key for all, norms of heads, a head of its own",
    { keyHeads: 1, headNorms: true, tied: false },
  ],
  ["one layer", { layers: 1 }],
  ["heads of 6", { heads: 5, keyHeads: 5, headSize: 6 }],
  ["heads of 10", { heads: 3, keyHeads: 3, headSize: 10 }],
];

test.each(SHAPES)(
  "%s: order, other rows and batch size change nothing, over several growths",
  async (_, own) => {
    const { decoder, settings } = policy(own);
    const eight = decoder({ batch: 8 });
    const rows = requestsOf(1, 40, 7, 16, 17);
    const together = bytes(await generateAll(eight, rows, settings(70)));
    const backwards = await generateAll(eight, rows.toReversed(), settings(70));
    expect(bytes(backwards.toReversed())).toEqual(together);
    for (const batch of [1, 3]) {
      const few = await generateAll(decoder({ batch }), rows, settings(70));
      expect(bytes(few)).toEqual(together);
    }
  },
);

test.each([
  ["micro", SIZES.micro, 127, 2],
  ["small", SIZES.small, 64, 4],
] as const)("%s: threads change nothing", async (_, own, batch, threads) => {
  const { decoder, settings } = policy(own);
  // As many as there are places: with fewer, fewer would be computed.
  const rows = requestsOf(...Array.from({ length: batch }, (_, i) => 1 + ((7 * i) % 16)));
  const one = await generateAll(decoder({ batch, threads: 1 }), rows, settings(3));
  const several = await generateAll(decoder({ batch, threads }), rows, settings(3));
  expect(bytes(several)).toEqual(bytes(one));
});

test("batches at the same time, and one that was broken off, leave the others alone", async () => {
  const { decoder, settings } = policy({});
  const eight = decoder({ batch: 8 });
  const sets = [requestsOf(3, 9), requestsOf(30, 2, 5), requestsOf(12)];
  const after = [];
  for (const set of sets) after.push(bytes(await generateAll(eight, set, settings(40))));
  const atOnce = await Promise.all(sets.map((set) => generateAll(eight, set, settings(40))));
  expect(atOnce.map(bytes)).toEqual(after);
  for await (const _ of generateSteps(eight, sets[1] ?? [], settings(40))) break;
  expect(bytes(await generateAll(eight, sets[0] ?? [], settings(40)))).toEqual(after[0]);
});

test("what is not a number in one row does not reach another, whatever room is made", async () => {
  const { decoder, settings, parameters } = policy({});
  const broken = { ...settings(40), parameters: Float32Array.from(parameters) };
  const last = VOCABULARY - 1;
  broken.parameters.fill(Number.NaN, last * 64, (last + 1) * 64); // Its row of the embedding.
  const [healthy, sick] = [requestsOf(9), [{ prompt: [1, last, 2], address: ["sick"] }]];
  const eight = decoder({ batch: 8 });
  // The head reads the embedding too, so that every logit of that token is none; none is sampled.
  const greedy = { ...broken, sampling: { ...broken.sampling, temperature: 0 } };
  const alone = bytes(await generateAll(eight, healthy, greedy));
  const beside = await generateAll(eight, [...sick, ...healthy, ...sick], greedy);
  expect(bytes(beside.slice(1, 2))).toEqual(alone);
  const after = await generateAll(decoder({ batch: 2 }), [...sick, ...sick, ...healthy], greedy);
  expect(bytes(after.slice(2))).toEqual(alone);
});

test("a graph that could not be made is made at the next call, and does not prevent closing", async () => {
  const { decoder, settings } = policy({});
  const [once, again] = [decoder({ batch: 4 }), decoder({ batch: 4 })];
  const create = vi.spyOn(Session, "create");
  for (const one of [once, again]) {
    create.mockRejectedValueOnce(new Error("no memory for a graph"));
    await expect(generateAll(one, requestsOf(3), settings(5))).rejects.toThrow("no memory");
  }
  create.mockRestore();
  await once.close();
  expect(bytes(await generateAll(again, requestsOf(3), settings(5)))).toEqual(
    bytes(await generateAll(decoder({ batch: 4 }), requestsOf(3), settings(5))),
  );
});

test("nothing is appended after the end, and nothing beyond the room", async () => {
  const { decoder, parameters } = policy({});
  const two = decoder({ batch: 2 });
  const decoding = two.begin(parameters, { prompts: [[1, 2]], room: 16 });
  await decoding.put(0, 0);
  for (let at = 2; at < 16; at++) await decoding.append([3]);
  await expect(decoding.append([3])).rejects.toThrow(/room for 16 tokens/);
  decoding.end();
  await expect(decoding.append([3])).rejects.toThrow(/has ended/);
});
