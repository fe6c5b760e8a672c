/** Training whose reward is a judge's, with labels to validate by and without. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadCheckpoint } from "../../policy/checkpoint.ts";
import { readTrainingRun } from "../../runs/read-training-run.ts";
import { train } from "../train.ts";
import { tinyJudge } from "./tiny-judge.contract.ts";
import { answers, here, honest, isShort, long, options, wantsA } from "./tiny-world.contract.ts";

describe("a policy that learns from a judge", () => {
  test("gets better by labels that it never learned from, and by the judge", async () => {
    const validationEnvironment = answers(wantsA);
    const settings = { steps: 10, evaluate: { every: 10, max_tokens: 6 } };
    await train(options("honest", { validationEnvironment, saveEvery: 10, settings }));
    const { evaluations, steps, manifest } = await readTrainingRun(here("honest"));
    const [first, last] = [evaluations[0], evaluations.at(-1)];
    expect(first?.labels?.win_rate).toBe(0.5);
    expect(first?.judge?.win_rate).toBe(0.5);
    expect(last?.reward_mean).toBeGreaterThan((first?.reward_mean ?? 1) + 0.2);
    expect(last?.labels?.win_rate).toBeGreaterThan(0.75);
    // The honest judge scores as the labels do.
    expect(last?.judge?.win_rate).toBe(last?.labels?.win_rate);
    expect(last?.proxy_mean).toBeCloseTo(last?.reward_mean ?? 0);
    expect(last?.judge).toMatchObject({ groups: 24, dropped: 0, prompt_tokens: 480 });
    expect(steps[0]?.values).toMatchObject({
      ...{ "judge/groups": 4, "judge/dropped": 0, "judge/prompt_tokens": 240 },
      "judge/completion_tokens": 12,
    });
    expect(steps[0]?.values.independent_reward).toBeUndefined();
    expect(manifest).toMatchObject({
      environment: { name: "unlabelled" },
      validation_environment: { name: "labelled" },
      scorers: [{ role: "reward", identity: { kind: "judge", name: "honest" } }],
      judge: { dropped_limit: 0.1, price: null },
    });
    const { trained } = await loadCheckpoint(here("honest/checkpoint"));
    const { fingerprint } = honest().identity;
    const note = readFileSync(here("honest/README.md"), "utf8");
    expect(note).toMatch(new RegExp(`reward judge .honest. at this process, .*${fingerprint}`));
    expect(trained?.scorers).toEqual([
      { name: "honest", version: "1", source_sha256: fingerprint },
    ]);
  });

  test("keeps the environment's own reward as a metric, and validates by it", async () => {
    const settings = { steps: 2, evaluate: { every: 2, max_tokens: 6, judge_tasks: 5 } };
    const judge = long();
    await train(options("own", { environment: answers(isShort), judge, settings }));
    const { evaluations, steps } = await readTrainingRun(here("own"));
    for (const { values } of steps)
      expect(values.independent_reward).toBeCloseTo(1 - (values["reward/mean"] ?? 0));
    for (const { rewards, reward_mean, proxy_mean, judge } of evaluations) {
      const judged = rewards.slice(0, 5).reduce<number>((sum, one) => sum + Number(one), 0) / 5;
      expect(judge?.groups).toBe(5);
      expect(proxy_mean).toBeCloseTo(1 - judged);
      expect(reward_mean).not.toBeCloseTo(judged);
    }
    // Before the first step the policy is the initial one: nothing is compared with itself.
    const compared = judge.asked.filter(({ id }) => id.startsWith("dev"));
    expect(compared.slice(0, 5).map(({ attempts }) => attempts.length)).toEqual([1, 1, 1, 1, 1]);
    for (const { attempts } of compared.slice(5)) expect(attempts[0]).not.toEqual(attempts[1]);
    expect(compared.slice(5).some(({ attempts }) => attempts.length === 2)).toBe(true);
  });

  test("without labels is validated by what the judge prefers to the initial policy", async () => {
    const settings = { steps: 6, evaluate: { every: 6, max_tokens: 6 } };
    await train(options("pure", { saveEvery: 6, settings }));
    const { evaluations, manifest } = await readTrainingRun(here("pure"));
    const [first, last] = [evaluations[0], evaluations.at(-1)];
    expect(first).toMatchObject({ reward_mean: 0.5, pass_rate: 0 });
    expect(first?.labels).toBeUndefined();
    expect(last?.reward_mean).toBe(last?.judge?.win_rate);
    expect(last?.rewards).toHaveLength(24);
    expect(last?.reward_mean).toBeGreaterThan(0.6);
    expect(manifest.settings.stop).toMatchObject({ reward_plateau: { steps: 50, delta: 0.01 } });
  });

  test("of prompts in a file needs no scorer", async () => {
    const rows = Array.from({ length: 6 }, (_, i) => ({ id: `p${i}`, prompt: "?" }));
    const file = (name: string, list: readonly object[]) => {
      writeFileSync(here(name), list.map((row) => `${JSON.stringify(row)}\n`).join(""));
      return here(name);
    };
    const dataset = file("prompts.jsonl", rows);
    const dev = file("dev.jsonl", [{ id: "d", prompt: "a" }]);
    await train(
      options("prompts", { environment: undefined, dataset, dev, settings: { steps: 1 } }),
    );
    const { evaluations } = await readTrainingRun(here("prompts"));
    expect(evaluations[0]).toMatchObject({ reward_mean: 0.5, outcomes: { unscored: 1 } });
  });
});

test("labels of another environment validate without a judge, too", async () => {
  const [environment, validationEnvironment] = [answers(wantsA), answers(isShort)];
  await train(
    options("labelled", {
      ...{ judge: undefined, environment, validationEnvironment },
      settings: { steps: 1, evaluate: { every: 1, max_tokens: 6 } },
    }),
  );
  const { evaluations, manifest } = await readTrainingRun(here("labelled"));
  const [first] = evaluations;
  expect(manifest).toMatchObject({ validation_environment: { name: "labelled" }, scorers: [] });
  expect(first?.judge).toBeUndefined();
  // What is rewarded and what is measured are two things: letters a, and short answers.
  expect(first?.proxy_mean).not.toBeCloseTo(first?.reward_mean ?? 0);
  expect(first?.outcomes.good).toBe(first?.rewards.filter((one) => Number(one) >= 0.5).length);
});

describe("a group without a verdict", () => {
  test("leaves the batch and is counted, and never has a score of 0", async () => {
    // The second of the four groups of each step; validation is left alone.
    const judge = tinyJudge(
      "patchy",
      (text) => 0.5 + wantsA(text) / 2,
      ({ id, attempts }) => {
        return attempts.length > 2 && id === "train-3";
      },
    );
    await train(options("patchy", { judge, judgeDroppedLimit: 1, settings: { steps: 2 } }));
    const { steps } = await readTrainingRun(here("patchy"));
    const dropped = steps.map(({ values }) => values["judge/dropped"]);
    expect(Math.max(...dropped.map(Number))).toBe(1);
    for (const { values, outcomes } of steps) {
      const rows = Object.values(outcomes ?? {}).reduce((sum, one) => sum + one, 0);
      expect(rows).toBe(6 * (4 - Number(values["judge/dropped"])));
      expect(values["reward/min"]).toBeGreaterThanOrEqual(0.5);
    }
  });

  test("stops the run above the limit, and not below it", async () => {
    // Every fifth group: below 30 %, above 10 %.
    const patchy = () => tinyJudge("fifth", wantsA, (_, index) => index % 5 === 4);
    const some = options("some", {
      judge: patchy(),
      judgeDroppedLimit: 0.3,
      settings: { steps: 1 },
    });
    expect((await train(some)).summary.steps).toBe(1);
    const { evaluations } = await readTrainingRun(here("some"));
    expect(evaluations[0]?.judge?.dropped).toBeGreaterThan(0);
    expect(evaluations[0]?.rewards).toContain(null);
    await expect(train(options("many", { judge: patchy() }))).rejects.toMatchObject({
      kind: "data",
      message: expect.stringMatching(/no verdict on \d+ of \d+ groups, and the limit is 0.1/),
    });
  });

  test("is an error where a step has no other", async () => {
    const judge = tinyJudge("mute", wantsA, ({ attempts }) => attempts.length > 2);
    await expect(train(options("mute", { judge, judgeDroppedLimit: 1 }))).rejects.toMatchObject({
      kind: "data",
      message: expect.stringMatching(/any of the 4 groups of step 1 \(refused 4\), such as train-/),
    });
    const blind = tinyJudge("blind", wantsA, ({ attempts }) => attempts.length <= 2);
    await expect(train(options("blind", { judge: blind, judgeDroppedLimit: 1 }))).rejects.toThrow(
      /any of the 24 validation tasks/,
    );
  });
});

describe("refused before anything is written:", () => {
  test.each([
    ["a method that keeps passing samples", { algorithm: "rft" }, /rft keeps samples above/],
    [
      "a method that does not sample",
      { algorithm: "sft", environment: undefined, dataset: "x" },
      /nothing for a judge to compare/,
    ],
    ["groups of one", { settings: { rollouts: { group: 1 } } }, /rollouts.group is 1/],
    ["a holdout set without labels", { holdout: "x.jsonl" }, /holdout set needs labels/],
    [
      "labels of other tasks",
      {
        validationEnvironment: answers(wantsA, {
          tasks: async (split) => (await answers(null).tasks(split)).slice(1),
        }),
      },
      /^the dev tasks of unlabelled and the dev tasks of labelled .* dev-0 of the dev tasks of unlabelled, is another or missing/,
    ],
    [
      "labels of an environment where none is played in",
      { environment: undefined, dataset: "x", validationEnvironment: answers(wantsA) },
      /there is no --env/,
    ],
  ])("%s", async (_, more, message) => {
    await expect(train(options("refused", more))).rejects.toThrow(message);
    expect(existsSync(here("refused"))).toBe(false);
  });
});
