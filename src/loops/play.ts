/**
 * Plays episodes of an environment with an actor: observation in, action out, until each episode ends.
 * A scored prompt ends after one turn. Training, validation and rollouts play with this loop.
 */

import { type Actor, isReply, type NoReply, type Reply } from "../core/actor.ts";
import {
  CONTEXT_FULL,
  type Environment,
  type EpisodeEnd,
  type Message,
  type Turn,
} from "../core/environment.ts";
import { type EpisodeAddress, environmentRng, turnAddress } from "../core/episode-address.ts";
import { EpisodeSum } from "../core/episode-sum.ts";
import { dataError, LockedRoomError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import type { TokenRow } from "../core/token-row.ts";
import { visibleShort } from "../core/visible.ts";

/** One episode to play. `address` is where its randomness lies. */
export interface EpisodeRequest {
  readonly task: Example;
  readonly address: EpisodeAddress;
}

export interface Episode<R extends Reply = Reply> {
  readonly task: Example;
  /** What the environment showed: the first observation, then one after each turn of the policy. */
  readonly observations: readonly (readonly Message[])[];
  /** What the policy read and wrote: one row, or one for each turn where it reads no earlier ones. */
  readonly rows: readonly TokenRow[];
  /** What the policy wrote, one for each turn. */
  readonly generations: readonly R[];
  /** Of each turn; that of the start belongs to the first. */
  readonly turnRewards: readonly (number | null)[];
  /** Of all turns together; null when one could not be computed. */
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly end: EpisodeEnd;
}

/** An episode that was played to its end, or why it was not. */
export type Outcome<Q extends EpisodeRequest, R extends Reply> =
  | { readonly request: Q; readonly episode: Episode<R> }
  | { readonly request: Q; readonly failure: NoReply };

export interface PlayOptions<R extends Reply> {
  /** Episodes that are played at a time; those that end make room for the next. */
  readonly batch?: number | undefined;
  /** Ends the loop before the next turn. */
  readonly stop?: AbortSignal | undefined;
  readonly onReply?: ((reply: R) => void) | undefined;
}

/** Seconds that the loop spent. */
export interface PlaySeconds {
  sampling: number;
  scoring: number;
}

/** Plays the requests, and gives each episode as soon as it has ended. */
export async function* playEach<C, R extends Reply, S, Q extends EpisodeRequest>(
  actor: Actor<C, R>,
  environment: Environment<S>,
  requests: Iterable<Q>,
  { batch = Number.POSITIVE_INFINITY, stop, onReply }: PlayOptions<R> = {},
  seconds: PlaySeconds = { sampling: 0, scoring: 0 },
): AsyncGenerator<Outcome<Q, R>, void, void> {
  const waiting = requests[Symbol.iterator]();
  const beginning = remembered((messages: readonly Message[]) => actor.begin(messages));
  let playing: Running<C, R, S, Q>[] = [];
  const room = () => Math.min(batch, environment.episodesAtOnce ?? batch) - playing.length;
  try {
    for (;;) {
      for (const one of playing) if (one.left) environment.leave?.(one.state);
      yield* playing.flatMap((one) => one.outcome());
      playing = playing.filter(({ ended }) => !ended);
      if (stop?.aborted) return;
      const fresh = takeUpTo(waiting, room());
      const turns = await Promise.all(
        fresh.map(({ task, address }) => environment.reset(task, environmentRng(address))),
      );
      playing.push(
        ...fresh.map((request, i) => new Running(request, turns[i] as Turn<S>, actor, beginning)),
      );
      if (playing.length === 0) return;
      if (playing.some(({ ended }) => ended)) continue; // Before their first turn.
      const start = performance.now();
      const requested = playing.map((one) => one.request());
      const replies = await actor.answer(requested, stop);
      const sampled = performance.now();
      const acting = playing.filter((one, i) => one.takes(replies[i] as R | NoReply));
      for (const one of acting) onReply?.(one.reply);
      const steps = acting.map(({ state, reply }) => ({
        state,
        action: { text: reply.completion },
      }));
      const next = steps.length === 0 ? [] : await environment.step(steps);
      for (const [i, one] of acting.entries()) one.advance(next[i] as Turn<S>, environment);
      seconds.sampling += (sampled - start) / 1000;
      seconds.scoring += (performance.now() - sampled) / 1000;
    }
  } finally {
    for (const one of playing) if (!one.ended) environment.leave?.(one.state);
  }
}

export interface Played<R extends Reply> {
  readonly episodes: readonly Episode<R>[];
  readonly seconds: Readonly<PlaySeconds>;
}

/** Plays all requests together, in their order; an episode that fails is an error. */
export async function play<C, R extends Reply, S>(
  actor: Actor<C, R>,
  environment: Environment<S>,
  requests: readonly EpisodeRequest[],
): Promise<Played<R>> {
  const seconds = { sampling: 0, scoring: 0 };
  const ended = new Map<EpisodeRequest, Episode<R>>();
  for await (const one of playEach(actor, environment, requests, {}, seconds)) {
    if ("failure" in one) throw one.failure.error;
    ended.set(one.request, one.episode);
  }
  return { episodes: requests.map((request) => ended.get(request) as Episode<R>), seconds };
}

/** An episode as it grows. */
class Running<C, R extends Reply, S, Q extends EpisodeRequest> {
  readonly #request: Q;
  readonly #actor: Actor<C, R>;
  readonly #sum: EpisodeSum<S>;
  #context: C | undefined;
  readonly #rows: TokenRow[] = [];
  readonly #replies: R[] = [];
  #end: EpisodeEnd | undefined;
  #failure: NoReply | undefined;

  constructor(
    request: Q,
    turn: Turn<S>,
    actor: Actor<C, R>,
    begin: (messages: readonly Message[]) => C,
  ) {
    this.#request = request;
    this.#actor = actor;
    this.#sum = new EpisodeSum(turn);
    this.#end = turn.end;
    if (turn.end) return;
    this.#reading(turn, () => {
      this.#context = begin([...actor.preamble, ...turn.observation]);
      if (!actor.hasRoom(this.#context)) throw tooLong();
    });
  }

  get state(): S {
    return this.#sum.turn.state;
  }

  get reply(): R {
    return this.#replies.at(-1) as R;
  }

  get ended(): boolean {
    return this.#end !== undefined || this.#failure !== undefined;
  }

  /** Whether it ended for a reason that the environment does not know. */
  get left(): boolean {
    return this.ended && !this.#sum.turn.end;
  }

  /** The next generation; each turn has an address of its own. */
  request() {
    const address = turnAddress(this.#request.address, this.#replies.length);
    return { context: this.#context as C, address };
  }

  /** False when there was no reply. */
  takes(answer: R | NoReply): boolean {
    if (isReply(answer)) this.#replies.push(answer);
    else this.#failure = answer;
    return isReply(answer);
  }

  advance(turn: Turn<S>, { memoryless = false }: Pick<Environment, "memoryless">): void {
    this.#context = this.#actor.wrote(this.#context as C, this.reply);
    this.#sum.add(turn);
    this.#end = turn.end;
    if (turn.end || memoryless) this.#closeRow();
    if (!turn.end) this.#reading(turn, () => this.#read(turn, memoryless));
  }

  /** The next observation: in a row of its own, or after what was read before if there is room. */
  #read({ observation }: Turn<S>, memoryless: boolean): void {
    const actor = this.#actor;
    const next = memoryless
      ? actor.begin([...actor.preamble, ...observation])
      : actor.read(this.#context as C, observation);
    if (actor.hasRoom(next)) {
      this.#context = next;
      return;
    }
    if (!memoryless) this.#closeRow();
    this.#end = { code: CONTEXT_FULL, terminated: false, details: {} };
  }

  /** An observation that the policy cannot read ends the episode, and is named. */
  #reading({ observation }: Turn<S>, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof LockedRoomError)) throw error;
      const text = visibleShort(textOf(observation), 60);
      const where = `in the observation "${text}" of ${this.#request.task.id}`;
      const named = dataError(`${where}: ${error.message}`, error.hint);
      this.#failure = { type: "unreadable_observation", error: named };
    }
  }

  #closeRow(): void {
    const row = this.#actor.row(this.#context as C);
    if (row) this.#rows.push(row);
  }

  /** Empty while it is being played. */
  outcome(): Outcome<Q, R>[] {
    const request = this.#request;
    if (this.#failure) return [{ request, failure: this.#failure }];
    return this.#end ? [{ request, episode: this.#episode(this.#end) }] : [];
  }

  #episode(end: EpisodeEnd): Episode<R> {
    const { observations, turnRewards, reward, metrics } = this.#sum;
    return {
      ...{ task: this.#request.task, rows: this.#rows, generations: this.#replies },
      ...{ observations, turnRewards, reward, metrics, end },
    };
  }
}

function tooLong(): LockedRoomError {
  return dataError(
    "it fills the policy's context",
    "Use a policy with a longer context, or an environment with shorter observations.",
  );
}

function textOf(messages: readonly Message[]): string {
  return messages.map(({ content }) => content).join("");
}

function takeUpTo<T>(items: Iterator<T>, most: number): T[] {
  const taken: T[] = [];
  while (taken.length < most) {
    const next = items.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

const REMEMBERED = 1024;

/** Computes each value once: the completions of a group share their prompt. */
function remembered<T>(
  compute: (messages: readonly Message[]) => T,
): (messages: readonly Message[]) => T {
  const known = new Map<string, T>();
  return (messages) => {
    const key = JSON.stringify(messages);
    const value = known.get(key) ?? compute(messages);
    if (known.size === REMEMBERED) known.clear();
    known.set(key, value);
    return value;
  };
}
