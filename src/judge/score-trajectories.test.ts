/** A rollout with the judge's scores as its rewards, and what other commands make of it. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { scriptedJudge } from "../../tests/scripted-judge.ts";
import type { JudgedMessage } from "../core/judge.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { openPlayable } from "../environments/playable.ts";
import { evaluateTrajectories } from "../loops/eval-trajectories.ts";
import { selectTrajectories } from "../loops/select-trajectories.ts";
import { builtInPolicy } from "../loops/selection-policy.ts";
import { openRollout } from "../runs/read-rollout.ts";
import { toTrajectory } from "../runs/trajectory-schema.ts";
import { openEmbeddedJudge } from "./open-embedded.ts";
import { scoreTrajectories } from "./score-trajectories.ts";

const room = episodeRoom();
const said = (attempt: readonly JudgedMessage[]) =>
  attempt
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content)
    .join("");
const byLength = (attempt: readonly JudgedMessage[]) => Math.min(1, said(attempt).length / 200);

const rollout = (name: string, parts: Partial<RolloutParts> = {}) =>
  room.rollout(name, {
    ...{ env: "tool-calls", tasks: 5, n: 2 },
    player: (_, sample) => (sample === 0 ? "idle" : "gold"),
    ...parts,
  });

function trajectoriesIn(dir: string): Trajectory[] {
  const lines = readFileSync(`${dir}/trajectories.jsonl`, "utf8").trim().split("\n");
  return lines.map((line) => toTrajectory(JSON.parse(line)));
}

describe("a judged rollout", () => {
  test("has scores as rewards, the old rewards as metrics, explanations in the logs", async () => {
    const source = await rollout("plain");
    const judge = scriptedJudge({ score: byLength });
    const { dir, summary } = await scoreTrajectories({
      ...{ trajectories: source, judge, outdir: room.path("plain-judged") },
      prices: { in: 1, out: 2 },
    });
    const before = trajectoriesIn(source);
    for (const [i, one] of trajectoriesIn(dir).entries()) {
      const old = before[i] as Trajectory;
      expect(one.reward).toBe(byLength(old.messages));
      expect(one.metrics).toEqual({
        ...{ ...old.metrics, ruler_score: one.reward, independent_reward: old.reward },
      });
      expect(one.logs.at(-1)).toMatch(/^judge: attempt [12]$/);
      expect(one.messages).toEqual(old.messages);
    }
    expect(summary.judge).toMatchObject({ groups: 5, prompt_tokens: 100, total: 0.00012 });
    const opened = await openRollout(dir);
    expect(opened.manifest.judge?.identity).toEqual(judge.identity);
    expect(await opened.editedFiles()).toEqual([]);
  });

  test("of an environment without rewards has no old reward", async () => {
    const source = await rollout("replies", { env: "support-replies", tasks: 2 });
    const judge = await openEmbeddedJudge();
    const { dir } = await scoreTrajectories({
      ...{ trajectories: source, judge, outdir: room.path("replies-judged") },
    }).finally(() => judge.close());
    for (const { reward, metrics } of trajectoriesIn(dir)) {
      expect(metrics.ruler_score).toBe(reward);
      expect(metrics).not.toHaveProperty("independent_reward");
    }
  });

  test("lacks the groups without a verdict, which have a line each", async () => {
    const asked: string[] = [];
    const refuses = (id: string) => asked.push(id) === 1;
    const { dir, summary } = await scoreTrajectories({
      ...{ trajectories: await rollout("some"), outdir: room.path("some-judged") },
      ...{ judge: scriptedJudge({ score: byLength, refuses }), droppedLimit: 0.2 },
    });
    expect(summary.judge).toMatchObject({ groups: 4, dropped: { refused: 1 } });
    expect(trajectoriesIn(dir)).toHaveLength(8);
    const [line, end] = readFileSync(`${dir}/dropped.jsonl`, "utf8").split("\n");
    expect(JSON.parse(line as string)).toMatchObject({ type: "refused" });
    expect(end).toBe("");
    expect((await openRollout(dir)).summary.files).toHaveProperty("dropped.jsonl");
  });

  test("is not written where too many groups have no verdict", async () => {
    const outdir = room.path("none-judged");
    const judge = scriptedJudge({ score: byLength, refuses: () => true });
    await expect(
      scoreTrajectories({ trajectories: await rollout("none"), outdir, judge }),
    ).rejects.toThrow(/above the limit of 10 %/);
    expect(existsSync(outdir)).toBe(false);
  });

  test("is selected from by the judge, who is named as the scorer", async () => {
    const judge = scriptedJudge({ score: (attempt) => 1 - byLength(attempt) });
    const judged = await scoreTrajectories({
      ...{ trajectories: await rollout("packs"), outdir: room.path("packs-judged"), judge },
    });
    const { manifest, summary } = await selectTrajectories({
      ...{ trajectories: judged.dir, environment: await openPlayable("tool-calls") },
      ...{ outdir: room.path("packs-best"), policy: builtInPolicy("best"), n: 2 },
    });
    expect(manifest.scorer).toMatchObject({ name: "scripted" });
    expect(manifest.judge?.identity.fingerprint).toBe(judge.identity.fingerprint);
    // The judge prefers the shorter attempts, those that solve nothing.
    expect(summary.metrics.pass_at_1).toBe(0);
    expect(summary.metrics.n_pass).toBe(0);
    expect(summary.metrics.pass_at_n).toBe(0);
  });

  test("is not evaluated, and not judged again: the sentence says what to do", async () => {
    const judge = scriptedJudge({ score: byLength });
    const judged = await scoreTrajectories({
      ...{ trajectories: await rollout("once"), outdir: room.path("once-judged"), judge },
    });
    const environment = await openPlayable("tool-calls");
    await expect(
      evaluateTrajectories({
        ...{ trajectories: judged.dir, environment, outdir: room.path("once-eval") },
      }),
    ).rejects.toThrow(/scores of the judge scripted/);
    await expect(
      scoreTrajectories({ trajectories: judged.dir, outdir: room.path("twice"), judge }),
    ).rejects.toThrow(/judged already/);
  });

  test("is not made of trajectories that were changed after their rollout", async () => {
    const source = await rollout("edited");
    const file = `${source}/trajectories.jsonl`;
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("parcel", "packet").concat("\n\n"));
    const judge = scriptedJudge({ score: byLength });
    await expect(
      scoreTrajectories({ trajectories: source, outdir: room.path("edited-judged"), judge }),
    ).rejects.toThrow(/was changed after the rollout/);
  });
});
