/** A hacked judge, and the same bytes of judged runs that are repeated or resumed. */

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { GroupJudge } from "../../core/judge.ts";
import { readTrainingRun } from "../../runs/read-training-run.ts";
import { train } from "../train.ts";
import { tinyJudge, written } from "./tiny-judge.contract.ts";
import {
  answers,
  bytesOf,
  here,
  honest,
  isShort,
  long,
  options,
  wantsA,
} from "./tiny-world.contract.ts";

test("a judge that rewards length is noticed by the labels, and the best policy is kept", async () => {
  const seen: string[] = [];
  const { summary } = await train({
    ...options("hacked", {
      ...{ environment: answers(isShort), judge: long() },
      settings: { steps: 40, alarms_stop: true },
    }),
    onAlarm: ({ alarm }) => seen.push(alarm),
  });
  const { evaluations } = await readTrainingRun(here("hacked"));
  expect(seen).toContain("reward_hacking");
  expect(summary.stop.reason).toBe("reward_hacking");
  expect(summary.stop.step).toBeLessThan(40);
  expect(summary.stop.message).toMatch(/judge/);
  const best = Math.max(...evaluations.map(({ reward_mean }) => reward_mean));
  const kept = evaluations.find(({ step }) => step === summary.stop.kept);
  expect(kept?.reward_mean).toBe(best);
  expect(evaluations.at(-1)?.labels?.win_rate).toBeLessThan(0.4);
  expect(evaluations.at(-1)?.judge?.win_rate).toBeGreaterThan(0.6);
});

describe("the same seeds", () => {
  const more = { validationEnvironment: answers(wantsA), settings: { steps: 5 } };

  test("give the same bytes, also of a run that was interrupted and resumed", async () => {
    await train(options("one", more));
    await train(options("two", more));
    expect(bytesOf("two")).toEqual(bytesOf("one"));
    const stopped = train({
      ...options("resumed", more),
      onStep: (done) => {
        if (done === 3) throw new Error("stopped here");
      },
    });
    await expect(stopped).rejects.toThrow("stopped here");
    await train({ ...options("resumed", more), resume: true });
    expect(bytesOf("resumed")).toEqual(bytesOf("one"));
    expect(bytesOf("one")["baseline.jsonl"]?.split("\n")).toHaveLength(25);
  });

  test("need no validation: a run without one is resumed as well", async () => {
    const rows = Array.from({ length: 6 }, (_, i) => JSON.stringify({ id: `p${i}`, prompt: "?" }));
    writeFileSync(here("prompts.jsonl"), rows.join("\n"));
    const prompts = { environment: undefined, dataset: here("prompts.jsonl") };
    await train(options("whole", prompts));
    const stopped = train({
      ...options("halved", prompts),
      onStep: (done) => {
        if (done === 3) throw new Error("stopped here");
      },
    });
    await expect(stopped).rejects.toThrow("stopped here");
    await train({ ...options("halved", prompts), resume: true });
    expect(bytesOf("halved")).toEqual(bytesOf("whole"));
    expect(Object.keys(bytesOf("whole"))).not.toContain("baseline.jsonl");
  });

  test("and another judge are refused on --resume, as is another baseline", async () => {
    const interrupted = (outdir: string) =>
      train({
        ...options(outdir, more),
        onStep: (done) => {
          if (done === 3) throw new Error("stopped here");
        },
      });
    await expect(interrupted("paused")).rejects.toThrow("stopped here");
    const other = { ...options("paused", more), judge: long(), resume: true };
    await expect(train(other)).rejects.toThrow(
      /was started with the judge honest .* not with the judge long/,
    );
    const baseline = here("paused/baseline.jsonl");
    const text = readFileSync(baseline, "utf8");
    writeFileSync(baseline, text.replace("assistant", "user"));
    const again = { ...options("paused", more), resume: true };
    await expect(train(again)).rejects.toThrow(
      /baseline.jsonl is not what the run was paused with/,
    );
    writeFileSync(baseline, text);
    expect((await train(again)).summary.steps).toBe(5);
  });
});

test("both places of a pair are used, and the place does not depend on the step", async () => {
  const judge = honest();
  await train(options("places", { judge }));
  const pairs = judge.asked.filter(({ attempts }) => attempts.length === 2);
  const initial = new Map(pairs.slice(0, 24).map(({ id, attempts }) => [id, attempts[0]]));
  const places = (from: number) =>
    pairs.slice(from, from + 24).flatMap(({ id, attempts }) => {
      const is = attempts.map((one) => written(one) === written(initial.get(id) ?? []));
      return is[0] === is[1] ? [] : [`${id} ${is.indexOf(true)}`];
    });
  const [second, third] = [places(24), places(48)];
  expect(new Set(second.map((one) => one.at(-1))).size).toBe(2);
  const common = second.filter((one) =>
    third.some((two) => two.split(" ")[0] === one.split(" ")[0]),
  );
  for (const one of common) expect(third).toContain(one);
});

test("groups with equal scores are replaced where that is set", async () => {
  // It has no preference among the answers to half of the tasks.
  const choosy = tinyJudge("choosy", wantsA);
  const lazy = {
    ...choosy,
    async *judge(groups: Parameters<GroupJudge["judge"]>[0]) {
      for await (const group of groups) {
        const even = Number(group.id.split("-")[1]) % 2 === 0;
        for await (const verdict of choosy.judge([group]))
          yield even && "judgements" in verdict
            ? { ...verdict, judgements: verdict.judgements.map((one) => ({ ...one, score: 0.5 })) }
            : verdict;
      }
    },
  };
  const equal = async (outdir: string, dynamic: number) => {
    await train(
      options(outdir, {
        judge: lazy,
        settings: { rollouts: { prompts: 4, group: 6, max_tokens: 6, dynamic } },
      }),
    );
    const { steps } = await readTrainingRun(here(outdir));
    return steps.map(({ values }) => [values["reward/zero_std_groups"], values["judge/groups"]]);
  };
  const [still, replaced] = [await equal("still", 0), await equal("replaced", 3)];
  expect(Math.max(...still.map(([share]) => Number(share)))).toBeGreaterThan(0.2);
  expect(Math.max(...replaced.map(([share]) => Number(share)))).toBe(0);
  for (const [, groups] of still) expect(groups).toBe(4);
  expect(Math.max(...replaced.map(([, groups]) => Number(groups)))).toBeGreaterThan(4);
});
