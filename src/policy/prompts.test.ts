/** Which prompts are read when; the reader here keeps a list and computes nothing. */

import { expect, test } from "vitest";
import type { ReadPrompt } from "./prompt-reader.ts";
import { Prompts } from "./prompts.ts";

/** Asks for the prompts of all requests in their order; gives what was read together each time. */
async function callsOf(prompts: readonly (readonly number[])[], together: number) {
  const calls: (readonly number[])[][] = [];
  const texts = new Map<ReadPrompt, readonly number[]>();
  const read = async (some: readonly (readonly number[])[]) => {
    calls.push([...some]);
    return some.map((prompt) => {
      const next = { logits: new Float32Array(1), probabilities: new Float32Array(1) };
      const made = { length: prompt.length, byHead: [], next };
      texts.set(made, prompt);
      return made;
    });
  };
  const asked = new Prompts(read, prompts, together);
  for (const [i, prompt] of prompts.entries()) {
    expect(texts.get(await asked.of(i))).toEqual(prompt);
  }
  return calls;
}

const samplesOf = (prompts: number, each: number) =>
  Array.from({ length: prompts * each }, (_, i) => [7, Math.floor(i / each)]);

test("each prompt is read once for requests that follow each other", async () => {
  const calls = await callsOf(samplesOf(40, 8), 16);
  expect(calls.map(({ length }) => length)).toEqual([16, 16, 8]);
  expect(calls.flat()).toEqual(Array.from({ length: 40 }, (_, i) => [7, i]));
});

test("prompts that come back are read again only if others were read between them", async () => {
  const rounds = Array.from({ length: 3 }, () => samplesOf(6, 1)).flat();
  expect((await callsOf(rounds, 6)).flat()).toHaveLength(6);
  const calls = await callsOf(rounds, 4);
  expect(calls.map(({ length }) => length)).toEqual([4, 4, 4, 4, 2]);
});

test("prompts are told apart by their tokens, not by the text of their tokens", async () => {
  expect((await callsOf([[1, 23], [12, 3], [1, 23], []], 8)).flat()).toHaveLength(3);
});
