/** Scorers in the place of judges: what they reward is what an audit convicts. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { AUDIT_DEFAULTS } from "../audit/audit.ts";
import { embeddedReplies } from "../audit/embedded-data.ts";
import type { Scorer } from "../core/score.ts";
import { openScorer } from "../scorers/open.ts";
import { auditJudge } from "./audit/run.ts";
import { scorerAsJudge } from "./scorer-judge.ts";

const dir = await mkdtemp(path.join(tmpdir(), "lockedroom-scorer-judge-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

const scorer = (name: string, score: (text: string) => number): Scorer => ({
  ...{ name, version: "1", spec: name },
  score: (_example, completion) => ({ reward: score(completion), code: "scored", details: {} }),
});

async function faultsOf(given: Scorer): Promise<string[]> {
  const opened = await openScorer(given);
  try {
    const { audit } = await auditJudge({
      ...AUDIT_DEFAULTS,
      ...{ judge: scorerAsJudge(opened), data: embeddedReplies("dev"), limit: 60 },
      outdir: path.join(dir, given.name),
    });
    return audit.findings
      .filter(({ verdict }) => verdict === "convicted")
      .map(({ fault }) => fault);
  } finally {
    await opened.close();
  }
}

test("a scorer that pays for words is convicted of length bias, one that pays for content is not", async () => {
  const words = (text: string) => text.split(" ").length;
  expect(await faultsOf(scorer("long", (text) => Math.min(1, words(text) / 200)))).toContain(
    "length",
  );
  const parts = [/sorry/, /You wrote about/, /within \d days/];
  const content = (text: string) => parts.filter((part) => part.test(text)).length / 3;
  expect(await faultsOf(scorer("content", content))).not.toContain("length");
});

test("a reward outside of 0 to 1, and none at all, are dropped verdicts and never a score", async () => {
  const group = {
    id: "a",
    attempts: [[{ role: "assistant" as const, content: "yes" }]],
    tools: [],
  };
  for (const [given, type] of [
    [scorer("large", () => 2), "invalid_verdict"],
    [scorer("broken", () => Number.NaN), "no_answer"],
  ] as const) {
    const opened = await openScorer(given);
    const { value } = await scorerAsJudge(opened).judge([group]).next();
    expect(value).toMatchObject({ id: "a", dropped: { type } });
    await opened.close();
  }
});
