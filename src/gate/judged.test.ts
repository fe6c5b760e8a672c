/** The gate on runs with a judge's scores: one instrument, judged together, audited. */

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { writeJudgeAudit } from "../../tests/judge-audit-folder.ts";
import { type ScriptedJudgeParts, scriptedJudge } from "../../tests/scripted-judge.ts";
import { SequenceFingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import type { JudgedMessage } from "../core/judge.ts";
import { openPlayable } from "../environments/playable.ts";
import { judgeTogether } from "../judge/judge-together.ts";
import { Tally } from "../loops/tally.ts";
import type { GroupJudgement } from "../runs/judge-schemas.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { gate } from "./gate.ts";

const room = episodeRoom();
const ENV = "tool-calls";
const half = (place: number) => (place % 2 === 0 ? ("gold" as const) : ("idle" as const));
/** What a good judge goes by here: the gold player calls a tool. */
const byCall = (attempt: readonly JudgedMessage[]) =>
  attempt.some(({ role, content }) => role === "assistant" && content.includes("{")) ? 0.9 : 0.2;

async function judged(
  name: string,
  parts: Partial<RolloutParts> = {},
  how: Partial<ScriptedJudgeParts> & { droppedLimit?: number } = {},
) {
  const all = { env: ENV, tasks: 30, ...parts };
  const { droppedLimit, ...script } = how;
  const { baseline, candidate } = await judgeTogether({
    baseline: await room.rollout(`${name}-a`, { player: half, policy: "weak", ...all }),
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
  audit = await writeJudgeAudit(room.path("audit"), scriptedJudge({ score: byCall }).identity, {});
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
    expect(report.notes.join(" ")).toMatch(/orders 90.0 % of 100 labelled pairs.*1\.6 times/);
    const back = await gate({
      ...{ baseline: runs.candidate, candidate: runs.baseline },
      ...{ claim: "policy", judgeAudit: audit },
    });
    expect(back).toMatchObject({ decision: "REJECT", comparable: true });
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
    const convicted = await writeJudgeAudit(room.path("bad"), identity, { trusted: "not_trusted" });
    const refused = await gate({ ...runs, claim: "policy", judgeAudit: convicted });
    expect(refused.reasons).toMatchObject([{ code: "judge_not_trusted" }]);
    expect(refused.reasons[0]?.message).toContain("convicted the judge of length");
    const other = scriptedJudge({ score: byCall, rubric: "Be brief." }).identity;
    const elsewhere = await writeJudgeAudit(room.path("elsewhere"), other, {});
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

/** Edits a copy of a judged run, and writes every figure and hash anew as the program would. */
function forged(
  name: string,
  from: string,
  edits: {
    row?: (row: ResultRow) => ResultRow | undefined;
    judgement?: (line: GroupJudgement) => GroupJudgement | undefined;
    manifest?: (manifest: Manifest) => Manifest;
  },
): string {
  const dir = room.path(name);
  cpSync(from, dir, { recursive: true });
  const read = (file: string) => readFileSync(`${dir}/${file}`, "utf8");
  const lines = <T>(file: string) =>
    read(file)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as T);
  const text = (records: readonly unknown[]) =>
    records.map((one) => `${canonicalJson(one as Json)}\n`).join("");
  const { row = (one) => one, judgement = (one) => one, manifest = (one) => one } = edits;
  const rows = lines<ResultRow>("results.jsonl").flatMap((one) => row(one) ?? []);
  const judgements = lines<GroupJudgement>("judgements.jsonl").flatMap(
    (one) => judgement(one) ?? [],
  );
  const tally = new Tally();
  const [answers, prompts] = [new SequenceFingerprint(), new SequenceFingerprint()];
  for (const one of rows) {
    tally.add(one);
    answers.add(JSON.stringify([one.id, one.completion]));
    prompts.add(JSON.stringify([one.id, one.prompt]));
  }
  const described = manifest(JSON.parse(read("manifest.json")));
  const examples = { ...described.examples, count: rows.length, prompts_sha256: prompts.digest() };
  const whole = { ...described, examples, answers_sha256: answers.digest() };
  const results = text(rows);
  const summary = JSON.parse(read("summary.json"));
  const write = (file: string, content: string) => writeFileSync(`${dir}/${file}`, content);
  write("results.jsonl", results);
  write("judgements.jsonl", text(judgements));
  write("manifest.json", JSON.stringify(whole));
  write(
    "summary.json",
    JSON.stringify({
      ...summary,
      ...{ metrics: tally.metrics, outcomes: { counts: { ...tally.counts } } },
      episodes: tally.episodes,
      files: { ...summary.files, "judgements.jsonl": sha256(text(judgements)) },
      results_sha256: sha256(results),
      manifest_sha256: manifestFingerprint(whole),
    }),
  );
  return dir;
}

const BEST = { reward: 1, outcome_code: "preferred", passed: true };
const better = (line: GroupJudgement): GroupJudgement => ({
  ...line,
  answer: JSON.stringify({
    scores: line.attempts.map(({ side }, i) => ({
      trajectory_id: String(i + 1),
      explanation: "fine",
      score: side === "candidate" ? 1 : 0,
    })),
  }),
});
const told = (row: ResultRow): ResultRow => ({
  ...{ ...row, ...BEST },
  details: { ...(row.details as object), message: "fine" } as ResultRow["details"],
});

describe("a forger with all hashes", () => {
  test("who changes nothing is not accused", async () => {
    const candidate = forged("nothing", runs.candidate, {});
    expect(await gate({ ...runs, candidate, claim: "policy", judgeAudit: audit })).toMatchObject({
      decision: "PROMOTE",
    });
  });

  test("cannot edit a score: it is read again from the judge's answers", async () => {
    const candidate = forged("score", runs.candidate, { row: (row) => ({ ...row, ...BEST }) });
    const found = await codes(runs.baseline, candidate);
    expect(found).toContain("scores_differ_from_judgements");
    expect(found).not.toContain("run_edited");
  });

  test("cannot edit the judge's answers of one side: both have the same", async () => {
    const candidate = forged("answers", runs.candidate, { row: told, judgement: better });
    expect(await codes(runs.baseline, candidate)).toContain("judgements_differ");
  });

  test("cannot put other words into a conversation that was judged", async () => {
    const candidate = forged("words", runs.candidate, {
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
    const candidate = forged("independent", runs.candidate, {
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
    const renamed = forged("renamed", runs.candidate, { manifest: judge({ name: "better" }) });
    expect(await codes(runs.baseline, renamed)).toContain("judge_differs");
    const both = ["baseline", "candidate"] as const;
    const [before, after] = both.map((side) =>
      forged(`renamed-${side}`, runs[side], { manifest: judge({ name: "better" }) }),
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
    const candidate = forged("one-judging", again.candidate, {
      manifest: (one) => ({ ...one, judge }),
    });
    expect(await codes(runs.baseline, candidate)).toContain("judgements_differ");
  });

  test("cannot remove the tasks without a verdict from one side", async () => {
    let place = 0;
    const refuses = () => place++ === 3;
    const some = await judged("some-2", {}, { refuses, droppedLimit: 0.1 });
    const dropped = new Set<string>();
    const candidate = forged("removed", some.candidate, {
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
    const rowsOnly = forged("rows-only", some.candidate, {
      row: (row) => (row.reward === null ? undefined : row),
    });
    expect(await codes(some.baseline, rowsOnly)).toContain("scores_differ_from_judgements");
  });
});
