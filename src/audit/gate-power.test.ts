import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { accuracyNeededFor, gatePart, gatePowerAt } from "./gate-power.ts";

const QUESTION = { tasks: 400, difference: 0.2 };

describe("what the gate sees through a judge", () => {
  test("shrinks by 2a - 1, and costs 1 / (2a - 1)² as many tasks", () => {
    const [perfect, judge] = [gatePowerAt(1, QUESTION), gatePowerAt(0.75, QUESTION)];
    expect(judge.shrinkage).toBe(0.5);
    expect(judge.smallest_difference).toBeCloseTo(2 * (perfect.smallest_difference ?? 0), 10);
    const ratio = (judge.tasks_needed ?? 0) / (perfect.tasks_needed ?? 1);
    expect(ratio).toBeGreaterThan(3.95);
    expect(ratio).toBeLessThan(4.05);
  });

  test("is nothing where the judge tosses a coin", () => {
    expect(gatePowerAt(0.5, QUESTION)).toMatchObject({
      ...{ shrinkage: 0, smallest_difference: null, tasks_needed: null },
    });
    expect(gatePowerAt(0.3, QUESTION).smallest_difference).toBeNull();
  });

  test("needs the accuracy at which the difference is just detected", () => {
    const needed = accuracyNeededFor(QUESTION) as number;
    expect(gatePowerAt(needed, QUESTION).smallest_difference).toBeCloseTo(0.2, 10);
    expect(accuracyNeededFor({ tasks: 50, difference: 0.1 })).toBeNull();
    const part = gatePart({ value: 0.9, interval: [0.8, 0.95], n: 100 }, QUESTION);
    expect(part.lower_bound?.shrinkage).toBeCloseTo(0.6, 12);
  });

  test("has the power that it states, by simulation", () => {
    // The candidate wins 60 % of 400 tasks, a difference of 0.2, and the judge has the accuracy needed.
    const accuracy = accuracyNeededFor(QUESTION) as number;
    let detected = 0;
    const times = 1500;
    for (let i = 0; i < times; i++) {
      const rng = rngAt("gate through a judge", i);
      let won = 0;
      for (let task = 0; task < QUESTION.tasks; task++) {
        const better = rng.next() < 0.5 + QUESTION.difference / 2;
        const right = rng.next() < accuracy;
        if (better === right) won++;
      }
      if (mcnemarExact(won, QUESTION.tasks - won) <= 0.05) detected++;
    }
    expect(detected / times).toBeGreaterThan(0.76);
    expect(detected / times).toBeLessThan(0.84);
  });
});
