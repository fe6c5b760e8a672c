/** Episodes as training plays them: by an engine, and every reward is needed. */

import type { Environment, EpisodeEnd } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { replayEpisodes } from "../core/replay.ts";
import { INVALID_EXAMPLE } from "../core/score.ts";
import { visibleShort } from "../core/visible.ts";
import type { Engine } from "../engine/engine.ts";
import {
  type EpisodeRequest,
  type Episode as PlayedEpisode,
  play as playWith,
} from "../loops/play.ts";
import type { Generation } from "../policy/generate.ts";
import { TokenActor } from "../policy/token-actor.ts";

export type { EpisodeRequest } from "../loops/play.ts";

export type Episode = PlayedEpisode<Generation>;

export interface Played {
  readonly episodes: readonly Episode[];
  readonly seconds: { readonly sampling: number; readonly scoring: number };
}

/** Plays tasks of an environment with an engine. */
export async function play<S>(
  engine: Pick<Engine, "sample" | "encoder">,
  environment: Environment<S>,
  requests: readonly EpisodeRequest[],
  sampling: SamplingSettings,
): Promise<Played> {
  const { conversation, maxLength } = engine.encoder;
  const actor = new TokenActor({
    ...{ conversation, maxLength },
    sample: (asked) => engine.sample(asked, sampling),
  });
  return playWith(actor, environment, requests);
}

/** The rewards that another environment gives for the same actions; nothing is sampled. */
export async function replay(
  environment: Environment,
  requests: readonly EpisodeRequest[],
  episodes: readonly Episode[],
): Promise<number[]> {
  const replayed = await replayEpisodes(
    environment,
    requests.map(({ task, address }, i) => ({
      ...{ task, address },
      actions: episodes[i]?.generations.map(({ completion }) => completion) ?? [],
    })),
  );
  return episodes.map(({ task, generations }, i) => {
    const { reward = null, end = UNFINISHED } = replayed[i] ?? {};
    return requireReward({ task, generations, end, reward });
  });
}

const UNFINISHED: EpisodeEnd = { code: "unfinished", terminated: false, details: {} };

/** What the policy wrote in all turns. */
export function completionOf({ generations }: Pick<Episode, "generations">): string {
  return generations.map(({ completion }) => completion).join("\n");
}

type RewardedEpisode = Pick<Episode, "task" | "generations" | "reward" | "end">;

/** Training and validation need every reward: a broken scorer stops the run, it is never a zero. */
export function requireReward({ task, generations, reward, end }: RewardedEpisode): number {
  if (reward !== null) return reward;
  const { scorer = "environment", code = end.code, details = {} } = end.details as JsonObject;
  const text = completionOf({ generations });
  throw dataError(
    `the scorer ${scorer} gave no reward (${code}) for "${visibleShort(text, 40)}" on ${task.id}: ${visibleShort(JSON.stringify(details), 120)}`,
    code === INVALID_EXAMPLE
      ? "Give --scorer with a scorer that can read these examples, or correct them: nothing can be learned from one that it cannot read."
      : "Fix the scorer and start again: a broken scorer is never a zero, so nothing was learned from it.",
  );
}
