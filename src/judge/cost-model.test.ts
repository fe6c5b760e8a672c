import { describe, expect, test } from "vitest";
import type { JudgedMessage } from "../core/judge.ts";
import {
  CHARACTERS_PER_TOKEN,
  COST_EXAMPLES,
  COST_FIELD_NAMES,
  type CostField,
  DEFAULT_INPUTS,
  exampleInputs,
} from "./cost-inputs.ts";
import {
  groupJudgeCost,
  requestTokens,
  singleJudgeCost,
  trainingCost,
  withDoubledGroup,
} from "./cost-model.ts";
import { type Answer, post, withJudge } from "./embedded/ask.contract.ts";

describe("the published examples", () => {
  test("e-mail agent: at most $80 in total, 100 to 200 steps, one GPU", () => {
    const inputs = exampleInputs("email-agent");
    const { dollars, steps, judge, gpu_dollars, gpu_hours, hours } = trainingCost(inputs);
    expect([inputs.attempts, inputs.gpus]).toEqual([18, 1]);
    expect(steps).toBeGreaterThanOrEqual(100);
    expect(steps).toBeLessThanOrEqual(200);
    expect(dollars).toBeLessThanOrEqual(80);
    expect(dollars).toBeGreaterThan(72);
    expect(judge.dollars + gpu_dollars).toBeCloseTo(dollars, 9);
    expect(gpu_hours).toBe(hours);
  });

  test("auto-rl: 25 × 3 / 2 is about 40 steps, in a few hours, without validation", () => {
    const { steps, hours, judge, validation_episodes } = trainingCost(exampleInputs("auto-rl"));
    expect([steps, judge.requests, validation_episodes]).toEqual([38, 75, 0]);
    expect(hours).toBeGreaterThan(2);
    expect(hours).toBeLessThan(6);
  });

  test("have no number that is both from the source and assumed", () => {
    for (const { source, assumed } of Object.values(COST_EXAMPLES)) {
      expect(Object.keys(source).filter((name) => name in assumed)).toEqual([]);
    }
  });
});

describe("an input changes what depends on it, and nothing else", () => {
  const base = { ...exampleInputs("email-agent"), validate_examples: 50 };
  const flat = (changed: Partial<typeof base>) => {
    const { judge, judge_share: _, ...training } = trainingCost({ ...base, ...changed });
    const { dollars: judge_dollars, ...tokens } = judge;
    return { ...training, ...tokens, judge_dollars } as Record<string, number>;
  };
  const before = flat({});
  const TIME = ["hours", "gpu_hours", "gpu_dollars", "dollars"];
  const JUDGE = ["prompt_tokens", "cached_tokens", "answer_tokens", "judge_dollars"];
  const GROUPS = ["steps", "groups", "episodes", "validation_episodes", "requests"];
  const CHANGES: Readonly<Record<CostField, readonly string[]>> = {
    inputs: [...GROUPS, "tokens", ...TIME, ...JUDGE],
    epochs: [...GROUPS, "tokens", ...TIME, ...JUDGE],
    groups_per_step: ["steps", "validation_episodes", "tokens", ...TIME],
    attempts: ["episodes", "tokens", ...TIME, "prompt_tokens", "answer_tokens", "judge_dollars"],
    turns: ["tokens", ...TIME, "prompt_tokens", "judge_dollars"],
    prompt_tokens: ["tokens", ...TIME, "prompt_tokens", "judge_dollars"],
    turn_tokens: ["tokens", ...TIME, "prompt_tokens", "judge_dollars"],
    observation_tokens: ["tokens", ...TIME, "prompt_tokens", "judge_dollars"],
    judge_system_tokens: ["prompt_tokens", "cached_tokens", "judge_dollars", "dollars"],
    judge_attempt_tokens: ["prompt_tokens", "judge_dollars", "dollars"],
    judge_message_tokens: ["prompt_tokens", "judge_dollars", "dollars"],
    judge_answer_tokens: ["answer_tokens", "judge_dollars", "dollars"],
    judge_price_in: ["judge_dollars", "dollars"],
    judge_price_out: ["judge_dollars", "dollars"],
    judge_price_cached: ["judge_dollars", "dollars"],
    judge_cached_share: ["cached_tokens", "judge_dollars", "dollars"],
    judge_seconds: TIME,
    gpu_tokens_per_second: TIME,
    gpu_step_seconds: TIME,
    gpu_price: ["gpu_dollars", "dollars"],
    gpus: TIME,
    validate_every: ["validation_episodes", "tokens", ...TIME],
    validate_examples: ["validation_episodes", "tokens", ...TIME],
  };

  test.each(COST_FIELD_NAMES)("%s", (name) => {
    const after = flat({ [name]: 2 * base[name] });
    const changed = Object.keys(before).filter((key) => after[key] !== before[key]);
    expect(changed.sort()).toEqual([...CHANGES[name]].sort());
  });
});

describe("one request for a group", () => {
  const inputs = exampleInputs("email-agent");

  test("holds the shared beginning once, so that judging each attempt alone costs more", () => {
    const [group, alone] = [groupJudgeCost(inputs), singleJudgeCost(inputs)];
    expect(alone.requests).toBe(18 * group.requests);
    expect(alone.answer_tokens).toBe(group.answer_tokens);
    const again =
      inputs.judge_system_tokens +
      requestTokens(inputs, 0).prompt -
      requestTokens(inputs, 0).stable;
    expect(alone.prompt_tokens - group.prompt_tokens).toBe(17 * group.requests * again);
    expect(alone.dollars).toBeGreaterThan(group.dollars);
  });

  test("for twice the attempts costs less than twice, and the steps stay", () => {
    const [one, two] = [trainingCost(inputs), withDoubledGroup(inputs)];
    expect(two.steps).toBe(one.steps);
    expect(two.judge.dollars).toBeGreaterThan(1.8 * one.judge.dollars);
    expect(two.judge.dollars).toBeLessThan(2 * one.judge.dollars);
    expect(two.dollars).toBeGreaterThan(one.dollars);
  });

  test("has the tokens that the embedded judge counts", async () => {
    const shape = { ...DEFAULT_INPUTS, attempts: 6, turns: 3, observation_tokens: 100 };
    const text = (tokens: number) => "a".repeat(CHARACTERS_PER_TOKEN * tokens);
    const attempts = Array.from({ length: shape.attempts }, (_, i) => {
      const messages: JudgedMessage[] = [{ role: "user", content: text(shape.prompt_tokens) }];
      for (let turn = 0; turn < shape.turns; turn++) {
        if (turn > 0) messages.push({ role: "user", content: text(shape.observation_tokens) });
        messages.push({ role: "assistant", content: `${i}${text(shape.turn_tokens).slice(1)}` });
      }
      return messages;
    });
    const { usage } = await withJudge({ faults: "" }, async (judge) => {
      const response = await post(judge, { prompt: "", attempts });
      return (await response.json()) as Answer;
    });
    const { prompt } = requestTokens(shape);
    expect(Math.abs(usage.prompt_tokens - prompt) / usage.prompt_tokens).toBeLessThan(0.01);
  });
});
