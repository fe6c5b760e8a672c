/**
 * Plays tasks of an environment with an engine: observation in, action out, until each episode ends.
 * A scored prompt ends after one turn.
 */

import type { Environment, EpisodeEnd, Message, Turn } from "../core/environment.ts";
import { dataError, LockedRoomError, usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { SamplingSettings } from "../core/policy.ts";
import type { Example } from "../core/records.ts";
import { type Coordinate, rngAt } from "../core/rng.ts";
import { INVALID_EXAMPLE } from "../core/score.ts";
import type { Span, TokenRow } from "../core/token-row.ts";
import { visibleShort } from "../core/visible.ts";
import type { Engine } from "../engine/engine.ts";
import type { Generation } from "../policy/generate.ts";

/** One episode to play. `address` is where its randomness lies. */
export interface EpisodeRequest {
  readonly task: Example;
  readonly address: readonly Coordinate[];
}

export interface Episode {
  readonly task: Example;
  /** What the policy read and wrote: one row, or one for each turn where it reads no earlier ones. */
  readonly rows: readonly TokenRow[];
  /** What the policy wrote, one for each turn. */
  readonly generations: readonly Generation[];
  /** Of each turn; that of the start belongs to the first. */
  readonly turnRewards: readonly (number | null)[];
  /** Of all turns together; null when one could not be computed. */
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly end: EpisodeEnd;
}

export interface Played {
  readonly episodes: readonly Episode[];
  readonly seconds: { readonly sampling: number; readonly scoring: number };
}

type Player = Pick<Engine, "sample" | "encoder">;

export async function play<S>(
  engine: Player,
  environment: Environment<S>,
  requests: readonly EpisodeRequest[],
  sampling: SamplingSettings,
): Promise<Played> {
  const seconds = { sampling: 0, scoring: 0 };
  const promptTokens = remembered((text: string) => engine.encoder.promptTokens(text));
  const { memoryless = false } = environment;
  const reader = { encoder: engine.encoder, memoryless };
  const episodes = await Promise.all(
    requests.map(async (request) => {
      const turn = await reset(environment, request);
      return new Running(request, turn, promptTokens(textOf(turn.observation)));
    }),
  );
  for (let playing = episodes; playing.length > 0; ) {
    const start = performance.now();
    const generations = await engine.sample(
      playing.map((episode) => episode.request()),
      sampling,
    );
    const sampled = performance.now();
    const turns = await environment.step(
      playing.map(({ state }, i) => ({
        state,
        action: { text: generations[i]?.completion ?? "" },
      })),
    );
    for (const [i, episode] of playing.entries()) {
      episode.advance(generations[i] as Generation, turns[i] as Turn<S>, reader);
    }
    seconds.sampling += (sampled - start) / 1000;
    seconds.scoring += (performance.now() - sampled) / 1000;
    playing = playing.filter(({ ended }) => !ended);
  }
  return { episodes: episodes.map((episode) => episode.finished()), seconds };
}

/** The rewards that another environment gives for the same actions; nothing is sampled. */
export async function replay<S>(
  environment: Environment<S>,
  requests: readonly EpisodeRequest[],
  episodes: readonly Episode[],
): Promise<number[]> {
  const turns = await Promise.all(requests.map((request) => reset(environment, request)));
  const rewards: (number | null)[] = turns.map(({ reward }) => reward);
  const most = Math.max(...episodes.map(({ generations }) => generations.length));
  for (let turn = 0; turn < most; turn++) {
    const playing = [...episodes.keys()].filter((i) => episodes[i]?.generations[turn]);
    const steps = playing.map((i) => ({
      state: (turns[i] as Turn<S>).state,
      action: { text: episodes[i]?.generations[turn]?.completion ?? "" },
    }));
    for (const [j, next] of (await environment.step(steps)).entries()) {
      const i = playing[j] as number;
      turns[i] = next;
      rewards[i] = sumOf(rewards[i] ?? null, next.reward);
    }
  }
  return episodes.map(({ task, generations }, i) => {
    const end = turns[i]?.end ?? UNFINISHED;
    return requireReward({ task, generations, end, reward: rewards[i] ?? null });
  });
}

const UNFINISHED: EpisodeEnd = { code: "unfinished", terminated: false, details: {} };

function reset<S>(environment: Environment<S>, { task, address }: EpisodeRequest) {
  return environment.reset(task, rngAt(...address, "environment"));
}

/** A reward that could not be computed leaves none for the whole episode. */
function sumOf(before: number | null, reward: number | null): number | null {
  return before === null || reward === null ? null : before + reward;
}

/** How observations become tokens. */
interface Reader {
  readonly encoder: Engine["encoder"];
  readonly memoryless: boolean;
}

/** An episode as it grows. */
class Running<S> {
  readonly #request: EpisodeRequest;
  #turn: Turn<S>;
  readonly #rows: TokenRow[] = [];
  /** The row that grows. */
  #tokens: readonly number[];
  #actions: Span[] = [];
  readonly #generations: Generation[] = [];
  readonly #turnRewards: (number | null)[] = [];
  #reward: number | null;
  readonly #metrics: Record<string, number>;
  #end: EpisodeEnd | undefined;

  constructor(request: EpisodeRequest, turn: Turn<S>, prompt: readonly number[]) {
    this.#request = request;
    this.#turn = turn;
    this.#tokens = prompt;
    this.#reward = turn.reward;
    this.#metrics = { ...turn.metrics };
  }

  get state(): S {
    return this.#turn.state;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The next generation; each turn has an address of its own. */
  request() {
    const turn = this.#generations.length;
    const { address } = this.#request;
    return {
      prompt: this.#tokens,
      address: turn === 0 ? address : [...address, "turn", turn],
    };
  }

  advance(generation: Generation, turn: Turn<S>, reader: Reader): void {
    const from = this.#tokens.length;
    const acted = [...this.#tokens, ...generation.tokens];
    this.#actions.push([from, acted.length]);
    this.#generations.push(generation);
    const first = this.#turnRewards.length === 0;
    this.#turnRewards.push(first ? sumOf(this.#turn.reward, turn.reward) : turn.reward);
    this.#turn = turn;
    this.#reward = sumOf(this.#reward, turn.reward);
    for (const [name, value] of Object.entries(turn.metrics ?? {})) {
      this.#metrics[name] = (this.#metrics[name] ?? 0) + value;
    }
    this.#end = turn.end;
    this.#tokens = acted;
    if (!turn.end) this.#read(turn, reader);
    if (this.#end) this.#closeRow();
  }

  /** The next observation: in a row of its own, or after what was read before if there is room. */
  #read(turn: Turn<S>, { encoder, memoryless }: Reader): void {
    const { task } = this.#request;
    if (memoryless) this.#closeRow();
    const next = memoryless
      ? readable(turn, task, encoder.promptTokens)
      : [...this.#tokens, ...nextTokens(turn, encoder, task)];
    if (next.length < encoder.maxLength) this.#tokens = next;
    else this.#end = { code: "context_full", terminated: false, details: {} };
  }

  #closeRow(): void {
    if (this.#actions.length === 0) return;
    this.#rows.push({ tokens: this.#tokens, actions: this.#actions });
    this.#actions = [];
  }

  finished(): Episode {
    return {
      task: this.#request.task,
      rows: this.#rows,
      generations: this.#generations,
      turnRewards: this.#turnRewards,
      reward: this.#reward,
      metrics: this.#metrics,
      end: this.#end as EpisodeEnd,
    };
  }
}

/** What a later observation adds to the row. */
function nextTokens(
  turn: Turn<unknown>,
  { chat, encode }: Engine["encoder"],
  task: Example,
): readonly number[] {
  if (chat) {
    throw usageError(
      "environments of several turns do not support chat templates yet",
      "Use a policy without a chat template, or an environment of one turn.",
    );
  }
  return readable(turn, task, encode);
}

/** The tokens of an observation; one that the policy cannot read is named. */
function readable(
  { observation }: Turn<unknown>,
  { id }: Example,
  encode: (text: string) => readonly number[],
): readonly number[] {
  const text = textOf(observation);
  try {
    return encode(text);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    const where = `in the observation "${visibleShort(text, 60)}" of ${id}`;
    throw dataError(`${where}: ${error.message}`, error.hint);
  }
}

function textOf(messages: readonly Message[]): string {
  return messages.map(({ content }) => content).join("");
}

/** Computes each value once: the completions of a group share their prompt. */
function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const value = known.get(text) ?? compute(text);
    known.set(text, value);
    return value;
  };
}

/** What the policy wrote in all turns. */
export function completionOf({ generations }: Pick<Episode, "generations">): string {
  return generations.map(({ completion }) => completion).join("\n");
}

type RewardedEpisode = Pick<Episode, "task" | "generations" | "reward" | "end">;

/** Training and validation need every reward: a broken scorer stops the run, it is never a zero. */
export function requireReward({ task, generations, reward, end }: RewardedEpisode): number {
  if (reward !== null) return reward;
  const { scorer = "environment", code = end.code, details = {} } = end.details as JsonObject;
  const text = completionOf({ generations });
  throw dataError(
    `the scorer ${scorer} gave no reward (${code}) for "${visibleShort(text, 40)}" on ${task.id}: ${visibleShort(JSON.stringify(details), 120)}`,
    code === INVALID_EXAMPLE
      ? "Give --scorer with a scorer that can read these examples, or correct them: nothing can be learned from one that it cannot read."
      : "Fix the scorer and start again: a broken scorer is never a zero, so nothing was learned from it.",
  );
}
