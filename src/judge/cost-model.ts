/** What judged training costs, and how long it takes, from numbers that are all stated. */

import type { CostInputs } from "./cost-inputs.ts";

/** Of one request to a judge. */
export interface RequestTokens {
  readonly prompt: number;
  /** Of the prompt: what earlier requests begin with too, and a provider may keep in its cache. */
  readonly stable: number;
  readonly answer: number;
}

export interface JudgeCost {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly answer_tokens: number;
  readonly dollars: number;
}

export interface TrainingCost {
  readonly steps: number;
  readonly groups: number;
  readonly episodes: number;
  readonly validation_episodes: number;
  /** Of all episodes, those of validations included. */
  readonly tokens: number;
  /** From the first step to the last. */
  readonly hours: number;
  readonly gpu_hours: number;
  readonly gpu_dollars: number;
  readonly judge: JudgeCost;
  readonly dollars: number;
  /** Of the dollars. */
  readonly judge_share: number;
}

/** Tokens of an attempt without the beginning that all share. */
function ownTokens({ turns, turn_tokens, observation_tokens }: CostInputs): number {
  return turns * turn_tokens + (turns - 1) * observation_tokens;
}

/** The shape of the request: system message, the shared beginning once, then each attempt. */
export function requestTokens(inputs: CostInputs, attempts = inputs.attempts): RequestTokens {
  const { judge_attempt_tokens: frame, judge_message_tokens: message } = inputs;
  const shared = frame + message + inputs.prompt_tokens;
  const attempt = frame + (2 * inputs.turns - 1) * message + ownTokens(inputs);
  return {
    prompt: inputs.judge_system_tokens + shared + attempts * attempt,
    stable: inputs.judge_system_tokens,
    answer: attempts * inputs.judge_answer_tokens,
  };
}

/** One request for a group. */
export function groupJudgeCost(inputs: CostInputs): JudgeCost {
  return judgeCost(inputs, inputs.inputs * inputs.epochs, requestTokens(inputs));
}

/**
 * One request for each attempt, for comparison. The shared beginning is then the same in the requests
 * of a group, so that it can be cached as well; scores are no longer relative to each other.
 */
export function singleJudgeCost(inputs: CostInputs): JudgeCost {
  const tokens = requestTokens(inputs, 1);
  const stable =
    tokens.stable +
    inputs.judge_attempt_tokens +
    inputs.judge_message_tokens +
    inputs.prompt_tokens;
  const requests = inputs.inputs * inputs.epochs * inputs.attempts;
  return judgeCost(inputs, requests, { ...tokens, stable });
}

function judgeCost(inputs: CostInputs, requests: number, each: RequestTokens): JudgeCost {
  const [prompt, answer] = [requests * each.prompt, requests * each.answer];
  const cached = requests * each.stable * inputs.judge_cached_share;
  return {
    requests,
    prompt_tokens: Math.round(prompt),
    cached_tokens: Math.round(cached),
    answer_tokens: Math.round(answer),
    dollars:
      ((prompt - cached) * inputs.judge_price_in +
        cached * inputs.judge_price_cached +
        answer * inputs.judge_price_out) /
      1e6,
  };
}

export function trainingCost(inputs: CostInputs): TrainingCost {
  const groups = inputs.inputs * inputs.epochs;
  const steps = Math.ceil(groups / inputs.groups_per_step);
  const episodes = groups * inputs.attempts;
  const every = inputs.validate_every;
  // Before the first step too.
  const validations = every === 0 ? 0 : 1 + Math.floor(steps / every);
  const validated = validations * inputs.validate_examples;
  const tokens = (episodes + validated) * (inputs.prompt_tokens + ownTokens(inputs));
  const seconds =
    tokens / (inputs.gpu_tokens_per_second * inputs.gpus) +
    steps * (inputs.gpu_step_seconds + inputs.judge_seconds);
  const hours = seconds / 3600;
  const judge = groupJudgeCost(inputs);
  const gpuDollars = hours * inputs.gpus * inputs.gpu_price;
  const dollars = gpuDollars + judge.dollars;
  return {
    ...{ steps, groups, episodes, validation_episodes: validated, tokens, hours },
    ...{ gpu_hours: hours * inputs.gpus, gpu_dollars: gpuDollars, judge, dollars },
    judge_share: dollars === 0 ? 0 : judge.dollars / dollars,
  };
}

/** The same training with twice the attempts in a group. */
export function withDoubledGroup(inputs: CostInputs): TrainingCost {
  return trainingCost({ ...inputs, attempts: 2 * inputs.attempts });
}
