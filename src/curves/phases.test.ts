import { expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { phasesOf } from "./phases.ts";

const curve = (count: number, value: (step: number) => number) =>
  Array.from({ length: count }, (_, i) => ({ step: 10 * i, value: value(10 * i) }));

/** Rises quickly to step 40, slowly to step 100, and stays. */
const learning = (step: number) =>
  step < 40 ? 0.2 + step / 100 : Math.min(0.75, 0.6 + (0.15 * (step - 40)) / 60);

test("initial learning, refinement and convergence of a curve that has all three", () => {
  const found = phasesOf(curve(21, learning));
  expect(found?.refinement).toBeGreaterThanOrEqual(30);
  expect(found?.refinement).toBeLessThanOrEqual(50);
  expect(found?.convergence).toBeGreaterThanOrEqual(70);
  expect(found?.convergence).toBeLessThanOrEqual(100);
  expect(found?.gain).toBeCloseTo(0.55, 2);
});

test("a curve that still rises at its end has not converged", () => {
  expect(phasesOf(curve(21, (step) => step / 200))).toMatchObject({ convergence: null });
  expect(phasesOf(curve(8, learning))).toMatchObject({ convergence: null });
});

test("a curve that falls again has not converged where it was highest", () => {
  const hacked = (step: number) =>
    step < 100 ? learning(step) : learning(100) - (step - 100) / 200;
  expect(phasesOf(curve(21, hacked))?.convergence).toBeNull();
});

test("noise, a fall, a constant and too few points have no phases", () => {
  const rng = rngAt(7, "phases");
  expect(phasesOf(curve(60, () => 0.5 + 0.1 * (rng.next() - 0.5)))).toBeUndefined();
  expect(phasesOf(curve(21, (step) => 1 - step / 300))).toBeUndefined();
  expect(phasesOf(curve(21, () => 0.5))).toBeUndefined();
  expect(phasesOf(curve(5, learning))).toBeUndefined();
});

test("noise on a curve with phases does not hide them", () => {
  const rng = rngAt(11, "phases");
  const noisy = curve(41, (step) => learning(step) + 0.06 * (rng.next() - 0.5));
  const found = phasesOf(noisy);
  expect(found?.refinement).toBeLessThanOrEqual(70);
  expect(found?.convergence).toBeGreaterThanOrEqual(60);
});
