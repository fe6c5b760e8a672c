/** What is sent of a growing text: all of it in the end, and never too early. */

import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadCheckpoint } from "../policy/checkpoint.ts";
import { StreamingText } from "./streaming-text.ts";

const folder = path.join(import.meta.dirname, "../../tests/fixtures/hf-tiny/llama");
const { tokenizer } = await loadCheckpoint(folder);

/** Pushes these tokens one after the other, as sampling does. */
function stream(ids: readonly number[], stop: readonly string[] = []) {
  const whole = tokenizer.decode(ids);
  const ends = stop.map((text) => whole.indexOf(text)).filter((at) => at >= 0);
  const completion = ends.length > 0 ? whole.slice(0, Math.min(...ends)) : whole;
  const streaming = new StreamingText(tokenizer, stop);
  const shown = ids.flatMap((token, i) => {
    const last = i === ids.length - 1;
    const generation = {
      ...{ completion, finish: "stop" as const, tokens: ids, logprobs: [] },
      ...{ prompt_tokens: 1, completion_tokens: ids.length, sampled_logprobs: null },
    };
    const sampled = { token, logprob: -1, sampledLogprob: -1, row: 0, alternatives: [] };
    return streaming.push({ ...sampled, generation: last ? generation : null }) ?? [];
  });
  return { shown, texts: shown.map(({ text }) => text), completion };
}

test("a character of several tokens is sent when it is whole", () => {
  const text = "né 😀x";
  const ids = tokenizer.encode(text);
  expect(ids.length, "it takes several tokens").toBeGreaterThan([...text].length);
  const { texts, shown } = stream(ids);
  expect(texts.join("")).toBe(text);
  expect(texts.join("|")).not.toContain("\uFFFD");
  expect(texts.length).toBeGreaterThan(3);
  expect(shown.flatMap(({ tokens }) => tokens).map(({ token }) => token)).toEqual(ids);
  const offsets = shown.flatMap(({ tokens }) => tokens).map(({ offset }) => offset);
  expect(offsets.at(-1), "in characters, of which the smiley is one").toBe(4);
});

test("no part of a stop text is sent, and text that only resembled one is", () => {
  const letters = (text: string) => [...text].flatMap((letter) => tokenizer.encode(letter));
  const { texts } = stream(letters("a EN. b END"), ["END", "ENOUGH"]);
  expect(texts).toEqual(["a", " ", "EN.", " ", "b", " ", ""]);
});

test("any tokens and stop texts: the deltas are the completion, and each is whole", () => {
  const ids = fc.array(fc.nat(319), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(ids, fc.array(fc.string({ minLength: 1, maxLength: 2 })), (tokens, stop) => {
      // Sampling ends with the first stop text.
      const end = tokens.findIndex((_, i) =>
        stop.some((text) => tokenizer.decode(tokens.slice(0, i + 1)).includes(text)),
      );
      const { texts, completion } = stream(end < 0 ? tokens : tokens.slice(0, end + 1), stop);
      expect(texts.join("")).toBe(completion);
      expect(texts.some((text) => /\p{Cs}/u.test(text))).toBe(false);
    }),
    { seed: 1, numRuns: 500 },
  );
});
