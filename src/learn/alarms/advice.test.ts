import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { EvaluationRecord, StepRecord } from "../../runs/train-records.ts";
import { ALGORITHMS, algorithmOf } from "../algorithms/index.ts";
import { unusedSettings } from "../settings/unused.ts";
import { valueAt } from "../settings/wrong-setting.ts";
import { completed, trainSettings } from "../settings.ts";
import { Watch } from "../watch.ts";

/** All alarms of a run whose steps and evaluations are given. */
function raised(
  name: string,
  steps: readonly Partial<StepRecord>[],
  {
    settings = {},
    evaluations = [],
    scratch = false,
  }: {
    readonly settings?: JsonObject;
    readonly evaluations?: readonly EvaluationRecord[];
    readonly scratch?: boolean;
  } = {},
) {
  const algorithm = algorithmOf(name);
  const watch = new Watch(algorithm, trainSettings(algorithm, settings), { scratch });
  const found = steps.flatMap((step, i) => {
    watch.steps.push({
      ...{ step: i + 1, loss: 1, gradient_norm: 1, learning_rate: 0.001, tokens: 9 },
      ...step,
    });
    watch.evaluations.push(...evaluations.filter((one) => one.step === i + 1));
    return watch.alarms();
  });
  return new Map(found.map((alarm) => [alarm.alarm, alarm]));
}

const many = (count: number, step: (i: number) => Partial<StepRecord>) =>
  Array.from({ length: count }, (_, i) => step(i));
const rewards = (mean: number, more: Partial<StepRecord> = {}): Partial<StepRecord> => ({
  ...{ "reward/mean": mean, "reward/std": 0.4, "reward/min": 0, "reward/max": 1 },
  ...{ "reward/zero_std_groups": 0.3, entropy: 0.5, loss: 0.01, "kl/k3": 0.1 },
  ...more,
});
const evaluation = (step: number, mean: number, kl = 3): EvaluationRecord => ({
  ...{ step, examples: 400, pass_rate: mean, reward_mean: mean, proxy_mean: mean },
  ...{ kl_exact: kl, entropy: 0.5, length_mean: 60 + step, truncated: 0, repeated: 0.1 },
  ...{ outcomes: {}, rewards: Array.from({ length: 400 }, (_, i) => Number(i < mean * 400)) },
});

describe.each(ALGORITHMS.map(({ name }) => name))("the alarms of %s", (name) => {
  const algorithm = algorithmOf(name);
  const sampled = algorithm.needs === "rollouts";
  const falling = Array.from({ length: 13 }, (_, i) => evaluation(i + 1, i < 3 ? 0.8 : 0.4));
  const messages = [
    ...raised(
      name,
      many(40, (i) => (sampled ? rewards(0.8 - i / 60, { entropy: 0.001 }) : { loss: 1 + i / 10 })),
      { evaluations: falling },
    ).values(),
    ...raised(
      name,
      many(9, () => (sampled ? rewards(0, { "reward/max": 0 }) : { gradient_norm: 0 })),
    ).values(),
  ].map(({ message }) => message);

  test("name only settings that it has", () => {
    expect(messages.length).toBeGreaterThan(3);
    const unused = unusedSettings(algorithm);
    const settings = completed(algorithm, {}) as JsonObject;
    for (const message of messages) {
      for (const [path] of message.matchAll(/\b(?:kl|rollouts|algorithm|evaluate)\.[a-z_]+/g)) {
        expect(valueAt(settings, path.split(".")), `${path}: ${message}`).not.toBeUndefined();
        expect(
          unused.some((one) => `${path}.`.startsWith(`${one}.`)),
          path,
        ).toBe(false);
      }
      if (!sampled) expect(message).not.toMatch(/KL (coefficient|penalty)|advantage|clip/);
    }
  });
});

describe("kl_over_limit", () => {
  const far = { evaluations: [evaluation(1, 0.5), evaluation(2, 0.5)] };

  test("is raised where there is a policy to stay near, and not from scratch", () => {
    const steps = many(2, () => ({ loss: 1 }));
    expect([...raised("sft", steps, far).keys()]).toContain("kl_over_limit");
    expect([...raised("sft", steps, { ...far, scratch: true }).keys()]).toEqual([]);
  });
});

describe("a ruinous learning rate", () => {
  const jump = many(12, (i) => ({ loss: i < 2 ? 3 : 9 + (i % 3) }));

  test("is named, with the default to try instead", () => {
    const alarm = raised("sft", jump, { settings: { rate: { peak: 1 } } }).get(
      "ruinous_learning_rate",
    );
    expect(alarm).toMatchObject({ stops: true, evidence: { learning_rate: 1, usual: 0.003 } });
    expect(alarm?.message).toMatch(/learning rate of 1, 333 times the default of 0\.003/);
    expect(alarm?.message).toContain("--lr 0.003");
  });

  test("with rewards too, where the policy has gone far and earns nothing", () => {
    const ruined = many(12, (i) => rewards(i < 1 ? 0.5 : 0, { "kl/k3": i < 1 ? 0 : 6 }));
    expect(raised("grpo", ruined).has("ruinous_learning_rate")).toBe(true);
    const learns = many(12, (i) => rewards(0.5 + i / 40, { "kl/k3": i / 20 }));
    expect([...raised("grpo", learns).keys()]).toEqual([]);
  });

  test("a steady rise at the default rate is a wrong sign instead", () => {
    const steady = raised(
      "sft",
      many(30, (i) => ({ loss: 3 + i / 3 })),
    );
    expect([...steady.keys()]).toEqual(["learning_backwards"]);
    expect(steady.get("learning_backwards")?.message).toContain("of the loss or of the gradient");
    const swapped = raised(
      "dpo",
      many(30, (i) => ({ loss: 0.7 + i / 9 })),
    );
    expect(swapped.get("learning_backwards")?.message).toContain("chosen and rejected");
  });

  test("validation excuses a rising loss only where something passes", () => {
    const steps = many(30, (i) => ({ loss: 3 + i / 3 }));
    const validated = (mean: number) => ({
      evaluations: [evaluation(1, mean, 0), evaluation(12, mean, 0), evaluation(24, mean, 0)],
      scratch: true,
    });
    expect([...raised("sft", steps, validated(0.5)).keys()]).toEqual([]);
    expect([...raised("sft", steps, validated(0)).keys()]).toEqual(["learning_backwards"]);
  });

  test("a loss that falls raises nothing, whatever the rate", () => {
    const falls = many(30, (i) => ({ loss: 3 / (1 + i) }));
    expect(raised("sft", falls, { settings: { rate: { peak: 1 } } }).size).toBe(0);
  });
});

describe("why nothing is learned", () => {
  const failed = (more: Partial<StepRecord>) =>
    many(6, () =>
      rewards(0, { "reward/max": 0, "reward/std": 0, "reward/zero_std_groups": 1, ...more }),
    );

  test("every completion is cut", () => {
    const why = raised("grpo", failed({ "length/truncated": 1, outcomes: { no_answer: 64 } }));
    const message = why.get("zero_gradient")?.message ?? "";
    expect(message).toMatch(/^Why the loss is 0: in every group all rewards are equal/);
    expect(message).toContain("Why the reward is 0: Every completion is cut at the limit of 32");
    expect(message).toContain("raise rollouts.max_tokens");
    expect(message).toContain("The scorer gives all 64 completions the code no_answer");
  });

  test("the same text for all, or none, and what the scorer says", () => {
    const same = raised("grpo", failed({ repeated: 1, "length/max": 1, outcomes: { a: 3, b: 1 } }));
    const message = same.get("zero_gradient")?.message ?? "";
    expect(message).toContain("100 % of the completions are the same text.");
    expect(message).toContain("Every completion is empty.");
    expect(message).toContain("Outcome codes of the 4 completions: a 3, b 1.");
  });

  test("methods without groups are told of a reward of 0, and never of equal groups", () => {
    const ppo = raised("ppo", failed({ outcomes: { wrong: 64 } }));
    expect([...ppo.keys()]).toEqual(["zero_reward"]);
    expect(ppo.get("zero_reward")?.message).toMatch(/^Why the reward is 0: for 5 steps/);
    const single = many(9, () => rewards(0.5, { "reward/zero_std_groups": 1 }));
    const settings = { algorithm: { baseline: "running" } };
    expect([...raised("reinforce", single, { settings }).keys()]).toEqual([]);
    expect([...raised("reinforce", single).keys()]).toEqual(["zero_gradient"]);
    expect([...raised("grpo", single).keys()]).toEqual(["zero_gradient"]);
  });

  test("all of a group passing is no reward of 0", () => {
    const passed = raised(
      "grpo",
      many(3, () => rewards(1, { "reward/zero_std_groups": 1 })),
    );
    expect(passed.get("zero_gradient")?.message).not.toContain("Why the reward is 0");
  });
});
