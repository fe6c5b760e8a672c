import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalisedPrompt } from "../core/prompt-fingerprint.ts";
import { looseHash, PromptHashes } from "./repeated-prompts.ts";

describe("the hash that ignores case and white space", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
  );

  test("is the same for a prompt and its normalised form, so no repeat is missed", () => {
    fc.assert(
      fc.property(text, (prompt) => {
        expect(looseHash(prompt)).toBe(looseHash(normalisedPrompt(prompt)));
      }),
      { numRuns: 1000 },
    );
  });

  test("differs for different prompts", () => {
    const hashes = new Set<number>();
    for (let i = 0; i < 300; i++)
      for (let k = 0; k < 300; k++) hashes.add(looseHash(`Compute ${i} + ${k}.`));
    expect(hashes.size).toBe(90_000);
    for (const hash of hashes) expect(Number.isSafeInteger(hash)).toBe(true);
  });
});

test("repeats are found wherever they are, and only they", () => {
  const hashes = new PromptHashes();
  const rows = 20_000;
  for (let i = 0; i < rows; i++) hashes.add(`Compute ${i % (rows - 2)} + 1.`);
  expect(hashes.repeated()).toEqual(
    new Set([looseHash("Compute 0 + 1."), looseHash("compute  1+1.")]),
  );
  expect(new PromptHashes().repeated().size).toBe(0);
});
