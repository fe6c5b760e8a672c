/** Judged runs that were edited together with all hashes. */

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { SequenceFingerprint, sha256 } from "../src/core/fingerprint.ts";
import { canonicalJson, type Json } from "../src/core/json.ts";
import { Tally } from "../src/loops/tally.ts";
import type { GroupJudgement } from "../src/runs/judge-schemas.ts";
import { manifestFingerprint } from "../src/runs/manifest.ts";
import type { Manifest, ResultRow } from "../src/runs/schemas.ts";

/** Edits a copy of a judged run, and writes every figure and hash anew as the program would. */
export function forged(
  dir: string,
  from: string,
  edits: {
    row?: (row: ResultRow) => ResultRow | undefined;
    judgement?: (line: GroupJudgement) => GroupJudgement | undefined;
    manifest?: (manifest: Manifest) => Manifest;
  },
): string {
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

export const BEST = { reward: 1, outcome_code: "preferred", passed: true };
/** The judge's answer with the candidate above the baseline. */
export const better = ({ identical: _, ...line }: GroupJudgement): GroupJudgement => ({
  ...line,
  answer: JSON.stringify({
    scores: line.attempts.map(({ side }, i) => ({
      trajectory_id: String(i + 1),
      explanation: "fine",
      score: side === "candidate" ? 1 : 0,
    })),
  }),
});
/** The candidate's row that belongs to it. */
export const told = (row: ResultRow): ResultRow => ({
  ...{ ...row, ...BEST },
  details: { ...(row.details as object), message: "fine" } as ResultRow["details"],
});
