/**
 * The wires between the parts of the learning loop. Each part has tests of its own, which say nothing
 * of whether the loop takes a penalty off, a price off, the right groups, the KL that it measured.
 */

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { JsonObject } from "../src/core/json.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../src/core/score.ts";
import type { Algorithm, ScoredEpisode } from "../src/learn/algorithm.ts";
import type { TrainOptions } from "../src/learn/options.ts";
import type { StepRecord } from "../src/runs/train-records.ts";
import { api, Workspace } from "./cli.ts";

const room = new Workspace();
const tokenizer = new api.CharacterTokenizer("0123456789+= ");
const architecture = {
  ...{ ...api.SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};
const EXAMPLES = Array.from({ length: 8 }, (_, a) => ({ id: `s${a}`, prompt: `${a}+1=` }));

beforeAll(async () => {
  await api.saveCheckpoint(room.path("start"), {
    ...{ architecture, tokenizer, trained: null, maxLength: 24 },
    // Eight times the usual spread: some answers are likelier than others.
    parameters: api.initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  room.jsonl("examples.jsonl", EXAMPLES);
  const { placed } = await api.loadCheckpoint(room.path("start"));
  decoder = new api.Decoder(architecture, placed, { batch: 1, threads: 1 });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** A scorer that remembers what it was asked. */
function scorerOf(
  reward: (row: ScoreRequest) => number,
): GuardedScorer & { readonly asked: ScoreRequest[] } {
  const asked: ScoreRequest[] = [];
  return {
    asked,
    identity: { name: "j", version: "1", spec: "test", source_sha256: "0".repeat(64), path: null },
    ...{ concurrency: 1, timeoutMs: 1000, close: async () => {} },
    async scoreBatch(batch): Promise<CheckedScore[]> {
      asked.push(...batch);
      return batch.map((row) => ({ reward: reward(row), code: "scored", details: {} }));
    },
  };
}

const isSmall = ({ completion }: ScoreRequest) => Number(/^[0-4]/.test(completion));

const ROLLOUTS = { prompts: 4, group: 4, max_tokens: 4 };
const ROWS = ROLLOUTS.prompts * ROLLOUTS.group;
const QUICK = {
  ...{ alarms_stop: false, rollouts: ROLLOUTS, evaluate: { every: 0 } },
  rate: { peak: 0.01 },
};

/** Trains for so many steps and gives what was recorded of each. */
async function run(
  algorithm: string,
  outdir: string,
  settings: JsonObject,
  more: Partial<TrainOptions> = {},
): Promise<StepRecord[]> {
  await api.train({
    ...{ algorithm, init: room.path("start"), size: "nano", threads: 1, saveEvery: 1000 },
    ...{ dataset: room.path("examples.jsonl"), outdir: room.path(outdir) },
    ...(algorithm === "kto" ? {} : { rewards: [scorerOf(isSmall)] }),
    ...more,
    settings: { ...QUICK, ...settings },
  });
  const lines = room.read(outdir, "metrics.jsonl").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as StepRecord);
}

const numbersOf = (steps: readonly StepRecord[], name: string) =>
  steps.map((step) => step[name] as number);
const mean = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0) / list.length;

/** Listens to what advantages are computed from; afterwards all of it, in the order sampled. */
function listen(name: string): () => ScoredEpisode[] {
  const spy = vi.spyOn(api.algorithmOf(name) as Required<Algorithm>, "advantages");
  return () => spy.mock.calls.flatMap(([groups]) => groups.flat());
}

/** One for all policies: the weights come with each call, and it takes a while to make. */
let decoder: InstanceType<typeof api.Decoder>;
afterAll(() => decoder.close());

/** Log-probs of a text's tokens, by the decoder: the loop itself asks teacher forcing. */
async function logprobsOf(folder: string, prompt: string, said: readonly number[]) {
  const { parameters } = await api.loadCheckpoint(room.path(folder));
  const before = [tokenizer.beginToken, ...tokenizer.encode(prompt)];
  const decoding = decoder.begin(parameters, {
    prompts: [before],
    room: before.length + said.length,
  });
  await decoding.put(0, 0);
  const logprobs: number[] = [];
  for (const token of said) {
    const logits = Array.from(decoding.row(0));
    const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
    logprobs.push((logits[token] as number) - total);
    await decoding.append([token]);
  }
  return logprobs;
}

test.each(["rloo", "ppo"])("%s: a KL penalty is taken off the reward, and holds", async (name) => {
  const scorer = scorerOf(isSmall);
  const credited = listen(name);
  const held = { kl: { mode: "fixed", place: "reward", coefficient: 2 }, steps: 8 };
  const near = await run(name, `${name}/held`, held, { rewards: [scorer] });
  const rows = credited().map((given, i) => ({ given, asked: scorer.asked[i] as ScoreRequest }));
  expect(rows).toHaveLength(8 * ROWS);
  // Of the last step, where it has moved; a text's tokens are known where all are characters.
  const known = rows
    .slice(-ROWS)
    .filter(({ given, asked }) => given.old.length === asked.completion.length);
  expect(known.length).toBeGreaterThan(2);
  for (const { given, asked } of known) {
    const said = tokenizer.encode(asked.completion);
    const reference = await logprobsOf("start", asked.example.prompt, said);
    const penalties = reference.map((logprob, t) => 2 * ((given.old[t] as number) - logprob));
    for (const [t, x] of penalties.entries()) expect(given.penalties[t]).toBeCloseTo(x, 3);
    expect(given.score).toBe(isSmall(asked));
    expect(given.reward).toBeCloseTo(isSmall(asked) - penalties.reduce((sum, x) => sum + x, 0), 3);
  }
  expect(known.some(({ given }) => Math.abs(given.score - given.reward) > 0.1)).toBe(true);

  const loose = { ...held, kl: { ...held.kl, coefficient: 0 } };
  const far = await run(name, `${name}/loose`, loose);
  const [last, free] = [numbersOf(near, "kl/k3").at(-1), numbersOf(far, "kl/k3").at(-1)];
  expect(last).toBeLessThan((free as number) / 2);
});

test("cost has its price taken off the score; a limit that is broken raises it, and cost falls", async () => {
  // What is rewarded is what costs: above a price of 1 it is better left alone.
  const [scorer, cost] = [scorerOf(isSmall), scorerOf((row) => 2 * isSmall(row))];
  const credited = listen("rloo");
  const binding = { steps: 12, cost: { limit: 0.1, rate: 1 } };
  const steps = await run("rloo", "cost/bound", binding, { rewards: [scorer], cost });
  const prices = numbersOf(steps, "cost/lambda");
  const costs = numbersOf(steps, "cost/mean");
  for (const [i, { score, reward }] of credited().entries()) {
    const small = isSmall(cost.asked[i] as ScoreRequest);
    expect(score).toBeCloseTo(small - (prices[Math.floor(i / ROWS)] as number) * 2 * small, 9);
    expect(reward).toBe(score);
  }
  expect(prices[0]).toBe(0);
  for (let i = 1; i < prices.length; i++) {
    const [before, seen] = [prices[i - 1] as number, costs[i - 1] as number];
    expect(prices[i]).toBeCloseTo(Math.max(0, before + seen - 0.1), 9);
  }
  expect(Math.max(...prices)).toBeGreaterThan(1);

  const idle = { ...binding, cost: { limit: 2, rate: 1 } };
  const free = await run("rloo", "cost/free", idle, { cost: scorerOf((row) => 2 * isSmall(row)) });
  expect(new Set(numbersOf(free, "cost/lambda"))).toEqual(new Set([0]));
  expect(mean(costs.slice(-4))).toBeLessThan(mean(numbersOf(free, "cost/mean").slice(-4)) / 2);
});

test("dynamic sampling replaces the groups that teach nothing", async () => {
  // Half of the prompts teach for certain, the others never do.
  const halves = () => {
    let asked = 0;
    return scorerOf(({ example }) => Number(/[0-3]$/.test(example.id)) * (asked++ % 2));
  };
  const zeros = async (dynamic: number) => {
    const settings = { steps: 2, rollouts: { ...ROLLOUTS, dynamic } };
    const steps = await run("grpo", `dynamic/${dynamic}`, settings, { rewards: [halves()] });
    // However many were sampled, as many are learned from.
    for (const { outcomes } of steps) expect(outcomes).toEqual({ scored: ROWS });
    return numbersOf(steps, "reward/zero_std_groups");
  };
  // Two steps see each prompt once; with one replacement each step sees them all.
  expect(mean(await zeros(0))).toBe(0.5);
  expect(await zeros(1)).toEqual([0, 0]);
});

test("the adaptive coefficient falls while the KL is below its target, and rises above it", async () => {
  const kl = {
    mode: "adaptive",
    place: "reward",
    coefficient: 0.01,
    target: 0.5,
    horizon: 2 * ROWS,
  };
  const steps = await run("rloo", "adaptive", { steps: 10, kl });
  const moves = steps.slice(1).map((after, i) => {
    const now = steps[i] as StepRecord;
    const [tokens, each] = [now.sampled_tokens as number, now["kl/k1"] as number];
    const [coefficient, next] = [now["kl/coefficient"], after["kl/coefficient"]] as number[];
    return { seen: (each * tokens) / ROWS, factor: (next as number) / (coefficient as number) };
  });
  for (const { seen, factor } of moves) {
    expect(Math.sign(factor - 1)).toBe(Math.sign(seen - kl.target));
    const error = Math.min(Math.max(seen / kl.target - 1, -0.2), 0.2);
    expect(factor).toBeCloseTo(1 + error / 2, 9);
  }
  expect(moves.some(({ factor }) => factor > 1)).toBe(true);
  expect(moves.some(({ factor }) => factor < 1)).toBe(true);
});

test.each([
  ["good", true],
  ["bad", false],
])("kto's shift: the mean log-ratio of each other's completions (all %s)", async (name, label) => {
  // Of two rows each is the other's neighbour, in whatever order they come.
  const texts = [
    { prompt: "3+1=", completion: "42" },
    { prompt: "5+1=", completion: "777" },
  ] as const;
  room.jsonl(
    "labels.jsonl",
    texts.map((text, i) => ({ id: `${i}`, ...text, label })),
  );
  const dataset = { dataset: room.path("labels.jsonl") };
  const settings = { batch: 2, rate: { peak: 0.01 }, algorithm: { beta: 1 } };
  // The first step is the same in both: it leads to the policy that the second begins with.
  await run("kto", `${name}/first`, { ...settings, steps: 1 }, dataset);
  const [, second] = await run("kto", `${name}/both`, { ...settings, steps: 2 }, dataset);

  const ratio = async (prompt: string, completion: string) => {
    const said = [...tokenizer.encode(completion), tokenizer.endTokens[0] as number];
    const now = await logprobsOf(`${name}/first/checkpoint`, prompt, said);
    const before = await logprobsOf("start", prompt, said);
    return now.reduce((sum, x, t) => sum + x - (before[t] as number), 0);
  };
  const [one, other] = texts;
  const mixed = mean([
    await ratio(one.prompt, other.completion),
    await ratio(other.prompt, one.completion),
  ]);
  const own = [
    await ratio(one.prompt, one.completion),
    await ratio(other.prompt, other.completion),
  ];
  const sign = label ? 1 : -1;
  const lossAt = (shift: number) => mean(own.map((x) => 1 / (1 + Math.exp(sign * (x - shift)))));
  // Praised completions rise with any prompt; blamed ones fall, and a fall counts as no shift.
  expect(sign * mixed).toBeGreaterThan(0.1);
  expect(second?.loss).toBeCloseTo(lossAt(Math.max(0, mixed)), 4);
  expect(Math.abs(lossAt(mixed) - lossAt(0))).toBeGreaterThan(0.01);
});
