/** Every setting of a training run, with its default. All of them go into the manifest. */

import { z } from "zod";
import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { LORA, PROJECTIONS } from "../policy/lora.ts";
import { LIMITS } from "./alarms/limits.ts";
import type { Algorithm, KlPlace, Need } from "./algorithm.ts";
import type { KlControl } from "./parts/penalties.ts";
import { mergeSettings } from "./recipe.ts";

const share = z.number().min(0).max(1);

const SABOTAGES = [
  "inverted_rate",
  "aliased_reference",
  "shifted_logprobs",
  "truncated_sampling",
  "inverted_advantages",
  "rewarded_prompt",
  "shifted_mask",
  "wrong_axis",
] as const;
export type SabotageName = (typeof SABOTAGES)[number];

const general = {
  steps: z.int().min(1).max(10_000_000).describe("number of updates; also --steps N"),
  seed: z.int().min(0).default(0).describe("random seed"),
  batch: z
    .int()
    .min(1)
    .max(65_536)
    .default(64)
    .describe("rows per update: texts, preference pairs or labels"),
  micro_batch_size: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "most rows per forward and backward pass, to save memory; null: as many as are fastest",
    ),
  rate: z
    .strictObject({
      peak: z.number().min(0).max(10).default(0.0003).describe("peak learning rate"),
      warmup: z.int().min(0).default(0).describe("warm-up updates"),
      end: share.default(1).describe("learning rate at the last update, as a share of the peak"),
      shape: z
        .enum(["constant", "linear", "cosine"])
        .default("constant")
        .describe("schedule after the warm-up"),
    })
    .prefault({})
    .describe("learning rate"),
  adam: z
    .strictObject({
      beta1: z.number().min(0).lt(1).default(0.9).describe("decay of the first moment"),
      beta2: z.number().min(0).lt(1).default(0.95).describe("decay of the second moment"),
      epsilon: z.number().positive().default(1e-8).describe("added to the denominator"),
      weight_decay: z.number().min(0).default(0).describe("decoupled weight decay"),
      clip_norm: z
        .number()
        .min(0)
        .default(1)
        .describe("maximum global norm of the gradient; 0: no limit"),
    })
    .prefault({})
    .describe("AdamW optimiser"),
  lora: z
    .strictObject({
      rank: z.int().min(1).max(1024).default(LORA.rank).describe("rank of the adapters"),
      alpha: z
        .number()
        .positive()
        .default(LORA.alpha)
        .describe("adapters are scaled by alpha / rank"),
      targets: z
        .array(
          z.enum(PROJECTIONS, {
            error: ({ input }) =>
              `unknown projection ${JSON.stringify(input)}; choose from ${PROJECTIONS.join(", ")}`,
          }),
        )
        .min(1)
        .default([...LORA.targets])
        .describe("projections with an adapter"),
    })
    .nullable()
    .default(null)
    .describe("train low-rank adapters (LoRA) instead of all parameters"),
  rollouts: z
    .strictObject({
      prompts: z.int().min(1).default(32).describe("prompts per update"),
      group: z.int().min(1).default(8).describe("completions per prompt (group size)"),
      temperature: z.number().positive().default(1).describe("sampling temperature"),
      top_k: z.int().min(0).default(0).describe("sample from the k most likely tokens; 0: all"),
      top_p: z
        .number()
        .gt(0)
        .max(1)
        .default(1)
        .describe("nucleus sampling: top tokens with this probability mass; 1: all"),
      max_tokens: z.int().min(1).default(32).describe("maximum tokens per completion"),
      dynamic: z
        .int()
        .min(0)
        .default(0)
        .describe("dynamic sampling: how often groups with equal rewards are replaced"),
    })
    .prefault({})
    .describe("sampling of training completions"),
  kl: z
    .strictObject({
      mode: z
        .enum(["none", "fixed", "adaptive"])
        .default("none")
        .describe("adaptive: the coefficient is adjusted to reach the target"),
      coefficient: z
        .number()
        .min(0)
        .default(0.05)
        .describe("KL coefficient; the initial one if adaptive"),
      estimator: z
        .enum(["k1", "k2", "k3"])
        .nullable()
        .default(null)
        .describe("KL estimator; null: k1 in the reward, k3 in the loss"),
      place: z
        .enum(["loss", "reward"])
        .nullable()
        .default(null)
        .describe("where the penalty is added; null: the algorithm's default"),
      target: z.number().positive().default(1).describe("target KL, in nats per completion"),
      horizon: z
        .number()
        .positive()
        .default(10_000)
        .describe("horizon in completions; larger values adapt more slowly"),
      diagnostic_share: z
        .number()
        .gt(0)
        .max(1)
        .default(0.125)
        .describe("share of the groups that the recorded KL is estimated from; 1: all"),
    })
    .prefault({})
    .describe("KL penalty towards the initial policy"),
  weights: z
    .array(z.number().min(-1e6).max(1e6))
    .nullable()
    .default(null)
    .describe("weights of the reward scorers, in the order of --scorer; null: all 1"),
  cost: z
    .strictObject({
      limit: z.number().describe("limit of the mean cost"),
      rate: z.number().positive().default(0.05).describe("step size of the Lagrange multiplier"),
      start: z.number().min(0).default(0).describe("initial Lagrange multiplier"),
    })
    .nullable()
    .default(null)
    .describe("constraint: keep the mean of --cost-scorer below a limit"),
  evaluate: z
    .strictObject({
      every: z.int().min(0).default(10).describe("updates between validations; 0: never"),
      temperature: z.number().min(0).default(1).describe("sampling temperature; 0: greedy"),
      max_tokens: z.int().min(1).default(32).describe("maximum tokens per completion"),
    })
    .prefault({})
    .describe("validation on --dev, test on --holdout"),
  plateau: z
    .strictObject({
      evaluations: z
        .int()
        .min(1)
        .default(10)
        .describe("stop after this many evaluations without improvement"),
      delta: z.number().min(0).default(0).describe("minimum improvement"),
    })
    .nullable()
    .default(null)
    .describe("early stopping when validation no longer improves"),
  kl_limit: z
    .number()
    .positive()
    .nullable()
    .default(LIMITS.kl)
    .describe("alarm above this KL to the initial policy, in nats per token; null: none"),
  alarms_stop: z.boolean().default(true).describe("whether serious alarms stop the run"),
  sabotage: z
    .enum(SABOTAGES)
    .nullable()
    .default(null)
    .describe("inject a fault on purpose, to test the alarms"),
};

const ONLY_ADAPTIVE = ["target", "horizon"];
const ONLY_WITH_KL = ["coefficient", "estimator", "place", ...ONLY_ADAPTIVE];
/** A penalty needs the reference on every row, so that there is nothing to choose. */
const ONLY_WITHOUT_KL = ["diagnostic_share"];
/** Settings without effect, by the mode of the KL penalty. */
const IDLE: Record<KlControl["mode"], readonly string[]> = {
  none: ONLY_WITH_KL,
  fixed: [...ONLY_ADAPTIVE, ...ONLY_WITHOUT_KL],
  adaptive: ONLY_WITHOUT_KL,
};

/** Settings without effect, by the kind of training data. */
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

/** Every setting of a run of the algorithm, its own in a group. */
export function settingsSchema({ settings }: Algorithm) {
  return z.strictObject({ ...general, algorithm: settings });
}

/** The given settings with defaults; null values stay null, as in a recipe. */
export function completed(algorithm: Algorithm, given: JsonObject): Given {
  const whole = settingsSchema(algorithm);
  const { algorithm: own = {}, ...rest } = mergeSettings(algorithm.defaults, given);
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
  const lists = `\`lockedroom train ${method} --show-settings\` describes them.`;
  const knows = `${name ? `Settings of ${name}` : "Settings"}: ${known?.join(", ")}. ${lists}`;
  if (issue?.code === "unrecognized_keys") {
    return usageError(`unknown setting ${[...names, issue.keys[0]].join(".")}`, knows);
  }
  if (valueAt(given, names) === undefined) {
    return usageError(
      `the setting ${name} is missing`,
      `Give --set ${name}=VALUE, or ${name} in the recipe.`,
    );
  }
  return usageError(
    `invalid setting ${name}: ${issue?.message}`,
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

/** Names of settings or groups that have no effect on an algorithm or are incompatible with it. */
export function unusedSettings({ needs, valueHead }: Algorithm): readonly string[] {
  return valueHead ? [...UNREAD[needs], "lora"] : UNREAD[needs];
}

export interface Idle {
  readonly name: string;
  readonly because: string;
  /** The setting that would give it an effect, as an assignment; undefined where none does. */
  readonly add?: string;
}

/** Given settings that have no effect in combination with the others. */
export function idleSettings(algorithm: Algorithm, given: JsonObject): Idle[] {
  const { mode } = trainSettings(algorithm, given).kl;
  if (algorithm.needs !== "rollouts") {
    const named = Object.keys((valueAt(given, ["kl"]) as JsonObject | undefined) ?? {});
    return named
      .filter((name) => !(name === "mode" && mode === "none"))
      .map((name) => ({
        name: `kl.${name}`,
        because: `kl.${name} has no effect: ${algorithm.name} does not sample, so there is no KL penalty`,
      }));
  }
  return IDLE[mode]
    .filter((name) => (valueAt(given, ["kl", name]) ?? null) !== null)
    .map((name) => ({
      name: `kl.${name}`,
      because: `kl.${name} has no effect while kl.mode is ${mode}${
        ONLY_WITHOUT_KL.includes(name) ? ": a KL penalty needs the reference on all rows" : ""
      }`,
      add: `kl.mode=${modeFor(name)}`,
    }));
}

/** The mode in which a setting of the KL penalty has an effect. */
function modeFor(name: string): KlControl["mode"] {
  if (ONLY_WITHOUT_KL.includes(name)) return "none";
  return ONLY_ADAPTIVE.includes(name) ? "adaptive" : "fixed";
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
  // A warm-up ends before the last update.
  const warmup = Math.min(rate.warmup, given.steps - 1);
  return { ...given, kl: { ...kl, place, estimator }, rate: { ...rate, warmup } };
}
