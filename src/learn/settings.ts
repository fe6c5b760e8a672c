/** Every setting of a training run, with its default. All of them go into the manifest. */

import { z } from "zod";
import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { LORA } from "../policy/lora.ts";
import type { Algorithm, KlPlace } from "./algorithm.ts";
import { LIMITS } from "./parts/alarm-limits.ts";
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
  steps: z.int().min(1).max(10_000_000),
  seed: z.int().min(0).default(0),
  batch: z.int().min(1).max(65_536).default(64).describe("texts, pairs or labels in an update"),
  rows_at_once: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("rows computed at once; the gradients of a batch are gathered"),
  rate: z
    .strictObject({
      peak: z.number().min(0).max(10).default(0.0003),
      warmup: z.int().min(0).default(0),
      end: share.default(1).describe("what is left of it at the end"),
      shape: z.enum(["constant", "linear", "cosine"]).default("constant"),
    })
    .prefault({}),
  adam: z
    .strictObject({
      beta1: z.number().min(0).lt(1).default(0.9),
      beta2: z.number().min(0).lt(1).default(0.95),
      epsilon: z.number().positive().default(1e-8),
      weight_decay: z.number().min(0).default(0),
      clip_norm: z.number().min(0).default(1).describe("0 for no limit"),
    })
    .prefault({}),
  lora: z
    .strictObject({
      rank: z.int().min(1).default(LORA.rank),
      alpha: z.number().positive().default(LORA.alpha),
      targets: z
        .array(z.string())
        .min(1)
        .default([...LORA.targets]),
    })
    .nullable()
    .default(null)
    .describe("train low-rank adapters in place of all parameters"),
  rollouts: z
    .strictObject({
      prompts: z.int().min(1).default(32).describe("in each update"),
      group: z.int().min(1).default(8).describe("completions of each prompt"),
      temperature: z.number().positive().default(1),
      top_k: z.int().min(0).default(0),
      top_p: share.default(1),
      max_tokens: z.int().min(1).default(32),
      dynamic: z
        .int()
        .min(0)
        .default(0)
        .describe("how often groups whose rewards are all equal are replaced by others"),
    })
    .prefault({}),
  kl: z
    .strictObject({
      mode: z.enum(["none", "fixed", "adaptive"]).default("none"),
      coefficient: z.number().min(0).default(0.05),
      estimator: z
        .enum(["k1", "k2", "k3"])
        .nullable()
        .default(null)
        .describe("null: k1 in the reward, k3 in the loss"),
      place: z.enum(["loss", "reward"]).nullable().default(null).describe("null: the algorithm's"),
      target: z.number().positive().default(1).describe("nats per completion, when adaptive"),
      horizon: z.number().positive().default(10_000).describe("completions, when adaptive"),
    })
    .prefault({}),
  weights: z
    .array(z.number().min(-1e6).max(1e6))
    .nullable()
    .default(null)
    .describe("of the scorers' rewards, in the order given"),
  cost: z
    .strictObject({
      limit: z.number(),
      rate: z.number().positive().default(0.05).describe("of the dual ascent"),
      start: z.number().min(0).default(0).describe("first price of a unit of cost"),
    })
    .nullable()
    .default(null)
    .describe("keep the mean of a cost scorer below a limit"),
  evaluate: z
    .strictObject({
      every: z.int().min(0).default(10).describe("updates; 0 for never"),
      temperature: z.number().min(0).default(1),
      max_tokens: z.int().min(1).default(32),
    })
    .prefault({}),
  plateau: z
    .strictObject({ evaluations: z.int().min(1).default(10), delta: z.number().min(0).default(0) })
    .nullable()
    .default(null)
    .describe("stop when validation has not improved for so long"),
  kl_limit: z
    .number()
    .positive()
    .nullable()
    .default(LIMITS.kl)
    .describe("nats per token; an alarm, null for none"),
  alarms_stop: z.boolean().default(true).describe("whether a serious alarm ends the run"),
  sabotage: z
    .enum(SABOTAGES)
    .nullable()
    .default(null)
    .describe("break it on purpose, to see the alarms"),
};

const ONLY_ADAPTIVE = ["target", "horizon"];
const ONLY_WITH_KL = ["coefficient", "estimator", "place", ...ONLY_ADAPTIVE];

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
  const whole = z.strictObject({ ...general, algorithm: algorithm.settings });
  const { algorithm: own = {}, ...rest } = together(algorithm.usual ?? {}, given);
  const result = whole.safeParse({ ...rest, algorithm: own });
  if (result.success) return settled(algorithm, result.data as Given);
  throw wrongSetting(whole, { ...rest, algorithm: own }, result.error.issues[0]);
}

function wrongSetting(
  whole: z.ZodType,
  given: JsonObject,
  issue: z.core.$ZodIssue | undefined,
): Error {
  const names = (issue?.path ?? []).map(String);
  const name = names.join(".");
  const known = namesIn(whole, names);
  const knows = `${name || "A run"} knows: ${known?.join(", ")}.`;
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

function valueAt(given: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((outer, name) => (outer as JsonObject | undefined)?.[name], given);
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
