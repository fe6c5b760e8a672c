import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { completionRow } from "../core/token-row.ts";
import { ADAM } from "../graph/train-step.ts";
import { attentionLength } from "../policy/architecture.ts";
import { loadCheckpoint } from "../policy/checkpoint.ts";
import { packRows } from "../policy/packing.ts";
import { type EngineUnderTest, engineContract } from "./engine.contract.ts";
import { LocalEngine, type LocalEngineOptions } from "./local-engine.ts";
import { sftLoss, TINY_POLICY, TINY_PROMPTS } from "./tiny-policy.contract.ts";

function local(options: Partial<LocalEngineOptions> = {}): EngineUnderTest {
  return {
    prompts: TINY_PROMPTS,
    open: async () => new LocalEngine(TINY_POLICY, { threads: 1, ...options }),
    loss: sftLoss,
    trainedIn: async (dir) => (await loadCheckpoint(dir)).trained,
  };
}

const lora = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] as const };
const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 6, stop: [], seed: 0 };
const UPDATE = { learningRate: 0.01, adam: ADAM, microBatchSize: 4, klCoefficient: 0 };

engineContract("the embedded engine", local());
engineContract("the embedded engine with adapters", local({ lora, seed: 1 }));
engineContract("the embedded engine, each row for itself", local({ unpacked: true }));

test("it takes rows of any length that the policy reads", async () => {
  const engine = new LocalEngine(TINY_POLICY, { threads: 1 });
  const [sample] = await engine.sample([{ prompt: [1, 3], address: ["free"] }], {
    ...{ ...SAMPLING, temperature: 0, max_tokens: 3 },
  });
  expect(sample?.tokens.length).toBeLessThanOrEqual(3);
  for (const length of [2, 3, TINY_POLICY.maxLength]) {
    const tokens = Array.from({ length }, (_, i) => 1 + (i % 9));
    const row = { ...completionRow(tokens.slice(0, 1), tokens.slice(1)), columns: {} };
    const [stats] = await engine.tokenStats([row], "policy");
    expect(stats?.logprobs).toHaveLength(length - 1);
    const { usedShare } = await engine.update([row], sftLoss(engine), UPDATE);
    expect(usedShare).toBeGreaterThan(0);
  }
  await engine.close();
});

describe("any number of threads gives the same bytes", () => {
  /** Groups of completions of different lengths, in parts enough for three threads. */
  const rows = Array.from({ length: 36 }, (_, i) => {
    const prompt = Array.from({ length: 3 + (i >> 2) }, (_x, t) => 3 + (((i >> 2) + t) % 11));
    const own = Array.from({ length: 1 + ((5 * i) % 7) }, (_x, t) => 3 + ((3 * i + t) % 11));
    return { ...completionRow([1, ...prompt], [...own, 2]), columns: {} };
  });
  const requests = rows.map(({ tokens, actions }, i) => ({
    ...{ prompt: tokens.slice(0, actions[0]?.[0]), address: ["threads", i] },
  }));
  const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-threads-"));
  afterAll(() => rmSync(scratch, { recursive: true }));

  /** Everything that an engine computes, before and after it has learned. */
  async function everything(options: LocalEngineOptions) {
    const engine = new LocalEngine(TINY_POLICY, options);
    const loss = sftLoss(engine);
    const seen = async () => ({
      samples: await engine.sample(requests, SAMPLING),
      stopped: await engine.sample(requests, { ...SAMPLING, stop: ["1"] }),
      stats: await engine.tokenStats(rows, "policy", { exactKl: true }),
      reference: await engine.tokenStats(rows, "reference"),
      policy: await engine.hashOf("policy"),
    });
    const before = await seen();
    const updates = [];
    for (let i = 0; i < 3; i++) updates.push(await engine.update(rows, loss, UPDATE));
    const after = await seen();
    await engine.close();
    return { before, updates, after };
  }

  test("there is work for three threads", () => {
    const { parts } = packRows(rows, {
      ...{ mostRows: UPDATE.microBatchSize },
      attentionLength: attentionLength(TINY_POLICY.architecture),
    });
    expect(parts.length).toBeGreaterThanOrEqual(3);
  });

  test.each([
    ["all parameters", {}],
    ["adapters", { lora, seed: 1 }],
  ] as const)("of samples, figures and updates: %s", async (_, options) => {
    const one = await everything({ threads: 1, ...options });
    expect(one.after.policy).not.toBe(one.before.policy);
    expect(one.after.samples).not.toEqual(one.before.samples);
    expect(one.after.stats).not.toEqual(one.before.stats);
    for (const threads of [2, 3]) {
      expect(await everything({ threads, ...options })).toEqual(one);
    }
  });

  test("a state that was saved with one thread is continued with three", async () => {
    const learned = async (
      threads: number,
      steps: number,
      saved: { from?: string; to?: string },
    ) => {
      const engine = new LocalEngine(TINY_POLICY, { threads });
      const loss = sftLoss(engine);
      if (saved.from !== undefined) await engine.loadState(saved.from);
      for (let i = 0; i < steps; i++) await engine.update(rows, loss, UPDATE);
      if (saved.to !== undefined) await engine.saveState(saved.to);
      const hash = await engine.hashOf("policy");
      await engine.close();
      return hash;
    };
    const through = await learned(1, 3, {});
    await learned(1, 1, { to: scratch });
    expect(await learned(3, 2, { from: scratch })).toBe(through);
  });
});
