/** How a stream of groups reaches a judge: without gaps, in order, and closed at its end. */

import { expect, test } from "vitest";
import { scriptedJudge } from "../../tests/scripted-judge.ts";
import { verdictsOn } from "../core/ask-judge.ts";
import type { GroupJudge, GroupToJudge, GroupVerdict } from "../core/judge.ts";
import { pooledInOrder } from "../providers/pooled.ts";
import { type AskedGroup, askedGroups } from "./asked-groups.ts";

const said = [{ role: "assistant", content: "Yes." }] as const;
const group = (number: number, attempts = 1): AskedGroup => ({
  ...{ id: `g${number}`, tools: [] },
  attempts: Array.from({ length: attempts }, (_, sample) => ({ sample, messages: said })),
});

async function* inBatches(groups: readonly AskedGroup[], size: number) {
  for (let i = 0; i < groups.length; i += size) yield groups.slice(i, i + size);
}

const verdictOn = ({ id, attempts }: GroupToJudge): GroupVerdict => ({
  ...{ id, identical: false, tokens: { prompt_tokens: 1, completion_tokens: 1 } },
  judgements: attempts.map(() => ({ score: 1, explanation: "" })),
});

/** With 64 requests at once, each of which takes as long as `answer` says. */
function slowJudge(answer: (group: GroupToJudge) => Promise<void>): GroupJudge {
  return {
    ...scriptedJudge({ score: () => 1 }),
    async *judge(groups) {
      const pool = { limit: 64, graceMs: 1000 };
      const judged = pooledInOrder(groups, pool, async (one) => {
        await answer(one);
        return verdictOn(one);
      });
      for await (const [, verdict] of judged) yield verdict;
    },
  };
}

test("a slow answer keeps no other group waiting", { timeout: 5000 }, async () => {
  let release = () => {};
  const lateGroupAsked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const judge = slowJudge(async ({ id }) => {
    if (id === "g0") await lateGroupAsked;
    if (id === "g200") release();
  });
  const groups = Array.from({ length: 220 }, (_, i) => group(i));
  const ids: string[] = [];
  for await (const [{ id }] of askedGroups(judge, inBatches(groups, 10), (one) => one))
    ids.push(id);
  expect(ids).toEqual(groups.map(({ id }) => id));
});

test("no more of the stream is read than is under way", async () => {
  let read = 0;
  async function* counted() {
    for (; read < 5000; read++) yield [group(read)];
  }
  const asked = askedGroups(
    slowJudge(async () => {}),
    counted(),
    (one) => one,
  );
  await asked.next();
  expect(read).toBeLessThan(400);
  await asked.return();
});

test("groups without attempts are not asked about and keep their place", async () => {
  const judge = scriptedJudge({ score: () => 1 });
  const groups = [0, 1, 0, 0, 2, 0].map((attempts, i) => group(i, attempts));
  const found: [string, boolean][] = [];
  for await (const [{ id }, verdict] of askedGroups(judge, inBatches(groups, 4), (one) => one))
    found.push([id, verdict !== undefined]);
  expect(found).toEqual(groups.map(({ id, attempts }) => [id, attempts.length > 0]));
  expect(judge.asked.map(({ id }) => id)).toEqual(["g1", "g4"]);
});

test("a verdict on another group than the next one is refused", async () => {
  const judge: GroupJudge = {
    ...scriptedJudge({ score: () => 1 }),
    async *judge(groups) {
      const all: GroupToJudge[] = [];
      for await (const one of groups) all.push(one);
      for (const one of all.reverse()) yield verdictOn(one);
    },
  };
  const asked = verdictsOn(judge, ["a", "b"], (id) => ({ id, attempts: [said], tools: [] }));
  await expect(asked.next()).rejects.toThrow(/gave a verdict on b out of turn/);
});

test("a stream is closed when nobody reads its verdicts, and its error ends the judging", async () => {
  let closed = false;
  async function* endless() {
    try {
      for (let i = 0; ; i++) yield [group(i)];
    } finally {
      closed = true;
    }
  }
  const judge = slowJudge(async () => {});
  for await (const _ of askedGroups(judge, endless(), (one) => one)) break;
  expect(closed).toBe(true);

  async function* broken() {
    yield [group(0)];
    throw new Error("line 2 is not JSON");
  }
  const all = async () => {
    for await (const _ of askedGroups(judge, broken(), (one) => one));
  };
  await expect(all()).rejects.toThrow("line 2 is not JSON");
});
