/** Attempts in the order in which a judge sees them, and its answer about them as a record. */

import { verdictsOn } from "../core/ask-judge.ts";
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

/**
 * Verdicts on a stream of groups, in their order; undefined for a group without attempts. The stream is
 * read as far as requests are under way, so that a slow answer keeps no other group waiting.
 */
export async function* askedGroups<T, G extends AskedGroup>(
  judge: GroupJudge,
  batches: AsyncIterable<readonly T[]>,
  groupOf: (task: T) => G,
): AsyncGenerator<readonly [G, GroupVerdict | undefined], void, void> {
  /** Groups without attempts that come before the next verdict, and at the end of the stream. */
  let empty: G[] = [];
  async function* asked(): AsyncGenerator<readonly [readonly G[], G], void, void> {
    for await (const batch of batches)
      for (const task of batch) {
        const group = groupOf(task);
        if (group.attempts.length === 0) empty.push(group);
        else {
          yield [empty, group];
          empty = [];
        }
      }
  }
  const toJudge = ([, { id, attempts, tools }]: readonly [unknown, G]) => ({
    ...{ id, tools, attempts: attempts.map(({ messages }) => messages) },
  });
  for await (const [[before, group], verdict] of verdictsOn(judge, asked(), toJudge)) {
    for (const one of before) yield [one, undefined];
    yield [group, verdict];
  }
  for (const one of empty) yield [one, undefined];
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
