/** How often the gate decides wrongly, counted exactly and by simulation. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../src/core/rng.ts";
import { decide } from "../src/gate/decide.ts";
import { gate } from "../src/gate/gate.ts";
import { boundsOf, measure, type Paired } from "../src/gate/measured.ts";
import { decideNoRegression } from "../src/gate/no-regression.ts";
import { SliceEvidence } from "../src/gate/slice-evidence.ts";
import { measureSlices } from "../src/gate/slices.ts";
import { logBinomialPmf } from "../src/stats/binomial.ts";
import { ClusterCounts } from "../src/stats/cluster-counts.ts";
import { DifferenceCounts } from "../src/stats/difference-counts.ts";
import { type Conditions, examplesOf, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const verdictFor = async (baseline: Conditions, candidate: Conditions) =>
  gate({
    baseline: await makeRun(root, baseline),
    candidate: await makeRun(root, candidate),
  });

test("the exact error rates under identical policies: promotion and rejection each at most half of alpha", () => {
  const alpha = 0.05;
  for (const [n, flip] of [
    [5, 0.3],
    [20, 0.1],
    [20, 0.4],
    [60, 0.08],
  ] as const) {
    const wrong = { PROMOTE: 0, PASS: 0, REJECT: 0, INCONCLUSIVE: 0 };
    for (let flips = 0; flips <= n; flips++) {
      const chance = Math.exp(logBinomialPmf(flips, n, flip));
      if (chance < 1e-9) continue;
      for (let gained = 0; gained <= flips; gained++) {
        const lost = flips - gained;
        const differences = new DifferenceCounts();
        for (const [value, count] of [
          [1, gained],
          [-1, lost],
          [0, n - flips],
        ] as const)
          differences.add(value, count);
        const measured = measure({ differences, binary: true, flips: { gained, lost } }, alpha);
        const { decision } = decide({
          knobs: ["policy"],
          measured,
          minDelta: 0,
          alpha,
          claim: undefined,
        });
        wrong[decision] += chance * Math.exp(logBinomialPmf(gained, flips, 0.5));
      }
    }
    expect(wrong.PROMOTE, `promoted at n = ${n}`).toBeLessThanOrEqual(alpha / 2);
    expect(wrong.REJECT, `rejected at n = ${n}`).toBeLessThanOrEqual(alpha / 2);
  }
}, 120_000);

test("prompts that repeat: identical policies are promoted no more often than stated, rows alone would be", () => {
  const alpha = 0.05;
  const sizes = Array.from({ length: 40 }, (_, i) => 1 + (i % 9));
  const decided = (seed: number, clustered: boolean) => {
    const [differences, clusters] = [new DifferenceCounts(), new ClusterCounts()];
    const flips = { gained: 0, lost: 0 };
    for (const [prompt, size] of sizes.entries()) {
      // A policy answers the copies of a problem alike.
      const [before, after] = ["a", "b"].map(
        (side) => rngAt("repeats", seed, side, prompt).next() < 0.5,
      );
      const change = Number(after) - Number(before);
      differences.add(change, size);
      clusters.add(change * size, size);
      if (change !== 0) flips[change > 0 ? "gained" : "lost"] += size;
    }
    const paired = { differences, binary: true, flips };
    const measured = measure(clustered ? { ...paired, clusters } : paired, alpha);
    return decide({ knobs: ["policy"], measured, minDelta: 0, alpha, claim: undefined }).decision;
  };
  const pairs = 200;
  const promoted = (clustered: boolean) =>
    Array.from({ length: pairs }, (_, seed) => decided(seed, clustered)).filter(
      (decision) => decision === "PROMOTE",
    ).length;
  // Half of alpha is 5 of 200; 12 or more happen with a probability below 1 %.
  expect(promoted(true)).toBeLessThan(12);
  expect(promoted(false)).toBeGreaterThan(20);
}, 120_000);

test("A/A: 200 pairs from one policy are promoted no more often than stated, real gains mostly are", {
  timeout: 120_000,
}, async () => {
  const examples = examplesOf(60);
  const pass = (seed: number, side: string, gain = 0) =>
    examples.map(
      ({ id }) =>
        rngAt(seed, side, id).next() < Math.min(1, 0.2 + 0.6 * rngAt("skill", id).next() + gain),
    );
  const decisions = async (pairs: number, gain: number) => {
    let promoted = 0;
    for (let seed = 0; seed < pairs; seed++) {
      const report = await verdictFor(
        { examples, right: pass(seed, "a") },
        { examples, right: pass(seed, "b", gain) },
      );
      if (report.decision === "PROMOTE") promoted++;
    }
    return promoted;
  };
  // Promotion needs the upper half of a two-sided test, so at most alpha / 2 of honest pairs.
  expect(await decisions(200, 0)).toBeLessThanOrEqual(200 * 0.025);
  expect(await decisions(20, 0.35)).toBeGreaterThanOrEqual(18);
});

describe("rare large changes: PROMOTE and REJECT are wrong at most half of alpha, although the signs look sure", () => {
  const alpha = 0.05;
  /** The decision for `rare` of n rows that change by `large`, and the others by `small`. */
  const decisionOf = (n: number, rare: number, large: number, small: number, range?: number) => {
    const differences = new DifferenceCounts();
    differences.add(large, rare);
    differences.add(small, n - rare);
    const flips = { gained: 0, lost: 0 };
    const measured = measure({ differences, binary: false, flips, range }, alpha);
    const input = { knobs: ["policy"] as const, measured, minDelta: 0, alpha, claim: undefined };
    return decide(input).decision;
  };
  /** Counted over all numbers of rare changes that happen. */
  const rate = (
    decision: string,
    [n, share, large, small]: readonly [number, number, number, number],
    range?: number,
  ) => {
    let total = 0;
    for (let rare = 0; rare <= n; rare++) {
      const chance = Math.exp(logBinomialPmf(rare, n, share));
      if (chance > 1e-6 && decisionOf(n, rare, large, small, range) === decision) total += chance;
    }
    return total;
  };
  test.each([
    ["PROMOTE", 100, 0.02, -0.98, 0.02],
    ["PROMOTE", 60, 0.03, -0.98, 0.02],
    ["PROMOTE", 200, 0.01, -0.99, 0.01],
    ["PROMOTE", 2000, 0.01, -0.99, 0.01],
    ["REJECT", 100, 0.02, 0.98, -0.02],
  ] as const)(
    "%s of %i rows: %d of them change by %d, the others by %d",
    (decision, n, share, large, small) => {
      const of = [n, share, large, small] as const;
      expect(rate(decision, of, 1)).toBeLessThanOrEqual(alpha / 2);
      // The test of signs, which is left where the range is unknown, is wrong more often.
      expect(rate(decision, of)).toBeGreaterThan(alpha / 2);
    },
  );

  test("20 examples with four samples: a quarter gained in four of five, all lost in the others", () => {
    let wrong = 0;
    for (let lost = 0; lost <= 20; lost++) {
      const [differences, clusters] = [new DifferenceCounts(), new ClusterCounts()];
      for (let i = 0; i < 20; i++) clusters.add(i < lost ? -4 : 1, 4);
      const paired = { differences, clusters, binary: true, flips: { gained: 0, lost: 0 } };
      const input = { knobs: ["policy"] as const, minDelta: 0, alpha, claim: undefined };
      if (decide({ ...input, measured: measure(paired, alpha) }).decision === "PROMOTE")
        wrong += Math.exp(logBinomialPmf(lost, 20, 0.2));
    }
    expect(wrong).toBeLessThanOrEqual(alpha / 2);
  });
});

test("600 slices of 20 rows: one that fell everywhere rejects, with and without a known range", () => {
  const slices = new Map(
    Array.from({ length: 600 }, (_, slice) => {
      const evidence = new SliceEvidence();
      for (let i = 0; i < 20; i++) evidence.add(0.9, slice === 0 ? 0.1 : 0.9);
      return [`s${slice}`, evidence] as const;
    }),
  );
  for (const range of [1, undefined]) {
    const { values } = measureSlices({
      ...{ field: "f", slices, clusters: undefined, binary: false, range },
      ...{ level: 0.05, margin: undefined, unchanged: false },
    });
    const worse = values.filter(({ state }) => state === "worse").map(({ value }) => value);
    expect(worse, `range ${range}`).toEqual(["s0"]);
  }
}, 120_000);

/** What a claim of no regression comes to, over many pairs of runs. */
function noRegression(
  pairs: number,
  margin: number,
  draw: (seed: number) => Paired,
): Record<"PASS" | "REJECT" | "INCONCLUSIVE", number> {
  const level = 0.05;
  const counts = { PASS: 0, REJECT: 0, INCONCLUSIVE: 0, PROMOTE: 0 };
  for (let seed = 0; seed < pairs; seed++) {
    const measured = measure(draw(seed), level);
    const { decision } = decideNoRegression({
      ...{ knobs: ["policy"], changed: ["policy"], unchanged: false },
      ...{ measured, margin, level, claim: undefined },
    });
    counts[decision]++;
  }
  return counts;
}

/** PASS needs that a loss of the margin is ruled out; how often is it, without the rest of a verdict? */
function passes(margin: number, draw: (seed: number) => Paired): number {
  let passed = 0;
  for (let seed = 0; seed < DRAWS; seed++)
    if (boundsOf(draw(seed), 0.05).lossRuledOut(margin)) passed++;
  return passed / DRAWS;
}

const MARGIN = 0.05;
const DRAWS = 1000;
/** Half of alpha, and three standard errors of so many draws. */
const MOST_PASSES = 0.025 + 3 * Math.sqrt((0.025 * 0.975) / DRAWS);

describe("no regression: at a true loss of exactly the margin PASS, and without a loss REJECT, have a probability of at most half of alpha", () => {
  const passOrFail = (n: number, gain: number, loss: number) => (seed: number) => {
    const differences = new DifferenceCounts();
    const flips = { gained: 0, lost: 0 };
    for (let i = 0; i < n; i++) {
      const at = rngAt("no-regression", n, gain, seed, i).next();
      const change = at < gain ? 1 : at < gain + loss ? -1 : 0;
      differences.add(change);
      if (change !== 0) flips[change > 0 ? "gained" : "lost"]++;
    }
    return { differences, binary: true, flips };
  };
  test.each([
    [60, 0],
    [200, 0.01],
    [400, 0.1],
  ])("pass or fail, %i examples, %d of them gained", (n, gain) => {
    expect(passes(MARGIN, passOrFail(n, gain, gain + MARGIN))).toBeLessThan(MOST_PASSES);
    // Half of alpha is 2.5 of 100; 9 or more happen with a probability below 1 in 1000.
    expect(noRegression(100, MARGIN, passOrFail(n, gain, gain)).REJECT).toBeLessThan(9);
  });

  test("pass or fail, 800 examples: without a loss it passes, with a large one it is rejected", () => {
    expect(noRegression(100, MARGIN, passOrFail(800, 0.05, 0.05)).PASS).toBeGreaterThan(80);
    expect(noRegression(100, MARGIN, passOrFail(800, 0.02, 0.12)).REJECT).toBeGreaterThan(90);
  });

  /** Changes of graded rewards, each distribution with a mean loss of exactly the margin. */
  const AT_THE_MARGIN: Record<string, (at: number) => number> = {
    "all or nothing": (at) => (at < MARGIN ? -1 : 0),
    "all or nothing, and tiny gains everywhere else": (at) =>
      at < (MARGIN + 1e-4) / (1 + 1e-4) ? -1 : 1e-4,
    "half of a reward": (at) => (at < 2 * MARGIN ? -0.5 : 0),
    "steps of a tenth around the loss": (at) => (Math.floor(5 * at) - 2) / 10 - MARGIN,
    "everything lost as often as not, and almost as much gained": (at) =>
      at < 0.5 ? -1 : 1 - 2 * MARGIN,
  };
  const graded = (n: number, of: (at: number) => number) => (seed: number) => {
    const differences = new DifferenceCounts();
    for (let i = 0; i < n; i++) differences.add(of(rngAt("graded", n, seed, i).next()));
    return { differences, binary: false, flips: { gained: 0, lost: 0 }, range: 1 };
  };
  test.each(
    Object.entries(AT_THE_MARGIN).flatMap(([name, of]) => [100, 400].map((n) => [name, n, of])),
  )("graded rewards, %s, %i examples", (_, n, of) => {
    const draw = graded(n as number, of as (at: number) => number);
    expect(passes(MARGIN, draw)).toBeLessThan(MOST_PASSES);
  });

  test("rare losses and many tiny changes, a range of 1: a normal bound would pass in one of eight", () => {
    const margin = 0.02;
    const rare = (at: number) => (at < (margin + 1e-4) / (1 + 1e-4) ? -1 : 1e-4);
    const draw = graded(100, rare);
    let normal = 0;
    for (let seed = 0; seed < DRAWS; seed++) {
      const { differences } = draw(seed);
      const error = Math.sqrt((differences.variance() ?? 0) / differences.pairs);
      if ((differences.mean() ?? 0) - 1.96 * error > -margin) normal++;
    }
    expect(normal / DRAWS).toBeGreaterThan(0.1);
    expect(passes(margin, draw)).toBeLessThan(MOST_PASSES);
  });

  test("graded rewards without a loss pass with enough examples; of unknown range they never do", () => {
    const small = graded(250, (at) => (Math.floor(5 * at) - 2) / 10);
    expect(passes(MARGIN, small)).toBeGreaterThan(0.5);
    expect(passes(MARGIN, (seed) => ({ ...small(seed), range: undefined }))).toBe(0);
    expect(noRegression(40, MARGIN, small).REJECT).toBeLessThan(6);
  });

  /**
   * Several samples of each example, which is easy or hard: samples of one are alike. Each one's chance
   * of success falls by `loss`, so that is the true mean loss.
   */
  const repeated =
    (examples: number, loss: number, samples: (i: number) => number) => (seed: number) => {
      const [differences, clusters] = [new DifferenceCounts(), new ClusterCounts()];
      for (let i = 0; i < examples; i++) {
        const rng = rngAt("repeated", examples, loss, seed, i);
        const chance = rng.next() < 0.5 ? 0.9 : 0.3;
        let sum = 0;
        for (let sample = 0; sample < samples(i); sample++)
          sum += Number(rng.next() < chance - loss) - Number(rng.next() < chance);
        clusters.add(sum, samples(i));
        differences.add(sum / samples(i));
      }
      return { differences, clusters, binary: true, flips: { gained: 0, lost: 0 } };
    };
  const four = () => 4;
  const uneven = (i: number) => 1 + (i % 7);
  /** All samples of an example fail together, in as many examples as the margin says. */
  const together = (examples: number) => (seed: number) => {
    const [differences, clusters] = [new DifferenceCounts(), new ClusterCounts()];
    for (let i = 0; i < examples; i++) {
      const change = rngAt("together", examples, seed, i).next() < MARGIN ? -1 : 0;
      clusters.add(4 * change, 4);
      differences.add(change);
    }
    return { differences, clusters, binary: true, flips: { gained: 0, lost: 0 } };
  };
  test.each([
    ["four samples each, a loss of the margin in every example", repeated(100, MARGIN, four)],
    [
      "one to seven samples each, a loss of the margin in every example",
      repeated(100, MARGIN, uneven),
    ],
    ["four samples each, all of them lost in a few examples", together(100)],
    ["the same with 400 examples", together(400)],
  ])("repeated samples at the margin: %s", (_, draw) => {
    expect(passes(MARGIN, draw)).toBeLessThan(MOST_PASSES);
  });

  test("repeated samples without a loss: never rejected too often, and passed with enough", () => {
    const kept = repeated(600, 0, four);
    expect(passes(MARGIN, kept)).toBeGreaterThan(0.5);
    expect(noRegression(40, MARGIN, kept).REJECT).toBeLessThan(6);
  });
}, 300_000);
