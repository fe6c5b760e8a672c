/** Weights as an actor: its context is the tokens that it has read and written. */

import type { Actor, ReplyRequest } from "../core/actor.ts";
import type { Message } from "../core/environment.ts";
import type { Span, TokenRow } from "../core/token-row.ts";
import type { Conversation } from "./conversation.ts";
import type { Generation, GenerationRequest } from "./generate.ts";

/** What an actor needs of a checkpoint or an engine. */
export interface TokenPlayer {
  readonly conversation: Conversation;
  /** The most tokens of a row. */
  readonly maxLength: number;
  /** Completions in the order of the requests. */
  sample(requests: readonly GenerationRequest[]): Promise<readonly Generation[]>;
}

export interface TokenContext {
  readonly tokens: readonly number[];
  /** The policy's own tokens. */
  readonly actions: readonly Span[];
  /** Everything that was read or written, except for what was only sampled: a template asks for it. */
  readonly messages: readonly Message[];
  /** The tokens of the policy's last turn. */
  readonly last: readonly number[];
}

interface TokenActorOptions {
  /** Episodes that are answered together. */
  readonly batch?: number | undefined;
  readonly system?: string | undefined;
}

export class TokenActor implements Actor<TokenContext, Generation> {
  readonly concurrency = 1;
  readonly batch: number;
  readonly preamble: readonly Message[];
  readonly #player: TokenPlayer;

  constructor(player: TokenPlayer, { batch = 64, system }: TokenActorOptions = {}) {
    this.#player = player;
    this.batch = batch;
    this.preamble = system === undefined ? [] : [{ role: "system", content: system }];
  }

  begin(messages: readonly Message[]): TokenContext {
    const tokens = this.#player.conversation.begin(messages);
    return { tokens, actions: [], messages, last: [] };
  }

  wrote(context: TokenContext, { tokens: own, completion }: Generation): TokenContext {
    const { tokens: before, actions, messages } = context;
    const tokens = [...before, ...own];
    return {
      tokens,
      actions: [...actions, [before.length, tokens.length]],
      messages: [...messages, { role: "assistant", content: completion }],
      last: own,
    };
  }

  read(context: TokenContext, messages: readonly Message[]): TokenContext {
    // The policy's last turn is not a message that the template reads.
    const before = context.messages.slice(0, -1);
    const more = this.#player.conversation.next(before, context.last, messages);
    return {
      ...context,
      tokens: [...context.tokens, ...more],
      messages: [...context.messages, ...messages],
    };
  }

  hasRoom({ tokens }: TokenContext): boolean {
    return tokens.length < this.#player.maxLength;
  }

  answer(requests: readonly ReplyRequest<TokenContext>[]): Promise<readonly Generation[]> {
    return this.#player.sample(
      requests.map(({ context: { tokens }, address }) => ({ prompt: tokens, address })),
    );
  }

  row({ tokens, actions }: TokenContext): TokenRow {
    return { tokens, actions };
  }
}
