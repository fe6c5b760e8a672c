/** Which rows are compared with the reference, what the engine is asked for, and what is recorded of it. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../../core/environment.ts";
import type { JsonObject } from "../../core/json.ts";
import { completionRow, type TokenRow } from "../../core/token-row.ts";
import { wrapEngine } from "../../engine/engine.ts";
import { LocalEngine } from "../../engine/local-engine.ts";
import { sftLoss, TINY_POLICY } from "../../engine/tiny-policy.contract.ts";
import { algorithmOf } from "../algorithms/index.ts";
import { idleSettings } from "../settings/unused.ts";
import { trainSettings } from "../settings.ts";
import { lossCallOf } from "../update.ts";
import { HeldOutPrompts } from "./held-out.ts";
import { evenlySpaced, referenceColumn, referenceGroups } from "./reference-share.ts";
import { readRollouts } from "./rollouts.ts";

/** A group has as many rows as are compared at least. */
const [PROMPTS, GROUP] = [8, 32];
const UPDATE = {
  ...{ learningRate: 0.01, microBatchSize: null, klCoefficient: 0 },
  adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 },
};
const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-reference-"));
const dataset = path.join(folder, "sums.jsonl");
const engine = new LocalEngine(TINY_POLICY, { threads: 1 });
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await engine.close();
});

beforeAll(async () => {
  const sums = Array.from({ length: PROMPTS }, (_, a) => ({ id: `${a}`, prompt: `${a}+1=` }));
  writeFileSync(dataset, sums.map((row) => `${JSON.stringify(row)}\n`).join(""));
  // An update, so that the policy is no longer its reference.
  const { encoder } = engine;
  const said = completionRow(encoder.promptTokens("1+2="), [...encoder.encode("3"), 1]);
  await engine.update([{ ...said, columns: {} }], sftLoss(engine), UPDATE);
});

/** Pays for digits below 5. */
const environment: Environment<null> = {
  identity: { name: "small", version: "1" },
  reset: async ({ prompt }) => ({
    ...{ state: null, reward: 0, observation: [{ role: "user", content: prompt }] },
  }),
  step: async (batch) =>
    batch.map(({ action: { text } }) => ({
      ...{ state: null, observation: [], reward: Number(/^[0-4]/.test(text)) },
      end: { code: "done", terminated: true, details: {} },
    })),
};

/** The first batch, and the rows that the reference was asked for. */
async function batchOf(algorithm: string, kl: JsonObject) {
  const asked: TokenRow[] = [];
  const counting = wrapEngine(engine, {
    tokenStats(rows, of, options) {
      if (of === "reference") asked.push(...rows);
      return engine.tokenStats(rows, of, options);
    },
  });
  const method = algorithmOf(algorithm);
  const rollouts = { prompts: PROMPTS, group: GROUP, max_tokens: 4 };
  const settings = trainSettings(method, { steps: 1, rollouts, kl });
  const data = await readRollouts({
    ...{ dataset, outdir: folder, algorithm: method, settings, encoder: engine.encoder },
    heldOut: new HeldOutPrompts([]),
  });
  const source = data.open({ engine: counting, environment, saved: undefined });
  return { ...(await source.batch(1)), asked, settings };
}

const tokensOf = (rows: readonly TokenRow[]) => rows.map(({ tokens }) => tokens);

describe("without a penalty", () => {
  test.each([
    [0.125, [4]],
    [0.25, [2, 6]],
    [0.5, [1, 3, 5, 7]],
    [1, [0, 1, 2, 3, 4, 5, 6, 7]],
  ])("a share of %d is the groups %j, and no other row is computed", async (share, groups) => {
    const { rows, asked, metrics } = await batchOf("grpo", { diagnostic_share: share });
    expect(rows).toHaveLength(PROMPTS * GROUP);
    const taken = groups.flatMap((g) => rows.slice(g * GROUP, (g + 1) * GROUP));
    expect(tokensOf(asked)).toEqual(tokensOf(taken));
    expect(metrics["kl/rows"]).toBe(share === 1 ? undefined : taken.length);

    // The figures are those of a batch that consists of these rows.
    const stats = await engine.tokenStats(taken, "reference");
    const d = taken.flatMap(({ columns }, i) =>
      Array.from(columns.old as number[], (old, t) => old - (stats[i]?.logprobs[t] as number)),
    );
    const mean = (values: number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
    expect(metrics["kl/k1"]).toBeCloseTo(mean(d), 6);
    expect(metrics["kl/k2"]).toBeCloseTo(mean(d.map((x) => (x * x) / 2)), 6);
    expect(metrics["kl/k3"]).toBeCloseTo(mean(d.map((x) => Math.exp(-x) - 1 + x)), 6);
    expect(metrics["check/reference_gap"]).toBeCloseTo(Math.max(...d.map(Math.abs)), 6);
    expect(metrics["check/reference_gap"]).toBeGreaterThan(1e-3);
  });

  test("an eighth of the groups unless set, and nothing else depends on it", async () => {
    const [whole, share] = [
      await batchOf("grpo", { diagnostic_share: 1 }),
      await batchOf("grpo", {}),
    ];
    expect(share.settings.kl.diagnostic_share).toBe(0.125);
    expect(share.asked).toHaveLength(GROUP);
    expect(share.rows).toEqual(whole.rows);
    const rest = ({ metrics }: typeof share) =>
      Object.entries(metrics).filter(([name]) => !/^kl\/|reference_gap/.test(name));
    expect(rest(share)).toEqual(rest(whole));
  });

  test("no row has a column `reference`, and a loss that asks for one is refused", async () => {
    const { rows } = await batchOf("grpo", { diagnostic_share: 1 });
    for (const { columns } of rows) expect(columns).not.toHaveProperty("reference");
    const grpo = algorithmOf("grpo");
    const penalised = trainSettings(grpo, { steps: 1, kl: { mode: "fixed" } });
    const loss = lossCallOf(engine.can, grpo, penalised, 4);
    const update = engine.update(rows, loss, UPDATE);
    await expect(update).rejects.toThrow(/column "reference"/);
  });
});

describe("with a penalty", () => {
  test.each([
    ["grpo", "fixed", "loss"],
    ["grpo", "adaptive", "loss"],
    ["rloo", "fixed", "reward"],
    ["rloo", "adaptive", "reward"],
  ])("%s, %s, in the %s: all rows, whatever the share", async (algorithm, mode, place) => {
    const kl = { mode, place, diagnostic_share: 0.125 };
    const { rows, asked, metrics } = await batchOf(algorithm, kl);
    expect(tokensOf(asked)).toEqual(tokensOf(rows));
    expect(metrics).not.toHaveProperty(["kl/rows"]);
    for (const { columns } of rows) {
      const { reference, old } = columns as Record<string, ArrayLike<number>>;
      // The loss reads it only where the penalty is in the loss.
      expect(reference?.length).toBe(place === "loss" ? old?.length : undefined);
    }
  });

  test.each(["fixed", "adaptive"])("a share that is given has no effect on %s, by name", (mode) => {
    const grpo = algorithmOf("grpo");
    expect(idleSettings(grpo, { steps: 1, kl: { mode } })).toEqual([]);
    const given = { steps: 1, kl: { mode, diagnostic_share: 0.5 } };
    expect(idleSettings(grpo, given)).toEqual([
      {
        name: "kl.diagnostic_share",
        because: `kl.diagnostic_share has no effect while kl.mode is ${mode}: a KL penalty needs the reference on all rows`,
        add: "kl.mode=none",
      },
    ]);
  });
});

test("a method whose loss reads the reference gets it for all rows", () => {
  const settings = trainSettings(algorithmOf("grpo"), { steps: 1 });
  expect(referenceGroups(PROMPTS, { reference: true }, settings).size).toBe(PROMPTS);
  expect(referenceColumn({ reference: true }, settings)).toBe(true);
  expect(referenceColumn({}, settings)).toBe(false);
});

test.each([0, -0.1, 1.01])("a share of %d is refused", (share) => {
  const given = { steps: 1, kl: { diagnostic_share: share } };
  expect(() => trainSettings(algorithmOf("grpo"), given)).toThrow("kl.diagnostic_share");
});

test("groups are evenly spaced, at least one, each once, and as many as the share says", () => {
  for (let count = 1; count <= 70; count++) {
    for (const share of [1e-6, 0.01, 0.1, 0.125, 0.29, 1 / 3, 0.5, 0.7, 0.99, 1]) {
      const taken = evenlySpaced(count, share);
      expect(taken).toHaveLength(Math.max(1, Math.round(count * share)));
      expect(taken[0]).toBeGreaterThanOrEqual(0);
      expect(taken.at(-1)).toBeLessThan(count);
      const steps = taken.slice(1).map((at, i) => at - (taken[i] as number));
      const even = count / taken.length;
      for (const step of steps) expect(Math.abs(step - even)).toBeLessThan(1);
      expect(Math.min(1, ...steps)).toBe(1);
    }
  }
  expect(evenlySpaced(32, 0.125)).toEqual([4, 12, 20, 28]);
});
