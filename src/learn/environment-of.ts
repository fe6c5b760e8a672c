/** The environments of a run: that of its rollouts, and those that held-out examples are played in. */

import type { Environment, PlayableEnvironment } from "../core/environment.ts";
import { passes } from "../core/score.ts";
import { ENVIRONMENTS, type EnvironmentParts } from "../environments/scored-prompts.ts";
import { named } from "./named.ts";
import type { TrainOptions } from "./options.ts";
import type { Episode } from "./play.ts";
import type { TrainSettings } from "./settings.ts";
import type { ValidationEnvironments } from "./validate.ts";

type Given = Pick<TrainOptions, "environment">;

/** An environment that is given as an object, which has its own rewards. */
export function ownEnvironment({ environment }: Given): Environment | undefined {
  if (typeof environment !== "object") return undefined;
  return "environment" in environment ? environment.environment : environment;
}

/** One that has tasks besides. */
export function playableOf({ environment }: Given): PlayableEnvironment | undefined {
  return typeof environment === "object" && "environment" in environment ? environment : undefined;
}

/** The environment with these scorers; one that is given as an object has its own rewards. */
export function environmentOf(options: Given, parts: EnvironmentParts): Environment {
  const own = ownEnvironment(options);
  if (own) return own;
  const { environment = "single_turn" } = options;
  return named("environment", ENVIRONMENTS, String(environment))(parts);
}

/** What held-out examples are played in; undefined where nothing can score them. */
export function validationOf(
  options: TrainOptions,
  { weights }: TrainSettings,
): ValidationEnvironments | undefined {
  const { rewards = [], validation = rewards[0], judge } = options;
  const own = ownEnvironment(options);
  const labelled = isLabelled(options);
  if (own) {
    const { validationEnvironment: other } = options;
    const solved = solvedBy(other ?? playableOf(options));
    // A judge is asked apart: it compares episodes, and plays none.
    const proxy = other && !judge ? own : undefined;
    return { validation: other?.environment ?? own, proxy, played: true, solved, labelled };
  }
  if (!validation) {
    if (!judge) return undefined;
    const unscored = environmentOf(options, { scorers: [] });
    return { validation: unscored, proxy: undefined, played: false, solved: byReward, labelled };
  }
  const same = rewards.length === 0 || (rewards.length === 1 && rewards[0] === validation);
  return {
    validation: environmentOf(options, { scorers: [validation] }),
    proxy: same || judge ? undefined : environmentOf(options, { scorers: rewards, weights }),
    ...{ played: false, solved: byReward, labelled },
  };
}

/** Whether something besides the judge says how good a completion is. */
export function isLabelled(options: TrainOptions): boolean {
  const { rewards = [], validation, validationEnvironment } = options;
  if (validationEnvironment) return true;
  const playable = playableOf(options);
  if (playable) return givesRewards(playable);
  return ownEnvironment(options) !== undefined || validation !== undefined || rewards.length > 0;
}

/** A server may give rewards whose range it does not tell; then it tells no codes either. */
export function givesRewards({ rewards, codes }: PlayableEnvironment): boolean {
  return rewards !== null || codes.length === 0;
}

/** By its outcome code, where the environment says which codes are those of a solved task. */
function solvedBy({ solved = [] }: Partial<PlayableEnvironment> = {}) {
  if (solved.length === 0) return byReward;
  return ({ end }: Episode) => solved.includes(end.code);
}

const byReward = ({ reward }: Episode) => passes(reward);
