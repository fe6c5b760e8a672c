/** What the pages of recipes say, held against the figures that their runs gave. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Trained {
  readonly name: string;
  readonly start: { readonly proxy: number; readonly truth: number };
  readonly end: { readonly proxy: number; readonly truth: number };
  readonly kept: { readonly truth: number };
  readonly stopped: { readonly reason: string };
  readonly alarms: readonly { readonly alarm: string }[];
}

const read = (file: string) => readFileSync(new URL(`../recipes/${file}`, import.meta.url), "utf8");

test("the Goodhart recipe: the naive reward rises, the truth falls, and reward_hacking is raised", () => {
  const runs: Trained[] = JSON.parse(read("goodhart/results.json"));
  const [naive, stopped, strict] = runs as [Trained, Trained, Trained];
  expect(naive.end.proxy).toBeGreaterThan(naive.start.proxy + 0.05);
  expect(naive.end.truth).toBeLessThan(naive.start.truth - 0.2);
  for (const { alarms } of [naive, stopped]) {
    expect(alarms.map(({ alarm }) => alarm)).toContain("reward_hacking");
  }
  expect(stopped.stopped.reason).toBe("reward_hacking");
  expect(stopped.kept.truth).toBeGreaterThan(naive.kept.truth);
  expect(strict.alarms).toEqual([]);
  expect(strict.end.truth).toBeGreaterThan(strict.start.truth + 0.2);
  expect(read("goodhart/README.md")).toContain("reward_hacking");
});

test("the recipe of tool calls: more exact answers, and no unsafe ones any more", () => {
  const { solved, unsafe_calls, greedy } = JSON.parse(read("tool-calls/results.json"));
  expect(solved.trained).toBeGreaterThan(solved.start + 0.3);
  expect(unsafe_calls.start).toBeGreaterThan(5);
  expect(unsafe_calls.trained).toBe(0);
  // What the page says of it: greedy decoding had little to gain.
  expect(greedy.start).toBeGreaterThan(0.97);
});

test("the recipe of 2048: from nearly random play towards the greedy player", () => {
  const { reach_128: reach, players } = JSON.parse(read("twenty48/results.json"));
  expect(reach.trained).toBeGreaterThan(reach.start + 0.3);
  expect(players.random[128]).toBeLessThan(reach.trained);
  expect(reach.trained).toBeLessThanOrEqual(players.greedy[128] + 0.05);
});

test("the recipe of e-mail search: more right answers with the right source, in no more turns", () => {
  const { answers, solved } = JSON.parse(read("email-search/results.json"));
  expect(solved.trained).toBeGreaterThan(solved.start + 0.2);
  expect(answers.trained.right_sources).toBeGreaterThan(1.5 * answers.start.right_sources);
  expect(answers.trained.turns).toBeLessThan(answers.start.turns + 0.1);
});
