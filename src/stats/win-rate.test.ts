import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { wilsonInterval } from "./wilson.ts";
import { signTest, winRate, winRateInterval } from "./win-rate.ts";

describe("the win rate", () => {
  test("without ties has Wilson's interval", () => {
    for (const [wins, losses] of [
      [8, 2],
      [0, 5],
      [5, 0],
      [30, 70],
    ] as const) {
      const { rate, interval } = winRate({ wins, losses, ties: 0 });
      expect(rate).toBe(wins / (wins + losses));
      expect(interval?.[0]).toBeCloseTo(wilsonInterval(wins, wins + losses)?.[0] as number, 12);
      expect(interval?.[1]).toBeCloseTo(wilsonInterval(wins, wins + losses)?.[1] as number, 12);
    }
  });

  test("counts a tie as half, and nothing at all as undefined", () => {
    expect(winRate({ wins: 1, losses: 1, ties: 2 }).rate).toBe(0.5);
    expect(winRate({ wins: 3, losses: 0, ties: 1 }).rate).toBe(0.875);
    expect(winRate({ wins: 0, losses: 0, ties: 0 })).toMatchObject({
      ...{ n: 0, rate: undefined, interval: undefined, pValue: undefined },
    });
    expect(winRate({ wins: 0, losses: 0, ties: 4 }).pValue, "ties decide nothing").toBeUndefined();
  });

  test("has an interval that covers the true rate where a third of the pairs are ties", () => {
    const [pWin, pTie, n, draws] = [0.45, 0.33, 60, 2000];
    const truth = pWin + pTie / 2;
    let covered = 0;
    for (let draw = 0; draw < draws; draw++) {
      const rng = rngAt("coverage", draw);
      let [wins, ties] = [0, 0];
      for (let i = 0; i < n; i++) {
        const u = rng.next();
        if (u < pWin) wins++;
        else if (u < pWin + pTie) ties++;
      }
      const [low, high] = winRateInterval((wins + ties / 2) / n, n) as [number, number];
      if (low <= truth && truth <= high) covered++;
    }
    expect(covered / draws).toBeGreaterThan(0.95);
  });
});

test("the sign test is exact and two-sided", () => {
  expect(signTest(5, 0)).toBe(2 / 32);
  expect(signTest(0, 5)).toBe(2 / 32);
  expect(signTest(3, 3)).toBe(1);
  expect(signTest(9, 1)).toBeCloseTo((2 * 11) / 1024, 12);
  expect(signTest(0, 0)).toBeUndefined();
});
