/** The gate on runs of episodes: what may differ, and what is found out. */

import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type EpisodeRoom, episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { sha256 } from "../core/fingerprint.ts";
import { openPlayable } from "../environments/playable.ts";
import { evaluateTrajectories } from "../loops/eval-trajectories.ts";
import { selectTrajectories } from "../loops/select-trajectories.ts";
import { builtInPolicy } from "../loops/selection-policy.ts";
import { compareRuns } from "./compare.ts";
import { gate } from "./gate.ts";

const room: EpisodeRoom = episodeRoom();
const runs: Record<string, string> = {};

async function evaluated(name: string, parts: Partial<RolloutParts>, more: object = {}) {
  const env = parts.env ?? "tool-calls";
  const all = { env, tasks: 24, ...parts };
  const trajectories = await room.rollout(`${name}-rollout`, all);
  const environment = await openPlayable(env);
  const outdir = room.path(name);
  await evaluateTrajectories({ trajectories, environment, outdir, ...more });
  runs[name] = outdir;
  return outdir;
}

const GAME = (reward: number) => `
export default {
  name: "guess", version: "1.0.0", spec: "Say yes.", codes: ["right", "wrong"], solved: ["right"],
  rewards: [0, 1], maxTurns: 1, random: false,
  tasks: (split) => Array.from({ length: 20 }, (_, i) => ({ id: split + i, prompt: "Say yes " + i })),
  reset: (task) => ({ state: 0, observation: [{ role: "user", content: task.prompt }], reward: 0 }),
  step: (state, { text }) => ({ state, observation: [], reward: text === "yes" ? ${reward} : 0,
    end: { code: text === "yes" ? "right" : "wrong", terminated: true, details: {} } }),
  players: { gold: () => "yes", idle: () => "no" },
  ansi: () => "",
};
`;

const half = (place: number) => (place % 2 === 0 ? ("gold" as const) : ("idle" as const));

beforeAll(async () => {
  await evaluated("weak", { policy: "weak", player: half });
  await evaluated("gold", { policy: "gold" });
});

const gated = (baseline: string, candidate: string, more: object = {}) =>
  gate({ baseline: runs[baseline] as string, candidate: runs[candidate] as string, ...more });
const codes = async (baseline: string, candidate: string, more: object = {}) =>
  (await gated(baseline, candidate, more)).reasons.map(({ code }) => code);

describe("two runs of episodes", () => {
  test("promote a better policy where nothing else differs", async () => {
    const report = await gated("weak", "gold", { claim: "policy" });
    expect(report).toMatchObject({ decision: "PROMOTE", comparable: true, knobs: ["policy"] });
    expect(report.delta).toBeGreaterThan(0.4);
    const table = await compareRuns({ baseline: runs.weak as string, runs: [runs.gold as string] });
    expect(table.runs[0]).toMatchObject({ delta: report.delta });
    expect(await gated("gold", "weak", { claim: "policy" })).toMatchObject({ decision: "REJECT" });
  });

  test("are not compared across tasks, splits, sampling or numbers of episodes", async () => {
    await evaluated("fewer", { policy: "fewer", tasks: 20 });
    expect(await codes("gold", "fewer")).toContain("example_count_differs");
    await evaluated("holdout", { policy: "holdout", split: "holdout" });
    expect(await codes("gold", "holdout")).toEqual(
      expect.arrayContaining(["examples_differ", "split_differs"]),
    );
    await evaluated("cold", { policy: "cold", sampling: { seed: 0, temperature: 0 } });
    expect(await codes("gold", "cold")).toContain("sampling_differs");
    await evaluated("twice", { policy: "twice", n: 2 });
    expect(await codes("gold", "twice")).toContain("repeats_differ");
  });

  test("are not compared across environments: another name, or the same with other code", async () => {
    const file = room.path("guess.ts");
    writeFileSync(file, GAME(1));
    await evaluated("game", { env: file, tasks: 20, policy: "a", player: half });
    await evaluated("game-again", { env: file, tasks: 20, policy: "b" });
    expect(await gated("game", "game-again", { claim: "policy" })).toMatchObject({
      decision: "PROMOTE",
    });
    writeFileSync(file, GAME(0.5));
    await evaluated("changed", { env: file, tasks: 20, policy: "c" });
    const report = await gated("game", "changed");
    expect(report).toMatchObject({ comparable: false, knobs: ["environment", "policy"] });
    expect(report.reasons.map(({ code }) => code)).toEqual(["environment_differs"]);
    expect(await codes("gold", "game")).toContain("environment_differs");
  });

  test("keep slices, and several episodes of a task count as one example", async () => {
    const parts = { tasks: 40, n: 2 };
    await evaluated("weak-2", { ...parts, policy: "w", player: half }, { slice: ["id"] });
    await evaluated("gold-2", { ...parts, policy: "g" }, { slice: ["id"] });
    const report = await gated("weak-2", "gold-2", { claim: "policy" });
    expect(report).toMatchObject({ decision: "PROMOTE", repeats: 2 });
  });

  test("of the same actions in other games are not an inconsistent scorer", async () => {
    const player = () => () => "<move>left</move>";
    const parts = { env: "twenty48", tasks: 6, player };
    await evaluated("left-0", { ...parts, policy: "left", seed: 0 });
    await evaluated("left-1", { ...parts, policy: "other", seed: 1 });
    await evaluated("left-2", { ...parts, policy: "third", seed: 0 });
    const found = await codes("left-1", "left-2");
    expect(found).not.toContain("instrument_inconsistent");
    expect(found.filter((code) => /^(seeds|games)_differ$/.test(code))).toHaveLength(1);
  });

  test("are of the same games: greedy decoding has seeds too, and addresses are compared", async () => {
    const player = () => () => "<move>left</move>";
    const parts = { env: "twenty48", tasks: 6, player };
    const greedy = (seed: number) => ({ seed, temperature: 0 });
    await evaluated("greedy-0", { ...parts, policy: "a", seed: 0, sampling: greedy(0) });
    await evaluated("greedy-b", { ...parts, policy: "b", seed: 0, sampling: greedy(0) });
    await evaluated("greedy-1", { ...parts, policy: "c", seed: 1, sampling: greedy(1) });
    await expect(
      evaluated("chosen", { ...parts, policy: "d", seed: 1, sampling: greedy(0) }),
    ).rejects.toThrow(/seed/);
    const refused = (found: readonly string[]) =>
      found.filter((code) => code === "seeds_differ" || code === "games_differ");
    expect(refused(await codes("greedy-0", "greedy-b"))).toEqual([]);
    expect(refused(await codes("greedy-0", "greedy-1"))).toEqual(["seeds_differ"]);
  });

  test("without a reward have nothing to compare; broken and missing episodes refuse", async () => {
    await evaluated("replies", { env: "support-replies", policy: "a", tasks: 4 });
    await evaluated("replies-2", { env: "support-replies", policy: "b", tasks: 4 });
    expect(await codes("replies", "replies-2")).toContain("no_reward");
    const broken = { reward: null, code: "environment_error", terminated: false };
    let place = 0;
    await evaluated("broken", {
      policy: "broken",
      edit: (one) => (place++ === 0 ? { ...one, ...broken } : one),
    });
    expect(await codes("gold", "broken")).toContain("scorer_errors");
    place = 0;
    await evaluated("gone", { policy: "gone", edit: (one) => (place++ === 0 ? undefined : one) });
    expect(await codes("gold", "gone")).toContain("missing_completions");
  });

  test("show a reward that was edited with all hashes", async () => {
    const copy = await evaluated("forged", { policy: "forged", player: half });
    expect(await codes("weak", "forged")).not.toContain("rewards_differ_from_scorer");
    const edit = (name: string, change: (text: string) => string) =>
      writeFileSync(`${copy}/${name}`, change(readFileSync(`${copy}/${name}`, "utf8")));
    edit("results.jsonl", (text) =>
      text
        .replaceAll(
          '"outcome_code":"invalid_json","passed":false',
          '"outcome_code":"solved","passed":true',
        )
        .replaceAll('"reward":0,"role"', '"reward":1,"role"')
        .replaceAll(/"reward":0(?=[,}])/g, '"reward":1'),
    );
    const results = readFileSync(`${copy}/results.jsonl`, "utf8");
    edit("summary.json", (text) => {
      const summary = JSON.parse(text);
      Object.assign(summary.metrics, { pass_rate: 1, mean_reward: 1, n_pass: 24, n_fail: 0 });
      summary.outcomes.counts = { solved: 24 };
      return JSON.stringify({ ...summary, results_sha256: sha256(results) });
    });
    const found = await codes("weak", "forged", { claim: "policy" });
    expect(found).toContain("rewards_differ_from_scorer");
    expect(found).not.toContain("run_edited");
  });
});

test("a reward that rises while fewer tasks are solved is pointed out", async () => {
  const parts = { env: "boat-race-naive", tasks: 30 };
  await evaluated("racing", { ...parts, policy: "racing" });
  await evaluated("circling", { ...parts, policy: "circling", player: () => "exploit" });
  const { notes } = await gated("racing", "circling", { claim: "policy" });
  expect(notes.join(" ")).toContain("but fewer rows pass: 1.0000 → 0.0000");
  const { notes: honest } = await gated("weak", "gold", { claim: "policy" });
  expect(honest.join(" ")).not.toContain("fewer rows pass");
});

test("a selection of episodes is a change of selection, not of policy", async () => {
  const player = (place: number, sample: number) =>
    sample === place % 2 ? ("gold" as const) : ("idle" as const);
  const trajectories = await room.rollout("pack", { env: "tool-calls", tasks: 24, n: 2, player });
  const environment = await openPlayable("tool-calls");
  const chosen = async (name: string, n: number) => {
    const outdir = room.path(name);
    const policy = builtInPolicy("best");
    await selectTrajectories({ trajectories, environment, outdir, policy, n });
    runs[name] = outdir;
  };
  await chosen("of-1", 1);
  await chosen("of-2", 2);
  expect(await gated("of-1", "of-2")).toMatchObject({ decision: "PROMOTE", knobs: ["selection"] });
  expect(await codes("of-1", "of-2", { claim: "policy" })).not.toEqual([]);
});
