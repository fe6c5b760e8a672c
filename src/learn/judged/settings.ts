/** Settings whose defaults depend on a judge. */

import { isLabelled } from "../environment-of.ts";
import type { TrainOptions } from "../options.ts";
import { REWARD_PLATEAU } from "../settings/stop.ts";
import type { TrainSettings } from "../settings.ts";

/** A run that only a judge can measure also ends when its training reward no longer rises. */
export function judgedSettings(settings: TrainSettings, options: TrainOptions): TrainSettings {
  const { stop } = settings;
  if (!options.judge || isLabelled(options) || stop.reward_plateau !== undefined) return settings;
  return { ...settings, stop: { ...stop, reward_plateau: REWARD_PLATEAU } };
}
