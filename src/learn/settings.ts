/** Every setting of a training run, with its default. All of them go into the manifest. */

import { z } from "zod";
import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Algorithm, KlPlace } from "./algorithm.ts";
import type { KlControl } from "./parts/penalties.ts";
import { mergeSettings } from "./recipe.ts";
import { GENERAL_SETTINGS } from "./settings/general.ts";
import { wrongSetting } from "./settings/wrong-setting.ts";

const schema = z.strictObject({ ...GENERAL_SETTINGS, algorithm: z.unknown() });
type Given = z.infer<typeof schema>;

export type TrainSettings = Omit<Given, "algorithm" | "kl"> & {
  /** The algorithm's own settings, validated. */
  readonly algorithm: unknown;
  /** With all defaults resolved. */
  readonly kl: KlControl & {
    readonly place: KlPlace;
    /** Of the groups, where there is no penalty: what the recorded KL is estimated from. */
    readonly diagnostic_share: number;
  };
};

/** Validates the settings of a file or of flags; the error names the first invalid one. */
export function trainSettings(algorithm: Algorithm, given: JsonObject): TrainSettings {
  return settled(algorithm, completed(algorithm, given));
}

/** The peak learning rate of an algorithm where none is set. */
export function usualRate(algorithm: Algorithm): number {
  return completed(algorithm, {}).rate.peak;
}

/** What a run of the algorithm has where nothing is set. */
export function usualSettings(algorithm: Algorithm): JsonObject {
  return JSON.parse(JSON.stringify(trainSettings(algorithm, {}))) as JsonObject;
}

/** Every setting of a run of the algorithm, its own in a group. */
export function settingsSchema({ settings }: Algorithm) {
  return z.strictObject({ ...GENERAL_SETTINGS, algorithm: settings });
}

/** The given settings with defaults; null values stay null, as in a recipe. */
export function completed(algorithm: Algorithm, given: JsonObject): Given {
  const whole = settingsSchema(algorithm);
  const { algorithm: own = {}, ...rest } = mergeSettings(algorithm.defaults, given);
  const result = whole.safeParse({ ...rest, algorithm: own });
  if (result.success) return result.data as Given;
  throw wrongSetting(algorithm, whole, { ...rest, algorithm: own }, result.error.issues[0]);
}

/** Resolves the defaults that depend on other settings, and rejects incompatible ones. */
function settled(algorithm: Algorithm, { kl, rate, ...given }: Given): TrainSettings {
  const place = kl.place ?? algorithm.klPlace ?? "loss";
  const estimator = kl.estimator ?? (place === "reward" ? "k1" : "k3");
  if (kl.mode !== "none" && place === "loss" && estimator === "k1") {
    throw usageError(
      "kl.estimator k1 has no effect in the loss: its mean gradient is 0",
      "Choose k2 or k3, or put the penalty into the reward with kl.place=reward.",
    );
  }
  if (given.lora && algorithm.valueHead) {
    throw usageError(
      `${algorithm.name} trains a value head, which low-rank adapters (lora) do not support`,
      "Train all parameters, or use grpo, which needs no value head.",
    );
  }
  if (given.stop.money !== null && given.stop.price === null) {
    throw usageError(
      "stop.money is a budget in money, and a million tokens have no price",
      "Give both, such as --set stop.money=5 --set stop.price=0.4.",
    );
  }
  // A warm-up ends before the last update.
  const warmup = Math.min(rate.warmup, given.steps - 1);
  return { ...given, kl: { ...kl, place, estimator }, rate: { ...rate, warmup } };
}
