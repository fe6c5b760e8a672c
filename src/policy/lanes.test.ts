/** Lanes in worker threads: the same answers, the same errors, and nothing left behind. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { LockedRoomError } from "../core/errors.ts";
import { TINY_POLICY } from "../engine/tiny-policy.contract.ts";
import { mul } from "../graph/ops/elementwise.ts";
import { graphFile } from "../graph/session.ts";
import { input } from "../graph/tensor.ts";
import { Lanes } from "./lanes.ts";

const { architecture, placed, parameters, tokenizer, maxLength } = TINY_POLICY;
const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 9, stop: [], seed: 0 };

describe("lanes", () => {
  const opened: Lanes[] = [];
  afterEach(async () => {
    for (const lanes of opened.splice(0)) await lanes.close();
  });

  function open(threads: number): Lanes {
    const lanes = new Lanes({ architecture, placed, places: 4, threads });
    lanes.put("policy", parameters);
    opened.push(lanes);
    return lanes;
  }

  const requests = Array.from({ length: 11 }, (_, i) => ({
    prompt: [tokenizer.beginToken ?? 0, ...tokenizer.encode(`${i}+`)],
    address: ["lanes", i],
  }));
  const sample = (threads: number, settings: object = {}) =>
    open(threads).sample("policy", requests, {
      ...{ tokenizer, maxLength, sampling: { ...SAMPLING, ...settings } },
    });

  test("samples are the same with any number of threads, texts included", async () => {
    const one = await sample(1);
    expect(one.some(({ completion }) => completion.length > 0)).toBe(true);
    expect(await sample(2)).toEqual(one);
    expect(await sample(3)).toEqual(one);
  });

  test("so are those with stop texts, which one thread samples", async () => {
    const one = await sample(1, { stop: ["1"] });
    const whole = await sample(1);
    const cut = one.filter(({ tokens }, i) => tokens.length < (whole[i]?.tokens.length as number));
    expect(cut.length).toBeGreaterThan(0);
    for (const { completion } of one) expect(completion).not.toContain("1");
    expect(await sample(2, { stop: ["1"] })).toEqual(one);
  });

  test("results of a graph come in the order of their feeds, with the weights put last", async () => {
    const lanes = open(3);
    await lanes.open("scaled", graphFile({ y: mul(input("x", [2]), input("w", [1])) }));
    const bound = [{ input: "w", vector: "own", offset: 1, size: 1 }];
    const run = async () => {
      const feeds = Array.from({ length: 7 }, (_, i) => () => ({ x: Float32Array.of(i, 10 * i) }));
      const found: number[] = [];
      for await (const { y } of lanes.run("scaled", feeds, bound)) found.push(Number(y?.[1]));
      return found;
    };
    lanes.put("own", Float32Array.of(9, 2));
    expect(await run()).toEqual([0, 20, 40, 60, 80, 100, 120]);
    lanes.put("own", Float32Array.of(9, 3));
    expect(await run()).toEqual([0, 30, 60, 90, 120, 150, 180]);
  });

  test("an error of another thread keeps its kind and its next step", async () => {
    const long = { prompt: Array(maxLength).fill(1), address: ["too long"] };
    const asked = open(2).sample("policy", [requests[0] as typeof long, long], {
      ...{ tokenizer, maxLength, sampling: SAMPLING },
    });
    const error = await asked.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockedRoomError);
    expect(error).toMatchObject({ kind: "data", hint: expect.stringMatching(/Shorten/) });
  });

  test("a graph that no lane knows is an error, and the lanes go on working", async () => {
    const lanes = open(2);
    const doubled = async (key: string, ...numbers: number[]) => {
      const feeds = numbers.map((x) => () => ({ x: Float32Array.of(x) }));
      const found: number[] = [];
      for await (const { y } of lanes.run(key, feeds, [])) found.push(Number(y?.[0]));
      return found;
    };
    await expect(doubled("none", 1, 2)).rejects.toThrow(/no graph "none"/);
    await lanes.open("twice", graphFile({ y: mul(input("x", [1]), 2) }));
    expect(await doubled("twice", 1, 2, 3)).toEqual([2, 4, 6]);
    await lanes.close();
    await expect(doubled("twice", 1)).rejects.toThrow(/closed/);
  });

  test("the package can be imported in a worker thread of someone else", async () => {
    const script = `import("lockedroom").then(() => require("node:worker_threads").parentPort.postMessage("ready"))`;
    const worker = new Worker(script, { eval: true });
    // Listened to from the start: a worker that ends at once emits both events in one turn.
    const exit = new Promise((resolve) => worker.once("exit", resolve));
    const said = await new Promise((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
    });
    expect(said).toBe("ready");
    worker.postMessage({ id: 0, method: "put", args: [] });
    expect(await exit).toBe(0);
  });

  test("a process that ends while lanes compute ends with its own code", () => {
    const script = `
      import { runBeforeExit } from "./dist/core/before-exit.js";
      import { LocalEngine } from "./dist/engine/index.js";
      import { loadCheckpoint } from "./dist/policy/index.js";
      const engine = new LocalEngine(await loadCheckpoint("assets/pi0"), { threads: 2 });
      const prompt = engine.encoder.promptTokens("Compute 1 + 1.");
      const requests = Array.from({ length: 4000 }, (_, n) => ({ prompt, address: [n] }));
      setTimeout(() => { runBeforeExit(); process.exit(7); }, 400);
      await engine.sample(requests, ${JSON.stringify({ ...SAMPLING, max_tokens: 24 })});
      process.exit(8);`;
    const codes = Array.from({ length: 4 }, () => spawnSync(...nodeWith(script)).status);
    expect(codes).toEqual([7, 7, 7, 7]);
  });

  test("lanes that were not closed do not keep the process alive", () => {
    const script = `
      import { LocalEngine } from "./dist/engine/index.js";
      import { loadCheckpoint } from "./dist/policy/index.js";
      const engine = new LocalEngine(await loadCheckpoint("assets/pi0"), { threads: 2 });
      const prompt = engine.encoder.promptTokens("Compute 1 + 1.");
      const requests = [0, 1].map((n) => ({ prompt, address: [n] }));
      const sampling = ${JSON.stringify({ ...SAMPLING, max_tokens: 4 })};
      console.log((await engine.sample(requests, sampling)).length);`;
    const { status, stdout } = spawnSync(...nodeWith(script));
    expect({ status, stdout }).toEqual({ status: 0, stdout: "2\n" });
  });
});

function nodeWith(script: string) {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const args = ["--input-type=module", "-e", script];
  return [process.execPath, args, { cwd, encoding: "utf8", timeout: 30_000 }] as const;
}
