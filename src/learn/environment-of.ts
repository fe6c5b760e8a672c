/** The environments of a run: that of its rollouts, and those that held-out examples are played in. */

import type { Environment } from "../core/environment.ts";
import { ENVIRONMENTS, type EnvironmentParts } from "../environments/index.ts";
import { named } from "./named.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";
import type { ValidationEnvironments } from "./validate.ts";

/** The environment with these scorers; one that is given as an object has its own rewards. */
export function environmentOf(
  { environment = "single_turn" }: TrainOptions,
  parts: EnvironmentParts,
): Environment {
  if (typeof environment !== "string") return environment;
  return named("environment", ENVIRONMENTS, environment)(parts);
}

/** What held-out examples are played in; undefined where nothing can score them. */
export function validationOf(
  options: TrainOptions,
  { weights }: TrainSettings,
): ValidationEnvironments | undefined {
  const { rewards = [], validation = rewards[0], environment } = options;
  const own = typeof environment === "object" ? environment : undefined;
  if (own) return { validation: own, proxy: undefined };
  if (!validation) return undefined;
  const same = rewards.length === 0 || (rewards.length === 1 && rewards[0] === validation);
  return {
    validation: environmentOf(options, { scorers: [validation] }),
    proxy: same ? undefined : environmentOf(options, { scorers: rewards, weights }),
  };
}
