/** Rollouts of scripted players, as `rollout --env` writes them, for tests of what reads them. */

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import type { Split } from "../src/core/environment.ts";
import { canonicalJson, type Json } from "../src/core/json.ts";
import type { RolloutFailure, Trajectory } from "../src/core/trajectory.ts";
import { type OpenedEnvironment, openEnvironment } from "../src/environments/open.ts";
import {
  type ScriptedPlayer,
  scriptedTrajectory,
} from "../src/environments/scripted-trajectory.ts";
import { ExampleFingerprints } from "../src/loops/scoring-run.ts";
import { manifestFingerprint, observeOccasion } from "../src/runs/manifest.ts";

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

async function writeRollout(folder: string, parts: RolloutParts): Promise<void> {
  const { env, split = "dev", n = 1, seed = 0, edit = (one) => one, failures = [] } = parts;
  const opened = await openEnvironment(env);
  const all = await trajectoriesOf(opened, parts);
  const kept = all.map(edit).filter((one) => one !== undefined);
  mkdirSync(folder, { recursive: true });
  const lines = (rows: readonly unknown[]) =>
    rows.map((row) => `${canonicalJson(row as Json)}\n`).join("");
  const text = lines(kept);
  const policy = { kind: "scripted", name: parts.policy ?? "gold" };
  const sampling = parts.sampling ?? { seed, temperature: 1 };
  const sha256 = (content: string) => createHash("sha256").update(content).digest("hex");
  const provenance = `${canonicalJson({
    schema: "lockedroom.provenance@1",
    completions_sha256: sha256(text),
    ...{ policy, prompt: {}, sampling, prompts_by_row: true },
  })}\n`;
  const examples = new ExampleFingerprints();
  for (const task of opened.definition.tasks(split).slice(0, parts.tasks)) examples.add(task);
  const manifest = {
    ...{ schema: "lockedroom.rollout@1", fingerprint_version: 1, command: "rollout", inputs: [] },
    ...{ examples: examples.identity(), n, policy, prompt: {}, sampling, split },
    environment: opened.identity,
    tools: (opened.definition.tools ?? []) as readonly unknown[],
    solved: opened.definition.solved,
    volatile: { ...(await observeOccasion()()), folder: path.basename(folder) },
  };
  const failed = lines(failures);
  const summary = {
    schema: "lockedroom.rollout-summary@1",
    files: { "trajectories.jsonl": sha256(text) },
    manifest_sha256: manifestFingerprint(manifest),
  };
  const files: Record<string, string> = {
    "trajectories.jsonl": text,
    "trajectories.provenance.json": provenance,
    "manifest.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "summary.json": `${JSON.stringify(summary, null, 2)}\n`,
    ...(failures.length > 0 && { "failures.jsonl": failed }),
  };
  for (const [file, content] of Object.entries(files))
    writeFileSync(path.join(folder, file), content);
}
