/** Trajectories for tests: episodes of scripted players, with tokens as a policy of characters has them. */

import type { Message } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { TokenRow } from "../core/token-row.ts";
import type { Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { playScripted, type ScriptedEpisode } from "../environments/episode.ts";
import { toolCalls } from "../environments/tool-calls/tool-calls.ts";
import { twenty48 } from "../environments/twenty48/twenty48.ts";

/** How a policy calls tools: as the text of its action, or by a call of the endpoint. */
export type Calls = "as text" | "native";

const tokensOf = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);

export function scripted(
  definition: AnyDefinition,
  player: (state: unknown, turn: number) => string,
  { index = 0, sample = 0, calls = "as text" as Calls } = {},
): Trajectory {
  const task = definition.tasks("dev")[index] as Example;
  const episode = playScripted(definition, task, sample, player);
  const { memoryless = false } = definition;
  const metrics = Object.assign({}, ...episode.turns.map((turn) => turn.metrics ?? {}));
  return {
    ...{ id: task.id, sample, address: [7, "episode", task.id, sample] },
    messages: messagesOf(episode, calls),
    segments: calls === "native" ? null : segmentsOf(episode, memoryless),
    reward: episode.reward,
    ...{ code: episode.end.code, terminated: episode.end.terminated },
    metrics: { ...metrics, turns: episode.actions.length },
    metadata: { ...(episode.end.details as JsonObject), player: "scripted" },
    logs: [`seed ${sample}`],
  };
}

function messagesOf(episode: ScriptedEpisode<unknown>, calls: Calls): TrajectoryMessage[] {
  const messages: TrajectoryMessage[] = [];
  for (const [i, turn] of episode.turns.entries()) {
    const action = i > 0 ? episode.actions[i - 1] : undefined;
    if (action !== undefined) messages.push(assistant(action, i, turn.reward, calls));
    for (const message of turn.observation) messages.push(observed(message, i, calls));
  }
  return messages;
}

function observed({ role, content }: Message, turn: number, calls: Calls): TrajectoryMessage {
  if (role === "tool") {
    return { role, content, ...(calls === "native" && { tool_call_id: `call_${turn}` }) };
  }
  return { role: role === "system" ? role : "user", content };
}

function assistant(
  content: string,
  turn: number,
  reward: number | null,
  calls: Calls,
): TrajectoryMessage {
  const tokens = tokensOf(content);
  const called = calls === "native" ? callIn(content) : undefined;
  return {
    role: "assistant",
    content,
    ...(called && {
      tool_calls: [{ id: `call_${turn}`, name: called.tool, arguments: called.arguments }],
    }),
    sampled: {
      token_ids: calls === "native" ? null : tokens,
      logprobs: calls === "native" ? null : tokens.map((_, i) => -(1 + (i % 8)) / 8),
      finish: called ? "tool_calls" : "stop",
      prompt_tokens: 12 * turn,
      completion_tokens: tokens.length,
    },
    reward,
  };
}

function callIn(text: string): { tool: string; arguments: JsonObject } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function segmentsOf(episode: ScriptedEpisode<unknown>, memoryless: boolean): TokenRow[] {
  const rows: { tokens: number[]; actions: [number, number][] }[] = [];
  for (const [i, action] of episode.actions.entries()) {
    if (memoryless || i === 0) rows.push({ tokens: [], actions: [] });
    const row = rows.at(-1) as (typeof rows)[number];
    for (const { content } of episode.turns[i]?.observation ?? [])
      row.tokens.push(...tokensOf(content));
    const from = row.tokens.length;
    row.tokens.push(...tokensOf(action));
    row.actions.push([from, row.tokens.length]);
  }
  return rows;
}

const gold = (definition: AnyDefinition) => definition.players.gold ?? definition.players.idle;

/** Several calls of tools with their replies, in one row of tokens. */
export const called = (index = 0, sample = 0): Trajectory =>
  scripted(toolCalls, gold(toolCalls), { index, sample });

/** The same, with the endpoint's own calls and without tokens. */
export const calledNatively = (index = 0, sample = 0): Trajectory =>
  scripted(toolCalls, gold(toolCalls), { index, sample, calls: "native" });

/** A game of which the policy sees only the last board: a row of tokens for each turn. */
export const game = (index = 0, sample = 0): Trajectory =>
  scripted(twenty48, (state, turn) => (turn < 3 ? gold(twenty48)(state) : "I do not know"), {
    index,
    sample,
  });

/** Nobody could score it. */
export const unscored = (trajectory: Trajectory): Trajectory => ({
  ...trajectory,
  messages: trajectory.messages.map((message) =>
    message.role === "assistant" ? { ...message, reward: null } : message,
  ),
  reward: null,
});
