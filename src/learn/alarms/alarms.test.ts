/** Each alarm on a history made by hand, beside the nearest history that must stay silent. */

import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../core/json.ts";
import type { EvaluationRecord, StepRecord } from "../../runs/train-records.ts";
import { ALARMS, type History, LIMITS, type Limits, raisedBy } from "./index.ts";

type Metrics = Record<string, number | Record<string, number>>;

/** A quiet step of an algorithm with rewards. */
const QUIET: Metrics = {
  ...{
    loss: 0.01,
    gradient_norm: 1,
    learning_rate: 1e-5,
    entropy: 0.5,
    tokens: 100,
    repeated: 0.1,
  },
  ...{ "reward/mean": 0.5, "reward/std": 0.5, "reward/max": 1, "reward/zero_std_groups": 0.2 },
  ...{ "length/mean": 40, "length/truncated": 0 },
};

const steps = (count: number, metrics: (step: number) => Metrics, base = QUIET): StepRecord[] =>
  Array.from({ length: count }, (_, i) => ({ ...base, ...metrics(i + 1), step: i + 1 }));

const evaluation = (step: number, more: Partial<EvaluationRecord> = {}): EvaluationRecord => ({
  ...{ step, examples: 100, pass_rate: 0.5, reward_mean: 0.5, proxy_mean: 0.5, kl_exact: null },
  ...{ entropy: 0.5, length_mean: 40, truncated: 0, repeated: 0.1, outcomes: {} },
  rewards: Array.from({ length: 100 }, (_, i) => Number(i < 50)),
  ...more,
});

const SUPERVISED: Metrics = { loss: 1, gradient_norm: 1, learning_rate: 1e-5, tokens: 100 };

const look = (
  records: readonly StepRecord[],
  evaluations: readonly EvaluationRecord[] = [],
  facts: History["facts"] = { usesReference: true, maxTokens: 64 },
  limits: Limits = LIMITS,
) => raisedBy({ steps: records, evaluations, facts }, limits, new Set());

const names = (...given: Parameters<typeof look>) => look(...given).map(({ alarm }) => alarm);
const message = (...given: Parameters<typeof look>) => look(...given)[0]?.message;

test("nothing is said of nothing, or of a quiet run", () => {
  expect(look([])).toEqual([]);
  expect(look([], [evaluation(0)])).toEqual([]);
  expect(
    look(
      steps(40, () => ({})),
      [evaluation(0), evaluation(20), evaluation(40)],
    ),
  ).toEqual([]);
  expect(look(steps(40, () => ({}), SUPERVISED))).toEqual([]);
});

test("an alarm has the step of the last record, is JSON, and is not raised twice", () => {
  const records = steps(3, () => ({ "check/logprob_gap": 0.5 }));
  const [alarm] = look(records);
  expect(alarm).toMatchObject({ step: 3, alarm: "logprob_mismatch", stops: true });
  expect(ALARMS).toContain(alarm?.alarm);
  expect(canonicalJson(alarm)).toContain('"logprob_gap":0.5');
  const history = { steps: records, evaluations: [], facts: { usesReference: false } };
  expect(raisedBy(history, LIMITS, new Set(["logprob_mismatch"]))).toEqual([]);
});

describe("scorer_failures", () => {
  test("one broken score stops the run", () => {
    const broken = { outcomes: { correct: 60, scorer_error: 4 } };
    expect(names(steps(1, () => broken))).toEqual(["scorer_failures"]);
    expect(message(steps(1, () => broken))).toContain("failed on 4 of 64 completions in training");
    expect(message([], [evaluation(0, broken)])).toContain("in validation");
  });
});

describe("zero_gradient", () => {
  const last = (metrics: Metrics) => steps(6, (step) => (step === 6 ? metrics : {}));

  test("says which way all rewards are equal", () => {
    const equal = { "reward/zero_std_groups": 1, gradient_norm: 0, loss: 0 };
    const failed = { ...equal, "reward/mean": 0, "reward/max": 0 };
    expect(message(last(failed))).toContain("all failed");
    expect(message(last(failed))).toContain("easier examples");
    expect(message(last({ ...equal, "reward/mean": 1 }))).toContain("all passed");
    expect(message(last({ ...equal, "reward/mean": 0.4 }))).toContain("some passed, others failed");
  });

  test("a high share counts once it lasts", () => {
    const high = { "reward/zero_std_groups": 0.95 };
    expect(names(steps(4, () => high))).toEqual([]);
    expect(names(steps(5, () => high))).toEqual(["zero_gradient"]);
  });

  test("a loss of 0 with a gradient is how advantages cancel", () => {
    expect(names(last({ loss: 0 }))).toEqual([]);
    expect(names(last({ gradient_norm: 0 }))).toEqual(["zero_gradient"]);
    expect(message(steps(1, () => ({ gradient_norm: 0, tokens: 0 }), SUPERVISED))).toContain(
      "Why the loss is 0: no token of this step is trained on",
    );
  });
});

describe("reference_aliased", () => {
  test("a gap of exactly 0 after three updates", () => {
    const same = () => ({ "check/reference_gap": 0 });
    expect(names(steps(3, same))).toEqual([]);
    expect(names(steps(4, same))).toEqual(["reference_aliased"]);
    expect(names(steps(4, same), [], { usesReference: false })).toEqual([]);
    expect(names(steps(4, (step) => ({ "check/reference_gap": 1e-7 * (step - 1) })))).toEqual([]);
    expect(names(steps(9, () => ({ "kl/k3": 0, learning_rate: 0 })))).toEqual([]);
    expect(names(steps(4, () => ({ "kl/k3": 0 })))).toEqual(["reference_aliased"]);
    expect(
      names(
        steps(4, () => ({})),
        [evaluation(0), evaluation(4, { kl_exact: 0 })],
      ),
    ).toEqual(["reference_aliased"]);
  });

  test("of a share of the rows, once enough of them are identical", () => {
    const same = (rows: number) => () => ({ "check/reference_gap": 0, "kl/rows": rows });
    // The default, 4 groups of 8, is told as early as with all rows.
    expect(names(steps(4, same(32)))).toEqual(["reference_aliased"]);
    expect(names(steps(8, same(8)))).toEqual([]);
    expect(names(steps(9, same(8)))).toEqual(["reference_aliased"]);
    // A single row that differs is enough.
    const one = (step: number) => ({
      ...same(8)(),
      ...(step === 7 && { "check/reference_gap": 1 }),
    });
    expect(names(steps(30, one))).toEqual([]);
  });

  test("a preference loss that stays at ln 2", () => {
    const still = { loss: Math.fround(Math.LN2) };
    expect(names(steps(4, () => still, SUPERVISED))).toEqual(["reference_aliased"]);
    const margins = (step: number) => ({ ...still, "rewards/margin": 1e-6 * (step - 1) });
    expect(names(steps(4, margins, SUPERVISED))).toEqual([]);
  });
});

test("logprob_mismatch and sampling_mismatch stop beyond their limits", () => {
  const at = (logprob: number, sampling: number) =>
    names(steps(1, () => ({ "check/logprob_gap": logprob, "check/sampling_gap": sampling })));
  expect(at(1e-4, -0.001)).toEqual([]);
  expect(at(2e-3, 0)).toEqual(["logprob_mismatch"]);
  expect(at(0, 0.05)).toEqual(["sampling_mismatch"]);
  expect(at(0, -0.05)).toEqual(["sampling_mismatch"]);
});

describe("learning_backwards", () => {
  const falling = (step: number) => ({ "reward/mean": 0.6 - 0.02 * step });

  test("a reward that falls from the first step", () => {
    expect(names(steps(9, falling))).toEqual([]);
    expect(names(steps(11, falling))).toEqual(["learning_backwards"]);
  });

  test("but not where validation holds, reward is traded, or the fall is slight", () => {
    const level = [evaluation(0), evaluation(10)];
    expect(names(steps(11, falling), level)).toEqual([]);
    expect(names(steps(11, (step) => ({ ...falling(step), "cost/lambda": 1 })))).toEqual([]);
    expect(names(steps(20, (step) => ({ "reward/mean": 0.5 - 0.001 * step })))).toEqual([]);
  });

  test("a supervised loss that rises; a policy-gradient loss may", () => {
    const rising = (step: number) => ({ loss: 1 + 2 * step });
    expect(names(steps(11, rising, SUPERVISED))).toEqual(["learning_backwards"]);
    expect(names(steps(11, rising))).toEqual([]);
  });

  test("a reward that is gone after a few steps, where no trend can go on", () => {
    const gone = (step: number) => {
      const mean = Math.max(0, 0.35 - 0.06 * step);
      return { "reward/mean": mean, "reward/std": mean > 0 ? 0.4 : 0, gradient_norm: mean };
    };
    expect(names(steps(13, gone))).toContain("learning_backwards");
    // Rewards that are rare anyway stay away for a while by chance.
    const rare = (step: number) => {
      const mean = [1, 2, 0, 1, 1][step - 1] ?? 0;
      return { "reward/mean": mean / 16, "reward/std": mean > 0 ? 0.25 : 0 };
    };
    expect(names(steps(12, rare))).not.toContain("learning_backwards");
  });
});

describe("repetitive_text", () => {
  const looping = (to: number) => steps(20, (step) => ({ repetition: step > 10 ? to : 0.05 }));

  test("completions that begin to loop, in training or on validation", () => {
    expect(look(looping(0.4))).toMatchObject([
      { alarm: "repetitive_text", stops: false, evidence: { start: 0.05, now: 0.4 } },
    ]);
    const supervised = steps(20, () => ({}), SUPERVISED);
    const validated = [evaluation(0, { repetition: 0 }), evaluation(20, { repetition: 0.5 })];
    expect(names(supervised, validated)).toEqual(["repetitive_text"]);
  });

  test("not a small rise, not what was so from the start, not from random weights", () => {
    expect(names(looping(0.2))).toEqual([]);
    expect(names(steps(20, () => ({ repetition: 0.4 })))).toEqual([]);
    expect(names(looping(0.4), [], { usesReference: true, scratch: true })).toEqual([]);
  });
});

test("reward_jump: a leap after a plateau, not a slope", () => {
  const noise = (step: number) => 0.03 * (((step * 7) % 5) - 2);
  const leap = (step: number) => ({ "reward/mean": (step > 20 ? 0.8 : 0.3) + noise(step) });
  const slope = (step: number) => ({ "reward/mean": 0.1 + 0.03 * step + noise(step) });
  expect(names(steps(22, leap))).toEqual([]);
  expect(names(steps(23, leap))).toEqual(["reward_jump"]);
  expect(names(steps(23, slope))).toEqual([]);
});

test("perfect_score: five full steps, or a full validation set", () => {
  const full = { "reward/mean": 1 };
  expect(names(steps(4, () => full))).toEqual([]);
  expect(names(steps(5, () => full))).toEqual(["perfect_score"]);
  expect(names(steps(5, () => ({ "reward/mean": 3, "reward/max": 5 })))).toEqual([]);
  expect(names([], [evaluation(0, { pass_rate: 1 })])).toEqual(["perfect_score"]);
  expect(names([], [evaluation(0, { pass_rate: 1, examples: 5 })])).toEqual([]);
});

describe("what the policy says", () => {
  const then = (metrics: Metrics) => steps(20, (step) => (step > 10 ? metrics : {}));
  const later = (more: Partial<EvaluationRecord>) => [evaluation(0), evaluation(20, more)];

  test("repeated_outputs, on the validation set where there is one", () => {
    expect(names(then({ repeated: 0.6 }))).toEqual(["repeated_outputs"]);
    expect(names(then({ repeated: 0.5 }))).toEqual([]);
    expect(names(then({ repeated: 0.6 }), later({}))).toEqual([]);
    expect(names(then({ "reward/mean": 0.95 }), later({ repeated: 0.8 }))).toEqual([
      "repeated_outputs",
    ]);
    expect(names(steps(20, () => ({ repeated: 0.6 })))).toEqual([]);
  });

  test("entropy_collapse, relative and absolute, unless the task is solved", () => {
    expect(names(then({ entropy: 0.09 }))).toEqual(["entropy_collapse"]);
    expect(names(then({ entropy: 0.15 }))).toEqual([]);
    expect(names(steps(5, () => ({ entropy: 0.005 })))).toEqual(["entropy_collapse"]);
    expect(names(then({ entropy: 0.01 }), later({ pass_rate: 0.95 }))).toEqual([]);
    const texts = steps(20, (step) => ({ entropy: 3 / step }), SUPERVISED);
    expect(names(texts)).toEqual([]);
  });

  test("entropy_collapse: a policy that gets better with it grows sure, one that does not is stuck", () => {
    expect(names(then({ entropy: 0.05, "reward/mean": 0.75 }))).toEqual([]);
    const stuck = look(then({ entropy: 0.05, "reward/mean": 0.52 }));
    expect(stuck[0]?.message).toContain("The mean reward is 0.52, from 0.5 at the start");
    expect(stuck[0]?.message).toContain("in 20 % of the groups all rewards are equal");
    expect(stuck).toMatchObject([
      { stops: false, evidence: { reward_start: 0.5, reward_now: 0.52, zero_std_groups: 0.2 } },
    ]);
    const early = message(steps(5, () => ({ entropy: 0.005 })));
    expect(early).toContain("The mean reward is 0.5, and in 20 % of the groups");
    // It got better, and then every sample of a prompt became the same: a third of them always fail.
    const settled = { entropy: 0.05, "reward/mean": 0.65, "reward/zero_std_groups": 0.95 };
    expect(names(then(settled))).toContain("entropy_collapse");
  });

  test("length_drift either way, and completions cut off", () => {
    expect(names(then({ "length/mean": 81 }))).toEqual(["length_drift"]);
    expect(message(then({ "length/mean": 19 }))).toContain(
      "shrunk from 40 to 19 tokens of at most 64",
    );
    expect(names(then({ "length/mean": 60 }))).toEqual([]);
    expect(message(then({ "length/truncated": 0.4 }))).toContain(
      "40 % of the completions are truncated",
    );
    const short = (step: number) => ({ "length/mean": step > 10 ? 2 : 5 });
    expect(names(steps(20, short))).toEqual([]);
    const ends = (step: number) => ({
      ...{ "length/mean": step > 10 ? 10 : 60, "length/truncated": step > 10 ? 0.3 : 0.95 },
    });
    expect(names(steps(20, ends))).toEqual([]);
    expect(
      names(
        steps(20, () => ({}), SUPERVISED),
        later({ length_mean: 90 }),
      ),
    ).toEqual(["length_drift"]);
  });

  test("kl_over_limit is told, and stops nothing", () => {
    const far = steps(5, () => ({ "kl/k3": 2 }));
    expect(look(far)).toMatchObject([{ alarm: "kl_over_limit", stops: false }]);
    expect(look(far, [], undefined, { ...LIMITS, kl: null })).toEqual([]);
    expect(names(steps(5, (step) => ({ "kl/k3": step > 3 ? 9 : 0.1 })))).toEqual([]);
    expect(names([], [evaluation(0, { kl_exact: 1.5 })])).toEqual(["kl_over_limit"]);
  });

  test("kl_over_limit of a share of the rows joins the steps that few rows need", () => {
    const far = (rows: number) => () => ({ "kl/k3": 2, "kl/rows": rows });
    expect(look(steps(5, far(32)))).toMatchObject([{ evidence: { rows: 32 } }]);
    expect(names(steps(19, far(8)))).toEqual([]);
    expect(names(steps(20, far(8)))).toEqual(["kl_over_limit"]);
    const lately = (step: number) => ({ ...far(8)(), "kl/k3": step > 20 ? 9 : 0.1 });
    expect(names(steps(29, lately))).toEqual([]);
    expect(names(steps(30, lately))).toEqual(["kl_over_limit"]);
  });
});

describe("validation", () => {
  const passed = (counts: readonly number[], proxy = counts): EvaluationRecord[] =>
    counts.map((count, i) =>
      evaluation(5 * i, {
        ...{ pass_rate: count / 100, reward_mean: count / 100, proxy_mean: (proxy[i] ?? 0) / 100 },
        rewards: Array.from({ length: 100 }, (_, j) => Number(j < count)),
      }),
    );
  const fall = [50, 60, 58, 40, 38];
  const rising = steps(20, (step) => ({ "reward/mean": 0.4 + 0.02 * step }));

  test("reward_hacking where the reward rises, and whether its scorer is fooled", () => {
    expect(look(rising, passed(fall))).toMatchObject([{ alarm: "reward_hacking", stops: true }]);
    expect(message(rising, passed(fall))).toContain("0.21 below the best one (step 5)");
    expect(message(rising, passed(fall))).toContain("memorises");
    expect(message(rising, passed(fall, [50, 60, 70, 80, 90]))).toContain("the policy exploits it");
  });

  test("validation_falls where it does not", () => {
    const level = steps(20, () => ({}));
    expect(look(level, passed(fall))).toMatchObject([{ alarm: "validation_falls", stops: true }]);
    expect(
      names(
        steps(20, () => ({}), SUPERVISED),
        passed(fall),
      ),
    ).toEqual(["validation_falls"]);
  });

  test("is checked when it is new, not after every later step", () => {
    const made = (count: number) => steps(count, () => ({}));
    expect(names(made(21), passed(fall))).toEqual(["validation_falls"]);
    expect(names(made(22), passed(fall))).toEqual([]);
  });

  test("converged: a warning where only the reward still rises", () => {
    const records = steps(35, (step) => ({ "reward/mean": 0.4 + 0.01 * step }));
    expect(look(records, passed([50, 60, 60, 60, 60, 60, 60, 60]))).toMatchObject([
      { alarm: "converged", stops: false },
    ]);
  });
});

describe("where a judge rewards", () => {
  const facts = { usesReference: true, maxTokens: 64 };
  const hybrid = { ...facts, judged: { labelled: true } };
  const pure = { ...facts, judged: { labelled: false } };

  test("full marks for all mean that it tells nothing apart", () => {
    const full = steps(8, () => ({ "reward/mean": 1 }));
    expect(message(full, [], hybrid)).toMatch(/no longer tells them apart.*judge-audit/);
    expect(message(full)).toMatch(/the task is solved.*validate-scorer/);
  });

  test("equal scores are not called passed or failed", () => {
    const equal = (identical: number) =>
      steps(1, () => ({
        ...{ "reward/zero_std_groups": 1, "reward/mean": 0.5, "reward/std": 0, gradient_norm: 0 },
        ...{ "judge/groups": 4, "judge/identical": identical },
      }));
    expect(message(equal(0), [], hybrid)).toMatch(/the judge scores them alike.*--rubric/);
    expect(message(equal(3), [], hybrid)).toMatch(/In 3 of 4 groups all completions are the same/);
    expect(message(equal(0), [], hybrid)).not.toMatch(/passed|failed/);
    expect(message(equal(0))).toContain("some passed, others failed");
  });

  test("a policy that always beats the initial one has no full mark, one that solves all tasks has", () => {
    const always = [evaluation(0), evaluation(20, { pass_rate: 1 })];
    expect(names([], always, hybrid)).toEqual(["perfect_score"]);
    expect(names([], always, pure)).toEqual([]);
  });

  test("a high score excuses no collapse of the entropy, a high pass rate by labels does", () => {
    const collapse = steps(40, (step) => ({
      "reward/mean": 0.95,
      entropy: step < 20 ? 0.5 : 0.01,
    }));
    expect(names(collapse)).not.toContain("entropy_collapse");
    expect(names(collapse, [], pure)).toContain("entropy_collapse");
    const solved = [evaluation(0, { pass_rate: 0.95 }), evaluation(40, { pass_rate: 0.95 })];
    expect(names(collapse, solved, hybrid)).not.toContain("entropy_collapse");
    expect(names(collapse, solved, pure)).toContain("entropy_collapse");
  });
});

describe("the pass rate falls while the validation reward rises", () => {
  const grown = (mean: number) =>
    Array.from({ length: 100 }, (_, i) => mean + (i % 2 === 0 ? 0.1 : -0.1));
  const run = (rates: readonly number[], means: readonly number[]) =>
    rates.map((pass_rate, i) =>
      evaluation(10 * i, { pass_rate, reward_mean: means[i] ?? 0, rewards: grown(means[i] ?? 0) }),
    );
  const rises = [0.2, 0.3, 0.4, 0.5];

  test("reward_hacking says so, and which policy is kept", () => {
    const [found] = look([], run([0.6, 0.7, 0.3, 0.3], rises));
    expect(found).toMatchObject({ alarm: "reward_hacking", stops: true });
    expect(found?.message).toMatch(/fell from 70 % at step 10 to 30 %.*rose by 0.15/);
    expect(found?.message).toMatch(
      /kept policy is that of step 30.*solved most is that of step 10/,
    );
  });

  test.each([
    ["both rise", [0.3, 0.4, 0.5, 0.6], rises],
    ["the pass rate only wavers", [0.6, 0.7, 0.6, 0.62], rises],
    ["one evaluation is low", [0.6, 0.7, 0.3, 0.7], rises],
    ["the reward does not rise", [0.6, 0.7, 0.3, 0.3], [0.3, 0.3, 0.3, 0.3]],
  ])("silent where %s", (_, rates, means) => {
    expect(names([], run(rates, means))).not.toContain("reward_hacking");
  });
});
