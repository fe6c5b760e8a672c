/** Attempts in the order in which a judge sees them, and its answer about them as a record. */

import { canonicalJson } from "../core/json.ts";
import {
  type GroupJudge,
  type GroupToJudge,
  type GroupVerdict,
  isDropped,
  type JudgedMessage,
  type Judgement,
} from "../core/judge.ts";
import { conversationSha256 } from "../core/judged-conversation.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import type { GroupJudgement, Side } from "../runs/judge-schemas.ts";

export interface Attempt {
  /** Which of two rollouts it is of. */
  readonly side?: Side | undefined;
  readonly sample: number;
  readonly messages: readonly JudgedMessage[];
}

/** What the judge is asked about a task; no attempts where there is nothing to judge. */
export interface AskedGroup<A extends Attempt = Attempt> {
  readonly id: string;
  readonly attempts: readonly A[];
  readonly tools: GroupToJudge["tools"];
}

/** The order is drawn anew for each task, so that a place in the group favours nobody. */
export function inDrawnOrder<A extends Attempt>(
  attempts: readonly A[],
  { identity }: GroupJudge,
  id: string,
): A[] {
  return shuffled(attempts, rngAt(identity.sampling.seed, "judge order", id));
}

/** Verdicts on groups, in their order; undefined for a group without attempts. */
export async function* verdictsOn<G extends AskedGroup>(
  judge: GroupJudge,
  groups: readonly G[],
): AsyncGenerator<readonly [G, GroupVerdict | undefined], void, void> {
  const asked = groups.filter(({ attempts }) => attempts.length > 0);
  const verdicts = judge.judge(
    asked.map(({ id, attempts, tools }) => ({
      ...{ id, tools, attempts: attempts.map(({ messages }) => messages) },
    })),
  );
  for (const group of groups) {
    if (group.attempts.length === 0) {
      yield [group, undefined];
      continue;
    }
    const { value } = await verdicts.next();
    yield [group, value as GroupVerdict];
  }
}

/** The line of judgements.jsonl. */
export function judgementLine({ id, attempts }: AskedGroup, verdict: GroupVerdict): string {
  const line: GroupJudgement = {
    id,
    attempts: attempts.map(({ side, sample, messages }) => ({
      ...{ sample, sha256: conversationSha256(messages) },
      ...(side && { side }),
    })),
    ...(isDropped(verdict)
      ? { dropped: { ...verdict.dropped } }
      : { answer: verdict.answer ?? answerWith(verdict.judgements, verdict.identical) }),
    ...(!isDropped(verdict) && verdict.identical && { identical: true }),
    tokens: { ...verdict.tokens },
  };
  return canonicalJson(line);
}

/** Judgements in the form of an answer, for a judge that writes none. */
function answerWith(judgements: readonly Judgement[], identical: boolean): string {
  const told = identical ? judgements.slice(0, 1) : judgements;
  const scores = told.map(({ score, explanation }, i) => ({
    ...{ trajectory_id: String(i + 1), explanation, score },
  }));
  return canonicalJson({ scores });
}

/** Pieces of a stream large enough to keep many requests under way. */
export async function* inPieces<T>(
  batches: AsyncIterable<readonly T[]>,
  size = GROUPS_AT_ONCE,
): AsyncGenerator<T[], void, void> {
  let piece: T[] = [];
  for await (const batch of batches) {
    piece.push(...batch);
    if (piece.length < size) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Bounds the memory: groups of this many tasks are held at a time. */
const GROUPS_AT_ONCE = 128;
