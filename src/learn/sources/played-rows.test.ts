/** What is learned from episodes of several turns: which rows, which tokens, and with which advantages. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../../core/environment.ts";
import type { JsonObject } from "../../core/json.ts";
import { actionCount, actionIndices, type TokenRow } from "../../core/token-row.ts";
import type { Engine } from "../../engine/engine.ts";
import type { TrainingRow } from "../../engine/loss.ts";
import { CharacterTokenizer } from "../../policy/characters.ts";
import { saveCheckpoint } from "../../policy/checkpoint.ts";
import { initialise, SIZES } from "../../policy/initialise.ts";
import { algorithmOf } from "../algorithms/index.ts";
import { openLocalEngine } from "../engines.ts";
import { generalisedAdvantages } from "../parts/advantages.ts";
import { trainSettings } from "../settings.ts";
import type { Batch } from "../source.ts";
import { lossCallOf } from "../update.ts";
import type { Examples } from "./examples.ts";
import { HeldOutPrompts } from "./held-out.ts";
import { readTrainingData } from "./index.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-played-"));
const TURNS = 3;
const engines: Engine[] = [];
const tokenizer = new CharacterTokenizer("ab?");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};

beforeAll(() =>
  saveCheckpoint(path.join(folder, "start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 32 },
    parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  }),
);
afterAll(async () => {
  for (const engine of engines) await engine.close();
  rmSync(folder, { recursive: true });
});

/** Pays 2^turn for an `a`, so that every turn's reward is another. */
const paysMore = (memoryless: boolean): Environment<number> => ({
  identity: { name: "pays_more", version: "1" },
  memoryless,
  reset: async () => ({ state: 0, reward: 0, observation: [{ role: "user", content: "?" }] }),
  step: async (batch) =>
    batch.map(({ state, action }) => ({
      ...{ state: state + 1, observation: [{ role: "user" as const, content: "b?" }] },
      reward: action.text.includes("a") ? 2 ** state : 0,
      metrics: { tool_errors: 1 },
      ...(state + 1 === TURNS && { end: { code: "done", terminated: true, details: {} } }),
    })),
});

const tasks = ["x", "y"].map((id) => ({ id, prompt: id }));
const examples: Examples = {
  ...{ list: tasks, name: "tasks", places: ["x", "y"] },
  input: {
    role: "examples",
    path: null,
    split: "train",
    sha256: "0".repeat(64),
    bytes: 0,
    rows: 2,
  },
};

async function opened(name: string, memoryless: boolean, given: JsonObject = {}) {
  const algorithm = algorithmOf(name);
  const settings = trainSettings(algorithm, {
    ...{ steps: 2, batch: 4, rollouts: { prompts: 2, group: 4, max_tokens: 3 } },
    ...given,
  });
  const engine = await openLocalEngine({
    ...{ algorithm, settings },
    options: {
      ...{ algorithm: name, init: path.join(folder, "start"), size: "nano", threads: 1 },
      ...{ settings: {}, outdir: folder, saveEvery: 1 },
    },
  });
  engines.push(engine);
  const outdir = mkdtempSync(path.join(folder, "run-"));
  const data = await readTrainingData({
    ...{ dataset: "tasks", tasks: examples, played: true, outdir, algorithm, settings },
    ...{ encoder: engine.encoder, heldOut: new HeldOutPrompts([]) },
  });
  const source = data.open({ engine, environment: paysMore(memoryless), saved: undefined });
  const batch: Batch = await source.batch(1);
  return { engine, algorithm, settings, batch, outdir };
}

const written = ({ tokens, actions }: TokenRow) =>
  actions.map(([from, to]) => tokens.slice(from, to));

describe("only the policy's own tokens learn", () => {
  const last = (row: TrainingRow): TrainingRow => ({ ...row, tokens: [...row.tokens, 3] });

  test.each(["grpo", "ppo", "rft"])("with %s", async (name) => {
    const { engine, algorithm, settings, batch } = await opened(name, false, {
      ...(name === "rft" && { algorithm: { threshold: null } }),
    });
    const [row] = batch.rows.filter(({ actions }) => actions.length === TURNS);
    if (!row) throw new Error("no row of several turns");
    const call = lossCallOf(engine.can, algorithm, settings, 3);
    const options = {
      ...{ learningRate: 0, klCoefficient: 0, microBatchSize: null },
      adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, clipNorm: 0 },
    };
    const lossOf = async (one: TrainingRow) => {
      const { loss, gradientNorm } = await engine.update([one], call, options);
      return { loss, gradientNorm };
    };
    // An observation at the end: its tokens are targets of the positions before them, and of no loss.
    const before = await lossOf(last(row));
    const changed = last(row);
    const other = { ...changed, tokens: [...changed.tokens.slice(0, -1), 4] };
    expect(await lossOf(other)).toEqual(before);
    expect((await lossOf(row)).loss).toBeCloseTo(before.loss, 5);
    // The same change of the policy's own last token is another loss.
    const own = [...actionIndices(row)].at(-1) as number;
    const wrong = row.tokens.map((token, i) => (i === own ? (token === 3 ? 4 : 3) : token));
    expect((await lossOf({ ...row, tokens: wrong })).loss).not.toBeCloseTo(before.loss, 3);
  });
});

describe("ppo", () => {
  test.each([false, true])(
    "advantages run over the turns of an episode (memoryless: %s)",
    async (memoryless) => {
      const { engine, batch, settings } = await opened("ppo", memoryless, {
        algorithm: { whiten: false, discount: 0.9, lambda: 0.8 },
      });
      const { rows } = batch;
      expect(settings.rollouts.credit).toBe("turn");
      const perEpisode = memoryless ? TURNS : 1;
      expect(rows).toHaveLength(8 * perEpisode);
      const stats = await engine.tokenStats(rows, "policy");
      for (let at = 0; at < rows.length; at += perEpisode) {
        const own = rows.slice(at, at + perEpisode);
        const values = stats.slice(at, at + perEpisode).flatMap((one) => [...(one.values ?? [])]);
        // An `a` is token 3; each turn's reward stands at its last token.
        const rewards = own
          .flatMap(written)
          .flatMap((tokens, turn) =>
            tokens.map((_, t) => (t === tokens.length - 1 && tokens.includes(3) ? 2 ** turn : 0)),
          );
        const { advantages, returns } = generalisedAdvantages(rewards, values, 0.9, 0.8);
        const column = (name: string) =>
          own.flatMap(({ columns }) => [...(columns[name] as number[])]);
        for (const [t, advantage] of column("advantage").entries()) {
          expect(advantage).toBeCloseTo(advantages[t] as number, 4);
        }
        for (const [t, one] of column("return").entries()) {
          expect(one).toBeCloseTo(returns[t] as number, 4);
        }
      }
    },
  );
});

test("by segment every turn of a group is compared with all of them", async () => {
  const rollouts = { prompts: 2, group: 4, max_tokens: 3, credit: "segment", discount: 0 };
  const { batch } = await opened("reinforce", true, { rollouts });
  for (let group = 0; group < 2; group++) {
    const own = batch.rows.slice(group * 4 * TURNS, (group + 1) * 4 * TURNS);
    const pays = own.map((row, i) => (written(row)[0]?.includes(3) ? 2 ** (i % TURNS) : 0));
    const mean = pays.reduce((sum, x) => sum + x, 0) / pays.length;
    for (const [i, { columns }] of own.entries()) {
      expect((columns.advantage as number[])[0]).toBeCloseTo((pays[i] as number) - mean, 5);
    }
  }
});

describe("rejection sampling", () => {
  test.each([
    ["the best of a task's episodes", { threshold: null, keep: 1 }],
    ["episodes above a threshold", { threshold: 4, keep: 2 }],
  ])("keeps %s, and learns all their turns", async (_, algorithm) => {
    const { batch, outdir } = await opened("rft", true, { algorithm });
    const kept = readFileSync(path.join(outdir, "kept.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const id of ["x", "y"]) {
      const rewards = kept.filter((one) => one.id === id).map(({ reward }) => reward);
      expect(rewards.length).toBeLessThanOrEqual(algorithm.keep);
      expect(rewards).toEqual(rewards.toSorted((a, b) => b - a));
    }
    for (const { reward, segments, completions } of kept) {
      expect(segments).toHaveLength(TURNS);
      expect(completions).toHaveLength(TURNS);
      if (algorithm.threshold) expect(reward).toBeGreaterThanOrEqual(algorithm.threshold);
    }
    const known = kept.flatMap(({ segments }) => segments.map((one: TokenRow) => one.tokens));
    for (const row of batch.rows) {
      expect(known).toContainEqual(row.tokens);
      expect(actionCount(row)).toBeLessThan(row.tokens.length);
    }
    const { metrics } = batch;
    expect(metrics["kept/rows"]).toBe(kept.length * TURNS);
    expect(metrics).toMatchObject({ "episode/turns": TURNS, "episode/tool_errors": TURNS });
    expect(batch.outcomes).toEqual({ done: 16 });
  });
});

test("the figures of a step are those of its episodes", async () => {
  const { batch } = await opened("grpo", false, {});
  const { metrics } = batch;
  expect(metrics).toMatchObject({
    ...{ "episode/turns": TURNS, "episode/turns_max": TURNS, "episode/tool_errors": TURNS },
    ...{ "episode/truncated": 0, "episode/out_of_turns": 0, "episode/context_full": 0 },
  });
  expect(metrics["episode/reward_per_turn"]).toBeCloseTo((metrics["reward/mean"] ?? 0) / TURNS, 6);
  expect(metrics["length/max"]).toBeLessThanOrEqual(3);
});

test("an episode that fills the context is counted as cut short", async () => {
  const rollouts = { prompts: 2, group: 4, max_tokens: 30 };
  const { batch } = await opened("grpo", false, { rollouts });
  const full = batch.outcomes?.context_full ?? 0;
  expect(full).toBeGreaterThan(0);
  expect(batch.metrics["episode/context_full"]).toBe(full / 8);
  expect(batch.metrics["episode/truncated"]).toBe(full / 8);
});
