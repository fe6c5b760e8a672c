/** The gate on runs with a judge's scores: one instrument, judged together, audited. */

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { BEST, better, forged, told } from "../../tests/forged-judged-run.ts";
import { type ForgedAudit, writeJudgeAudit } from "../../tests/judge-audit-folder.ts";
import { type ScriptedJudgeParts, scriptedJudge } from "../../tests/scripted-judge.ts";
import type { SimulatedFaults } from "../audit/simulated.contract.ts";
import type { JudgedMessage } from "../core/judge.ts";
import { openPlayable } from "../environments/playable.ts";
import { judgeTogether } from "../judge/judge-together.ts";
import type { AuditJudgement, JudgeAudit } from "../runs/judge-audit-schema.ts";
import type { Manifest } from "../runs/schemas.ts";
import { gate } from "./gate.ts";

const room = episodeRoom();
const ENV = "tool-calls";
/** What a good judge goes by here: the gold player calls a tool. */
const byCall = (attempt: readonly JudgedMessage[]) =>
  attempt.some(({ role, content }) => role === "assistant" && content.includes("{")) ? 0.9 : 0.2;

async function judged(
  name: string,
  parts: Partial<RolloutParts> = {},
  how: Partial<ScriptedJudgeParts> & { droppedLimit?: number } = {},
) {
  const all = { env: ENV, tasks: 16, ...parts };
  const { droppedLimit, ...script } = how;
  const { baseline, candidate } = await judgeTogether({
    baseline: await room.rollout(`${name}-a`, { player: () => "idle", policy: "weak", ...all }),
    candidate: await room.rollout(`${name}-b`, { policy: "gold", ...all }),
    environment: await openPlayable(ENV),
    judge: scriptedJudge({ score: byCall, ...script }),
    outdir: room.path(name),
    droppedLimit,
  });
  return { baseline: baseline.dir, candidate: candidate.dir };
}

let runs: { baseline: string; candidate: string };
let audit: string;
beforeAll(async () => {
  runs = await judged("honest");
  audit = await writeJudgeAudit(room.path("audit"), scriptedJudge({ score: byCall }).identity, {
    wrong: 0.1,
  });
});

const codes = async (baseline: string, candidate: string) =>
  (await gate({ baseline, candidate, claim: "policy", judgeAudit: audit })).reasons.map(
    ({ code }) => code,
  );

describe("judged runs", () => {
  test("promote the policy that an audited judge prefers", async () => {
    const report = await gate({ ...runs, claim: "policy", judgeAudit: audit });
    expect(report).toMatchObject({ decision: "PROMOTE", comparable: true, knobs: ["policy"] });
    expect(report.judge).toMatchObject({ name: "scripted", audit: { trusted: true } });
    expect(report.notes.join(" ")).toMatch(/orders 88.0 % of 200 labelled pairs.*1\.7 times/);
    expect(report.notes.join(" ")).toMatch(/audit is of test, and these runs are of tool-calls/);
    expect(report.notes.join(" ")).toMatch(/Not the default: --seed 1 of the audit\./);
    const back = await gate({
      ...{ baseline: runs.candidate, candidate: runs.baseline },
      ...{ claim: "policy", judgeAudit: audit },
    });
    expect(back).toMatchObject({ decision: "REJECT", comparable: true });
  });

  test("are compared by what the judge prefers, however far apart its scores are", async () => {
    const close = (attempt: readonly JudgedMessage[]) => (byCall(attempt) > 0.5 ? 0.55 : 0.5);
    const near = await judged("near", {}, { score: close });
    const report = await gate({ ...near, claim: "policy", judgeAudit: audit });
    // A test of the mean score would need ten times as many tasks.
    expect(report).toMatchObject({ decision: "PROMOTE", test: "mcnemar_exact", delta: 1 });
    expect(report.notes.join(" ")).toMatch(/share of attempts that the judge prefers/);
    // Preferred on 4 of 16 tasks by far, and behind on the others by little: the mean score is higher.
    let asked = 0;
    const far = await judged(
      "far",
      {},
      {
        score: (attempt, place) => {
          if (place === 0) asked++;
          return byCall(attempt) < 0.5 ? 0.5 : asked <= 4 ? 1 : 0.45;
        },
      },
    );
    const worse = await gate({ ...far, claim: "policy", judgeAudit: audit });
    expect(worse).toMatchObject({ decision: "INCONCLUSIVE", delta: -0.5 });
    expect(worse.candidate.mean_reward).toBeGreaterThan(worse.baseline.mean_reward as number);
  });

  test("with several attempts at a task count tasks", async () => {
    const several = await judged("several", { n: 3 });
    const report = await gate({ ...several, claim: "policy", judgeAudit: audit });
    expect(report).toMatchObject({ test: "cluster_betting", effective_examples: 16, delta: 1 });
  });

  test("promote nothing without an audit, and say how to get one", async () => {
    const report = await gate({ ...runs, claim: "policy" });
    expect(report).toMatchObject({
      decision: "INCONCLUSIVE",
      exit_code: 2,
      judge: { audit: null },
    });
    expect(report.reasons).toMatchObject([{ code: "judge_not_audited" }]);
    expect(report.reasons[0]?.message).toMatch(/judge-audit/);
    expect(await gate({ ...runs, margin: 0.05 })).toMatchObject({ decision: "INCONCLUSIVE" });
  });

  test("promote nothing on an audit that convicted the judge, or is of another one", async () => {
    const { identity } = scriptedJudge({ score: byCall });
    const convicted = await writeJudgeAudit(room.path("bad"), identity, { length: 0.3 });
    const refused = await gate({ ...runs, claim: "policy", judgeAudit: convicted });
    expect(refused.reasons).toMatchObject([{ code: "judge_not_trusted" }]);
    expect(refused.reasons[0]?.message).toContain("convicted the judge of length");
    const other = scriptedJudge({ score: byCall, rubric: "Be brief." }).identity;
    const elsewhere = await writeJudgeAudit(room.path("elsewhere"), other);
    const report = await gate({ ...runs, claim: "policy", judgeAudit: elsewhere });
    expect(report.reasons[0]?.message).toContain("another judge: the rubric");
  });

  test("are refused where the judges differ, and what differs is named", async () => {
    const other = await judged("other", {}, { name: "second", rubric: "Be brief.", seed: 1 });
    const report = await gate({ baseline: runs.baseline, candidate: other.candidate });
    expect(report).toMatchObject({ comparable: false, decision: "REJECT" });
    expect(report.reasons.map(({ code }) => code)).toContain("judge_differs");
    expect(report.reasons.find(({ code }) => code === "judge_differs")?.message).toContain(
      "the model, the rubric, the sampling settings",
    );
  });

  test("are refused where they were not judged together", async () => {
    const again = await judged("again", { player: () => "gold" });
    expect(await codes(runs.baseline, again.candidate)).toContain("judged_apart");
  });

  test("are refused where a group has no verdict", async () => {
    let place = 0;
    const refuses = () => place++ === 3;
    const some = await judged("some", {}, { refuses, droppedLimit: 0.1 });
    expect(await codes(some.baseline, some.candidate)).toContain("scorer_errors");
  });

  test("keep the rules of episodes: the seed, the tasks, the sampling", async () => {
    const sampling = { seed: 0, temperature: 0 };
    const { candidate } = await judged("cold", { sampling });
    expect(await codes(runs.baseline, candidate)).toContain("sampling_differs");
  });
});

describe("a forger of an audit, with all hashes", () => {
  const { identity } = scriptedJudge({ score: byCall });
  const refusal = async (name: string, faults: SimulatedFaults, edit: ForgedAudit) => {
    const judgeAudit = await writeJudgeAudit(room.path(name), identity, faults, edit);
    const { decision, reasons } = await gate({ ...runs, claim: "policy", judgeAudit });
    return `${decision} ${reasons.map(({ code, message }) => `${code}: ${message}`).join(" ")}`;
  };
  const acquitted = (audit: JudgeAudit): JudgeAudit => ({
    ...{ ...audit, trusted: "trusted" },
    findings: audit.findings.map((one) => ({ ...one, verdict: "acquitted" })),
  });
  const isOf = (fault: string) => (line: AuditJudgement) => line.probe === fault;

  test("cannot acquit a judge that its verdicts convict", async () => {
    expect(await refusal("acquitted", { length: 0.3 }, { audit: acquitted })).toMatch(
      /INCONCLUSIVE judge_not_trusted.*its verdicts do not give its findings/,
    );
    // The same edit of an audit that says so already changes nothing.
    expect(await refusal("already", {}, { audit: acquitted })).toMatch(/^PROMOTE/);
  });

  test("cannot take another estimate of its accuracy", async () => {
    const audit = (one: JudgeAudit): JudgeAudit => ({
      ...one,
      measures: { ...one.measures, accuracy: { ...one.measures.accuracy, value: 1 } },
    });
    expect(await refusal("accurate", { wrong: 0.1 }, { audit })).toContain("do not give");
  });

  test("cannot leave out the verdicts that convict", async () => {
    const judgements = (lines: AuditJudgement[]) => lines.filter((line) => !isOf("length")(line));
    expect(await refusal("left-out", { length: 0.3 }, { judgements })).toMatch(
      /1000 verdicts, and its 200 pairs and 0 groups make 1200 requests/,
    );
  });

  test("cannot swap what was better and what a probe", async () => {
    const names: Record<string, string> = { probe: "control", control: "probe" };
    const swap = (line: AuditJudgement): AuditJudgement => ({
      ...line,
      attempts: line.attempts.map((one) => ({ ...one, name: names[one.name] ?? one.name })),
    });
    const judgements = (lines: AuditJudgement[]) =>
      lines.map((line) => (isOf("length")(line) ? swap(line) : line));
    expect(await refusal("swapped", { length: 0.3 }, { judgements })).toMatch(
      /\(length\) is not a verdict on the request of that name/,
    );
  });

  test("cannot say that the data is the embedded one", async () => {
    const data = { source: "support-replies, holdout" };
    expect(await refusal("embedded", {}, { data })).toMatch(/its labelled data is not support/);
  });
});

describe("a forger with all hashes", () => {
  test("who changes nothing is not accused", async () => {
    const candidate = forged(room.path("nothing"), runs.candidate, {});
    expect(await gate({ ...runs, candidate, claim: "policy", judgeAudit: audit })).toMatchObject({
      decision: "PROMOTE",
    });
  });

  test("cannot edit a score: it is read again from the judge's answers", async () => {
    const candidate = forged(room.path("score"), runs.candidate, {
      row: (row) => ({ ...row, ...BEST }),
    });
    const found = await codes(runs.baseline, candidate);
    expect(found).toContain("scores_differ_from_judgements");
    expect(found).not.toContain("run_edited");
  });

  test("cannot edit the judge's answers of one side: both have the same", async () => {
    const candidate = forged(room.path("answers"), runs.candidate, {
      row: told,
      judgement: better,
    });
    expect(await codes(runs.baseline, candidate)).toContain("judgements_differ");
  });

  test("cannot put other words into a conversation that was judged", async () => {
    const candidate = forged(room.path("words"), runs.candidate, {
      row: (row) => ({
        ...row,
        ...(row.episode && {
          episode: {
            ...row.episode,
            messages: row.episode.messages.map((one) =>
              one.role === "user" ? { ...one, content: `${one.content} ` } : one,
            ),
          },
        }),
      }),
    });
    expect(await codes(runs.baseline, candidate)).toContain("scores_differ_from_judgements");
  });

  test("cannot give the environment's own reward another value", async () => {
    const candidate = forged(room.path("independent"), runs.candidate, {
      row: (row) => ({
        ...row,
        ...(row.episode && {
          episode: { ...row.episode, metrics: { ...row.episode.metrics, independent_reward: 0.5 } },
        }),
      }),
    });
    expect(await codes(runs.baseline, candidate)).toContain("scores_differ_from_judgements");
  });

  test("cannot name another judge, or its fingerprint", async () => {
    const judge = (edit: object) => (one: Manifest) =>
      ({
        ...one,
        judge: { ...one.judge, identity: { ...one.judge?.identity, ...edit } },
      }) as Manifest;
    const renamed = forged(room.path("renamed"), runs.candidate, {
      manifest: judge({ name: "better" }),
    });
    expect(await codes(runs.baseline, renamed)).toContain("judge_differs");
    const both = ["baseline", "candidate"] as const;
    const [before, after] = both.map((side) =>
      forged(room.path(`renamed-${side}`), runs[side], { manifest: judge({ name: "better" }) }),
    );
    expect(await codes(before as string, after as string)).toContain("judge_fingerprint_wrong");
  });

  test("cannot say that the runs of two judgings are of one", async () => {
    const again = await judged(
      "two-judgings",
      {},
      { score: (attempt, place) => byCall(attempt) - place / 20 },
    );
    const { judge } = JSON.parse(readFileSync(`${runs.candidate}/manifest.json`, "utf8"));
    const candidate = forged(room.path("one-judging"), again.candidate, {
      manifest: (one) => ({ ...one, judge }),
    });
    expect(await codes(runs.baseline, candidate)).toContain("judgements_differ");
  });

  test("cannot remove the tasks without a verdict from one side", async () => {
    let place = 0;
    const refuses = () => place++ === 3;
    const some = await judged("some-2", {}, { refuses, droppedLimit: 0.1 });
    const dropped = new Set<string>();
    const candidate = forged(room.path("removed"), some.candidate, {
      judgement: (line) => {
        if (line.dropped) dropped.add(line.id);
        return line.dropped ? undefined : line;
      },
      row: (row) => (row.reward === null ? undefined : row),
    });
    expect(dropped.size).toBe(1);
    const found = await codes(some.baseline, candidate);
    expect(found).toContain("example_count_differs");
    expect(found).toContain("judgements_differ");
    const rowsOnly = forged(room.path("rows-only"), some.candidate, {
      row: (row) => (row.reward === null ? undefined : row),
    });
    expect(await codes(some.baseline, rowsOnly)).toContain("scores_differ_from_judgements");
  });
});
