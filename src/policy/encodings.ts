/**
 * The encodings of OpenAI's models. `gpt-tokenizer` has the vocabularies, byte for byte the files that
 * OpenAI publishes; each is read on demand. The merging is ours (byte-pair.ts), because the package's
 * own takes quadratic time and gives other ids than OpenAI for U+FEFF.
 *
 * Special tokens are not supported: `<|endoftext|>` in a text is thirteen ordinary characters.
 */

import { createRequire } from "node:module";
import { LockedRoomError, usageError } from "../core/errors.ts";
import { visibleShort } from "../core/visible.ts";
import { readText } from "../runs/whole-file.ts";
import { bytePairTokenizer } from "./byte-pair.ts";
import type { Tokenizer } from "./tokenizer.ts";

// The patterns are those of tiktoken's openai_public.py. Its \s is Unicode's White_Space, which has
// U+0085 and lacks U+FEFF; JavaScript's is the other way round.
const S = String.raw`\p{White_Space}`;
const NOT_S = String.raw`\P{White_Space}`;
const SUFFIX = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])";
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;

const R50K = pattern(
  "'(?:[sdmt]|ll|ve|re)",
  String.raw` ?\p{L}+| ?\p{N}+| ?[^${S}\p{L}\p{N}]+`,
  `${S}+(?!${NOT_S})|${S}+`,
);
const CL100K = pattern(
  SUFFIX,
  String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}`,
  String.raw` ?[^${S}\p{L}\p{N}]+[\r\n]*`,
  String.raw`${S}+$|${S}*[\r\n]|${S}+(?!${NOT_S})|${S}`,
);
const O200K = pattern(
  String.raw`[^\r\n\p{L}\p{N}]?${UPPER}*${LOWER}+(?:${SUFFIX})?`,
  String.raw`[^\r\n\p{L}\p{N}]?${UPPER}+${LOWER}*(?:${SUFFIX})?`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^${S}\p{L}\p{N}]+[\r\n/]*`,
  String.raw`${S}*[\r\n]+|${S}+(?!${NOT_S})|${S}+`,
);

function pattern(...alternatives: string[]): RegExp {
  return new RegExp(alternatives.join("|"), "gu");
}

interface Encoding {
  readonly pattern: RegExp;
  /** The name of the published vocabulary. */
  readonly vocabulary: "o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base";
  readonly models: readonly string[];
}

/** Names that share a vocabulary differ in special tokens only. */
export const ENCODINGS = {
  o200k_base: {
    vocabulary: "o200k_base",
    pattern: O200K,
    models: ["GPT-5", "GPT-4.1", "GPT-4o", "o1", "o3", "o4-mini"],
  },
  o200k_harmony: { vocabulary: "o200k_base", pattern: O200K, models: ["gpt-oss"] },
  cl100k_base: { vocabulary: "cl100k_base", pattern: CL100K, models: ["GPT-4", "GPT-3.5"] },
  p50k_base: { vocabulary: "p50k_base", pattern: R50K, models: ["code-davinci"] },
  p50k_edit: { vocabulary: "p50k_base", pattern: R50K, models: ["davinci-edit"] },
  r50k_base: { vocabulary: "r50k_base", pattern: R50K, models: ["GPT-3"] },
  gpt2: { vocabulary: "r50k_base", pattern: R50K, models: ["GPT-2"] },
} satisfies Record<string, Encoding>;

export type EncodingName = keyof typeof ENCODINGS;
export const DEFAULT_ENCODING: EncodingName = "o200k_base";

/** Reads a vocabulary, which takes about a tenth of a second. An unknown name is a usage error. */
export async function loadTokenizer(name: string): Promise<Tokenizer> {
  if (!Object.hasOwn(ENCODINGS, name)) throw unknownEncoding(name);
  const { vocabulary, pattern } = ENCODINGS[name as EncodingName];
  return bytePairTokenizer({ name, pattern, ranks: await readRanks(vocabulary) });
}

/** Each line is a token in base64, a space, and its rank. */
async function readRanks(vocabulary: Encoding["vocabulary"]): Promise<Map<string, number>> {
  const file = vocabularyFile(vocabulary);
  const ranks = new Map<string, number>();
  for (const line of (await readText(file, "latin1")).split("\n")) {
    const space = line.indexOf(" ");
    if (space > 0) ranks.set(atob(line.slice(0, space)), Number(line.slice(space + 1)));
  }
  return ranks;
}

function unknownEncoding(name: string) {
  const list = Object.entries(ENCODINGS).map(
    ([known, { models }]) => `${known} (${models.join(", ")})`,
  );
  return usageError(
    `there is no encoding "${visibleShort(name, 40)}"`,
    `Did you mean ${nearest(name)}? The encodings are ${list.join(", ")}.`,
  );
}

/** The encoding whose name, or one of whose models, is spelt most like what was typed. */
function nearest(typed: string): string {
  const given = pairs(typed);
  const likeness = (word: string) => {
    const own = [...pairs(word)];
    return own.filter((pair) => given.has(pair)).length / (own.length + given.size);
  };
  const words = Object.entries(ENCODINGS).flatMap(([name, { models }]) =>
    [name, ...models].map((word) => ({ name, score: likeness(word) })),
  );
  const fallback = { name: DEFAULT_ENCODING as string, score: 0.2 };
  return words.reduce((best, word) => (word.score > best.score ? word : best), fallback).name;
}

/** The pairs of neighbouring characters, with both ends. */
function pairs(word: string): Set<string> {
  const text = `^${word.slice(0, 100).toLowerCase()}$`;
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}

/** The package is an optional peer dependency, because it is large. */
function vocabularyFile(vocabulary: string): string {
  try {
    return createRequire(import.meta.url).resolve(`gpt-tokenizer/data/${vocabulary}.tiktoken`);
  } catch (error) {
    throw new LockedRoomError("usage", "the vocabularies are not installed", {
      hint: "Install them: npm install gpt-tokenizer@4",
      cause: error,
    });
  }
}
