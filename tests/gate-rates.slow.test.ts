/** How often the gate decides wrongly, counted exactly and by simulation. */

import { expect, test } from "vitest";
import { rngAt } from "../src/core/rng.ts";
import { decide, measure } from "../src/gate/decide.ts";
import { gate } from "../src/gate/gate.ts";
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
    const wrong = { PROMOTE: 0, REJECT: 0, INCONCLUSIVE: 0 };
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
