/** Rollouts of scripted players, as `rollout --env` writes them, for tests of what reads them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import type { Split } from "../src/core/environment.ts";
import { FINGERPRINT_VERSION } from "../src/core/fingerprint.ts";
import { canonicalJson, type Json, type JsonObject } from "../src/core/json.ts";
import type { RolloutFailure, Trajectory } from "../src/core/trajectory.ts";
import { type OpenedEnvironment, openEnvironment } from "../src/environments/open.ts";
import { EpisodeTally } from "../src/loops/episode-tally.ts";
import { RolloutTally } from "../src/loops/rollout-tally.ts";
import { ExampleFingerprints } from "../src/loops/scoring-run.ts";
import { FAILURES, ROLLOUT_SCHEMA, TRAJECTORIES } from "../src/runs/artifacts.ts";
import { finishRollout } from "../src/runs/finished-rollout.ts";
import { observeOccasion } from "../src/runs/manifest.ts";
import { RunFolder } from "../src/runs/run-folder.ts";
import { type ScriptedPlayer, scriptedTrajectory } from "./scripted-trajectory.ts";

export interface RolloutParts {
  readonly env: string;
  readonly tasks: number;
  readonly split?: Split;
  readonly n?: number;
  readonly seed?: number;
  /** What the provenance calls the policy. */
  readonly policy?: string;
  readonly sampling?: Record<string, Json>;
  /** By task and sample, who plays; by default the environment's gold player. */
  readonly player?: (place: number, sample: number) => ScriptedPlayer | "gold" | "idle" | "exploit";
  /** Damages an episode, or drops it. */
  readonly edit?: (trajectory: Trajectory) => Trajectory | undefined;
  readonly failures?: readonly RolloutFailure[];
}

export interface EpisodeRoom {
  readonly dir: string;
  path(...parts: string[]): string;
  /** Writes a rollout folder and gives its path. */
  rollout(name: string, parts: RolloutParts): Promise<string>;
}

export function episodeRoom(): EpisodeRoom {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-episodes-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return {
    dir,
    path: (...parts) => path.join(dir, ...parts),
    rollout: async (name, parts) => {
      const folder = path.join(dir, name);
      await writeRollout(folder, parts);
      return folder;
    },
  };
}

export async function trajectoriesOf(
  opened: OpenedEnvironment,
  { tasks: count, split = "dev", n = 1, seed = 0, player = () => "gold" }: RolloutParts,
): Promise<Trajectory[]> {
  const { players, tasks } = opened.definition;
  const made: Trajectory[] = [];
  for (const [place, task] of tasks(split).slice(0, count).entries())
    for (let sample = 0; sample < n; sample++) {
      const given = player(place, sample);
      const plays = typeof given === "string" ? players[given] : given;
      made.push(await scriptedTrajectory(opened, task, plays as ScriptedPlayer, { seed, sample }));
    }
  return made;
}

async function writeRollout(dir: string, parts: RolloutParts): Promise<void> {
  const { env, split = "dev", n = 1, seed = 0, edit = (one) => one, failures = [] } = parts;
  const opened = await openEnvironment(env);
  const { tasks, tools = [], solved } = opened.definition;
  const folder = await RunFolder.open(dir, "rollout", {});
  const lines = await folder.lines(TRAJECTORIES);
  const [turns, episodes] = [new RolloutTally(), new EpisodeTally(solved)];
  for (const one of (await trajectoriesOf(opened, parts)).map(edit)) {
    if (!one) continue;
    episodes.add(one);
    for (const message of one.messages)
      if (message.role === "assistant") {
        const { logprobs, ...counts } = message.sampled;
        turns.add({ completion: message.content, ...counts, ...(logprobs && { logprobs }) });
      }
    lines.add(canonicalJson(one as unknown as Json));
  }
  await lines.flush();
  if (failures.length > 0) {
    const failed = await folder.lines(FAILURES);
    for (const failure of failures) failed.add(canonicalJson(failure as unknown as Json));
    await failed.flush();
  }
  const examples = new ExampleFingerprints();
  for (const task of tasks(split).slice(0, parts.tasks)) examples.add(task);
  await finishRollout(
    folder,
    {
      schema: ROLLOUT_SCHEMA,
      ...{ fingerprint_version: FINGERPRINT_VERSION, command: "rollout", inputs: [] },
      ...{ examples: examples.identity(), n, split, solved: [...solved], tools: [...tools] },
      environment: opened.identity as unknown as JsonObject,
      policy: { kind: "scripted", name: parts.policy ?? "gold" },
      prompt: {},
      sampling: parts.sampling ?? { seed, temperature: 1 },
      ...{ exposure: null, seeds_tried: null },
      volatile: await observeOccasion()(),
    },
    { ...turns.summary(parts.tasks, undefined), episodes: episodes.summary(failures) },
    [],
  );
}
