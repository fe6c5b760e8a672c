import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import type { Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { openPlayable } from "../environments/playable.ts";
import { openRun } from "../runs/reader.ts";
import { type ResultRow, resultRowSchema, summarySchema } from "../runs/schemas.ts";
import { evaluateTrajectories } from "./eval-trajectories.ts";
import { selectTrajectories } from "./select-trajectories.ts";
import { builtInPolicy } from "./selection-policy.ts";

const room = episodeRoom();
let made = 0;

async function evaluated(parts: RolloutParts, more: object = {}, env = parts.env) {
  const trajectories = await room.rollout(`rollout-${made}`, parts);
  const environment = await openPlayable(env);
  const outdir = room.path(`eval-${made++}`);
  const finished = await evaluateTrajectories({ trajectories, environment, outdir, ...more });
  return { ...finished, rows: await rowsIn(outdir) };
}

async function rowsIn(dir: string): Promise<ResultRow[]> {
  const rows: ResultRow[] = [];
  for await (const batch of (await openRun(dir)).results().batches()) rows.push(...batch);
  return rows;
}

type Assistant = Extract<TrajectoryMessage, { role: "assistant" }>;

/** The episode with its last action changed. */
function lastAction(one: Trajectory, change: (action: Assistant) => TrajectoryMessage): Trajectory {
  const at = one.messages.findLastIndex(({ role }) => role === "assistant");
  const messages = one.messages.map((m, i) => (i === at ? change(m as Assistant) : m));
  return { ...one, messages };
}

describe("an evaluation of episodes", () => {
  test("has a row for each, with its conversation and figures; a solved task passes", async () => {
    const player = (place: number) => (place < 3 ? ("gold" as const) : ("idle" as const));
    const { summary, manifest, rows } = await evaluated({ env: "tool-calls", tasks: 5, player });
    expect(summary.metrics).toMatchObject({ n_examples: 5, n_pass: 3, n_fail: 2, pass_rate: 0.6 });
    expect(summary.outcomes.counts).toEqual({ solved: 3, invalid_json: 2 });
    expect(summary.episodes).toMatchObject({ n: 5, truncated: 0 });
    expect(summary.episodes?.metrics.turns?.least).toBe(1);
    expect(manifest).toMatchObject({
      loop: "A",
      command: "eval",
      split: "dev",
      solved: ["solved"],
    });
    expect(manifest.scorer).toMatchObject({ name: "tool-calls", path: null, range: [-1, 1] });
    expect(manifest.policy).toEqual({ kind: "scripted", name: "gold" });
    expect(manifest.sampling).toEqual({ seed: 0, temperature: 1 });
    expect(manifest.environment).toMatchObject({ name: "tool-calls" });
    for (const row of rows) expect(resultRowSchema.parse(row)).toEqual(row);
    expect(summarySchema.parse(summary)).toEqual(summary);
    expect(rows[0]).toMatchObject({ passed: true, reward: 1, episode: { sample: 0 } });
    expect(rows[0]?.episode?.messages[1]).not.toHaveProperty("sampled");
  });

  test("passes by the code, not by the reward: circling for points solves nothing", async () => {
    const parts = { env: "boat-race-naive", tasks: 4 };
    const { summary } = await evaluated({ ...parts, player: () => "exploit" });
    expect(summary.metrics).toMatchObject({ n_pass: 0, pass_rate: 0, mean_reward: 1 });
    expect(summary.metrics).toHaveProperty("mean_reward_ci95");
    const honest = await evaluated(parts);
    expect(honest.summary.metrics).toMatchObject({ n_pass: 4, pass_rate: 1, mean_reward: 0 });
  });

  test("counts tasks where a task has several episodes", async () => {
    const player = (_: number, sample: number) => (sample === 0 ? "gold" : "idle") as "gold";
    const { summary, manifest, rows } = await evaluated({
      ...{ env: "arithmetic", tasks: 4, n: 3, player },
    });
    expect(summary.metrics).toMatchObject({ n_examples: 12, repeats: 3, n_pass: 4 });
    expect(manifest.settings.repeats).toBe(3);
    expect(rows.map(({ sample }) => sample).slice(0, 4)).toEqual([0, 1, 2, 0]);
  });

  test("without a reward of its own is not scored, and never 0", async () => {
    const { summary, rows } = await evaluated({ env: "support-replies", tasks: 3 });
    expect(summary.metrics).toMatchObject({ n_scored: 0, n_fail: 0, pass_rate: null });
    expect(rows.every(({ reward, passed }) => reward === null && passed === false)).toBe(true);
  });

  test("slices by a field of the tasks, measures axes on what the policy wrote, names a wrong field", async () => {
    const parts = { env: "arithmetic", tasks: 4 };
    const { summary, rows } = await evaluated(parts, {
      slice: ["id"],
      axes: [{ name: "verbosity" }],
    });
    expect(Object.keys(summary.slices ?? {})).toEqual(["id"]);
    expect(summary.axes?.verbosity?.scored).toBe(4);
    expect(rows[0]?.completion).toMatch(/^Final: /);
    await expect(evaluated(parts, { slice: ["topic"] })).rejects.toThrow(/no example .* has this/);
  });

  test("has a missing row for each rollout that failed, and names them", async () => {
    const failure = { id: "dev-0001", sample: 0, type: "timeout", message: "no answer in 60 s" };
    const id = (await (await openPlayable("arithmetic")).tasks("dev"))[1]?.id as string;
    const { summary, rows } = await evaluated({
      ...{ env: "arithmetic", tasks: 3, failures: [{ ...failure, id }] },
      edit: (one) => (one.id === id ? undefined : one),
    });
    expect(summary.metrics).toMatchObject({ n_examples: 3, n_scored: 2, n_missing: 1, n_pass: 2 });
    expect(summary.failures).toMatchObject({ count: 1, first: [{ id, type: "timeout" }] });
    expect(rows[1]).toMatchObject({ reward: null, outcome_code: "missing_completion" });
    expect(rows[1]?.details).toEqual({ message: "the rollout failed: timeout: no answer in 60 s" });
  });

  test("misses an episode that was taken out of the file", async () => {
    let place = 0;
    const { rows } = await evaluated({
      ...{ env: "arithmetic", tasks: 3 },
      edit: (one) => (place++ === 0 ? undefined : one),
    });
    expect(rows.map(({ outcome_code: code }) => code)).toEqual(["missing_completion", "ok", "ok"]);
  });

  test("counts an episode on which the environment broke as an error", async () => {
    const { summary, rows } = await evaluated({
      ...{ env: "arithmetic", tasks: 2 },
      edit: (one) => ({ ...one, reward: null, code: "environment_error", terminated: false }),
    });
    expect(summary.outcomes.counts).toEqual({ environment_error: 2 });
    expect(rows[0]).toMatchObject({ reward: null, passed: false });
  });

  test("keeps the reward so far of an episode that was cut short", async () => {
    const short = (one: Trajectory): Trajectory => ({
      ...one,
      messages: one.messages.slice(0, 3),
      ...{ reward: 0, code: "context_full", terminated: false, metrics: { turns: 1 } },
    });
    const { summary, rows } = await evaluated({ env: "twenty48", tasks: 2, edit: short });
    expect(summary.episodes).toMatchObject({ n: 2, truncated: 2 });
    expect(rows[0]).toMatchObject({ reward: 0, passed: false, outcome_code: "context_full" });
  });
});

describe("a file that is not what happened is refused", () => {
  const cases: Record<string, [edit: (one: Trajectory) => Trajectory, says: RegExp]> = {
    "a reward of the whole": [
      (one) => ({ ...one, reward: 2 }),
      /sample 1: the reward is 2, but tool-calls gives 1$/,
    ],
    "a reward of a turn": [
      (one) => lastAction(one, (action) => ({ ...action, reward: 0.5 })),
      /sample 1, turn 1: the reward is 0.5, but tool-calls gives 1$/,
    ],
    "a code": [
      (one) => ({ ...one, code: "wrong_tool" }),
      /the code is "wrong_tool", but tool-calls gives "solved"$/,
    ],
    "an action": [
      (one) => lastAction(one, (action) => ({ ...action, content: "{}" })),
      /turn 1: the reward is 1, but tool-calls gives 0$/,
    ],
    "an observation": [
      (one) => ({
        ...one,
        messages: [{ role: "user", content: "Hello" }, ...one.messages.slice(1)],
      }),
      /before turn 1: the message is user: Hello, but tool-calls gives user: /,
    ],
    "a turn too many": [
      (one) => ({ ...one, messages: [...one.messages, one.messages[1] as TrajectoryMessage] }),
      /turn 2: the turn is a turn, but tool-calls gives the episode had ended$/,
    ],
    "an end that did not come": [
      (one) => ({ ...one, messages: one.messages.slice(0, 1), code: "solved" }),
      /the code is "solved", but tool-calls gives the episode had not ended$/,
    ],
    "a metric": [
      (one) => ({ ...one, metrics: { ...one.metrics, unsafe_calls: 9 } }),
      /the metric unsafe_calls is 9, but tool-calls gives 0$/,
    ],
    "an address": [(one) => ({ ...one, terminated: false }), /the terminated is false/],
  };

  test.each(Object.keys(cases))("%s", async (name) => {
    const [edit, says] = cases[name] as (typeof cases)[string];
    await expect(evaluated({ env: "tool-calls", tasks: 1, edit })).rejects.toThrow(says);
  });

  test("a game of another seed", async () => {
    const parts = {
      env: "twenty48",
      tasks: 1,
      edit: (one: Trajectory) => ({ ...one, address: [1] }),
    };
    await expect(evaluated(parts)).rejects.toThrow(/it was not played with the seed 0/);
    // A file from elsewhere states no seed: what the environment shows decides.
    const whole = { ...parts, edit: (one: Trajectory) => ({ ...one, address: [] }), sampling: {} };
    await expect(evaluated(whole)).rejects.toThrow(/before turn 1: the message is user: /);
  });

  test("another environment is named", async () => {
    const parts = { env: "arithmetic", tasks: 1 };
    await expect(evaluated(parts, {}, "tool-calls")).rejects.toThrow(
      "was made in the environment arithmetic, not in tool-calls",
    );
  });

  test("an unknown task is named with its line, and so is a line that is cut", async () => {
    const rollout = await room.rollout("damaged", { env: "arithmetic", tasks: 3 });
    const file = `${rollout}/trajectories.jsonl`;
    const text = readFileSync(file, "utf8");
    const environment = await openPlayable("arithmetic");
    const evaluate = (trajectories: string) =>
      evaluateTrajectories({ trajectories, environment, outdir: room.path("never") });
    writeFileSync(file, text.replaceAll(/"id":"[^"]*"/g, '"id":"nobody"').split("\n")[0] as string);
    await expect(evaluate(rollout)).rejects.toThrow(
      `${file}:1: the environment arithmetic has no task "nobody" in the split dev`,
    );
    writeFileSync(file, text.slice(0, -100));
    await expect(evaluate(rollout)).rejects.toThrow(`${file}:3: not valid JSON`);
    await expect(evaluate(file)).rejects.toThrow(`${file}:3: not valid JSON`);
    writeFileSync(file, text);
    await expect(evaluate(file)).resolves.toMatchObject({ summary: { metrics: { n_pass: 3 } } });
  });

  test("an environment with other code is named where the replay disagrees", async () => {
    const rollout = await room.rollout("older", {
      ...{ env: "arithmetic", tasks: 1 },
      edit: (one) => ({ ...one, reward: 0.5 }),
    });
    const manifest = `${rollout}/manifest.json`;
    const old = "a".repeat(64);
    writeFileSync(
      manifest,
      readFileSync(manifest, "utf8").replace(/"source_sha256": "\w+"/, `"source_sha256": "${old}"`),
    );
    const environment = await openPlayable("arithmetic");
    const refused = await evaluateTrajectories({
      ...{ trajectories: rollout, environment, outdir: room.path("other") },
    }).catch((error) => error);
    expect(refused.hint).toMatch(
      /^The environment's code is not that of the rollout: aaaaaaaaaaaa…/,
    );
  });
});

describe("a selection of episodes", () => {
  test("takes the best of a task's episodes, and leaves the policy as it is", async () => {
    const player = (place: number, sample: number) =>
      sample === place % 4 ? ("gold" as const) : ("idle" as const);
    const trajectories = await room.rollout("packs", { env: "tool-calls", tasks: 8, n: 4, player });
    const environment = await openPlayable("tool-calls");
    const outdir = room.path("best-of-4");
    const { summary, manifest } = await selectTrajectories({
      ...{ trajectories, environment, outdir, policy: builtInPolicy("best"), n: 4 },
    });
    expect(summary.metrics).toMatchObject({ pass_at_1: 0.25, pass_at_n: 1, rescued: 6, lost: 0 });
    expect(summary.metrics.pass_at_k?.[0]?.value).toBeCloseTo(0.25);
    expect(manifest).toMatchObject({ loop: "B", selection: { n: 4, rule: "best" } });
    const [row] = await rowsIn(outdir);
    expect(row?.episode?.sample).toBe(0);
    expect(resultRowSchema.parse(row)).toEqual(row);
    const majority = { trajectories, environment, outdir: room.path("m"), n: 4 };
    await expect(
      selectTrajectories({ ...majority, policy: builtInPolicy("majority") }),
    ).rejects.toThrow("needs parsed answers");
  });
});
