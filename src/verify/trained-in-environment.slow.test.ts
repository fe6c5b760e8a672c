/** A training run in an environment of one's own, trained again from its file and its tasks. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayable } from "../environments/playable.ts";
import type { TrainOptions } from "../learn/options.ts";
import { train } from "../learn/train.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { verify } from "./verify.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-verify-env-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...names: string[]) => path.join(folder, ...names);

const GAME = `export default {
  name: "twice", version: "1", spec: "Say a, twice.", codes: ["done"], solved: ["done"],
  rewards: [0, 2], maxTurns: 4, random: false,
  tasks: (split) => [0, 1, 2, 3].map((i) => ({ id: split + i, prompt: split + " " + i })),
  reset: () => ({ state: { turn: 0 }, observation: [{ role: "user", content: "?" }], reward: 0 }),
  step: ({ turn }, { text }) => ({
    state: { turn: turn + 1 },
    observation: [{ role: "user", content: "?" }],
    reward: text.includes("a") ? 1 : 0,
    ...(turn === 1 && { end: { code: "done", terminated: true, details: {} } }),
  }),
  players: { idle: () => "" },
  ansi: () => "",
};
`;

beforeAll(async () => {
  const tokenizer = new CharacterTokenizer("ab?");
  const architecture = {
    ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
    ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
  };
  await saveCheckpoint(at("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 24 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  writeFileSync(at("game.ts"), GAME);
  const options: TrainOptions = {
    ...{ algorithm: "grpo", outdir: at("run"), init: at("start"), size: "nano" },
    ...{ threads: 1, saveEvery: 1, environment: await openPlayable(at("game.ts")) },
    settings: {
      ...{ steps: 2, alarms_stop: false, evaluate: { every: 1, max_tokens: 3, tasks: 2 } },
      rollouts: { prompts: 2, group: 3, max_tokens: 3 },
    },
  };
  await train(options);
});

const again = (more: object = {}) =>
  verify({ run: at("run"), train: true, only: ["train"], ...more });

test("has the same lines and weights", async () => {
  expect(await again()).toMatchObject({ parts: [{ part: "train", status: "equal", repeated: 2 }] });
});

test("finds the environment below a folder, by its code, and refuses another", async () => {
  mkdirSync(at("moved"));
  renameSync(at("game.ts"), at("moved", "game.ts"));
  expect(await again()).toMatchObject({
    parts: [{ status: "impossible", message: expect.stringContaining("is not there") }],
  });
  expect(await again({ from: at("moved") })).toMatchObject({ parts: [{ status: "equal" }] });
  writeFileSync(at("moved", "game.ts"), GAME.replace("? 1 : 0", "? 2 : 0"));
  expect(await again({ from: at("moved") })).toMatchObject({
    parts: [{ status: "impossible", message: expect.stringContaining("not the recorded one") }],
  });
});
