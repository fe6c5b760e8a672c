/** An endpoint as an actor: its context is the messages of the conversation. */

import type { Actor, NoReply, Reply, ReplyRequest } from "../core/actor.ts";
import type { Message } from "../core/environment.ts";
import type { Coordinate } from "../core/rng.ts";
import type { ToolCall } from "../core/trajectory.ts";
import { calledReply } from "./called-reply.ts";
import type { ChatAnswer } from "./chat-answer.ts";
import type { ChatMessage } from "./chat-request.ts";
import type { Stop } from "./pooled.ts";

export interface EndpointPlayer {
  readonly concurrency: number;
  readonly system?: string | undefined;
  /** Retries temporary errors; throws what concerns every request. */
  answer(
    asked: { readonly messages: readonly ChatMessage[]; readonly address: readonly Coordinate[] },
    stop: Stop,
  ): Promise<ChatAnswer | NoReply>;
}

type Context = readonly ChatMessage[];

/** Requests that are under way when the gathering ends may take so long. */
const GRACE_MS = 10_000;

export class EndpointActor implements Actor<Context> {
  /** Each episode goes on as soon as it has its answer. */
  readonly batch = 1;
  readonly concurrency: number;
  readonly preamble: readonly Message[];
  readonly #player: EndpointPlayer;

  constructor(player: EndpointPlayer) {
    const { concurrency, system } = player;
    this.#player = player;
    this.concurrency = concurrency;
    this.preamble = system === undefined ? [] : [{ role: "system", content: system }];
  }

  begin(messages: readonly Message[]): Context {
    return messages.map(withoutCall);
  }

  wrote(context: Context, { completion, tool_calls: calls, said }: Reply): Context {
    const own: ChatMessage = calls
      ? { role: "assistant", content: said ?? null, tool_calls: calls.map(asWritten) }
      : { role: "assistant", content: completion };
    return [...context, own];
  }

  read(context: Context, messages: readonly Message[]): Context {
    const [call] = (context.at(-1)?.tool_calls ?? []) as readonly { readonly id: string }[];
    if (!call) return [...context, ...messages.map(withoutCall)];
    // The API wants a result for every call, whatever role the environment gives it.
    const [result = { content: "" }, ...rest] = messages;
    const answered: ChatMessage = {
      ...{ role: "tool", tool_call_id: call.id, content: result.content },
    };
    return [...context, answered, ...rest.map(withoutCall)];
  }

  hasRoom(): boolean {
    return true;
  }

  async answer(
    requests: readonly ReplyRequest<Context>[],
    stop?: AbortSignal,
  ): Promise<(Reply | NoReply)[]> {
    const ending = new Ending(stop);
    try {
      return await Promise.all(requests.map((request) => this.#reply(request, ending)));
    } finally {
      ending.close();
    }
  }

  async #reply({ context, address }: ReplyRequest<Context>, stop: Stop): Promise<Reply | NoReply> {
    const found = await this.#player.answer({ messages: context, address }, stop);
    return "error" in found ? found : calledReply(found, `call-${context.length}`);
  }

  row(): null {
    return null;
  }
}

/** The API has results of tools only after calls; the environment may answer a text. */
function withoutCall({ role, content }: Message): ChatMessage {
  return { role: role === "tool" ? "user" : role, content };
}

function asWritten({ id, name, arguments: given }: ToolCall): object {
  return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
}

/** Both signals of an end: no wait and no retry from now on, and a while later no request either. */
class Ending implements Stop {
  readonly soon: AbortSignal;
  readonly now: AbortSignal;
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(stop: AbortSignal | undefined) {
    this.soon = stop ?? new AbortController().signal;
    this.now = this.#late.signal;
    this.soon.addEventListener("abort", this.#begin, { once: true });
  }

  readonly #begin = () => {
    this.#timer = setTimeout(() => this.#late.abort(), GRACE_MS);
  };

  close(): void {
    clearTimeout(this.#timer);
    this.soon.removeEventListener("abort", this.#begin);
  }
}
