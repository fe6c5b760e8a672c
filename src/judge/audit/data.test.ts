/** Labelled data of files: what is read, and what is refused with its line. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { lastSaid } from "../../audit/requests.ts";
import type { Trajectory } from "../../core/trajectory.ts";
import { readPairsFile } from "./pairs-file.ts";
import { readTrajectoryData } from "./trajectory-data.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-labelled-"));

function written(name: string, rows: readonly object[]): string {
  const file = path.join(root, name);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

describe("a file of pairs", () => {
  const pair = { id: "p", prompt: "Why?", a: "So.", b: "Because of the snow.", better: "b" };

  test("has two replies and which is better, or a chosen and a rejected one", async () => {
    const chosen = { id: "p", prompt: "Why?", chosen: "Snow.", rejected: "So.", chosen_reward: 1 };
    const { pairs, inputs } = await readPairsFile(written("both.jsonl", [pair, chosen]));
    expect(pairs.map(({ better, worse }) => [lastSaid(better), lastSaid(worse)])).toEqual([
      ["Because of the snow.", "So."],
      ["Snow.", "So."],
    ]);
    expect(pairs.map(({ id }) => id)).toEqual(["p", "p#2"]);
    expect(inputs).toMatchObject([{ role: "pairs", rows: 2 }]);
  });

  test("may be the labels of a review, without ties and skipped pairs", async () => {
    const label = { ...pair, shown_first: "a" };
    const rows = [label, { ...label, better: "tie" }, { ...label, better: undefined }];
    const { pairs } = await readPairsFile(written("labels.jsonl", rows));
    expect(pairs).toHaveLength(1);
  });

  test.each([
    [
      "no label",
      { ...pair, better: undefined },
      /:2: .*no label, the field better.*review --pairs/s,
    ],
    ["another label", { ...pair, better: "c" }, /:2: .*neither "a" nor "b"/s],
    ["one reply", { id: "p", prompt: "Why?", chosen: "Snow." }, /:2: .*rejected is not a text/s],
    ["the same reply twice", { ...pair, b: "So." }, /:2: .*both replies are the same/s],
    ["an empty id", { ...pair, id: "" }, /:2: .*id is empty/s],
  ])("with %s is refused with its line", async (_, row, problem) => {
    const file = written("bad.jsonl", [pair, row]);
    await expect(readPairsFile(file)).rejects.toThrow(problem);
  });
});

describe("episodes with rewards", () => {
  const episode = (id: string, sample: number, more: Partial<Trajectory>): Trajectory => ({
    ...{ id, sample, address: [0, id, sample], segments: null, code: "replied" },
    ...{ terminated: true, metadata: {}, logs: [], metrics: {}, reward: null },
    messages: [
      { role: "user", content: "Why?" },
      {
        ...{ role: "assistant", content: `reply ${sample}`, reward: null },
        sampled: {
          ...{ token_ids: null, logprobs: null, finish: "stop" },
          ...{ prompt_tokens: null, completion_tokens: null },
        },
      },
    ],
    ...more,
  });

  test("make a group of all, and a pair of any two that differ", async () => {
    const tasks = Array.from({ length: 60 }, (_, i) => `t${i}`);
    const rewards = [0.5, 0, 1, 1];
    const file = written("episodes.jsonl", [
      ...tasks.flatMap((id) => rewards.map((reward, sample) => episode(id, sample, { reward }))),
      episode("all-alike", 0, { reward: 1 }),
      episode("all-alike", 1, { reward: 1 }),
    ]);
    const { pairs, groups } = await readTrajectoryData(file);
    expect(pairs.map(({ id }) => id)).toEqual(tasks);
    expect(groups.map(({ worth }) => worth)).toEqual(tasks.map(() => rewards));
    const drawn = new Map<string, number>();
    for (const { better, worse } of pairs) {
      const [more, less] = [better, worse].map((one) => rewards[Number(lastSaid(one).slice(-1))]);
      expect(more).toBeGreaterThan(less as number);
      drawn.set(`${more} ${less}`, (drawn.get(`${more} ${less}`) ?? 0) + 1);
    }
    // Not only the best and the worst, which are the easiest to tell apart.
    expect([...drawn.keys()].sort()).toEqual(["0.5 0", "1 0", "1 0.5"]);
    for (const count of drawn.values()) expect(count).toBeGreaterThan(5);
    expect((await readTrajectoryData(file)).pairs).toEqual(pairs);
  });

  test("of a judge count by the reward that no judge gave, and never by the judge's own", async () => {
    const judged = (independent: number | undefined, score: number) => ({
      reward: score,
      metrics: {
        ruler_score: score,
        ...(independent !== undefined && { independent_reward: independent }),
      },
    });
    const file = written("judged.jsonl", [
      episode("t", 0, judged(1, 0.1)),
      episode("t", 1, judged(0, 0.9)),
    ]);
    const { pairs } = await readTrajectoryData(file);
    expect(lastSaid(pairs[0]?.better ?? [])).toBe("reply 0");
    const none = written("none.jsonl", [
      episode("t", 0, judged(undefined, 0.1)),
      episode("t", 1, judged(undefined, 0.9)),
    ]);
    await expect(readTrajectoryData(none)).rejects.toThrow(/different independent rewards/);
  });
});
