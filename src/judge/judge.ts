/**
 * A language model behind an OpenAI-compatible endpoint as a judge: one request for a group of
 * attempts, one corrective question after an answer that cannot be used, and then a group without a
 * verdict, which is counted and never scored 0.
 */

import type { LockedRoomError } from "../core/errors.ts";
import {
  type DroppedGroup,
  type GroupJudge,
  type GroupToJudge,
  type GroupVerdict,
  JUDGE_DEFAULTS,
  type JudgeIdentity,
  type Judgement,
  type JudgeTokens,
  type JudgeTraffic,
} from "../core/judge.ts";
import { visibleShort } from "../core/visible.ts";
import { CachedChat } from "../providers/cached-chat.ts";
import { ChatEndpoint, type ChatEndpointOptions } from "../providers/chat-endpoint.ts";
import type { ChatMessage } from "../providers/chat-request.ts";
import { connectByFetch, type FetchEndpoint } from "../providers/fetch-client.ts";
import { pooledInOrder, type Stop } from "../providers/pooled.ts";
import type { JudgeAnswer, JudgeCache } from "../runs/judge-cache.ts";
import { ANSWER_SCHEMA, correction, readAnswer } from "./answer.ts";
import { groupRequest, isOneConversation } from "./group-request.ts";
import { judgeIdentity } from "./identity.ts";
import { DEFAULT_RUBRIC, type Rubric } from "./rubric.ts";

/** Which model judges, by what, and where. @see {@link openJudge} */
export interface JudgeOptions extends ChatEndpointOptions, FetchEndpoint {
  readonly model: string;
  /** What makes one attempt better than another; general rules by default. */
  readonly rubric?: Rubric | undefined;
  /** Greedy by default, with up to 4096 tokens for an answer. */
  readonly sampling?: Partial<JudgeIdentity["sampling"]> | undefined;
  /** Requests under way at once. */
  readonly concurrency?: number | undefined;
  /** Answers that are kept on disk. */
  readonly cache?: JudgeCache | undefined;
  /** What identity and messages say in place of the URL, for a server whose address means nothing. */
  readonly endpointName?: string | undefined;
  /** What the cache goes by in place of the endpoint's name. */
  readonly cacheScope?: string | undefined;
  /** Called when the judge is closed. */
  readonly onClose?: (() => Promise<void>) | undefined;
}

/** So often a request is sent. */
const ATTEMPTS = 3;
/** Requests that are under way when another one shows that all will fail may take so long. */
const GRACE_MS = 10_000;
/** So many requests turned down, and none answered: what is wrong is not the group. */
const TURNED_DOWN = 8;
const NO_TOKENS: JudgeTokens = { prompt_tokens: 0, completion_tokens: 0 };

/**
 * Opens a language model behind an OpenAI-compatible endpoint as a judge. It scores the attempts at a
 * task from 0 to 1, relative to each other; a group without a verdict has `dropped` and no scores.
 * @example
 * ```ts
 * import { openJudge } from "lockedroom";
 * import { startEmbeddedJudge } from "lockedroom/judge";
 * const server = await startEmbeddedJudge({ faults: [] });
 * const judge = await openJudge({ baseUrl: server.url, apiKey: "none", model: "embedded-judge" });
 * const question = { role: "user", content: "Compute 2 + 2. Reply: Final: <int>" } as const;
 * const attempts = ["Final: 4", "Final: 5"].map((content) => [
 *   question,
 *   { role: "assistant", content } as const,
 * ]);
 * for await (const verdict of judge.judge([{ id: "sum", attempts, tools: [] }])) {
 *   console.log("dropped" in verdict ? verdict.dropped : verdict.judgements);
 * }
 * await judge.close();
 * await server.close();
 * ```
 */
export async function openJudge(options: JudgeOptions): Promise<GroupJudge> {
  return new EndpointJudge(options);
}

class EndpointJudge implements GroupJudge {
  readonly identity: JudgeIdentity;
  readonly #options: JudgeOptions;
  readonly #rubric: Rubric;
  readonly #chat: CachedChat;
  readonly #noticed = new Set<string>();
  #answered = false;
  #turnedDown = 0;

  constructor(options: JudgeOptions) {
    const { model, cache, rubric = DEFAULT_RUBRIC } = options;
    const { timeoutMs = JUDGE_DEFAULTS.timeoutMs, attempts = ATTEMPTS } = options;
    // A message may be recorded: it must not differ with a port that is another one each time.
    const called = options.endpointName && `the judge (${options.endpointName})`;
    const endpoint = new ChatEndpoint(
      { ...options, timeoutMs, attempts, called },
      connectByFetch(options),
    );
    const { endpointName: name = endpoint.url, cacheScope: scope = name } = options;
    const sampling = { ...JUDGE_DEFAULTS.sampling, ...options.sampling, stop: [] };
    this.#options = options;
    this.#rubric = rubric;
    this.#chat = new CachedChat({ endpoint, model, sampling, cache, scope });
    this.identity = judgeIdentity({ name: model, endpoint: name, sampling, rubric });
  }

  get traffic(): JudgeTraffic {
    return this.#chat.traffic;
  }

  async *judge(
    groups: Iterable<GroupToJudge> | AsyncIterable<GroupToJudge>,
  ): AsyncGenerator<GroupVerdict, void, void> {
    const limit = this.#options.concurrency ?? JUDGE_DEFAULTS.concurrency;
    const pool = { limit, graceMs: GRACE_MS };
    const judged = pooledInOrder(groups, pool, (group, stop) => this.#verdict(group, stop));
    for await (const [, verdict] of judged) yield verdict;
  }

  async close(): Promise<void> {
    await this.#options.onClose?.();
  }

  async #verdict(group: GroupToJudge, stop: Stop): Promise<GroupVerdict> {
    const { id, attempts } = group;
    if (attempts.length === 0) return { id, judgements: [], identical: false, tokens: NO_TOKENS };
    const identical = isOneConversation(attempts);
    if (!identical) return this.#compare(group, attempts, stop);
    if (attempts.length > 1) this.#noticeIdentical(group);
    const verdict = await this.#compare(group, attempts.slice(0, 1), stop);
    if ("dropped" in verdict) return verdict;
    const [one] = verdict.judgements as readonly [Judgement];
    return { ...verdict, judgements: attempts.map(() => one), identical };
  }

  async #compare(
    group: GroupToJudge,
    attempts: GroupToJudge["attempts"],
    stop: Stop,
  ): Promise<GroupVerdict> {
    const { id, tools } = group;
    const { system, user, ids } = groupRequest(attempts, { rubric: this.#rubric, tools });
    let messages: readonly ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: user },
    ];
    let tokens = NO_TOKENS;
    for (let corrective = false; ; corrective = true) {
      const answer = await this.#ask(group, messages, corrective, stop);
      if ("error" in answer) return dropped(id, "no_answer", answer.error.message, tokens);
      tokens = this.#sum(tokens, answer);
      const read = readAnswer(answer, ids);
      if ("judgements" in read)
        return { id, ...read, identical: false, answer: answer.completion, tokens };
      if (corrective) return dropped(id, read.type, unusable(id, read), tokens);
      messages = [...messages, ...corrected(answer, correction(read.problem, ids))];
    }
  }

  async #ask(
    { id, repeat = 0 }: GroupToJudge,
    messages: readonly ChatMessage[],
    corrective: boolean,
    stop: Stop,
  ): Promise<JudgeAnswer | { readonly error: LockedRoomError }> {
    const first = [this.identity.sampling.seed, "judge", id, repeat];
    const address = corrective ? [...first, "corrective"] : first;
    const ask = { messages, tools: [], address, id, what: "group", answerSchema: ANSWER_SCHEMA };
    const found = await this.#chat.answer(ask, stop);
    if (!("error" in found)) {
      this.#answered = true;
      return found;
    }
    if (found.error.kind === "usage" && !this.#answered) this.#turnedDown++;
    if (found.everywhere || this.#turnedDown >= TURNED_DOWN) throw found.error;
    return found;
  }

  #sum(before: JudgeTokens, { prompt_tokens, completion_tokens }: JudgeAnswer): JudgeTokens {
    if (prompt_tokens === null || completion_tokens === null)
      this.#notice("The judge's endpoint does not count tokens; they are recorded as 0.");
    return {
      prompt_tokens: before.prompt_tokens + (prompt_tokens ?? 0),
      completion_tokens: before.completion_tokens + (completion_tokens ?? 0),
    };
  }

  #noticeIdentical({ id }: GroupToJudge): void {
    if (this.#noticed.has("identical")) return;
    this.#noticed.add("identical");
    this.#notice(
      `All attempts of group ${shown(id)} are the same, so that one was judged for all. ` +
        "Nothing is learned from such a group.",
    );
  }

  #notice(text: string): void {
    if (this.#noticed.has(text)) return;
    this.#noticed.add(text);
    this.#options.onNotice?.(text);
  }
}

function dropped(
  id: string,
  type: DroppedGroup["dropped"]["type"],
  message: string,
  tokens: JudgeTokens,
): DroppedGroup {
  return { id, dropped: { type, message }, tokens };
}

function unusable(id: string, { problem }: { readonly problem: string }): string {
  return `the judge gave no verdict for group ${shown(id)}, asked twice: ${problem}`;
}

/** The answer as the conversation goes on; endpoints take no empty message. */
function corrected({ completion, refusal }: JudgeAnswer, question: string): ChatMessage[] {
  const said = [completion, refusal ?? ""].find((text) => text.trim() !== "") ?? "(no answer)";
  return [
    { role: "assistant", content: said },
    { role: "user", content: question },
  ];
}

function shown(id: string): string {
  return visibleShort(JSON.stringify(id), 60);
}
