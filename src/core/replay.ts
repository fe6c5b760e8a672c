/**
 * Plays recorded actions again. An environment keeps no state and draws at the recorded address, so the
 * same actions give the same observations, rewards and end: a record that says otherwise is not true.
 */

import {
  CONTEXT_FULL,
  ENVIRONMENT_ERROR,
  type Environment,
  type EpisodeEnd,
  type Message,
  type Turn,
} from "./environment.ts";
import { type EpisodeAddress, environmentRng } from "./episode-address.ts";
import { EpisodeSum } from "./episode-sum.ts";
import { canonicalJson } from "./json.ts";
import type { Example } from "./records.ts";
import type { Trajectory, TrajectoryMessage } from "./trajectory.ts";

type Assistant = Extract<TrajectoryMessage, { role: "assistant" }>;

/** A message without how it was sampled. */
export type EpisodeMessage =
  | Exclude<TrajectoryMessage, { role: "assistant" }>
  | Omit<Assistant, "sampled">;

/** What a record says of an episode. */
export type RecordedEpisode = Pick<
  Trajectory,
  "address" | "reward" | "code" | "terminated" | "metrics"
> & { readonly messages: readonly EpisodeMessage[] };

/** What the environment says to the recorded actions. */
export interface Replayed {
  /** What it showed before the first action, then after each. */
  readonly observations: readonly (readonly Message[])[];
  /** Of each action; that of the start belongs to the first. */
  readonly turnRewards: readonly (number | null)[];
  /** The sum; null when one could not be computed. */
  readonly reward: number | null;
  /** Summed over the turns; `turns` is the number of actions. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Undefined where the actions do not bring the episode to its end. */
  readonly end: EpisodeEnd | undefined;
}

export interface ReplayRequest {
  readonly task: Example;
  readonly address: EpisodeAddress;
  readonly actions: readonly string[];
}

export function replayRequest(
  task: Example,
  { address, messages }: Pick<RecordedEpisode, "address" | "messages">,
): ReplayRequest {
  return { task, address, actions: actionsOf(messages) };
}

/** What the policy did, a text for each turn. */
export function actionsOf(messages: readonly EpisodeMessage[]): string[] {
  return messages.flatMap((one) => (one.role === "assistant" ? [one.content] : []));
}

/** Episodes are independent, so as many are played together as the environment takes. */
export async function replayEpisodes(
  environment: Environment,
  requests: readonly ReplayRequest[],
): Promise<Replayed[]> {
  const most = Math.max(1, environment.episodesAtOnce ?? requests.length);
  const replayed: Replayed[] = [];
  for (let from = 0; from < requests.length; from += most)
    replayed.push(...(await replayTogether(environment, requests.slice(from, from + most))));
  return replayed;
}

async function replayTogether(
  environment: Environment,
  requests: readonly ReplayRequest[],
): Promise<Replayed[]> {
  const running = await Promise.all(
    requests.map(async ({ task, address, actions }) => ({
      actions,
      sum: new EpisodeSum(await environment.reset(task, environmentRng(address))),
    })),
  );
  for (;;) {
    const playing = running.flatMap(({ sum, actions }) => {
      const text = actions[sum.turnRewards.length];
      return sum.turn.end || text === undefined ? [] : [{ sum, text }];
    });
    if (playing.length === 0) break;
    const steps = playing.map(({ sum, text }) => ({ state: sum.turn.state, action: { text } }));
    const turns = await environment.step(steps);
    for (const [i, { sum }] of playing.entries()) sum.add(turns[i] as Turn<unknown>);
  }
  // One that was cut short would go on.
  for (const { sum } of running) if (!sum.turn.end) environment.leave?.(sum.turn.state);
  return running.map(({ sum }) => replayedOf(sum));
}

function replayedOf({ observations, turnRewards, reward, metrics, turn }: EpisodeSum): Replayed {
  return {
    ...{ observations, turnRewards, reward, end: turn.end },
    metrics: { ...metrics, turns: turnRewards.length },
  };
}

/** The first thing that a record says otherwise than the environment. */
export interface Disagreement {
  /** From 1; 0 before the first action; undefined of the episode as a whole. */
  readonly turn: number | undefined;
  readonly what: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** Whether the environment broke, then or now: the episode has no reward, whatever a record says. */
export function isBroken({ code }: Pick<RecordedEpisode, "code">, { end }: Replayed): boolean {
  return code === ENVIRONMENT_ERROR || end?.code === ENVIRONMENT_ERROR;
}

/** Undefined where the record says what the environment says. */
export function disagreement(
  recorded: RecordedEpisode,
  replayed: Replayed,
): Disagreement | undefined {
  return ofTurns(recorded, replayed) ?? ofEnd(recorded, replayed);
}

function ofTurns({ messages }: RecordedEpisode, replayed: Replayed): Disagreement | undefined {
  const { opening, turns } = turnsOf(messages);
  const first = ofMessages(0, withoutOwnSystem(opening, replayed), replayed.observations[0] ?? []);
  if (first) return first;
  for (const [i, { action, observed }] of turns.entries()) {
    const turn = i + 1;
    const reward = replayed.turnRewards[i];
    if (reward === undefined)
      return { turn, what: "turn", recorded: "a turn", replayed: "the episode had ended" };
    if (action.reward !== reward)
      return { turn, what: "reward", recorded: shown(action.reward), replayed: shown(reward) };
    // What follows the last action is read by nobody, and need not be recorded.
    if (turn === turns.length && observed.length === 0) continue;
    const differing = ofMessages(turn, observed, replayed.observations[turn] ?? []);
    if (differing) return differing;
  }
  return undefined;
}

function ofEnd(recorded: RecordedEpisode, replayed: Replayed): Disagreement | undefined {
  const { end } = replayed;
  // A full context is the policy's limit: the environment would have gone on.
  const expected = end ?? { code: CONTEXT_FULL, terminated: false };
  const pairs: readonly (readonly [what: string, recorded: unknown, replayed: unknown])[] = [
    ["code", recorded.code, expected.code],
    ["terminated", recorded.terminated, expected.terminated],
    ["reward", recorded.reward, replayed.reward],
    ...Object.entries(replayed.metrics)
      .filter(([name]) => name !== "turns" || Object.hasOwn(recorded.metrics, name))
      .map(([name, value]) => [`metric ${name}`, recorded.metrics[name] ?? null, value] as const),
  ];
  const other = pairs.find(([, said, is]) => said !== is);
  if (!other) return undefined;
  const [what, said, is] = other;
  const unfinished = what === "code" && !end;
  return {
    turn: undefined,
    what,
    recorded: shown(said),
    replayed: unfinished ? "the episode had not ended" : shown(is),
  };
}

interface RecordedTurn {
  readonly action: Extract<EpisodeMessage, { role: "assistant" }>;
  readonly observed: Exclude<EpisodeMessage, { role: "assistant" }>[];
}

function turnsOf(messages: readonly EpisodeMessage[]) {
  const opening: RecordedTurn["observed"] = [];
  const turns: RecordedTurn[] = [];
  for (const message of messages) {
    if (message.role === "assistant") turns.push({ action: message, observed: [] });
    else (turns.at(-1)?.observed ?? opening).push(message);
  }
  return { opening, turns };
}

/** A rollout may put a system prompt of its own before what the environment shows. */
function withoutOwnSystem<M extends { readonly role: string }>(
  opening: readonly M[],
  { observations }: Replayed,
): readonly M[] {
  const more = opening.length - (observations[0]?.length ?? 0);
  const own = opening.findIndex(({ role }) => role !== "system");
  return opening.slice(Math.max(0, Math.min(more, own === -1 ? opening.length : own)));
}

function ofMessages(
  turn: number,
  recorded: readonly { readonly role: string; readonly content: string }[],
  replayed: readonly Message[],
): Disagreement | undefined {
  const longest = Math.max(recorded.length, replayed.length);
  for (let i = 0; i < longest; i++) {
    const [said, is] = [recorded[i], replayed[i]];
    // The answer to a native call has the role tool, whatever the environment calls it.
    const sameRole = said?.role === is?.role || said?.role === "tool";
    if (said && is && sameRole && said.content === is.content) continue;
    return { turn, what: "message", recorded: messageText(said), replayed: messageText(is) };
  }
  return undefined;
}

function messageText(message: { readonly role: string; readonly content: string } | undefined) {
  return message ? `${message.role}: ${message.content}` : "no message";
}

const shown = (value: unknown) => canonicalJson(value ?? null);
