/**
 * Somebody else's environment as the loops play it. The state is a place in a session: the server
 * holds the episode, so a step is only possible from its last turn.
 */

import {
  ENVIRONMENT_ERROR,
  type Environment,
  type EpisodeEnd,
  type Turn,
} from "../core/environment.ts";
import { dataError, usageError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { Rng } from "../core/rng.ts";
import { OUT_OF_TURNS } from "../environments/definition.ts";
import type { RemoteSettings } from "./address.ts";
import type { ActionReader } from "./remote-action.ts";
import { RemoteFailure } from "./remote-failure.ts";
import { type RemoteSession, VALIDATION_ERROR } from "./remote-session.ts";
import { type RemoteTurn, readTurn } from "./remote-turn.ts";
import type { SessionPool } from "./session-pool.ts";

/** The policy's answer was no action of this environment. */
const INVALID_ACTION = "invalid_action";
/** An episode that reached the reward that the address asks for. */
export const SOLVED = "solved";

/** The session of an episode, until it is over. */
interface Seat {
  session: RemoteSession | undefined;
}

/** An episode on a server. */
interface Episode {
  readonly task: Example;
  readonly seat: Seat;
  turns: number;
  total: number;
}

/** Where an episode stood after so many turns. */
export interface RemoteState {
  readonly episode: Episode;
  readonly turn: number;
}

export interface RemoteParts {
  readonly url: string;
  readonly identity: JsonObject;
  readonly memoryless: boolean;
  readonly settings: RemoteSettings;
  readonly actions: ActionReader;
  readonly pool: SessionPool;
}

export class RemoteEnvironment implements Environment<RemoteState> {
  readonly identity: JsonObject;
  readonly memoryless: boolean;
  readonly #parts: RemoteParts;
  /** Sets the session of an episode free that was neither ended nor left and cannot be played on. */
  readonly #forgotten: FinalizationRegistry<Seat>;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.memoryless = parts.memoryless;
    this.#forgotten = new FinalizationRegistry((seat) => this.#leave(seat));
  }

  get episodesAtOnce(): number {
    return this.#parts.pool.most;
  }

  async reset(task: Example, rng: Rng): Promise<Turn<RemoteState>> {
    const data = resetData(task, rng);
    const seat: Seat = { session: undefined };
    const episode: Episode = { task, seat, turns: 0, total: 0 };
    this.#forgotten.register(episode, seat);
    return this.#guarded(episode, async () => {
      const session = await this.#parts.pool.take();
      seat.session = session;
      const first = readTurn(await session.ask("reset", data));
      // A start has no reward in OpenEnv: nothing was done yet.
      return { ...first, reward: first.reward ?? 0 };
    });
  }

  step(batch: readonly { readonly state: RemoteState; readonly action: { text: string } }[]) {
    return Promise.all(batch.map(({ state, action }) => this.#step(state, action.text)));
  }

  leave({ episode }: RemoteState): void {
    this.#leave(episode.seat);
  }

  async #step({ episode, turn }: RemoteState, text: string): Promise<Turn<RemoteState>> {
    const { seat, task } = episode;
    if (turn !== episode.turns) {
      throw dataError(
        `${task.id} cannot be played again from turn ${turn}: the server holds the episode`,
        "Play it again from its reset.",
      );
    }
    episode.turns++;
    const read = this.#parts.actions.read(text);
    if ("problem" in read) return this.#invalid(episode, read.problem);
    return this.#guarded(episode, async () => {
      if (!seat.session) throw new RemoteFailure("has no session of this episode any more");
      try {
        const next = readTurn(await seat.session.ask("step", read.action));
        // Many servers give a reward at the end only; at the end, none is none.
        return next.end ? next : { ...next, reward: next.reward ?? 0 };
      } catch (error) {
        if (!(error instanceof RemoteFailure) || error.code !== VALIDATION_ERROR) throw error;
        return invalidTurn(error.message, this.#parts.settings.invalid);
      }
    });
  }

  #invalid(episode: Episode, problem: string): Turn<RemoteState> {
    return this.#turn(episode, invalidTurn(problem, this.#parts.settings.invalid));
  }

  /** Trouble with the server ends the episode without a reward, which is never a zero. */
  async #guarded(episode: Episode, ask: () => Promise<RemoteTurn>): Promise<Turn<RemoteState>> {
    try {
      return this.#turn(episode, await ask());
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
      // Whatever the server still sends belongs to an episode that is over.
      episode.seat.session?.close();
      const message = `${this.#parts.url} ${error.message}`;
      return this.#turn(episode, ended(ENVIRONMENT_ERROR, null, { message }));
    }
  }

  #turn(episode: Episode, { observation, reward, metrics, end: told }: RemoteTurn) {
    episode.total += reward ?? 0;
    const end = this.#solved(episode, reward, told) ?? this.#cutShort(episode);
    if (end) this.#leave(episode.seat);
    const state: RemoteState = { episode, turn: episode.turns };
    return { state, observation, reward, metrics, ...(end && { end }) };
  }

  #leave(seat: Seat): void {
    const { session } = seat;
    seat.session = undefined;
    if (session) this.#parts.pool.give(session);
  }

  #solved(episode: Episode, reward: number | null, end: EpisodeEnd | undefined) {
    const { solved } = this.#parts.settings;
    if (!end?.terminated || typeof solved !== "number" || reward === null) return end;
    return episode.total >= solved ? { ...end, code: SOLVED } : end;
  }

  #cutShort({ turns }: Episode): EpisodeEnd | undefined {
    if (turns < this.#parts.settings.turns) return undefined;
    return { code: OUT_OF_TURNS, terminated: false, details: { turns } };
  }
}

function invalidTurn(problem: string, reward: number | null): RemoteTurn {
  return ended(INVALID_ACTION, reward, { message: problem });
}

function ended(code: string, reward: number | null, details: JsonObject): RemoteTurn {
  return { observation: [], reward, metrics: {}, end: { code, terminated: false, details } };
}

/** A task is a place in a split of the server, or a seed. */
function resetData(task: Example, rng: Rng): JsonObject {
  const { split, index, seed } = task as unknown as Readonly<Record<string, Json | undefined>>;
  const drawn = rng.below(2 ** 32);
  if (typeof split === "string" && typeof index === "number") return { seed: drawn, split, index };
  if (typeof seed === "number") return { seed };
  throw usageError(
    `the task ${task.id} does not say which of the server's tasks it is`,
    "Leave out the data set, or write the server's tasks to files with `env tasks`.",
  );
}
