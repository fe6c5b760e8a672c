import { expect, test } from "vitest";
import { PreferenceCount, type ScoredAttempt } from "./preferences.ts";

const attempt = (side: ScoredAttempt["side"], score: number, reward: number | null = null) => ({
  ...{ side, score, reward },
});

/** One attempt of each side at each task: the scores of baseline and candidate. */
function counted(tasks: readonly (readonly [number, number])[]) {
  const count = new PreferenceCount();
  for (const [before, after] of tasks)
    count.add([attempt("candidate", after), attempt("baseline", before)]);
  return count.found();
}

test("wins, ties and losses of tasks, by hand", () => {
  const won = Array.from({ length: 9 }, () => [0.2, 0.3] as const);
  const found = counted([...won, [0.9, 0.1], [0.5, 0.5], [0, 0]]);
  expect(found).toMatchObject({ preferred: 9, tied: 2, not_preferred: 1, win_rate: 0.9 });
  // 2 (1 + 10) / 2^10: ties decide nothing.
  expect(found.p_value).toBeCloseTo(22 / 1024, 12);
  expect(counted([[0.5, 0.5]])).toMatchObject({ tied: 1, win_rate: null, p_value: null });
});

test("several attempts of a side count by their sum, and rounding is no win", () => {
  const count = new PreferenceCount();
  count.add([0.1, 0.2].map((score) => attempt("baseline", score)));
  const both = [0.1, 0.2, 0.3].map((score) => attempt("candidate", score));
  count.add([...both, ...[0.6, 0, 0].map((score) => attempt("baseline", score))]);
  expect(count.found()).toMatchObject({ preferred: 0, tied: 1, not_preferred: 1 });
});

test("agreement with rewards is Somers' D: ties of the judge count, ties of the rewards do not", () => {
  const count = new PreferenceCount();
  count.add([
    attempt("baseline", 0.1, 0),
    attempt("baseline", 0.5, 0),
    attempt("candidate", 0.5, 1),
    attempt("candidate", 0.4, 1),
  ]);
  // 0.1 < 0.5 and 0.1 < 0.4 agree, 0.5 = 0.5 is a tie, 0.5 > 0.4 does not agree.
  expect(count.found().agreement).toEqual({ pairs: 4, agreed: 2, tied: 1, somers_d: 0.25 });
});
