import { describe, expect, test } from "vitest";
import { ENVIRONMENT_ERROR } from "../../core/environment.ts";
import type { GroupJudge } from "../../core/judge.ts";
import type { Generation } from "../../policy/generate.ts";
import type { Episode } from "../play.ts";
import { judgedRewards, ownRewards } from "./group-rewards.ts";
import { tinyJudge } from "./tiny-judge.contract.ts";

const TOOLS = [{ name: "look", description: "Looks.", parameters: {} }];

/** An episode of these answers, each with a reward of its own. */
function episode(
  answers: readonly string[],
  rewards: readonly (number | null)[] = answers.map(() => null),
  code = "done",
): Episode {
  const said = (completion: string): Generation => ({
    ...{ completion, finish: "stop", tokens: [1], logprobs: [-1], sampled_logprobs: null },
    ...{ prompt_tokens: 1, completion_tokens: 1 },
  });
  return {
    ...{ task: { id: "t", prompt: "?" }, rows: [], metrics: {} },
    observations: ["?", ...answers.map(() => "!")].map((content) => [
      { role: "user" as const, content },
    ]),
    generations: answers.map(said),
    turnRewards: rewards,
    reward: rewards.reduce(
      (sum: number | null, one) => (sum === null || one === null ? null : sum + one),
      0,
    ),
    end: { code, terminated: true, details: {} },
  };
}

const judge = () => tinyJudge("tiny", (text) => text.length / 10);
const judged = (own: GroupJudge = judge()) => judgedRewards(own, { tools: TOOLS });

describe("the rewards of a group", () => {
  test("from a judge are one for each episode, given at its last turn", async () => {
    const { groups } = await judged()([[episode(["ab", "cde"]), episode(["x"])]]);
    expect(groups[0]?.rewards).toEqual([0.5, 0.1]);
    expect(groups[0]?.episodes.map(({ turnRewards }) => turnRewards)).toEqual([[0, 0.5], [0.1]]);
    expect(groups[0]?.episodes.map(({ reward }) => reward)).toEqual([0.5, 0.1]);
    expect(groups[0]?.independent).toBeUndefined();
  });

  test("keep those of the environment apart", async () => {
    const { groups } = await judged()([[episode(["ab", "c"], [1, 2]), episode(["x"], [-1])]]);
    expect(groups[0]).toMatchObject({ rewards: [0.3, 0.1], independent: [3, -1] });
  });

  test("are asked for with the whole conversation and the tools, and no reward", async () => {
    const own = judge();
    await judged(own)([[episode(["ab"], [7])]]);
    expect(own.asked).toEqual([
      {
        id: "t",
        tools: TOOLS,
        attempts: [
          [
            { role: "user", content: "?" },
            { role: "assistant", content: "ab" },
            { role: "user", content: "!" },
          ],
        ],
      },
    ]);
  });

  test("of a dropped group are none, and it is counted with its tokens", async () => {
    const patchy = tinyJudge(
      "patchy",
      () => 1,
      (_, index) => index === 0,
    );
    const first = [episode(["a"]), episode(["b"])];
    const { groups, judged: counts } = await judged(patchy)([first, [episode(["c"])]]);
    expect(groups.map(({ rewards }) => rewards)).toEqual([[1]]);
    expect(counts).toMatchObject({
      ...{ groups: 2, dropped: 1, identical: 1, reasons: { refused: 1 }, example: "t: no" },
      ...{ prompt_tokens: 30, completion_tokens: 6 },
    });
  });

  test("of a broken environment stop the run: there is nothing to judge", async () => {
    const broken = [episode(["a"]), episode(["b"], [null], ENVIRONMENT_ERROR)];
    await expect(judged()([broken])).rejects.toThrow(/environment_error/);
  });

  test("of a judge that skips a group are refused, so that none gets another's", async () => {
    const skipping: GroupJudge = {
      ...judge(),
      async *judge(groups) {
        let count = 0;
        for await (const verdict of judge().judge(groups)) if (count++ > 0) yield verdict;
      },
    };
    await expect(judged(skipping)([[episode(["a"])], [episode(["b"])]])).rejects.toThrow(
      /gave 1 verdicts on 2 groups/,
    );
  });

  test("without a judge are those of the environment, and one that is missing stops the run", async () => {
    const { groups, judged: counts } = await ownRewards([[episode(["a"], [2])]]);
    expect([groups[0]?.rewards, counts]).toEqual([[2], undefined]);
    await expect(ownRewards([[episode(["a"])]])).rejects.toThrow(/gave no reward/);
  });
});
