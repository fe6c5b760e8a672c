import { expect, test } from "vitest";
import { activity } from "./activity.ts";
import type { Contribution } from "./history.ts";

const START = "2026-11-01";

function worked(day: string, more: { words?: number; artifact?: boolean } = {}): Contribution {
  return {
    day,
    files: more.artifact ? ["runs/a/summary.json"] : ["notes/a.md"],
    words: new Map(more.words === undefined ? [] : [["notes/a.md", more.words]]),
  };
}

const on = (today: string, ...days: Contribution[]) =>
  activity({ start: START, contributions: [worked(START), ...days] }, today);

test("a streak stands until a day has passed without a commit", () => {
  const days = [worked("2026-11-02"), worked("2026-11-03")];
  expect(on("2026-11-03", ...days).streak).toBe(3);
  expect(on("2026-11-04", ...days).streak).toBe(3);
  expect(on("2026-11-05", ...days)).toMatchObject({ streak: 0, longest: 3 });
});

test("a gap ends one streak and the longest is remembered", () => {
  const days = ["2026-11-02", "2026-11-04", "2026-11-05", "2026-11-06", "2026-11-08"];
  expect(on("2026-11-08", ...days.map((day) => worked(day)))).toMatchObject({
    streak: 1,
    longest: 3,
  });
});

test("a full day has a commit, 200 words and an artifact; its commits count together", () => {
  const day = "2026-11-02";
  const full = (...commits: Contribution[]) => on(day, ...commits).full_days;
  expect(full(worked(day, { words: 200, artifact: true }))).toBe(1);
  expect(full(worked(day, { words: 199, artifact: true }))).toBe(0);
  expect(full(worked(day, { words: 200 }))).toBe(0);
  expect(full(worked(day, { artifact: true }))).toBe(0);
  expect(full(worked(day, { words: 120 }), worked(day, { words: 80, artifact: true }))).toBe(1);
});

test("a write-up of more than 600 words counts, and is counted as long", () => {
  const day = "2026-11-02";
  const long = (...commits: Contribution[]) => on(day, ...commits);
  const at = (words: number) => long(worked(day, { words, artifact: true }));
  expect(at(600)).toMatchObject({ full_days: 1, long_days: 0 });
  expect(at(601)).toMatchObject({ full_days: 1, long_days: 1 });
  expect(long(worked(day, { words: 601 })), "no artifact").toMatchObject({ long_days: 0 });
});

test("the strip has four weeks, ends today, and shows what was before the start as nothing", () => {
  const { calendar } = on("2026-11-03", worked("2026-11-03", { words: 300, artifact: true }));
  expect(calendar).toHaveLength(28);
  expect(calendar.at(-1)).toEqual({ date: "2026-11-03", mark: "full" });
  expect(calendar.slice(-4).map(({ mark }) => mark)).toEqual(["before", "commit", "none", "full"]);
});
