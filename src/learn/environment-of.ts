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
  const { rewards = [], validation = rewards[0] } = options;
  const own = ownEnvironment(options);
  if (own) {
    const solved = solvedBy(playableOf(options));
    return { validation: own, proxy: undefined, played: true, solved };
  }
  if (!validation) return undefined;
  const same = rewards.length === 0 || (rewards.length === 1 && rewards[0] === validation);
  return {
    validation: environmentOf(options, { scorers: [validation] }),
    proxy: same ? undefined : environmentOf(options, { scorers: rewards, weights }),
    ...{ played: false, solved: byReward },
  };
}

/** By its outcome code, where the environment says which codes are those of a solved task. */
function solvedBy({ solved = [] }: Partial<PlayableEnvironment> = {}) {
  if (solved.length === 0) return byReward;
  return ({ end }: Episode) => solved.includes(end.code);
}

const byReward = ({ reward }: Episode) => passes(reward);
