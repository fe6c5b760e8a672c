/** A rollout in an environment made again: the policy plays its episodes, token by token. */

import type { JsonObject } from "../core/json.ts";
import { unjudgedTrajectory } from "../core/judged-trajectory.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { SUMMARY } from "../runs/artifacts.ts";
import { byTask } from "../runs/by-task.ts";
import type { Rollout } from "../runs/read-rollout.ts";
import { findEpisodes } from "../runs/recorded-episodes.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import type { EpisodeOptions } from "./episodes.ts";
import { NO_HISTORY, verifyExposure } from "./exposure.ts";
import { filesPart } from "./files.ts";
import { Comparison } from "./part.ts";
import { playAgain } from "./play-again.ts";
import { type OpenedEnvironment, withEnvironment } from "./recorded-environment.ts";
import { comparePolicy, findRecordedCheckpoint, openRecordedPolicy } from "./recorded-policy.ts";
import { verifyTries } from "./tries.ts";

export async function verifyRolloutEpisodes(
  rollout: Rollout,
  asked: readonly PartName[],
  options: EpisodeOptions,
): Promise<VerificationPart[]> {
  const { manifest } = rollout;
  const parts: VerificationPart[] = [];
  const files = 1 + Object.keys(rollout.summary.files).length;
  if (asked.includes("files"))
    parts.push(filesPart(await rollout.editedFiles(), files, "hashes, and the provenance"));
  for (const [part, work] of Object.entries(PARTS)) {
    if (!asked.includes(part as PartName)) continue;
    parts.push(
      await withEnvironment(
        part as PartName,
        manifest.examples.count,
        manifest,
        options,
        (opened) => work(rollout, opened, options),
      ),
    );
  }
  return parts;
}

type Work = (
  rollout: Rollout,
  opened: OpenedEnvironment,
  options: EpisodeOptions,
) => Promise<VerificationPart>;

const PARTS: Partial<Record<PartName, Work>> = {
  async sample({ dir, manifest, summary }, opened, options) {
    const policy = await openRecordedPolicy(manifest, options);
    try {
      const comparison = new Comparison();
      comparePolicy(comparison, manifest, policy);
      return await playAgain(policy, opened, recordedIn(dir), {
        ...{ ...options, comparison, total: manifest.examples.count, shown: whole },
        content: Object.values(summary.files)[0] ?? SUMMARY,
      });
    } finally {
      await policy.close();
    }
  },
  async exposure({ manifest }, { tasks }, options) {
    const { seen } = await findRecordedCheckpoint(manifest, options, NO_HISTORY);
    const met = [...tasks.values()].slice(0, manifest.examples.count);
    return verifyExposure(manifest.exposure, seen ?? undefined, oneBatch(met), true);
  },
  async tries({ manifest }, { tasks }, options) {
    const policy = await openRecordedPolicy(manifest, options);
    try {
      const met = [...tasks.values()].slice(0, manifest.examples.count);
      return await verifyTries(manifest, policy, oneBatch(met));
    } finally {
      await policy.close();
    }
  },
};

async function* oneBatch<T>(rows: readonly T[]): AsyncGenerator<readonly T[], void, void> {
  yield rows;
}

/** Without what a judge added: its scores are no part of the sampling. */
function asSampled(trajectory: Trajectory): Trajectory {
  const given = unjudgedTrajectory(trajectory);
  return given === trajectory ? given : { ...given, logs: given.logs.slice(0, -1) };
}

const whole = (trajectory: Trajectory) => trajectory as unknown as JsonObject;

async function* recordedIn(dir: string) {
  const { file } = await findEpisodes(dir);
  for await (const groups of byTask(readTrajectories(file).batches()))
    for (const group of groups) {
      const episodes = new Map(group.map((one) => [one.sample, whole(asSampled(one))]));
      yield { id: group[0]?.id as string, episodes };
    }
}
