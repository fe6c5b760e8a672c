/** Completions under a policy: the sampler's own log-probs, exact KL, values, in any batch. */

import { afterAll, describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { completionRow, promptLength, type TokenRow } from "../core/token-row.ts";
import { interpret } from "../graph/interpret.ts";
import { place } from "../graph/parameters.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { CharacterTokenizer } from "./characters.ts";
import { Decoder } from "./decoder.ts";
import { generateAll } from "./generate.ts";
import { initialise, SIZES } from "./initialise.ts";
import { Lanes } from "./lanes.ts";
import { TeacherForced, type TeacherOptions, type TokenStats } from "./teacher-forced.ts";
import { head, hiddenOf, valuesOf } from "./transformer.ts";

const tokenizer = new CharacterTokenizer("0123456789+-= Final:");
const architecture: Architecture = {
  ...SIZES.nano,
  ...{ vocabulary: tokenizer.size, width: 24, layers: 2, heads: 3, keyHeads: 3, headSize: 8 },
  inner: 40,
  valueHead: true,
};
const { list: placed, total } = place(parametersOf(architecture));

/** Ten times the usual spread, and a value head that says something. */
function policy(seed: number): Float32Array {
  const rng = rngAt("teacher", seed);
  const value = total - architecture.width;
  return initialise(architecture, seed).map((x, i) =>
    i >= value ? rng.next() - 0.5 : x === 1 ? 1 : 10 * x,
  );
}

const [own, other] = [policy(1), policy(2)];
const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of open) await one.close();
});

/** A teacher that knows the vectors "own" and "other". */
function teacher(options: TeacherOptions = {}): TeacherForced {
  const lanes = new Lanes({ architecture, placed, places: 8, threads: 1 });
  lanes.put("own", own);
  lanes.put("other", other);
  open.push(lanes);
  return new TeacherForced(architecture, placed, lanes, options);
}

/** Prompts of different lengths with completions that the policy itself sampled. */
const sampled = await (async () => {
  const decoder = new Decoder(architecture, placed, { batch: 8 });
  open.push(decoder);
  const requests = ["1+2=", "12+34=", "7-8=", "99+1=", "5=", "Final: 7"].map((text, example) => ({
    prompt: [tokenizer.beginToken, ...tokenizer.encode(text)],
    address: ["teacher", example],
  }));
  const generations = await generateAll(decoder, requests, {
    ...{ parameters: own, tokenizer, maxLength: 64 },
    sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 11, stop: [], seed: 3 },
  });
  return generations.map(({ tokens, logprobs }, i) => {
    const prompt = requests[i]?.prompt ?? [];
    return { ...completionRow(prompt, tokens), logprobs: logprobs ?? [] };
  });
})();

/** The same in float64, out of the logits alone. */
function oracle(row: TokenRow, parameters: Float32Array) {
  const { tokens } = row;
  const prompt = promptLength(row);
  const ids = input("tokens", [1, tokens.length - 1], "i64");
  const leaves = new Map<string, Tensor>(
    placed.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const weights = (name: string) => leaves.get(name) as Tensor;
  const hidden = hiddenOf(architecture, weights, ids);
  const feeds = new Map<Tensor, ArrayLike<number>>([[ids, tokens.slice(0, -1)]]);
  for (const { name, offset, size } of placed) {
    feeds.set(weights(name), parameters.subarray(offset, offset + size));
  }
  const [logits, values] = interpret(
    [head(architecture, weights, hidden), valuesOf(architecture, weights, hidden)],
    feeds,
  );
  const { vocabulary } = architecture;
  return Array.from({ length: tokens.length - prompt }, (_, t) => {
    const at = prompt - 1 + t;
    const row = [...(logits?.data ?? [])].slice(at * vocabulary, (at + 1) * vocabulary);
    const top = Math.max(...row);
    const whole = top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
    return {
      logs: row.map((x) => x - whole),
      logprob: (row[tokens[at + 1] as number] as number) - whole,
      value: values?.data[at] as number,
    };
  });
}

function expectNear(found: ArrayLike<number>, expected: readonly number[], far: number): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((x, i) => {
    expect(Math.abs((found[i] as number) - x)).toBeLessThan(far);
  });
}

describe("a policy's own samples", () => {
  test("have the log-probs under which they were sampled, to 1e-5", async () => {
    const stats = await teacher().tokenStats("own", sampled);
    expect(stats).toHaveLength(sampled.length);
    for (const [i, { logprobs }] of stats.entries()) {
      expectNear(logprobs, sampled[i]?.logprobs ?? [], 1e-5);
    }
    // Neighbours differ by far more: one place off would be seen.
    const { logprobs = [] } = sampled[0] ?? {};
    expect(logprobs.some((x, t) => Math.abs(x - (logprobs[t + 1] ?? x)) > 0.1)).toBe(true);
  });

  test("have the float64 log-probs, entropies and values, one of each for every token", async () => {
    for (const [i, stats] of (await teacher().tokenStats("own", sampled)).entries()) {
      const right = oracle(sampled[i] as TokenRow, own);
      const entropies = right.map(({ logs }) => -logs.reduce((h, x) => h + Math.exp(x) * x, 0));
      expectNear(
        stats.logprobs,
        right.map(({ logprob }) => logprob),
        1e-5,
      );
      expectNear(stats.entropies, entropies, 1e-5);
      expectNear(
        stats.values,
        right.map(({ value }) => value),
        1e-5,
      );
      expect(stats.kl).toHaveLength(0);
    }
  });

  test("are less likely under another policy", async () => {
    const [mine, theirs] = [
      await teacher().tokenStats("own", sampled),
      await teacher().tokenStats("other", sampled),
    ];
    const sum = (stats: readonly TokenStats[]) =>
      stats.flatMap(({ logprobs }) => [...logprobs]).reduce((a, b) => a + b, 0);
    expect(sum(mine)).toBeGreaterThan(sum(theirs));
  });
});

describe("the exact KL", () => {
  test("to itself is 0", async () => {
    for (const { kl } of await teacher().tokenStats("own", sampled, "own")) {
      expect(kl.length).toBeGreaterThan(0);
      for (const x of kl) expect(x).toBe(0);
    }
  });

  test("to another policy is that of the whole distributions, in float64", async () => {
    const stats = await teacher().tokenStats("own", sampled, "other");
    const all: number[] = [];
    for (const [i, { kl, logprobs }] of stats.entries()) {
      const [p, q] = [oracle(sampled[i] as TokenRow, own), oracle(sampled[i] as TokenRow, other)];
      const right = p.map(({ logs }, t) =>
        logs.reduce((sum, x, k) => sum + Math.exp(x) * (x - (q[t]?.logs[k] as number)), 0),
      );
      expectNear(kl, right, 1e-5);
      expect(logprobs).toHaveLength(right.length);
      all.push(...right);
    }
    expect(Math.min(...all)).toBeGreaterThan(0.001);
  });

  test("is not symmetric: which of the two comes first matters", async () => {
    const one = teacher();
    const [there, back] = [
      await one.tokenStats("own", sampled, "other"),
      await one.tokenStats("other", sampled, "own"),
    ];
    const first = (stats: readonly TokenStats[]) => stats[0]?.kl[0] as number;
    expect(Math.abs(first(there) - first(back))).toBeGreaterThan(1e-4);
  });
});

describe("batches", () => {
  const all = ({ logprobs, entropies, values, kl }: TokenStats) => [
    ...[logprobs, entropies, values, kl].flatMap((list) => [...list]),
  ];

  test("packed or each row for itself, the same to 1e-6", async () => {
    const [packed, alone] = [
      await teacher().tokenStats("own", sampled, "other"),
      await teacher({ unpacked: true }).tokenStats("own", sampled, "other"),
    ];
    expect(alone).toHaveLength(packed.length);
    for (const [i, stats] of packed.entries()) {
      expectNear(all(alone[i] as TokenStats), all(stats), 1e-6);
    }
  });

  test("a row is the same whatever else is in the batch, to 1e-6", async () => {
    const one = teacher();
    const whole = await one.tokenStats("own", sampled);
    const near = (found: readonly TokenStats[], rows: readonly number[]) => {
      expect(found).toHaveLength(rows.length);
      for (const [i, stats] of found.entries()) {
        expectNear(all(stats), all(whole[rows[i] as number] as TokenStats), 1e-6);
      }
    };
    near(await one.tokenStats("own", sampled.toReversed()), [5, 4, 3, 2, 1, 0]);
    for (const [i, row] of sampled.entries()) near(await one.tokenStats("own", [row]), [i]);
    near(
      await one.tokenStats("own", [...sampled, ...sampled]),
      [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5],
    );
  });

  test("rows of one prompt do not see each other", async () => {
    const one = teacher();
    const prompt = [1, ...tokenizer.encode("1+2=")];
    const rows = ["3", "12+34", "Final: 3", "3 3 3 3"].map((text) =>
      completionRow(prompt, tokenizer.encode(text)),
    );
    const together = await one.tokenStats("own", rows);
    for (const [i, row] of rows.entries()) {
      const [alone] = await one.tokenStats("own", [row]);
      expectNear(all(together[i] as TokenStats), all(alone as TokenStats), 1e-6);
    }
  });

  test("the same batch gives the same bytes", async () => {
    const first = await teacher().tokenStats("own", sampled, "other");
    expect(await teacher().tokenStats("own", sampled, "other")).toEqual(first);
  });

  test("no rows give no stats; a row may fill a pack, and one token beyond", async () => {
    const one = teacher();
    expect(await one.tokenStats("own", [])).toEqual([]);
    const prompt = [1, ...tokenizer.encode("1+2=3+4")];
    for (const length of [15, 16, 17, 18]) {
      const text = "=7 Final: 7 Final: 7".slice(0, length - prompt.length);
      const row = completionRow(prompt, tokenizer.encode(text));
      expect(row.tokens).toHaveLength(length);
      const [{ logprobs }] = (await one.tokenStats("own", [row])) as [TokenStats];
      expectNear(
        logprobs,
        oracle(row, own).map(({ logprob }) => logprob),
        1e-5,
      );
    }
  });
});

test("without a value head there are no values", async () => {
  const plain: Architecture = { ...architecture, valueHead: false };
  const { list } = place(parametersOf(plain));
  const lanes = new Lanes({ architecture: plain, placed: list, places: 8, threads: 1 });
  open.push(lanes);
  lanes.put("headless", own.slice(0, total - architecture.width));
  const headless = new TeacherForced(plain, list, lanes);
  const stats = await headless.tokenStats("headless", sampled);
  const right = await teacher().tokenStats("own", sampled);
  for (const [i, { values, logprobs }] of stats.entries()) {
    expect(values).toHaveLength(0);
    expectNear(logprobs, [...(right[i]?.logprobs ?? [])], 1e-6);
  }
});
