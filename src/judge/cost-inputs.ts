/** What the cost model goes by: every number with its unit, and where it is from. */

import type { JudgedMessage } from "../core/judge.ts";
import { groupRequest } from "./group-request.ts";
import { DEFAULT_RUBRIC } from "./rubric.ts";

export const CHARACTERS_PER_TOKEN = 4;

/** What the words around the attempts take of a request, at four characters a token. */
function measuredFrames(): { system: number; attempt: number; message: number } {
  const message: JudgedMessage = { role: "assistant", content: "" };
  const asked = (...attempts: JudgedMessage[][]) =>
    groupRequest([[{ ...message, content: "a" }], ...attempts], {
      ...{ rubric: DEFAULT_RUBRIC, tools: [] },
    });
  const length = (...attempts: JudgedMessage[][]) =>
    asked(...attempts).user.length / CHARACTERS_PER_TOKEN;
  const one = length([message]);
  return {
    system: asked().system.length / CHARACTERS_PER_TOKEN,
    attempt: length([message], []) - one,
    message: length([message, message]) - one,
  };
}

const FRAMES = measuredFrames();

interface Field {
  readonly about: string;
  /** Without --example. */
  readonly value: number;
  readonly whole?: boolean;
  readonly least?: number;
  /** 1 for a share. */
  readonly most?: number;
  /** In the request that runs send, with the default rubric. */
  readonly measured?: boolean;
}

/** In the order in which they are shown. */
export const COST_FIELDS = {
  inputs: { about: "scenarios to train on", value: 100, whole: true, least: 1 },
  epochs: { about: "times that each is used", value: 1, whole: true, least: 1 },
  groups_per_step: { about: "groups in a training step", value: 4, whole: true, least: 1 },
  attempts: { about: "attempts in a group", value: 8, whole: true, least: 1 },
  turns: { about: "turns of the policy in an attempt", value: 1, whole: true, least: 1 },
  prompt_tokens: { about: "tokens that all attempts begin with", value: 300 },
  turn_tokens: { about: "tokens that the policy writes in a turn", value: 200 },
  observation_tokens: { about: "tokens of what comes back between turns", value: 0 },
  judge_system_tokens: {
    about: "tokens of the judge's system message with the rubric",
    value: Math.ceil(FRAMES.system),
    measured: true,
  },
  judge_attempt_tokens: {
    about: "tokens around an attempt in the request",
    value: Math.ceil(FRAMES.attempt),
    measured: true,
  },
  judge_message_tokens: {
    about: "tokens around a message in the request",
    value: Math.ceil(FRAMES.message),
    measured: true,
  },
  judge_answer_tokens: { about: "tokens of the answer for each attempt", value: 60 },
  judge_price_in: { about: "dollars per million prompt tokens of the judge", value: 1.1 },
  judge_price_out: { about: "dollars per million tokens of its answers", value: 4.4 },
  judge_price_cached: { about: "dollars per million prompt tokens from its cache", value: 0.275 },
  judge_cached_share: {
    about: "share of requests whose beginning is in its cache",
    value: 0,
    most: 1,
  },
  judge_seconds: { about: "seconds that a step waits for the judge", value: 20 },
  gpu_tokens_per_second: {
    about: "tokens of attempts, sampled and learned, per second",
    value: 700,
    least: 1e-6,
  },
  gpu_step_seconds: { about: "further seconds of a step", value: 60 },
  gpu_price: { about: "dollars per GPU hour", value: 2.5 },
  gpus: { about: "GPUs", value: 1, whole: true, least: 1 },
  validate_every: { about: "steps between validations; 0: none", value: 0, whole: true },
  validate_examples: { about: "episodes of a validation", value: 100, whole: true },
} as const satisfies Readonly<Record<string, Field>>;

export type CostField = keyof typeof COST_FIELDS;
export type CostInputs = Readonly<Record<CostField, number>>;

export const fieldOf = (name: CostField): Field => COST_FIELDS[name];
export const COST_FIELD_NAMES = Object.keys(COST_FIELDS) as readonly CostField[];

export const DEFAULT_INPUTS = Object.fromEntries(
  COST_FIELD_NAMES.map((name) => [name, fieldOf(name).value]),
) as CostInputs;

/** A published example: the numbers that its source has, and those that are assumed to fill the gaps. */
export interface CostExample {
  readonly about: string;
  /** What the source says of the outcome. */
  readonly said: readonly string[];
  readonly source: Readonly<Partial<CostInputs>>;
  readonly assumed: Readonly<Partial<CostInputs>>;
  /** Why the assumed ones are what they are. */
  readonly notes: readonly string[];
}

export const COST_EXAMPLES = {
  "email-agent": {
    about: "an agent that answers questions about e-mails",
    said: ["$80 with all calls of the judge, or a little less", "100 to 200 steps", "one H100"],
    source: { inputs: 800, attempts: 18, gpus: 1, validate_every: 5, validate_examples: 100 },
    assumed: {
      ...{ epochs: 1, groups_per_step: 5, turns: 5 },
      ...{ prompt_tokens: 500, turn_tokens: 60, observation_tokens: 350 },
      ...{ judge_cached_share: 0.5, gpu_tokens_per_second: 750 },
    },
    notes: [
      "The source gives $80 once for everything and once for the GPU; the model takes it as the total.",
      "800 scenarios, 100 for validation and groups of 18 stand in its example of the training loop.",
      "Prices are list prices of a small reasoning model and of a rented H100, and the speed of the GPU is chosen so that the total is near $80.",
    ],
  },
  "auto-rl": {
    about: "a grammar task without labels",
    said: ["25 inputs, 3 epochs, 2 groups a step: about 40 steps", "a few hours"],
    source: { inputs: 25, epochs: 3, groups_per_step: 2, validate_every: 0 },
    assumed: {
      ...{ attempts: 8, turns: 1, prompt_tokens: 400, turn_tokens: 300 },
      ...{ gpu_tokens_per_second: 60, gpu_step_seconds: 120, gpu_price: 0.5 },
    },
    notes: [
      "The source has no accuracy to validate by, so there is no validation.",
      "Groups of 4 to 8 are said to work best; the GPU is assumed to be a small one.",
    ],
  },
} as const satisfies Readonly<Record<string, CostExample>>;

export type CostExampleName = keyof typeof COST_EXAMPLES;

export function exampleInputs(name: CostExampleName): CostInputs {
  const { source, assumed } = COST_EXAMPLES[name];
  return { ...DEFAULT_INPUTS, ...assumed, ...source };
}
