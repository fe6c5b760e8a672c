/** Every setting of a training run, with its default. All of them go into the manifest. */

import { z } from "zod";
import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { LORA, PROJECTIONS } from "../policy/lora.ts";
import { LIMITS } from "./alarms/limits.ts";
import type { Algorithm, KlPlace, Need } from "./algorithm.ts";
import type { KlControl } from "./parts/kl.ts";
import { together } from "./recipe.ts";

const share = z.number().min(0).max(1);

export const SABOTAGES = [
  "inverted_rate",
  "aliased_reference",
  "shifted_logprobs",
  "truncated_sampling",
] as const;

const general = {
  steps: z.int().min(1).max(10_000_000).describe("updates, here or as --steps N"),
  seed: z.int().min(0).default(0).describe("which luck"),
  batch: z.int().min(1).max(65_536).default(64).describe("texts, pairs or labels in an update"),
  micro_batch_size: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("rows computed at once, to save memory; null: the whole batch"),
  rate: z
    .strictObject({
      peak: z.number().min(0).max(10).default(0.0003).describe("the highest"),
      warmup: z.int().min(0).default(0).describe("updates until it is reached"),
      end: share.default(1).describe("what is left at the last update, as a share of the peak"),
      shape: z
        .enum(["constant", "linear", "cosine"])
        .default("constant")
        .describe("how it falls after the warm-up"),
    })
    .prefault({})
    .describe("learning rate"),
  adam: z
    .strictObject({
      beta1: z
        .number()
        .min(0)
        .lt(1)
        .default(0.9)
        .describe("how much of the mean gradient so far is kept at each update"),
      beta2: z
        .number()
        .min(0)
        .lt(1)
        .default(0.95)
        .describe("the same of the mean squared gradient"),
      epsilon: z.number().positive().default(1e-8).describe("keeps the divisor above 0"),
      weight_decay: z.number().min(0).default(0).describe("how strongly weights are drawn to 0"),
      clip_norm: z
        .number()
        .min(0)
        .default(1)
        .describe("a longer gradient is scaled down to this length; 0: no limit"),
    })
    .prefault({})
    .describe("the optimiser, AdamW"),
  lora: z
    .strictObject({
      rank: z.int().min(1).max(1024).default(LORA.rank).describe("inner size of an adapter"),
      alpha: z
        .number()
        .positive()
        .default(LORA.alpha)
        .describe("adapters are multiplied by alpha / rank"),
      targets: z
        .array(
          z.enum(PROJECTIONS, {
            error: ({ input }) =>
              `there is no projection ${JSON.stringify(input)}; name some of ${PROJECTIONS.join(", ")}`,
          }),
        )
        .min(1)
        .default([...LORA.targets])
        .describe("matrices that get one"),
    })
    .nullable()
    .default(null)
    .describe("train low-rank adapters in place of all parameters"),
  rollouts: z
    .strictObject({
      prompts: z.int().min(1).default(32).describe("how many in each update"),
      group: z.int().min(1).default(8).describe("completions of each prompt"),
      temperature: z
        .number()
        .positive()
        .default(1)
        .describe("1: as the policy is; below it, likely tokens become likelier"),
      top_k: z.int().min(0).default(0).describe("sample the likeliest k tokens only; 0: all"),
      top_p: z
        .number()
        .gt(0)
        .max(1)
        .default(1)
        .describe("sample the likeliest tokens with this probability together only; 1: all"),
      max_tokens: z.int().min(1).default(32).describe("of a completion; it is cut off there"),
      dynamic: z
        .int()
        .min(0)
        .default(0)
        .describe("how often groups whose rewards are all equal are replaced by others"),
    })
    .prefault({})
    .describe("what the policy samples to learn from"),
  kl: z
    .strictObject({
      mode: z
        .enum(["none", "fixed", "adaptive"])
        .default("none")
        .describe("whether there is one; adaptive: steered to hold the target"),
      coefficient: z
        .number()
        .min(0)
        .default(0.05)
        .describe("price of the KL; the first one, if adaptive"),
      estimator: z
        .enum(["k1", "k2", "k3"])
        .nullable()
        .default(null)
        .describe("how it is measured; null: k1 in the reward, k3 in the loss"),
      place: z
        .enum(["loss", "reward"])
        .nullable()
        .default(null)
        .describe("where it is added; null: as is usual for the algorithm"),
      target: z.number().positive().default(1).describe("nats per completion"),
      horizon: z
        .number()
        .positive()
        .default(10_000)
        .describe("completions; the more, the slower it is steered"),
    })
    .prefault({})
    .describe("the leash: a penalty on the KL to the start"),
  weights: z
    .array(z.number().min(-1e6).max(1e6))
    .nullable()
    .default(null)
    .describe("of the scorers' rewards, in the order of --scorer; null: all 1"),
  cost: z
    .strictObject({
      limit: z.number().describe("what the mean cost is to stay below"),
      rate: z
        .number()
        .positive()
        .default(0.05)
        .describe("how fast the price of cost rises and falls"),
      start: z.number().min(0).default(0).describe("first price of a unit of cost"),
    })
    .nullable()
    .default(null)
    .describe("keep the mean of --cost-scorer below a limit"),
  evaluate: z
    .strictObject({
      every: z.int().min(0).default(10).describe("updates between validations; 0: never"),
      temperature: z.number().min(0).default(1).describe("0: always the likeliest token"),
      max_tokens: z.int().min(1).default(32).describe("of a completion"),
    })
    .prefault({})
    .describe("validation on --dev, test on --holdout"),
  plateau: z
    .strictObject({
      evaluations: z.int().min(1).default(10).describe("so many without a gain"),
      delta: z.number().min(0).default(0).describe("a gain must be larger"),
    })
    .nullable()
    .default(null)
    .describe("stop when validation has not improved for so long"),
  kl_limit: z
    .number()
    .positive()
    .nullable()
    .default(LIMITS.kl)
    .describe("an alarm when the KL to the start, in nats per token, is above; null: none"),
  alarms_stop: z.boolean().default(true).describe("whether a serious alarm ends the run"),
  sabotage: z
    .enum(SABOTAGES)
    .nullable()
    .default(null)
    .describe("break it on purpose, to see the alarms"),
};

const ONLY_ADAPTIVE = ["target", "horizon"];
const ONLY_WITH_KL = ["coefficient", "estimator", "place", ...ONLY_ADAPTIVE];

/** Settings that nothing reads, by what a method learns from. */
const UNREAD: Record<Need, readonly string[]> = {
  texts: ["rollouts", "kl", "weights", "cost"],
  pairs: ["rollouts", "kl", "weights", "cost"],
  labels: ["rollouts", "kl", "weights", "cost"],
  "passing samples": ["rollouts.prompts", "rollouts.group", "rollouts.dynamic", "kl", "cost"],
  rollouts: ["batch"],
};

const schema = z.strictObject({ ...general, algorithm: z.unknown() });
type Given = z.infer<typeof schema>;

export type TrainSettings = Omit<Given, "algorithm" | "kl"> & {
  /** The algorithm's own, as it checked them. */
  readonly algorithm: unknown;
  /** With nothing left open. */
  readonly kl: KlControl & { readonly place: KlPlace };
};

/** Checks settings as a file or flags give them; the first that is wrong is named. */
export function trainSettings(algorithm: Algorithm, given: JsonObject): TrainSettings {
  return settled(algorithm, completed(algorithm, given));
}

/** Every setting of a run of the algorithm, its own in a group. */
export function settingsSchema({ settings }: Algorithm) {
  return z.strictObject({ ...general, algorithm: settings });
}

/** What was given with the defaults for the rest; what is left open stays open, as in a recipe. */
export function completed(algorithm: Algorithm, given: JsonObject): Given {
  const whole = settingsSchema(algorithm);
  const { algorithm: own = {}, ...rest } = together(algorithm.usual ?? {}, given);
  const result = whole.safeParse({ ...rest, algorithm: own });
  if (result.success) return result.data as Given;
  throw wrongSetting(algorithm, whole, { ...rest, algorithm: own }, result.error.issues[0]);
}

function wrongSetting(
  { name: method }: Algorithm,
  whole: z.ZodType,
  given: JsonObject,
  issue: z.core.$ZodIssue | undefined,
): Error {
  const names = (issue?.path ?? []).map(String);
  const name = names.join(".");
  const known = namesIn(whole, names);
  const lists = `\`lockedroom train ${method} --show-settings\` lists its settings.`;
  const knows = `${name || "A run"} knows: ${known?.join(", ")}. ${lists}`;
  if (issue?.code === "unrecognized_keys") {
    return usageError(`there is no setting ${[...names, issue.keys[0]].join(".")}`, knows);
  }
  if (valueAt(given, names) === undefined) {
    const flag = name === "steps" ? "--steps N" : `--set ${name}=VALUE`;
    return usageError(`the setting ${name} is missing`, `Give ${flag}, or ${name} in the recipe.`);
  }
  return usageError(
    `the setting ${name}: ${issue?.message}`,
    known ? knows : "Correct it in the recipe or the flag.",
  );
}

/** The names in a group of settings; undefined for a single setting. */
function namesIn(whole: z.ZodType, path: readonly string[]): string[] | undefined {
  const group = path.reduce<unknown>((outer, name) => shapeOf(outer)?.[name], whole);
  const shape = shapeOf(group);
  return shape && Object.keys(shape);
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  const wrapped =
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable;
  return wrapped ? shapeOf(schema.unwrap()) : undefined;
}

export function valueAt(given: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((outer, name) => (outer as JsonObject | undefined)?.[name], given);
}

/** Names of settings, or of groups of them, that a method has no use for or cannot do with. */
export function unusedSettings({ needs, valueHead }: Algorithm): readonly string[] {
  return valueHead ? [...UNREAD[needs], "lora"] : UNREAD[needs];
}

export interface Idle {
  readonly name: string;
  readonly because: string;
  /** What would give it an effect, as an assignment; nothing does where a method has no use for it. */
  readonly add?: string;
}

/** Settings that somebody gave, and that do nothing beside the others. */
export function idleSettings(algorithm: Algorithm, given: JsonObject): Idle[] {
  const { mode } = trainSettings(algorithm, given).kl;
  if (algorithm.needs !== "rollouts") {
    const named = Object.keys((valueAt(given, ["kl"]) as JsonObject | undefined) ?? {});
    return named
      .filter((name) => !(name === "mode" && mode === "none"))
      .map((name) => ({
        name: `kl.${name}`,
        because: `kl.${name} has no effect on ${algorithm.name}, which samples nothing to leash`,
      }));
  }
  const idle = mode === "none" ? ONLY_WITH_KL : mode === "fixed" ? ONLY_ADAPTIVE : [];
  return idle
    .filter((name) => (valueAt(given, ["kl", name]) ?? null) !== null)
    .map((name) => ({
      name: `kl.${name}`,
      because: `kl.${name} has no effect while kl.mode is ${mode}`,
      add: `kl.mode=${ONLY_ADAPTIVE.includes(name) ? "adaptive" : "fixed"}`,
    }));
}

/** What was left open is decided, and what would be recorded but do nothing is refused. */
function settled(algorithm: Algorithm, { kl, rate, ...given }: Given): TrainSettings {
  const place = kl.place ?? algorithm.klPlace ?? "loss";
  const estimator = kl.estimator ?? (place === "reward" ? "k1" : "k3");
  if (kl.mode !== "none" && place === "loss" && estimator === "k1") {
    throw usageError(
      "kl.estimator k1 holds nothing in the loss: the mean of its gradient is 0",
      "Choose k2 or k3, or put the penalty into the reward with kl.place=reward.",
    );
  }
  if (given.lora && algorithm.valueHead) {
    throw usageError(
      `${algorithm.name} learns a value head, which low-rank adapters leave out`,
      "Train all parameters, or use grpo, which needs no value head.",
    );
  }
  // A short run has no room for a long rise.
  const warmup = Math.min(rate.warmup, given.steps - 1);
  return { ...given, kl: { ...kl, place, estimator }, rate: { ...rate, warmup } };
}
