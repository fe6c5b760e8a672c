/** A tiny world for training with a judge: one question, answers of a few letters, labels or none. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { PlayableEnvironment } from "../../core/environment.ts";
import type { Example } from "../../core/records.ts";
import { CharacterTokenizer } from "../../policy/characters.ts";
import { saveCheckpoint } from "../../policy/checkpoint.ts";
import { initialise, SIZES } from "../../policy/initialise.ts";
import type { TrainOptions } from "../options.ts";
import { tinyJudge } from "./tiny-judge.contract.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-judged-"));
afterAll(() => rmSync(folder, { recursive: true }));
export const here = (name: string) => path.join(folder, name);
const tokenizer = new CharacterTokenizer("ab?");

beforeAll(async () => {
  const architecture = {
    ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
    ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
  };
  await saveCheckpoint(here("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 16 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 4 * x)),
  });
});

const LONGEST = 6;
const share = (text: string, letter: string) =>
  [...text].filter((one) => one === letter).length / LONGEST;

/** One question; the label is what `worth` says of the answer, if anything does. */
export function answers(
  worth: ((text: string) => number) | null,
  more: Partial<PlayableEnvironment> = {},
): PlayableEnvironment {
  const observation = [{ role: "user" as const, content: "?" }];
  const tasks = (split: string, count: number): Example[] =>
    Array.from({ length: count }, (_, i) => ({ id: `${split}-${i}`, prompt: `${split} ${i}` }));
  return {
    environment: {
      identity: { name: worth ? "labelled" : "unlabelled", version: "1" },
      reset: async () => ({ state: 0, observation, reward: worth && 0 }),
      step: async (batch) =>
        batch.map(({ action: { text } }) => ({
          ...{ state: 0, observation: [], reward: worth ? worth(text) : null },
          end: {
            code: worth && worth(text) >= 0.5 ? "good" : "poor",
            ...{ terminated: true, details: {} },
          },
        })),
    },
    ...{ tools: [], codes: ["good", "poor"], solved: ["good"] },
    rewards: worth && [0, 1],
    tasks: async (split) => tasks(split, { train: 8, dev: 24, holdout: 4 }[split]),
    close: async () => {},
    ...more,
  };
}

export const wantsA = (text: string) => share(text, "a");
export const honest = () => tinyJudge("honest", wantsA);
/** It takes length for quality. */
export const long = () => tinyJudge("long", (text) => text.length / LONGEST);
export const isShort = (text: string) => 1 - text.length / LONGEST;

export function options(outdir: string, more: Partial<TrainOptions>): TrainOptions {
  return {
    ...{ algorithm: "grpo", outdir: here(outdir), init: here("start"), size: "nano" },
    ...{ threads: 1, saveEvery: 2, environment: answers(null), judge: honest(), ...more },
    settings: {
      ...{ steps: 4, rate: { peak: 0.02, warmup: 0 }, alarms_stop: false },
      evaluate: { every: 2, max_tokens: LONGEST },
      rollouts: { prompts: 4, group: 6, max_tokens: LONGEST },
      ...more.settings,
    },
  };
}

export const bytesOf = (run: string) =>
  Object.fromEntries(
    readdirSync(here(run))
      .filter((name) => name.endsWith(".jsonl") && name !== "timing.jsonl")
      .map((name) => [name, readFileSync(here(path.join(run, name)), "utf8")]),
  );
