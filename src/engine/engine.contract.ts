/**
 * What every engine must do. An implementation's test calls this with a way to open one;
 * `tiny-policy.contract.ts` has a policy, prompts and a loss for it.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import { completionRow } from "../core/token-row.ts";
import { ADAM } from "../graph/train-step.ts";
import type { Engine, UpdateOptions, WeightSet } from "./engine.ts";
import type { LossCall } from "./loss.ts";

export interface EngineUnderTest {
  /** A fresh engine with the same weights every time. */
  readonly open: () => Promise<Engine>;
  /** A loss that makes the completions of rows more likely. */
  readonly loss: (engine: Engine) => LossCall;
  readonly prompts: readonly string[];
  /** How the policy of an exported checkpoint was learned, as the checkpoint says. */
  readonly trainedIn: (dir: string) => Promise<JsonObject | null>;
}

const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 6, stop: [], seed: 0 };
const UPDATE: UpdateOptions = {
  ...{ learningRate: 0.01, adam: ADAM, microBatchSize: null, klCoefficient: 0 },
};

export function engineContract(name: string, under: EngineUnderTest): void {
  const { open, loss, prompts, trainedIn } = under;
  describe(`${name} keeps the engine's contract`, () => {
    const opened: Engine[] = [];
    const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-engine-"));
    afterAll(async () => {
      for (const engine of opened) await engine.close();
      rmSync(scratch, { recursive: true });
    });

    async function fresh(): Promise<Engine> {
      const engine = await open();
      opened.push(engine);
      return engine;
    }

    const requests = (engine: Engine) =>
      prompts.map((prompt, i) => ({
        prompt: engine.encoder.promptTokens(prompt),
        address: ["contract", i],
      }));

    const written = ({ encoder }: Engine) =>
      prompts.map((prompt) => ({
        ...completionRow(encoder.promptTokens(prompt), [...encoder.encode("12"), encoder.endToken]),
        columns: {},
      }));

    const learn = (engine: Engine, call: LossCall, learningRate = UPDATE.learningRate) =>
      engine.update(written(engine), call, { ...UPDATE, learningRate });

    const total = async (engine: Engine, of: WeightSet) =>
      (await engine.tokenStats(written(engine), of))
        .flatMap(({ logprobs }) => [...logprobs])
        .reduce((sum, x) => sum + x, 0);

    test("samples have one log-prob per token, and they are those of teacher forcing", async () => {
      const engine = await fresh();
      const asked = requests(engine);
      const samples = await engine.sample(asked, SAMPLING);
      expect(samples).toHaveLength(asked.length);
      const rows = samples.map(({ tokens }, i) => completionRow(asked[i]?.prompt ?? [], tokens));
      const stats = await engine.tokenStats(rows, "policy");
      for (const [i, { tokens, logprobs }] of samples.entries()) {
        expect(logprobs).toHaveLength(tokens.length);
        logprobs?.forEach((logprob, t) => {
          expect(stats[i]?.logprobs[t]).toBeCloseTo(logprob, 4);
        });
      }
    });

    test("a sample depends on its address, not on its batch or order", async () => {
      const engine = await fresh();
      const [all, alone] = [requests(engine), requests(engine).slice(1, 2)];
      const together = await engine.sample(all, SAMPLING);
      const [one] = await engine.sample(alone, SAMPLING);
      expect(one).toEqual(together[1]);
      const backwards = await engine.sample([...all].reverse(), SAMPLING);
      if (engine.can.sameBytes) expect([...backwards].reverse()).toEqual(together);
    });

    test("a sample has at most max_tokens tokens", async () => {
      const engine = await fresh();
      const full = await engine.sample(requests(engine), SAMPLING);
      const short = await engine.sample(requests(engine), { ...SAMPLING, max_tokens: 2 });
      // Otherwise the shorter limit would cut nothing.
      expect(Math.max(...full.map(({ tokens }) => tokens.length))).toBeGreaterThan(2);
      for (const [i, { tokens, finish }] of short.entries()) {
        expect(tokens.length).toBeLessThanOrEqual(2);
        if (engine.can.sameBytes) expect(tokens).toEqual(full[i]?.tokens.slice(0, 2));
        if ((full[i]?.tokens.length ?? 0) > 2) expect(finish).toBe("length");
      }
    });

    test("top_k 1 samples what greedy decoding does", async () => {
      const engine = await fresh();
      const tokensOf = async (settings: object) =>
        (await engine.sample(requests(engine), { ...SAMPLING, ...settings })).map(
          ({ tokens }) => tokens,
        );
      const greedy = await tokensOf({ temperature: 0 });
      expect(await tokensOf({ top_k: 1 })).toEqual(greedy);
      expect(await tokensOf({})).not.toEqual(greedy);
    });

    test("spans decide which tokens have figures", async () => {
      const engine = await fresh();
      const [row] = written(engine);
      if (!row) throw new Error("no row");
      const last = row.tokens.length;
      const [whole] = await engine.tokenStats([row], "policy");
      const [two] = await engine.tokenStats(
        [
          {
            tokens: row.tokens,
            actions: [
              [last - 3, last - 2],
              [last - 1, last],
            ],
          },
        ],
        "policy",
      );
      expect(two?.logprobs).toHaveLength(2);
      expectNear(two?.logprobs, [whole?.logprobs[0], whole?.logprobs[2]]);
    });

    test("a row's figures do not depend on the other rows", async () => {
      const engine = await fresh();
      const rows = written(engine);
      const together = await engine.tokenStats(rows, "policy");
      const backwards = await engine.tokenStats([...rows].reverse(), "policy");
      expect(together).toHaveLength(rows.length);
      for (const [i, row] of rows.entries()) {
        const [alone] = await engine.tokenStats([row], "policy");
        expect(alone?.logprobs).toHaveLength(3);
        for (const other of [together[i], backwards[rows.length - 1 - i]]) {
          expectNear(other?.logprobs, alone?.logprobs);
          expectNear(other?.entropies, alone?.entropies);
        }
      }
    });

    test("it computes with the weights it has, whatever it was asked for before", async () => {
      const [engine, asked] = [await fresh(), await fresh()];
      for (const one of [engine, asked]) {
        await one.sample(requests(one), SAMPLING);
        await learn(one, loss(one), 0.1);
      }
      await asked.hashOf("policy");
      await asked.exportCheckpoint(path.join(scratch, "asked"), { trained: {} });
      expect(await total(asked, "policy")).toBeCloseTo(await total(engine, "policy"), 3);
      if (engine.can.sameBytes) {
        expect(await asked.sample(requests(asked), SAMPLING)).toEqual(
          await engine.sample(requests(engine), SAMPLING),
        );
      }
    });

    test("an update moves the policy and leaves the reference", async () => {
      const engine = await fresh();
      const call = loss(engine);
      const [before, reference] = [await total(engine, "policy"), await engine.hashOf("reference")];
      expect(await total(engine, "reference")).toBeCloseTo(before, 3);
      for (let i = 0; i < 3; i++) expect((await learn(engine, call)).loss).toBeTypeOf("number");
      expect(await total(engine, "policy")).toBeGreaterThan(before);
      expect(await total(engine, "reference")).toBeCloseTo(before, 3);
      expect(await engine.hashOf("reference")).toBe(reference);
      expect(await engine.hashOf("policy")).not.toBe(reference);
    });

    test("an update obeys the learning rate", async () => {
      const engine = await fresh();
      const start = await engine.hashOf("policy");
      await learn(engine, loss(engine), 0);
      expect(await engine.hashOf("policy")).toBe(start);
      const change = async (learningRate: number) => {
        const learner = await fresh();
        const before = await total(learner, "policy");
        await learn(learner, loss(learner), learningRate);
        return Math.abs((await total(learner, "policy")) - before);
      };
      expect(await change(0.01)).toBeGreaterThan(2 * (await change(0.001)));
    });

    test("exact KL is 0 before the first update and positive after it", async () => {
      const engine = await fresh();
      if (!engine.can.exactKl) return;
      const kl = async () =>
        (await engine.tokenStats(written(engine), "policy", { exactKl: true })).flatMap((one) => [
          ...one.kl,
        ]);
      for (const x of await kl()) expect(x).toBeCloseTo(0, 5);
      await learn(engine, loss(engine));
      expect(Math.max(...(await kl()))).toBeGreaterThan(1e-6);
    });

    test("saved and loaded, it continues as if it had never stopped", async () => {
      const [through, half, rest] = [await fresh(), await fresh(), await fresh()];
      const [a, b, c] = [loss(through), loss(half), loss(rest)];
      for (let i = 0; i < 3; i++) await learn(through, a);
      await learn(half, b);
      const hashes = await half.saveState(scratch);
      expect(Object.keys(hashes)).not.toEqual([]);
      for (const [file, hash] of Object.entries(hashes))
        expect(sha256(readFileSync(path.join(scratch, file)))).toBe(hash);
      await rest.loadState(scratch);
      for (let i = 0; i < 2; i++) await learn(rest, c);
      if (rest.can.sameBytes) {
        expect(await rest.hashOf("policy")).toBe(await through.hashOf("policy"));
      }
    });

    test("an exported checkpoint can be loaded back", async () => {
      const [engine, other] = [await fresh(), await fresh()];
      await learn(engine, loss(engine));
      const dir = path.join(scratch, "checkpoint");
      const trained = { algorithm: "contract" };
      const { fingerprint } = await engine.exportCheckpoint(dir, { trained });
      expect(fingerprint).not.toBe(engine.identity.fingerprint);
      expect(await trainedIn(dir)).toEqual(trained);
      const before = await total(other, "policy");
      await other.loadCheckpoint(dir);
      expect(await other.hashOf("policy")).toBe(await engine.hashOf("policy"));
      const after = await total(other, "policy");
      expect(after).toBeCloseTo(await total(engine, "policy"), 3);
      expect(after).toBeGreaterThan(before + 0.01);
    });

    test("a loss that it does not have is refused", async () => {
      const engine = await fresh();
      const call: LossCall = { kind: "named", name: "no such loss", config: {} };
      await expect(learn(engine, call)).rejects.toThrow(/no such loss/);
    });
  });
}

/** The company of a row may change the last bits of its figures. */
function expectNear(
  found: ArrayLike<number> | undefined,
  expected: ArrayLike<number | undefined> | undefined,
): void {
  expect(found).toHaveLength(expected?.length ?? -1);
  Array.from(expected ?? []).forEach((x, i) => {
    expect(Math.abs((found?.[i] ?? Number.NaN) - (x ?? Number.NaN))).toBeLessThan(1e-5);
  });
}
