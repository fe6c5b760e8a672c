/** The settings that all methods have, each with its default and meaning. */

import { z } from "zod";
import { LORA, PROJECTIONS } from "../../policy/lora.ts";
import { LIMITS } from "../alarms/limits.ts";
import { CREDITS } from "../parts/credit.ts";
import { stopSchema } from "./stop.ts";

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

export const GENERAL_SETTINGS = {
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
      credit: z
        .enum(CREDITS)
        .default("trajectory")
        .describe(
          "which reward a turn learns from: trajectory: that of the whole episode; turn: the rewards from this turn on, compared with the same turn of the group; segment: the same, compared with all turns of the group",
        ),
      discount: share
        .default(1)
        .describe(
          "discount per turn, or segment, of the rewards to come; not for ppo or trajectory",
        ),
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
      tasks: z
        .int()
        .min(0)
        .default(100)
        .describe("with --env and without --dev: dev tasks to validate on, the first ones"),
      judge_tasks: z
        .int()
        .min(1)
        .nullable()
        .optional()
        .describe(
          "with --judge: tasks that it compares with the initial policy, the first ones; unless set, all",
        ),
      temperature: z.number().min(0).default(1).describe("sampling temperature; 0: greedy"),
      max_tokens: z.int().min(1).default(32).describe("maximum tokens per completion"),
    })
    .prefault({})
    .describe("validation on --dev, test on --holdout"),
  stop: stopSchema,
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
