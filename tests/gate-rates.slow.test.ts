/** How often the gate decides wrongly, counted exactly and by simulation. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../src/core/rng.ts";
import { decide, measure } from "../src/gate/decide.ts";
import { gate } from "../src/gate/gate.ts";
import { decideNoRegression } from "../src/gate/no-regression.ts";
import { logBinomialPmf } from "../src/stats/binomial.ts";
import { ClusterCounts } from "../src/stats/cluster-counts.ts";
import { DifferenceCounts } from "../src/stats/difference-counts.ts";
import { type Conditions, examplesOf, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const judge = async (baseline: Conditions, candidate: Conditions) =>
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
      const report = await judge(
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

/** What a claim of no regression comes to, over many pairs of runs. */
function noRegression(
  pairs: number,
  margin: number,
  draw: (seed: number) => Parameters<typeof measure>[0],
): Record<"PASS" | "REJECT" | "INCONCLUSIVE", number> {
  const level = 0.05;
  const counts = { PASS: 0, REJECT: 0, INCONCLUSIVE: 0, PROMOTE: 0 };
  for (let seed = 0; seed < pairs; seed++) {
    const measured = measure(draw(seed), level);
    const { decision } = decideNoRegression({
      ...{ knobs: ["policy"], sameAnswers: false, measured, margin, level, claim: undefined },
    });
    counts[decision]++;
  }
  return counts;
}

const MARGIN = 0.05;
const PAIRS = 400;
/** Half of alpha is 10 of 400; 20 or more happen with a probability below 1 in 200. */
const MOST_WRONG = 20;

describe("no regression: a loss of exactly the margin passes, and no loss is rejected, at most half of alpha", () => {
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
    expect(noRegression(PAIRS, MARGIN, passOrFail(n, gain, gain + MARGIN)).PASS).toBeLessThan(
      MOST_WRONG,
    );
    expect(noRegression(PAIRS, MARGIN, passOrFail(n, gain, gain)).REJECT).toBeLessThan(MOST_WRONG);
  });

  test("pass or fail, 800 examples: without a loss it passes, with a large one it is rejected", () => {
    expect(noRegression(100, MARGIN, passOrFail(800, 0.05, 0.05)).PASS).toBeGreaterThan(80);
    expect(noRegression(100, MARGIN, passOrFail(800, 0.02, 0.12)).REJECT).toBeGreaterThan(90);
  });

  /** Rewards in steps of a tenth: small changes on either side, and rare large losses. */
  const graded = (n: number, rare: number) => (seed: number) => {
    const differences = new DifferenceCounts();
    for (let i = 0; i < n; i++) {
      const rng = rngAt("graded", n, rare, seed, i);
      const small = (rng.below(5) - 2) / 10;
      differences.add(rng.next() < rare ? -1 : rare === MARGIN ? 0 : small);
    }
    return { differences, binary: false, flips: { gained: 0, lost: 0 } };
  };
  test.each([
    ["few changes, all of them losses", 200, MARGIN],
    ["many small changes and rare losses", 600, MARGIN + 1e-9],
  ])("graded rewards: %s", (_, n, rare) => {
    expect(noRegression(PAIRS, MARGIN, graded(n, rare)).PASS).toBeLessThan(MOST_WRONG);
    const kept = noRegression(PAIRS / 4, MARGIN, graded(n, 0));
    expect(kept.REJECT).toBeLessThan(MOST_WRONG / 2);
    expect(kept.PASS).toBeGreaterThan(PAIRS / 8);
  });

  /** Four samples for each example: an example's own difference, and the draw of each sample. */
  const repeated = (examples: number, loss: number) => (seed: number) => {
    const [differences, clusters] = [new DifferenceCounts(), new ClusterCounts()];
    for (let i = 0; i < examples; i++) {
      const rng = rngAt("repeated", examples, loss, seed, i);
      const skill = rng.next();
      const after = Math.max(0, skill - (rng.next() < 0.5 ? 2 * loss : 0) / (1 - loss));
      let sum = 0;
      for (let sample = 0; sample < 4; sample++)
        sum += Number(rng.next() < after) - Number(rng.next() < skill);
      clusters.add(sum, 4);
      differences.add(sum / 4);
    }
    return { differences, clusters, binary: true, flips: { gained: 0, lost: 0 } };
  };
  test("four samples for each of 150 examples", () => {
    // The true loss is that of the mean over skills; drawn once at a size that no sample decides.
    expect(noRegression(PAIRS, MARGIN, repeated(150, 0.06)).PASS).toBeLessThan(MOST_WRONG);
    expect(noRegression(PAIRS / 4, MARGIN, repeated(150, 0)).REJECT).toBeLessThan(MOST_WRONG / 2);
    expect(noRegression(PAIRS / 4, 0.15, repeated(150, 0)).PASS).toBeGreaterThan(PAIRS / 8);
  });
}, 300_000);
