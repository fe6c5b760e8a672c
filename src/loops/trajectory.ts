/** An episode as a trajectory: the conversation, the sampled tokens, the rewards. */

import type { Reply } from "../core/actor.ts";
import type { Message } from "../core/environment.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import type { Example } from "../core/records.ts";
import type {
  SampledTurn,
  ToolCall,
  Trajectory,
  TrajectoryGroup,
  TrajectoryMessage,
} from "../core/trajectory.ts";
import type { Episode, EpisodeRequest } from "./play.ts";

/** One of the episodes of a task. */
export interface TaskEpisode extends EpisodeRequest {
  readonly sample: number;
}

export function trajectoryOf(
  { task, sample, address }: TaskEpisode,
  episode: Episode,
  preamble: readonly Message[],
): Trajectory {
  const { generations: replies, rows, reward, metrics, end } = episode;
  return {
    id: task.id,
    sample,
    address,
    messages: messagesOf(episode, preamble),
    segments: rows.length === 0 ? null : rows,
    reward,
    code: end.code,
    terminated: end.terminated,
    metrics: { ...metrics, turns: replies.length },
    metadata: { prompt_fingerprint: promptFingerprint(task.prompt), details: end.details },
    logs: replies.flatMap((reply, turn) =>
      logsOf(reply).map((line) => `turn ${turn + 1}: ${line}`),
    ),
  };
}

function messagesOf(episode: Episode, preamble: readonly Message[]): TrajectoryMessage[] {
  const { observations, generations, turnRewards } = episode;
  const read = [...preamble, ...(observations[0] ?? [])].map((one) => readMessage(one, undefined));
  const turns = generations.flatMap((reply, turn): TrajectoryMessage[] => [
    {
      ...{ role: "assistant", content: reply.completion },
      ...(reply.tool_calls && { tool_calls: reply.tool_calls }),
      ...{ sampled: sampledTurn(reply), reward: turnRewards[turn] ?? null },
    },
    ...(observations[turn + 1] ?? []).map((one) => readMessage(one, reply.tool_calls)),
  ]);
  return [...read, ...turns];
}

/** The result of a tool names the call that it answers. */
function readMessage(
  { role, content }: Message,
  calls: readonly ToolCall[] | undefined,
): TrajectoryMessage {
  if (role === "tool") {
    const [call] = calls ?? [];
    return { role, content, ...(call && { tool_call_id: call.id }) };
  }
  // Only the policy writes as the assistant: those messages are its actions.
  return { role: role === "assistant" ? "user" : role, content };
}

function sampledTurn(reply: Reply): SampledTurn {
  const { tokens, logprobs, sampled_logprobs, usage_missing: uncounted } = reply;
  return {
    token_ids: tokens ?? null,
    logprobs,
    ...(sampled_logprobs && { sampled_logprobs }),
    finish: reply.finish_reason ?? reply.finish,
    prompt_tokens: uncounted ? null : reply.prompt_tokens,
    completion_tokens: uncounted ? null : reply.completion_tokens,
  };
}

const REFUSAL = "refusal: ";

/** What the endpoint said when it refused this turn, counted from 0; undefined where it did not. */
export function refusalOf({ logs }: Trajectory, turn: number): string | undefined {
  const start = `turn ${turn + 1}: ${REFUSAL}`;
  return logs.find((line) => line.startsWith(start))?.slice(start.length);
}

function logsOf({ said, refusal, logs = [] }: Reply): string[] {
  return [
    ...(said === undefined ? [] : [`text beside the call: ${said}`]),
    ...(refusal === undefined ? [] : [`${REFUSAL}${refusal}`]),
    ...logs,
  ];
}

/** Trajectories and failures of each task, in the order of the tasks and of their samples. */
export function groupsOf(
  tasks: readonly Example[],
  groups: Pick<TrajectoryGroup, "trajectories" | "failures">,
): TrajectoryGroup[] {
  const of = <T extends { readonly id: string; readonly sample: number }>(all: readonly T[]) => {
    const byTask = new Map<string, T[]>();
    for (const one of all) byTask.set(one.id, [...(byTask.get(one.id) ?? []), one]);
    return (id: string) => (byTask.get(id) ?? []).toSorted((a, b) => a.sample - b.sample);
  };
  const [trajectories, failures] = [of(groups.trajectories), of(groups.failures)];
  return tasks.map(({ id }) => ({ id, trajectories: trajectories(id), failures: failures(id) }));
}
