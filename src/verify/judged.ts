/**
 * The scores of a judged run: read again from the judge's answers and, where the judge is given, asked
 * for again. Its cache answers what it was asked before.
 */

import path from "node:path";
import { verdictsOn } from "../core/ask-judge.ts";
import {
  type GroupJudge,
  type GroupToJudge,
  isDropped,
  type JudgedMessage,
  type Judgement,
} from "../core/judge.ts";
import { conversationSha256 } from "../core/judged-conversation.ts";
import { differencesOf } from "../gate/judged.ts";
import { JudgedRows } from "../gate/judged-rows.ts";
import type { GroupJudgement, Side } from "../runs/judge-schemas.ts";
import { judgementsOf, readJudgements } from "../runs/read-judgements.ts";
import { openRun, type Run } from "../runs/reader.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { reached } from "./find-input.ts";
import { type Comparison, impossible, type OnProgress, Unreachable } from "./part.ts";
import type { OpenedEnvironment } from "./recorded-environment.ts";
import type { OpenRecordedJudge } from "./recorded-judge.ts";

export interface JudgedOptions {
  /** Absent: the judge is not asked again. */
  readonly openJudge?: OpenRecordedJudge | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** After the rows were played again: what `comparison` holds of that stays. */
export async function verifyJudgements(
  run: Run,
  { environment }: OpenedEnvironment,
  comparison: Comparison,
  options: JudgedOptions,
): Promise<VerificationPart> {
  const { identity, together } = run.manifest.judge as NonNullable<Run["manifest"]["judge"]>;
  const total = run.manifest.examples.count;
  if (!together) return impossible("score", total, "The judge's answers are not in this run.");
  await readAgain(run, together.side, comparison);
  const who = `${identity.name} ${identity.version}`;
  const read = `scores read again from the answers of the judge ${who}`;
  if (comparison.differences > 0) return comparison.part("score", comparison.repeated, read);
  const { openJudge } = options;
  if (!openJudge) {
    const message = `The scores are those of the answers in judgements.jsonl. Whether the judge ${who} gave these answers is not verified here: only \`lockedroom verify\` opens judges.`;
    return impossible("score", total, message);
  }
  const beside = await reached(() => otherSide(run, together.side));
  if ("why" in beside) return impossible("score", total, beside.why);
  const judge = await openJudge(identity);
  try {
    const other = differencesOf(judge.identity, identity);
    if (other.length > 0) {
      const message = `The judge that is found now is not that of the run: ${other.join(", ")} differ.`;
      return impossible("score", total, message);
    }
    await askAgain([run, beside.value], comparison, { ...options, judge }, environment.tools);
  } finally {
    await judge.close();
  }
  return comparison.part("score", comparison.repeated, `${read}, ${askedWords(judge)}`);
}

/** A cache shows that the answers are those of the cache, and no more. */
function askedWords({ traffic: { from_cache: kept } }: GroupJudge): string {
  if (kept === 0) return "which was asked again";
  return `which was not asked again where its cache has an answer (${kept})`;
}

async function readAgain(run: Run, side: Side, comparison: Comparison): Promise<void> {
  const rows = new JudgedRows(run, side, undefined);
  for await (const batch of run.results().batches())
    for (const row of batch) if (rows.add(row)) await rows.settle();
  await rows.finish();
  for (const id of rows.differing?.first_ids ?? [])
    comparison.differs(id, "score", "that of the judge's answer", "another");
}

/** The run that was judged with it lies beside it. */
async function otherSide({ dir, manifest }: Run, side: Side): Promise<Run> {
  const name = side === "baseline" ? "candidate" : "baseline";
  const place = path.join(path.dirname(path.resolve(dir)), name);
  const found = await openRun(place).catch(() => undefined);
  const { together: of } = found?.manifest.judge ?? {};
  const { together: own } = manifest.judge ?? {};
  const isIt =
    of?.side === name &&
    of.baseline_sha256 === own?.baseline_sha256 &&
    of.candidate_sha256 === own.candidate_sha256;
  if (found && isIt) return found;
  throw new Unreachable(
    `The run that was judged together with this one is not at ${place}, so that the judge cannot be asked about both.`,
  );
}

async function askAgain(
  runs: readonly Run[],
  comparison: Comparison,
  { judge, onProgress }: JudgedOptions & { readonly judge: GroupJudge },
  tools: GroupToJudge["tools"],
): Promise<void> {
  const [own] = runs as [Run];
  const said = await conversationsIn(runs);
  const total = own.manifest.examples.count;
  let done = 0;
  const groupOf = ({ id, attempts }: GroupJudgement) => ({
    ...{ id, tools, attempts: attempts.map(({ sha256 }) => said.get(sha256) ?? []) },
  });
  for await (const [line, verdict] of verdictsOn(judge, scoredLines(own), groupOf)) {
    const again = isDropped(verdict) ? undefined : verdict.judgements;
    comparison.compare(line.id, scoresIn(again), scoresIn(judgementsOf(line)));
    onProgress?.("Judging again", ++done, total);
  }
}

/** A group without a verdict has no scores to compare. */
async function* scoredLines({ dir }: Run): AsyncGenerator<GroupJudgement, void, void> {
  for await (const lines of readJudgements(dir).batches())
    for (const line of lines) if (!line.dropped) yield line;
}

function scoresIn(judgements: readonly Judgement[] | undefined) {
  return {
    scores: judgements?.map(({ score }) => score) ?? null,
    explanations: judgements?.map(({ explanation }) => explanation) ?? null,
  };
}

/** By their hash, as the judge saw them. */
async function conversationsIn(
  runs: readonly Run[],
): Promise<Map<string, readonly JudgedMessage[]>> {
  const found = new Map<string, readonly JudgedMessage[]>();
  for (const run of runs)
    for await (const rows of run.results().batches())
      for (const { episode } of rows)
        if (episode) found.set(conversationSha256(episode.messages), episode.messages);
  return found;
}
