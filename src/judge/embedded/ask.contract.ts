/** How the tests of the embedded judge ask it: over HTTP, with the request that a run sends. */

import type { JudgedMessage } from "../../core/judge.ts";
import { readVerdict, type Verdict } from "../../core/verdict.ts";
import { groupRequest } from "../group-request.ts";
import { DEFAULT_RUBRIC, readRubric } from "../rubric.ts";
import { type EmbeddedJudge, type EmbeddedJudgeOptions, startEmbeddedJudge } from "./server.ts";

export interface Question {
  readonly prompt: string;
  /** One turn of the policy each. */
  readonly replies?: readonly string[];
  /** Or whole conversations. */
  readonly attempts?: readonly (readonly JudgedMessage[])[];
  readonly rubric?: string | undefined;
  readonly seed?: number;
  /** Sent as the messages after the question. */
  readonly after?: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: Parameters<typeof groupRequest>[1]["tools"];
  readonly body?: object;
  readonly signal?: AbortSignal;
}

export function bodyOf(question: Question): { body: object; ids: readonly string[] } {
  const { prompt, replies = [], rubric, seed = 0, after = [], tools = [] } = question;
  const attempts =
    question.attempts ??
    replies.map((content): JudgedMessage[] => [
      { role: "user", content: `${prompt}\n` },
      { role: "assistant", content },
    ]);
  const given = rubric === undefined ? DEFAULT_RUBRIC : readRubric(rubric, "rubric");
  const { system, user, ids } = groupRequest(attempts, { rubric: given, tools });
  const messages = [{ role: "system", content: system }, { role: "user", content: user }, ...after];
  return { body: { model: "embedded-judge", messages, seed, ...question.body }, ids };
}

export function post(judge: EmbeddedJudge, question: Question): Promise<Response> {
  return fetch(`${judge.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyOf(question).body),
    signal: question.signal ?? null,
  });
}

export interface Answer {
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly refusal: string | null };
    readonly finish_reason: string;
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly system_fingerprint: string;
}

export async function verdictOf(judge: EmbeddedJudge, question: Question): Promise<Verdict> {
  const answer = (await (await post(judge, question)).json()) as Answer;
  return readVerdict(answer.choices[0]?.message.content ?? "", bodyOf(question).ids);
}

export async function scoresOf(judge: EmbeddedJudge, question: Question): Promise<number[]> {
  const verdict = await verdictOf(judge, question);
  if ("problem" in verdict) throw new Error(verdict.problem);
  return verdict.judgements.map(({ score }) => score);
}

export async function withJudge<T>(
  options: EmbeddedJudgeOptions,
  use: (judge: EmbeddedJudge) => Promise<T>,
): Promise<T> {
  const judge = await startEmbeddedJudge(options);
  return use(judge).finally(() => judge.close());
}
