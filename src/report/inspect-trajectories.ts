/** A rollout's episodes by outcome code, as they are recorded: eval plays them again. */

import { dataError } from "../core/errors.ts";
import type { RolloutFailure } from "../core/trajectory.ts";
import { findEpisodes } from "../runs/recorded-episodes.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import { EpisodeMeans, type EpisodesSummary } from "../stats/episode-means.ts";
import { type Conversation, conversationIn } from "./conversation.ts";
import type { InspectOptions } from "./inspect.ts";

export interface EpisodeGroup {
  readonly code: string;
  readonly count: number;
  readonly passes: boolean;
  /** The first with this code. */
  readonly shown: readonly Conversation[];
}

export interface EpisodeInspection {
  /** Undefined for a file that does not name it. */
  readonly environment: string | undefined;
  /** Whose scores the rewards are, where they are a judge's. */
  readonly judge: string | undefined;
  readonly groups: readonly EpisodeGroup[];
  /** Groups that `topK` left out. */
  readonly hidden: number;
  readonly total: number;
  readonly scored: number;
  readonly passed: number;
  readonly meanReward: number | null;
  readonly episodes: EpisodesSummary | undefined;
  readonly failures: readonly RolloutFailure[];
}

/** `given` is the folder of a rollout. */
export async function inspectTrajectories(
  given: string,
  { onlyFails = false, topK = Number.POSITIVE_INFINITY, show = 3 }: InspectOptions = {},
): Promise<EpisodeInspection> {
  const { file, failures, rollout } = await findEpisodes(given);
  const solved = rollout?.solved ?? [];
  const groups = new Map<string, EpisodeGroup & { count: number; shown: Conversation[] }>();
  const means = new EpisodeMeans();
  let [total, scored, passed, rewards] = [0, 0, 0, 0];
  for await (const batch of readTrajectories(file).batches()) {
    for (const trajectory of batch) {
      const one = conversationIn(trajectory, solved);
      means.add(one);
      total++;
      if (one.reward !== null) {
        scored++;
        rewards += one.reward;
      }
      if (one.passed) passed++;
      if (onlyFails && one.passed) continue;
      const { code } = one;
      const group = groups.get(code) ?? { code, count: 0, passes: one.passed, shown: [] };
      groups.set(code, group);
      group.count++;
      if (group.shown.length < show) group.shown.push(one);
    }
  }
  const sorted = [...groups.values()].sort(
    (a, b) => b.count - a.count || (a.code < b.code ? -1 : 1),
  );
  return {
    environment: rollout && `${rollout.environment.name} ${rollout.environment.version}`,
    judge: rollout?.judge?.identity.name,
    groups: sorted.slice(0, topK),
    hidden: Math.max(0, sorted.length - topK),
    ...{ total, scored, passed, failures },
    meanReward: scored === 0 ? null : rewards / scored,
    episodes: means.table(),
  };
}

/** The episodes of one task. */
export async function findConversations(given: string, id: string): Promise<Conversation[]> {
  const { file, failures, rollout } = await findEpisodes(given);
  const found: Conversation[] = [];
  for await (const batch of readTrajectories(file).batches())
    for (const one of batch)
      if (one.id === id) found.push(conversationIn(one, rollout?.solved ?? []));
  if (found.length > 0) return found;
  const failure = failures.find((one) => one.id === id);
  if (failure)
    throw dataError(
      `the rollout of ${JSON.stringify(id)} failed: ${failure.type}: ${failure.message}`,
      "Play it again with rollout --resume.",
    );
  throw dataError(
    `${file} has no episode of the task ${JSON.stringify(id)}`,
    "List tasks with inspect-run --show 20.",
  );
}
