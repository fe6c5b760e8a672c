/** Two rollouts judged in one group for each task. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { scriptedJudge } from "../../tests/scripted-judge.ts";
import type { JudgedMessage } from "../core/judge.ts";
import { openPlayable } from "../environments/playable.ts";
import { openRun } from "../runs/reader.ts";
import { type ResultRow, resultRowSchema } from "../runs/schemas.ts";
import { judgeTogether } from "./judge-together.ts";

const room = episodeRoom();
const ENV = "support-replies";
const polite = () => () => "We are sorry. Your parcel comes tomorrow.";
const curt = () => () => "No.";
/** The longer attempt is better. */
const byLength = (attempt: readonly JudgedMessage[]) =>
  Math.min(1, (attempt.at(-1)?.content.length ?? 0) / 100);

const rollout = (name: string, parts: Partial<RolloutParts>) =>
  room.rollout(name, { env: ENV, tasks: 6, policy: name, ...parts });
const rowsOf = (dir: string): ResultRow[] =>
  readFileSync(`${dir}/results.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => resultRowSchema.parse(JSON.parse(line)));

async function judged(name: string, parts: Partial<Parameters<typeof judgeTogether>[0]> = {}) {
  return judgeTogether({
    baseline: await rollout(`${name}-a`, { player: curt }),
    candidate: await rollout(`${name}-b`, { player: polite }),
    environment: await openPlayable(ENV),
    judge: scriptedJudge({ score: byLength }),
    outdir: room.path(name),
    ...parts,
  });
}

describe("two rollouts judged together", () => {
  test("become two evaluations with the judge as their scorer", async () => {
    const { baseline, candidate, preferences } = await judged("pair");
    expect(preferences).toMatchObject({ preferred: 6, tied: 0, not_preferred: 0, win_rate: 1 });
    expect(preferences.p_value).toBeCloseTo(2 / 2 ** 6);
    const run = await openRun(candidate.dir);
    expect(run.manifest.scorer).toMatchObject({ name: "scripted", version: "1", range: [0, 1] });
    expect(run.manifest.scorer.source_sha256).toBe(run.manifest.judge?.identity.fingerprint);
    expect(run.summary.outcomes.counts).toEqual({ preferred: 6 });
    expect(baseline.summary.outcomes.counts).toEqual({ not_preferred: 6 });
    const [row] = rowsOf(candidate.dir);
    expect(row).toMatchObject({ passed: true, outcome_code: "preferred" });
    expect(row?.details).toMatchObject({ message: expect.stringMatching(/^attempt [12]$/) });
    expect(run.summary.judge).toMatchObject({ groups: 6, dropped: {}, prompt_tokens: 120 });
  });

  test("are asked about once for each task, in an order that favours no side", async () => {
    const judge = scriptedJudge({ score: byLength });
    await judged("order", {
      judge,
      baseline: await rollout("order-many-a", { player: curt, tasks: 40 }),
      candidate: await rollout("order-many-b", { player: polite, tasks: 40 }),
    });
    expect(judge.asked).toHaveLength(40);
    const first = judge.asked.filter(({ attempts }) => attempts[0]?.at(-1)?.content === "No.");
    expect(first.length).toBeGreaterThan(8);
    expect(first.length).toBeLessThan(32);
  });

  test("have the same bytes when they are judged again", async () => {
    const once = await judged("once", { baseline: await rollout("again-a", { player: curt }) });
    const twice = await judged("twice", {
      baseline: await rollout("again-a2", { player: curt, policy: "again-a" }),
    });
    for (const name of ["results.jsonl", "judgements.jsonl"])
      expect(readFileSync(`${twice.baseline.dir}/${name}`)).toEqual(
        readFileSync(`${once.baseline.dir}/${name}`),
      );
  });

  test("with several attempts of each have them all in the group", async () => {
    const judge = scriptedJudge({ score: byLength });
    const { candidate } = await judged("several", {
      judge,
      baseline: await rollout("several-n-a", { player: curt, n: 3, tasks: 4 }),
      candidate: await rollout("several-n-b", { player: polite, n: 3, tasks: 4 }),
    });
    expect(judge.asked.map(({ attempts }) => attempts.length)).toEqual([6, 6, 6, 6]);
    expect(rowsOf(candidate.dir).map(({ sample }) => sample)).toEqual(
      Array.from({ length: 12 }, (_, i) => i % 3),
    );
  });

  test("without a verdict have no score, on either side", async () => {
    const refused = new Set<string>();
    const judge = scriptedJudge({
      score: byLength,
      refuses: (id) => refused.size < 1 && Boolean(refused.add(id)),
    });
    const { baseline, candidate } = await judged("refused", { judge, droppedLimit: 0.5 });
    expect(candidate.summary.judge).toMatchObject({ groups: 5, dropped: { refused: 1 } });
    for (const { dir } of [baseline, candidate]) {
      const [row] = rowsOf(dir);
      expect(row).toMatchObject({ reward: null, outcome_code: "scorer_error", passed: false });
      expect(row?.details).toMatchObject({
        message: expect.stringContaining("I would rather not"),
      });
    }
  });

  test("stop where too many have no verdict, and leave nothing behind", async () => {
    const judge = scriptedJudge({ score: byLength, refuses: () => true });
    await expect(judged("all-refused", { judge })).rejects.toThrow(/no verdict for 1 of 6 groups/);
    await expect(openRun(room.path("all-refused", "baseline"))).rejects.toThrow();
  });

  test("count an episode that failed as missing on both sides", async () => {
    let place = 0;
    const candidate = await rollout("gap-b2", {
      player: polite,
      edit: (one) => (place++ === 0 ? undefined : one),
    });
    const both = await judged("gap", { candidate });
    for (const { dir, summary } of [both.baseline, both.candidate]) {
      expect(summary.metrics.n_missing).toBe(1);
      expect(rowsOf(dir)[0]).toMatchObject({ completion: null, reward: null });
    }
  });

  test("must be of the same tasks, in the same number", async () => {
    await expect(
      judged("fewer", { candidate: await rollout("fewer-b2", { player: polite, tasks: 5 }) }),
    ).rejects.toThrow(/different tasks/);
    await expect(
      judged("more", { candidate: await rollout("more-b2", { player: polite, n: 2 }) }),
    ).rejects.toThrow(/1 episodes of each task, and .* has 2/);
  });
});
