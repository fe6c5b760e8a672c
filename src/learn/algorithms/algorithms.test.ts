/**
 * Every loss as a function of log-probs and columns, without a policy: values worked out by hand,
 * gradients against central differences, and advantages from rewards. All in float64 unless said.
 */

import { describe, expect, test } from "vitest";
import { rngAt } from "../../core/rng.ts";
import type { LossInputs } from "../../engine/loss.ts";
import { gradients } from "../../graph/gradients.ts";
import { differences, interpret } from "../../graph/interpret.ts";
import { mul } from "../../graph/ops/elementwise.ts";
import { max, sum } from "../../graph/ops/reduce.ts";
import { Session } from "../../graph/session.ts";
import { input, type Tensor } from "../../graph/tensor.ts";
import type { Algorithm, ScoredEpisode } from "../algorithm.ts";
import { dpo } from "./dpo.ts";
import { grpo } from "./grpo.ts";
import { ALGORITHMS, algorithmOf } from "./index.ts";
import { ipo } from "./ipo.ts";
import { kto } from "./kto.ts";
import { orpo } from "./orpo.ts";
import { ppo } from "./ppo.ts";
import { reinforce } from "./reinforce.ts";
import { rft } from "./rft.ts";
import { rloo } from "./rloo.ts";
import { sft } from "./sft.ts";

type Table = readonly (readonly number[])[];

/** What a loss is given, as numbers. */
interface Fed {
  readonly logprobs: Table;
  readonly mask: Table;
  readonly weights?: Table;
  readonly rowWeights?: readonly number[];
  readonly columns?: Readonly<Record<string, Table | readonly number[]>>;
  readonly values?: Table;
}

/** A loss over leaves; it may read only what its algorithm declares. */
function built<S>(algorithm: Algorithm<S>, own: object, fed: Fed) {
  const [rows, length] = [fed.logprobs.length, (fed.logprobs[0] as readonly number[]).length];
  const feeds = new Map<Tensor, Float64Array>();
  const leaf = (name: string, shape: readonly number[], numbers: Table | readonly number[]) => {
    const made = input(name, shape);
    feeds.set(made, Float64Array.from(numbers.flat()));
    return made;
  };
  const nothing = fed.mask.map((row) => row.map(() => 0));
  const columns = Object.fromEntries(
    Object.entries(algorithm.columns).map(([name, kind]) => [
      name,
      leaf(name, kind === "token" ? [rows, length] : [rows], fed.columns?.[name] ?? []),
    ]),
  );
  const logprobs = leaf("logprobs", [rows, length], fed.logprobs);
  const mask = leaf("mask", [rows, length], fed.mask);
  const values = algorithm.valueHead && leaf("values", [rows, length], fed.values ?? []);
  const inputs: LossInputs = {
    ...{ rows, logprobs, mask },
    weights: leaf("weights", [rows, length], fed.weights ?? nothing),
    rowWeights: leaf("row_weights", [rows], fed.rowWeights ?? fed.mask.map(() => 1 / rows)),
    column(name) {
      const found = columns[name];
      if (!found) throw new Error(`${algorithm.name} does not declare the column "${name}"`);
      return found;
    },
    values() {
      if (!values) throw new Error(`${algorithm.name} declares no value head`);
      return values;
    },
  };
  const { loss, metrics } = algorithm.loss(inputs, algorithm.settings.parse(own));
  const wrt = [logprobs, ...(values ? [values] : [])];
  const seen: Record<string, Tensor> = {
    ...mapped(metrics.tokens, (x) => sum(mul(x, mask))),
    ...mapped(metrics.sums, (x) => x),
    ...mapped(metrics.largest, (x) => max(mul(x, mask))),
  };
  return { loss, wrt, seen, feeds };
}

function mapped(tensors: Readonly<Record<string, Tensor>> = {}, f: (x: Tensor) => Tensor) {
  return Object.fromEntries(Object.entries(tensors).map(([name, x]) => [name, f(x)]));
}

/** The loss, its slopes in log-probs and values, and what is metrics: means as sums over tokens. */
function computed<S>(algorithm: Algorithm<S>, own: object, fed: Fed) {
  const { loss, wrt, seen, feeds } = built(algorithm, own, fed);
  const [value, ...rest] = interpret(
    [loss, ...gradients(loss, wrt), ...Object.values(seen)],
    feeds,
  );
  const numbers = rest.map(({ data }) => [...data]);
  return {
    loss: value?.data[0] as number,
    slopes: numbers.slice(0, wrt.length),
    metrics: Object.fromEntries(
      Object.keys(seen).map((name, i) => [name, numbers[wrt.length + i]?.[0] as number]),
    ),
  };
}

function expectClose(found: readonly number[] | undefined, wanted: readonly number[], digits = 9) {
  expect(found).toHaveLength(wanted.length);
  wanted.forEach((x, i) => {
    expect(found?.[i]).toBeCloseTo(x, digits);
  });
}

/**
 * Two completions, of two tokens and of one. Outside of the mask stand numbers that would show.
 * Log-ratios to the reference: 0.2 + 0.2 = 0.4, and -0.5.
 */
const TWO = {
  logprobs: [
    [-9, -1, -0.5, -4],
    [-8, -3, -2, -5],
  ],
  mask: [
    [0, 1, 1, 0],
    [0, 0, 1, 0],
  ],
  reference: [
    [0, -1.2, -0.7, 0],
    [0, 0, -1.5, 0],
  ],
};

/** The mask with a weight for each row. */
const weighed = (mask: Table, ...weights: number[]) =>
  mask.map((row, r) => row.map((on) => on * (weights[r] as number)));

describe("sft", () => {
  test("is the mean of −log π over learned tokens, or of the rows' means", () => {
    const whole = { ...TWO, weights: weighed(TWO.mask, 1 / 3, 1 / 3) };
    expect(computed(sft, {}, whole).loss).toBeCloseTo((1 + 0.5 + 2) / 3, 9);
    const rows = { ...TWO, weights: weighed(TWO.mask, 1 / 4, 1 / 2) };
    expect(computed(sft, { reduction: "grpo" }, rows).loss).toBeCloseTo((0.75 + 2) / 2, 9);
  });

  test("pushes every learned token up alike, and no other", () => {
    const { slopes } = computed(sft, {}, { ...TWO, weights: weighed(TWO.mask, 1 / 3, 1 / 3) });
    expectClose(slopes[0], [0, -1 / 3, -1 / 3, 0, 0, 0, -1 / 3, 0]);
  });

  test("rft learns by the same loss", () => {
    expect(rft.loss).toBe(sft.loss);
    expect(rft.columns).toEqual(sft.columns);
    expect(rft.reduction(rft.settings.parse({}))).toBe("dapo");
  });
});

describe("dpo", () => {
  const fed = { ...TWO, columns: { reference: TWO.reference } };

  test("is −log σ(βΔ): Δ = 0.4 + 0.5", () => {
    expect(computed(dpo, {}, fed).loss).toBeCloseTo(0.6491593390256101, 9);
    expect(computed(dpo, { beta: 2 }, fed).loss).toBeCloseTo(Math.log1p(Math.exp(-1.8)), 9);
  });

  test("is the mean over pairs", () => {
    // A second pair that is preferred the wrong way: Δ = -0.9, as the first one turned round.
    const four: Fed = {
      logprobs: [...TWO.logprobs, ...TWO.logprobs.toReversed()],
      mask: [...TWO.mask, ...TWO.mask.toReversed()],
      columns: { reference: [...TWO.reference, ...TWO.reference.toReversed()] },
    };
    const [right, wrong] = [Math.log1p(Math.exp(-0.09)), Math.log1p(Math.exp(0.09))];
    const { loss, metrics } = computed(dpo, {}, four);
    expect(loss).toBeCloseTo((right + wrong) / 2, 9);
    expect(metrics["rewards/accuracy"]).toBeCloseTo(0.5, 9);
    expect(metrics["rewards/margin"]).toBeCloseTo(0, 9);
  });

  test("is ln 2 exactly where policy and reference are the same, and pushes by β / 2 there", () => {
    const same = { ...TWO, columns: { reference: TWO.logprobs } };
    const { loss, slopes, metrics } = computed(dpo, {}, same);
    expect(loss).toBe(Math.LN2);
    expectClose(slopes[0], [0, -0.05, -0.05, 0, 0, 0, 0.05, 0]);
    expect(metrics["rewards/margin"]).toBe(0);
  });

  test("what is metrics is β times log-ratios, and the policy's own log-probs", () => {
    const { metrics } = computed(dpo, {}, fed);
    expect(metrics).toEqual({
      "rewards/chosen": expect.closeTo(0.04, 9),
      "rewards/rejected": expect.closeTo(-0.05, 9),
      "rewards/margin": expect.closeTo(0.09, 9),
      "rewards/accuracy": 1,
      "logps/chosen": -1.5,
      "logps/rejected": -2,
    });
  });
});

describe("ipo", () => {
  test("is (Δ̄ − 1 / 2β)², with log-ratios per token: 0.2 + 0.5", () => {
    const fed = { ...TWO, columns: { reference: TWO.reference } };
    expect(computed(ipo, {}, fed).loss).toBeCloseTo((0.7 - 5) ** 2, 9);
    expect(computed(ipo, { beta: 0.5 }, fed).loss).toBeCloseTo((0.7 - 1) ** 2, 9);
  });

  test.each([0.1, 0.5, 2])("begins at (1 / 2β)², β = %f", (beta) => {
    const fed = { ...TWO, columns: { reference: TWO.logprobs } };
    expect(computed(ipo, { beta }, fed).loss).toBeCloseTo((1 / (2 * beta)) ** 2, 9);
  });

  test("has a goal that it can reach: there the loss and the slopes are 0", () => {
    // Chosen two tokens up by 0.5 each, rejected one down by 0.5: Δ̄ = 1 = 1 / 2β.
    const fed = {
      ...TWO,
      columns: { reference: TWO.logprobs.map((row, r) => row.map((x) => x + (r ? 0.5 : -0.5))) },
    };
    const { loss, slopes } = computed(ipo, { beta: 0.5 }, fed);
    expect(loss).toBeCloseTo(0, 12);
    expectClose(slopes[0], new Array(8).fill(0), 12);
  });
});

/** 1 / rows of the same label. */
const sharesOf = (good: readonly number[]) =>
  good.map((label) => 1 / good.filter((other) => other === label).length);

describe("kto", () => {
  const labelled = (good: readonly number[], shift: number, reference: Table = TWO.reference) => ({
    ...TWO,
    columns: { reference, good, shift: [shift, shift], share: sharesOf(good) },
  });

  test("compares each side with the general shift", () => {
    // Good: 1.5 (1 − σ(0.1 (0.4 − 0.3))). Bad: 0.5 (1 − σ(0.1 (0.3 + 0.5))).
    const { loss } = computed(kto, { desirable: 1.5, undesirable: 0.5 }, labelled([1, 0], 0.3));
    expect(loss).toBeCloseTo(0.49312768058594836, 9);
  });

  test("the other way round for other labels", () => {
    const sigma = (x: number) => 1 / (1 + Math.exp(-x));
    const { loss } = computed(kto, {}, labelled([0, 1], 0.3));
    const wanted = (1 - sigma(0.1 * (0.3 - 0.4)) + (1 - sigma(0.1 * (-0.5 - 0.3)))) / 2;
    expect(loss).toBeCloseTo(wanted, 9);
  });

  test("begins at a half, and pushes good up, bad down", () => {
    const { loss, slopes } = computed(kto, {}, labelled([1, 0], 0, TWO.logprobs));
    expect(loss).toBeCloseTo(0.5, 12);
    // β σ (1 − σ) / rows.
    const push = 0.1 / 4 / 2;
    expectClose(slopes[0], [0, -push, -push, 0, 0, 0, push, 0]);
  });

  test("a policy that moved in general must do better to have done well", () => {
    const loss = (good: readonly number[], shift: number) =>
      computed(kto, {}, labelled(good, shift)).loss;
    expect(loss([1, 1], 1)).toBeGreaterThan(loss([1, 1], 0));
    expect(loss([0, 0], 1)).toBeLessThan(loss([0, 0], 0));
  });

  test("what is metrics are means over the good and over the bad ones", () => {
    const [sure, other] = [TWO.logprobs[0] as number[], TWO.logprobs[1] as number[]];
    const three: Fed = {
      logprobs: [sure, other, other],
      mask: [...TWO.mask, TWO.mask[1] as number[]],
      columns: {
        reference: [...TWO.reference, TWO.logprobs[1] as number[]],
        good: [1, 0, 0],
        shift: [0, 0, 0],
        share: sharesOf([1, 0, 0]),
      },
    };
    // Log-ratios 0.4, and −0.5 and 0.
    expect(computed(kto, {}, three).metrics).toEqual({
      "rewards/chosen": expect.closeTo(0.04, 9),
      "rewards/rejected": expect.closeTo(-0.025, 9),
      "rewards/margin": expect.closeTo(0.065, 9),
      "logps/chosen": expect.closeTo(-1.5, 9),
      "logps/rejected": expect.closeTo(-2, 9),
    });
  });
});

describe("orpo", () => {
  const settings = { beta: 0.1 };

  test("is the loss of the chosen and a little of the odds", () => {
    // Mean log-probs −0.75 and −2.
    expect(computed(orpo, settings, TWO).loss).toBeCloseTo(0.7661123634645313, 9);
    expect(computed(orpo, { beta: 0 }, TWO).loss).toBeCloseTo(0.75, 9);
  });

  test.each([
    ["both certain", 0, 0],
    ["chosen certain", 0, -3],
    ["rejected certain", -3, 0],
    ["nearly certain", -1e-9, -1e-8],
    ["rejected impossible", -0.1, -800],
    ["chosen impossible", -800, -0.1],
  ])("is finite, with its gradient, in float32 too: %s", async (_, chosen, rejected) => {
    const fed: Fed = { logprobs: [[chosen], [rejected]], mask: [[1], [1]] };
    const { loss, slopes } = computed(orpo, settings, fed);
    expect(Number.isFinite(loss)).toBe(true);
    for (const slope of slopes.flat()) expect(Number.isFinite(slope)).toBe(true);
    const run = await inRuntime(orpo, settings, fed);
    for (const numbers of Object.values(run)) {
      for (const x of numbers) expect(Number.isFinite(x)).toBe(true);
    }
    expect(run.loss?.[0]).toBeCloseTo(loss, 2);
  });
});

describe.each([reinforce, rloo] as unknown as Algorithm[])("$name", (algorithm) => {
  const fed = {
    ...TWO,
    weights: weighed(TWO.mask, 1 / 2, 1 / 2),
    columns: {
      old: TWO.logprobs.map((row, r) => row.map((x, i) => x - (r === 1 && i === 2 ? 0.01 : 0))),
      advantage: weighed(TWO.mask, 2, -1),
    },
  };

  test("is −A Σ log π, the mean over rows", () => {
    // −(2 (−1.5) + (−1) (−2)) / 2.
    expect(computed(algorithm, {}, fed).loss).toBeCloseTo(0.5, 9);
  });

  test("pushes by the advantage, and watches how far the samples' policy is away", () => {
    const { slopes, metrics } = computed(algorithm, {}, fed);
    expectClose(slopes[0], [0, -1, -1, 0, 0, 0, 0.5, 0]);
    expect(metrics["check/logprob_gap"]).toBeCloseTo(0.01, 9);
  });
});

describe("grpo", () => {
  /** One row of five tokens, of these ratios and advantages. */
  const RATIOS = [1.5, 0.5, 1.5, 0.5, 1.1];
  const fed: Fed = {
    logprobs: [RATIOS.map(() => -1)],
    mask: [RATIOS.map(() => 1)],
    weights: [RATIOS.map(() => 1 / 5)],
    columns: {
      old: [RATIOS.map((ratio) => -1 - Math.log(ratio))],
      advantage: [[2, 2, -1, -1, 1]],
    },
  };

  test("clips on either side, each only where the step would go on", () => {
    const { loss, slopes } = computed(grpo, {}, fed);
    // −min(3, 2.4), −min(1, 1.6), −min(−1.5, −1.2), −min(−0.5, −0.8), −1.1.
    expect(loss).toBeCloseTo((-2.4 - 1 + 1.5 + 0.8 - 1.1) / 5, 9);
    // Where it is clipped nothing flows; elsewhere −ρA.
    expectClose(slopes[0], [0, -1 / 5, 1.5 / 5, 0, -1.1 / 5]);
  });

  test("the bounds are apart (DAPO's higher one)", () => {
    const { loss, slopes } = computed(grpo, { clip_low: 0.6, clip_high: 0.28 }, fed);
    expect(loss).toBeCloseTo((-2.56 - 1 + 1.5 + 0.5 - 1.1) / 5, 9);
    expectClose(slopes[0], [0, -1 / 5, 1.5 / 5, 0.5 / 5, -1.1 / 5]);
  });

  test("watches shares of clipped tokens, the largest ratio and the largest gap", () => {
    const { metrics } = computed(grpo, {}, fed);
    expect(metrics).toEqual({
      "clip/low": 1,
      "clip/high": 1,
      "ratio/max": expect.closeTo(1.5, 9),
      "check/logprob_gap": expect.closeTo(Math.LN2, 9),
    });
  });

  test("on the samples' own policy it is −A, with the gradient of REINFORCE", () => {
    const same = { ...fed, columns: { ...fed.columns, old: fed.logprobs } };
    const { loss, slopes, metrics } = computed(grpo, {}, same);
    expect(loss).toBeCloseTo(-(2 + 2 - 1 - 1 + 1) / 5, 12);
    expectClose(slopes[0], [-2 / 5, -2 / 5, 1 / 5, 1 / 5, -1 / 5], 12);
    expect(metrics["ratio/max"]).toBe(1);
    expect(metrics["check/logprob_gap"]).toBe(0);
  });

  describe("with a ratio of whole completions (GSPO)", () => {
    const sequences: Fed = {
      logprobs: [
        [-9, -1, -2],
        [-9, -1, -9],
        [-9, -1, -9],
      ],
      mask: [
        [0, 1, 1],
        [0, 1, 0],
        [0, 1, 0],
      ],
      weights: weighed(
        [
          [0, 1, 1],
          [0, 1, 0],
          [0, 1, 0],
        ],
        ...[1 / 6, 1 / 3, 1 / 3],
      ),
      columns: {
        // Log-ratios 0.3 and −0.1, whose mean is 0.1; then 0.5 and −0.5.
        old: [
          [0, -1.3, -1.9],
          [0, -1.5, 0],
          [0, -0.5, 0],
        ],
        advantage: [
          [0, 2, 2],
          [0, 1, 0],
          [0, -1, 0],
        ],
      },
    };

    test("every token of a row has the geometric mean of its ratios", () => {
      const { loss, slopes, metrics } = computed(grpo, { ratio: "sequence" }, sequences);
      // −2 e^0.1, −1.2 (clipped), 0.8 (clipped).
      expect(loss).toBeCloseTo(-0.8701139453837653, 9);
      const push = -(2 * Math.exp(0.1)) / 2 / 3;
      expectClose(slopes[0], [0, push, push, 0, 0, 0, 0, 0, 0]);
      expect(metrics["ratio/max"]).toBeCloseTo(Math.exp(0.5), 9);
      expect(metrics["check/logprob_gap"]).toBeCloseTo(0.5, 9);
      expect(metrics["clip/high"]).toBe(1);
      expect(metrics["clip/low"]).toBe(1);
    });

    test("tokens have ratios of their own otherwise", () => {
      const { loss } = computed(grpo, {}, sequences);
      const tokens = -(1.2 * 2 + Math.exp(-0.1) * 2) / 6;
      expect(loss).toBeCloseTo(tokens - 1.2 / 3 + 0.8 / 3, 9);
    });
  });
});

describe("ppo", () => {
  /** Three tokens: the value moved too far up, not at all, and too far down towards the return. */
  const fed: Fed = {
    logprobs: [[-1, -1, -1]],
    mask: [[1, 1, 1]],
    weights: [[1 / 3, 1 / 3, 1 / 3]],
    columns: {
      old: [[-1 - Math.log(1.5), -1, -1 - Math.log(0.9)]],
      advantage: [[1, 2, -1]],
      old_value: [[0.5, 0.5, 1]],
      return: [[0, 2, 0]],
    },
    values: [[1, 0.5, 0.5]],
  };
  // Clipped to 0.7: max(1, 0.49). Not clipped: 2.25. Clipped to 0.8: max(0.25, 0.64).
  const MISSED = [0.5, 1.125, 0.32];
  const surrogate = -1.2 - 2 + 0.9;

  test("is the clipped surrogate and a tenth of the clipped value loss", () => {
    const { loss, metrics } = computed(ppo, {}, fed);
    const missed = MISSED.reduce((a, b) => a + b, 0);
    expect(loss).toBeCloseTo((surrogate + 0.1 * missed) / 3, 9);
    expect(metrics["value/loss"]).toBeCloseTo(missed, 9);
    expect(metrics["clip/high"]).toBe(1);
    expect(metrics["ratio/max"]).toBeCloseTo(1.5, 9);
    expect(computed(ppo, { value_coefficient: 0 }, fed).loss).toBeCloseTo(surrogate / 3, 9);
  });

  test("the value head learns by its error, and not where it went too far already", () => {
    const { slopes } = computed(ppo, {}, fed);
    expectClose(slopes[0], [0, -2 / 3, 0.9 / 3]);
    expectClose(slopes[1], [0.1 / 3, (0.1 * -1.5) / 3, 0]);
  });

  test("a wide clip of values clips nothing", () => {
    const { loss } = computed(ppo, { value_clip: 10 }, fed);
    expect(loss).toBeCloseTo((surrogate + 0.1 * (0.5 + 1.125 + 0.125)) / 3, 9);
  });
});

/** Settings that show more of a loss than the defaults do. */
const OWN: Readonly<Record<string, object>> = {
  dpo: { beta: 0.7 },
  ipo: { beta: 0.3 },
  kto: { beta: 0.8, desirable: 1.3, undesirable: 0.6 },
  orpo: { beta: 0.4 },
};

type Case = readonly [label: string, algorithm: Algorithm, own: object];

const CASES: readonly Case[] = [
  ...ALGORITHMS.map(({ name }): Case => [name, algorithmOf(name), OWN[name] ?? {}]),
  ["grpo, sequences", algorithmOf("grpo"), { ratio: "sequence", clip_low: 0.05, clip_high: 0.1 }],
];

const ROWS = 6;
const LENGTH = 5;

/** Six rows of random numbers; completions of one to four tokens. */
function drawn(seed: string): Required<Fed> {
  const rng = rngAt("losses", seed);
  const table = (draw: (r: number, i: number) => number): number[][] =>
    Array.from({ length: ROWS }, (_, r) => Array.from({ length: LENGTH }, (_, i) => draw(r, i)));
  const between = (low: number, high: number) => low + (high - low) * rng.next();
  const mask = table((r, i) => Number(i >= 1 && i <= 1 + (r % 4)));
  const logprobs = table(() => between(-3, -0.05));
  const near = (far: number) =>
    table((r, i) => (logprobs[r]?.[i] as number) + between(-far, far)).map((row, r) =>
      row.map((x, i) => x * (mask[r]?.[i] as number)),
    );
  const values = table(() => between(-1, 1));
  return {
    ...{ logprobs, mask, values },
    weights: mask.map((row) => row.map((on) => on * between(0.05, 0.2))),
    rowWeights: Array.from({ length: ROWS }, () => 1 / ROWS),
    columns: {
      reference: near(0.6),
      old: near(0.5),
      advantage: table((r, i) => (mask[r]?.[i] as number) * between(-2, 2)),
      old_value: values.map((row) => row.map((x) => x + between(-0.6, 0.6))),
      return: table(() => between(-1, 1)),
      good: Array.from({ length: ROWS }, (_, r) => r % 2),
      shift: Array.from({ length: ROWS }, () => 0.3),
      share: Array.from({ length: ROWS }, () => 2 / ROWS),
    },
  };
}

/** The same with two rows that only fill up, and what such rows may hold: anything but weight. */
function filled({ logprobs, mask, weights, rowWeights, columns, values }: Required<Fed>): Fed {
  const zero = Array.from({ length: LENGTH }, () => 0);
  const more = (table: Table, row: readonly number[] = zero) => [...table, row, row];
  const odd = Array.from({ length: LENGTH }, (_, i) => -1000 * i - 3);
  return {
    logprobs: more(logprobs, odd),
    mask: more(mask),
    weights: more(weights),
    rowWeights: [...rowWeights, 0, 0],
    values: more(values, odd),
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [
        name,
        Array.isArray(column[0]) ? more(column as Table) : [...(column as readonly number[]), 0, 0],
      ]),
    ),
  };
}

/** The loss and its slopes as ONNX Runtime has them. */
async function inRuntime<S>(
  algorithm: Algorithm<S>,
  own: object,
  fed: Fed,
): Promise<Record<string, number[]>> {
  const { loss, wrt, feeds } = built(algorithm, own, fed);
  const slopes = gradients(loss, wrt).map((slope, i) => [`slopes${i}`, slope]);
  const session = await Session.create({ loss, ...Object.fromEntries(slopes) });
  const named = Object.fromEntries(
    [...feeds].map(([leaf, numbers]) => [
      (leaf.attributes as { name: string }).name,
      Float32Array.from(numbers),
    ]),
  );
  const run = await session.run(named);
  await session.close();
  return Object.fromEntries(
    Object.entries(run).map(([name, data]) => [name, Array.from(data, Number)]),
  );
}

describe.each(CASES)("%s", (label, algorithm, own) => {
  const fed = drawn(label);

  test("has the gradient that central differences measure", () => {
    const { loss, wrt, feeds } = built(algorithm, own, fed);
    const slopes = interpret(gradients(loss, wrt), feeds);
    for (const [i, x] of wrt.entries()) {
      const measured = differences(loss, x, feeds);
      expectClose([...(slopes[i]?.data ?? [])], [...measured], 7);
      expect(measured.some((slope) => Math.abs(slope) > 1e-3)).toBe(true);
    }
  });

  test("nothing flows into what is masked", () => {
    const { slopes } = computed(algorithm, own, fed);
    for (const list of slopes) {
      list.forEach((slope, i) => {
        if (fed.mask.flat()[i] === 0) expect(slope).toBeCloseTo(0, 15);
      });
    }
  });

  test("rows that only fill up change nothing", () => {
    const [plain, more] = [computed(algorithm, own, fed), computed(algorithm, own, filled(fed))];
    expect(more.loss).toBeCloseTo(plain.loss, 12);
    for (const [i, slopes] of plain.slopes.entries()) {
      expectClose(more.slopes[i], [...slopes, ...new Array(2 * LENGTH).fill(0)], 12);
    }
    for (const [name, value] of Object.entries(plain.metrics)) {
      expect(more.metrics[name], name).toBeCloseTo(value, 12);
    }
  });

  test("ONNX Runtime agrees in float32", async () => {
    const [right, run] = [computed(algorithm, own, fed), await inRuntime(algorithm, own, fed)];
    expect(run.loss?.[0]).toBeCloseTo(right.loss, 4);
    for (const [i, slopes] of right.slopes.entries()) expectClose(run[`slopes${i}`], slopes, 4);
  });
});

describe("advantages", () => {
  const old = (...numbers: number[]) => numbers;
  const rewarded = (reward: number, more: Partial<ScoredEpisode> = {}): ScoredEpisode => ({
    ...{ reward, score: reward, penalties: [0, 0], old: old(-1, -2), values: undefined },
    ...more,
  });
  const groups = [
    [rewarded(1), rewarded(0, { old: old(-3) }), rewarded(0)],
    [rewarded(2), rewarded(2), rewarded(5)],
  ];
  const advantages = <S, M>(algorithm: Algorithm<S, M>, own: object = {}, memory?: M) => {
    const kept = memory ?? (algorithm.memory?.initial as M);
    const found = algorithm.advantages?.(groups, algorithm.settings.parse(own), kept);
    return found?.columns.map((group) =>
      group.map(({ advantage }) => [...(advantage as number[])]),
    );
  };
  const near = (x: number) => expect.closeTo(x, 6);

  test("grpo compares within each group, one number for every token", () => {
    const third = 1 / 3;
    expect(advantages(grpo, { std: "none" })).toEqual([
      [[near(2 * third), near(2 * third)], [near(-third)], [near(-third), near(-third)]],
      [
        [-1, -1],
        [-1, -1],
        [2, 2],
      ],
    ]);
    const deviation = Math.sqrt((4 + 1 + 1) / 9 / 2) + 1e-4;
    expect(advantages(grpo)?.[0]?.[0]).toEqual([near(2 / 3 / deviation), near(2 / 3 / deviation)]);
    const population = Math.sqrt((4 + 1 + 1) / 9 / 3) + 1e-4;
    expect(advantages(grpo, { std: "population" })?.[0]?.[1]).toEqual([near(-1 / 3 / population)]);
  });

  test("rloo compares with the others", () => {
    expect(advantages(rloo)).toEqual([
      [[1, 1], [-0.5], [-0.5, -0.5]],
      [
        [-1.5, -1.5],
        [-1.5, -1.5],
        [3, 3],
      ],
    ]);
  });

  test("reinforce with the prompt's mean, with nothing, or with the mean so far", () => {
    expect(advantages(reinforce)?.[0]?.[1]).toEqual([near(-1 / 3)]);
    expect(advantages(reinforce, { baseline: "none" })?.[1]?.[2]).toEqual([5, 5]);
    // All rewards have the mean 10 / 6 at the first step; then a tenth of the way from 1 to it.
    const running = { baseline: "running" };
    const next = (baseline: number | null) =>
      reinforce.advantages?.(groups, reinforce.settings.parse(running), { baseline })?.memory;
    expect(advantages(reinforce, running)?.[0]?.[1]).toEqual([near(-10 / 6)]);
    expect(next(null)?.baseline).toBeCloseTo(10 / 6, 12);
    expect(advantages(reinforce, running, { baseline: 1 })?.[0]?.[1]).toEqual([-1]);
    expect(next(1)?.baseline).toBeCloseTo(0.9 + 1 / 6, 12);
  });

  test("every method gives the sampled log-probs back, for the ratio", () => {
    for (const algorithm of [grpo, rloo, reinforce] as unknown as Algorithm[]) {
      const found = algorithm.advantages?.(
        groups,
        algorithm.settings.parse({}),
        algorithm.memory?.initial,
      );
      expect(found?.columns[0]?.map((columns) => columns.old)).toEqual([[-1, -2], [-3], [-1, -2]]);
    }
  });

  describe("of ppo", () => {
    const given = [
      [
        rewarded(0, { score: 1, penalties: [0.1, -0.2], values: [0.5, 0.25] }),
        rewarded(0, { score: 0, penalties: [0.3], old: old(-3), values: [0.4] }),
      ],
      [rewarded(0, { score: 2, penalties: [0, 0], values: [0, 0] })],
    ];
    const settings = ppo.settings.parse({ whiten: false, lambda: 0.5 });
    const found = ppo.advantages?.(given, settings, {});

    test("the penalty falls on every token, the score on the last", () => {
      // Token rewards −0.1 and 0.2 + 1; errors −0.1 + 0.25 − 0.5 = −0.35 and 1.2 − 0.25 = 0.95.
      expect(found?.columns).toEqual([
        [
          {
            old: [-1, -2],
            old_value: [0.5, 0.25],
            advantage: [near(-0.35 + 0.5 * 0.95), near(0.95)],
            return: [near(0.5 - 0.35 + 0.5 * 0.95), near(1.2)],
          },
          { old: [-3], old_value: [0.4], advantage: [near(-0.7)], return: [near(-0.3)] },
        ],
        [{ old: [-1, -2], old_value: [0, 0], advantage: [1, 2], return: [1, 2] }],
      ]);
    });

    test("groups keep their completions, whitened or not", () => {
      const white = ppo.advantages?.(given, ppo.settings.parse({}), {});
      expect(white?.columns.map((group) => group.length)).toEqual([2, 1]);
      const all = (white?.columns.flat() ?? []).flatMap(({ advantage }) => [
        ...(advantage as number[]),
      ]);
      const mean = all.reduce((a, b) => a + b, 0) / all.length;
      expect(mean).toBeCloseTo(0, 9);
      expect(all.reduce((a, b) => a + b * b, 0) / all.length).toBeCloseTo(1, 6);
      expect(white?.columns[1]?.[0]?.old_value).toEqual([0, 0]);
    });

    test("explained variance is 1 for values that foresee the returns, 0 for constant ones", () => {
      const explained = (values: readonly number[]) =>
        ppo.advantages?.(
          [[rewarded(0, { score: 3, penalties: [-1, 0], values })]],
          ppo.settings.parse({ whiten: false, lambda: 1 }),
          {},
        )?.metrics["value/explained"];
      expect(explained([4, 3])).toBeCloseTo(1, 12);
      expect(explained([2, 2])).toBeCloseTo(0, 12);
      expect(explained([0, 10])).toBeLessThan(0);
    });
  });
});

describe("the list", () => {
  test("has every method once, under its name", () => {
    const names = ALGORITHMS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name } of ALGORITHMS) expect(algorithmOf(name).name).toBe(name);
    expect(() => algorithmOf("dqn")).toThrow(/no learning method "dqn"/);
  });

  test("defaults are those of the field", () => {
    const settings = (name: string) => algorithmOf(name).settings.parse({});
    for (const name of ["dpo", "ipo", "orpo"]) expect(settings(name)).toEqual({ beta: 0.1 });
    expect(settings("kto")).toEqual({ beta: 0.1, desirable: 1, undesirable: 1 });
    expect(settings("grpo")).toMatchObject({
      ...{ std: "sample", std_epsilon: 1e-4, clip_low: 0.2, clip_high: 0.2, ratio: "token" },
    });
    expect(settings("ppo")).toMatchObject({
      ...{ discount: 1, lambda: 0.95, whiten: true, clip: 0.2 },
      ...{ value_coefficient: 0.1, epochs: 4 },
    });
  });

  test("a setting that nobody knows is refused", () => {
    for (const algorithm of ALGORITHMS) {
      expect(algorithm.settings.safeParse({ bta: 1 }).success, algorithm.name).toBe(false);
    }
  });
});
