/** A judge behind a real server that answers as a test wants it. */

import type { GroupToJudge, GroupVerdict } from "../src/core/judge.ts";
import { type JudgeOptions, openJudge } from "../src/judge/judge.ts";
import { type Asked, type Behaviour, chat, FakeEndpoint, KEY, type Reply } from "./endpoint.ts";

/** Attempts at one task, with the answers given. */
export function group(id: string, ...answers: string[]): GroupToJudge {
  const task = { role: "user", content: `Task ${id}` } as const;
  const attempts = answers.map((content) => [task, { role: "assistant", content }] as const);
  return { id, attempts, tools: [] };
}

export const PAIR = group("g", "a long answer", "short");

/** The ids of the attempts that the request shows. */
export function idsIn({ body }: Asked): string[] {
  const text = body.messages[1]?.content ?? "";
  return [...text.matchAll(/<trajectory id="(\d+)">/g)].map(([, id = ""]) => id);
}

/** Scores by position: 0, then 1/n, 2/n and so on. */
export function scores(ids: readonly string[]): { scores: object[] } {
  const entry = (id: string, i: number) => ({
    ...{ trajectory_id: id, explanation: `number ${id}`, score: i / ids.length },
  });
  return { scores: ids.map(entry) };
}

export const verdict = (asked: Asked): Reply => says(JSON.stringify(scores(idsIn(asked))));

export const says = (content: string | null, choice: object = {}): Reply => ({
  body: chat(content, choice),
});

/** Answers with these, one after the other, and then as a good judge. */
export const first =
  (...replies: readonly Reply[]): Behaviour =>
  (asked, nth) =>
    replies[nth] ?? verdict(asked);

export async function judgeAt(behave: Behaviour, options: Partial<JudgeOptions> = {}) {
  const endpoint = await FakeEndpoint.start(behave);
  const notices: string[] = [];
  const judge = await openJudge({
    ...{ model: "strict", apiKey: KEY, baseUrl: endpoint.url, backoffMs: 2, attempts: 2 },
    onNotice: (text) => notices.push(text),
    ...options,
  });
  return { endpoint, judge, notices };
}

/** The verdicts, and the error that ended them if one did. */
export async function judged(
  judge: { judge(groups: Iterable<GroupToJudge>): AsyncIterable<GroupVerdict> },
  groups: Iterable<GroupToJudge> = [PAIR],
) {
  const verdicts: GroupVerdict[] = [];
  let error: unknown;
  try {
    for await (const one of judge.judge(groups)) verdicts.push(one);
  } catch (thrown) {
    error = thrown;
  }
  return { verdicts, error: error as Error | undefined };
}
