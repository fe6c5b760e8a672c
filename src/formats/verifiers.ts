/** `traces.jsonl` of verifiers v1: one Episode a line, its messages as nodes of a graph. */

import { z } from "zod";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { RolloutFailure, Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { type AssistantMessage, fromChat, spokenText, toChat } from "./chat.ts";
import {
  decodeEpisode,
  type EpisodeCoding,
  type ExportContext,
  encodeEpisode,
  OWN,
  type Place,
  type TrajectoryFormat,
  UNSAID,
} from "./format.ts";
import { episodeName, outcomeFields, outcomeOf, sampleIn } from "./outcome.ts";
import { anything, parsed } from "./parsed.ts";
import { type TurnTokens, turnTokens } from "./turn-tokens.ts";

const count = z.int().min(0);
const nodeSchema = z.looseObject({
  parent: count.nullish(),
  message: anything,
  sampled: z.boolean().optional(),
  token_ids: z.array(count).default([]),
  mask: z.array(z.boolean()).default([]),
  logprobs: z.array(z.number()).default([]),
});
const traceSchema = z.looseObject({
  nodes: z.array(nodeSchema).default([]),
  calls: z
    .array(
      z.looseObject({
        node: count.nullish(),
        finish_reason: z.string().nullish(),
        usage: z.looseObject({ prompt_tokens: count, completion_tokens: count }).nullish(),
      }),
    )
    .default([]),
  rewards: z
    .record(
      z.string(),
      z.looseObject({ score: z.number(), weight: z.number().default(1) }).nullable(),
    )
    .default({}),
  metrics: z.record(z.string(), z.number().nullable()).default({}),
  is_completed: z.boolean().optional(),
  stop_condition: z.string().nullish(),
  info: z.record(z.string(), anything).default({}),
});
const episodeSchema = z.looseObject({
  id: z.string(),
  task: z.looseObject({
    data: z.looseObject({
      id: z.string().nullish(),
      idx: count.nullish(),
      name: z.string().nullish(),
    }),
    key: z.string().nullish(),
  }),
  errors: z.array(z.looseObject({ type: z.string(), message: z.string() })).default([]),
  traces: z.array(traceSchema).default([]),
});

type Trace = z.infer<typeof traceSchema>;
type Node = z.infer<typeof nodeSchema>;

/** The stop conditions by which verifiers knows an episode that was cut short. */
const CUT_SHORT = new Map([
  ["out_of_turns", "max_turns"],
  ["context_full", "max_total_tokens"],
]);
const FINISH = ["stop", "length", "tool_calls"];
/** Where nobody scored: a rewards entry that is null. */
const REWARD = "reward";
const TASK_TYPE = "Task";

const coding: EpisodeCoding = {
  encode(trajectory, context) {
    const { code, terminated, reward, metrics } = trajectory;
    const { tools, policy } = context;
    const nodes = nodesOf(trajectory);
    const trace = {
      version: 1,
      id: episodeName(trajectory),
      task: taskOf(trajectory),
      agent: { config: { ...(policy !== null && { model: policy }) }, name: "agent" },
      tools: tools.map((tool) => ({ type: "function", ...tool })),
      nodes,
      calls: callsOf(trajectory, policy),
      rewards: { [REWARD]: reward === null ? null : { score: reward, weight: 1 } },
      metrics,
      info: outcomeFields(trajectory),
      is_completed: true,
      ok: true,
      stop_condition: terminated ? code : (CUT_SHORT.get(code) ?? code),
      errors: [],
    };
    return {
      ...frame(trajectory, context, taskOf(trajectory)),
      ok: true,
      errors: [],
      traces: [trace],
    };
  },

  decode(record: JsonObject, place: Place): Trajectory {
    const { trace, name } = onlyTrace(record, place);
    const { nodes, info, metrics } = trace;
    const rewards = Object.values(trace.rewards);
    const unscored = rewards.length === 0 || rewards.includes(null);
    return {
      ...outcomeOf({ ...endOf(trace), ...info }, name, place),
      messages: nodes.map((node, i) => nodeMessage(node, i, trace)),
      segments: segmentsOf(nodes),
      reward: unscored
        ? null
        : rewards.reduce((sum, part) => sum + (part?.score ?? 0) * (part?.weight ?? 0), 0),
      metrics: Object.fromEntries(
        Object.entries(metrics).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
      ),
    };
  },

  withRest(record, rest) {
    const [trace] = record.traces as readonly JsonObject[];
    const info = { ...(trace?.info as JsonObject), [OWN]: rest };
    return { ...record, traces: [{ ...trace, info }] };
  },
  restOf({ traces }) {
    const trace = Array.isArray(traces) ? traces[0] : undefined;
    return isFields(trace) && isFields(trace.info) ? trace.info[OWN] : undefined;
  },
};

/** What an episode has whether or not there is a trace of it. */
function frame(
  episode: { id: string; sample: number },
  { environment }: ExportContext,
  task: JsonObject,
): JsonObject {
  return {
    id: episodeName(episode),
    env: { id: environment ?? "" },
    task,
    group: { id: episode.id },
    is_timeout: false,
  };
}

function taskOf({ id, messages }: { id: string; messages: readonly TrajectoryMessage[] }) {
  const turn = messages.findIndex(({ role }) => role === "assistant");
  const opening = messages.slice(0, turn < 0 ? messages.length : turn);
  const system = opening.find(({ role }) => role === "system");
  const prompt = opening.filter(({ role }) => role === "user").map(({ content }) => content);
  return {
    type: TASK_TYPE,
    data: {
      ...{ id, name: id },
      ...(prompt.length > 0 && { prompt: prompt.join("\n\n") }),
      ...(system && { system_prompt: system.content }),
    },
    key: id,
  };
}

/**
 * Each turn's node holds the tokens that were read since the turn before it, and then its own: where
 * one message ends and the next begins among those that were read is not known. A row of tokens is a
 * path from a root, so the turns of a policy that reads only the last observation are paths apart.
 */
function nodesOf(trajectory: Trajectory): JsonObject[] {
  const tokens = turnTokens(trajectory);
  let turn = 0;
  return trajectory.messages.map((message, i) => {
    const begins = i === 0 || (startsRow(trajectory.messages, i) && tokens?.[turn]?.first === true);
    const node = { parent: begins ? null : i - 1, message: nodeChat(message) };
    if (message.role !== "assistant") return { ...node, sampled: false };
    return { ...node, sampled: true, ...tokenFields(message, tokens?.[turn++]) };
  });
}

/** The first message after a turn. */
function startsRow(messages: readonly TrajectoryMessage[], i: number): boolean {
  return messages[i - 1]?.role === "assistant";
}

function tokenFields({ sampled }: AssistantMessage, tokens: TurnTokens | undefined): JsonObject {
  if (!tokens) return { token_ids: [], mask: [], logprobs: [] };
  const { read, written } = tokens;
  return {
    token_ids: [...read, ...written],
    mask: [...read.map(() => false), ...written.map(() => true)],
    logprobs: sampled.logprobs?.length === written.length ? sampled.logprobs : [],
  };
}

function nodeChat(message: TrajectoryMessage): JsonObject {
  const { role } = message;
  if (role !== "assistant") return toChat(message, "text");
  const calls = message.tool_calls?.map((call) => ({
    ...{ id: call.id, type: "function", name: call.name },
    arguments: canonicalJson(call.arguments),
  }));
  return { role, content: spokenText(message), ...(calls && { tool_calls: calls }) };
}

function callsOf({ messages }: Trajectory, model: string | null): Json[] {
  return messages.flatMap((message, node) => {
    if (message.role !== "assistant") return [];
    const { finish, prompt_tokens, completion_tokens } = message.sampled;
    return {
      node,
      ...(model !== null && { model }),
      ...(FINISH.includes(finish) && { finish_reason: finish }),
      ...(prompt_tokens !== null &&
        completion_tokens !== null && { usage: { prompt_tokens, completion_tokens } }),
    };
  });
}

function onlyTrace(record: JsonObject, place: Place): { trace: Trace; name: string } {
  const episode = parsed(episodeSchema, record, "not an Episode of verifiers");
  const [trace, ...more] = episode.traces;
  if (!trace || more.length > 0) {
    throw new TypeError(
      `the episode has ${episode.traces.length} traces; one of a single agent is needed`,
    );
  }
  return { trace, name: taskName(episode.task, place) };
}

function taskName({ data, key }: z.infer<typeof episodeSchema>["task"], place: Place): string {
  const index = typeof data.idx === "number" ? `task-${data.idx}` : undefined;
  return data.id ?? key ?? index ?? data.name ?? `line-${place.line}`;
}

/** How verifiers says that an episode ended. */
function endOf({ is_completed, stop_condition: code }: Trace): JsonObject {
  const cut = [...CUT_SHORT.values()].includes(code ?? "");
  return { terminated: is_completed === true && !cut, code: code ?? UNSAID.code };
}

function nodeMessage(node: Node, i: number, { calls }: Trace): TrajectoryMessage {
  const where = `node ${i}`;
  if (node.parent !== undefined && node.parent !== null && node.parent !== i - 1) {
    throw new TypeError(
      `the trace branches: ${where} follows node ${node.parent}; only conversations without branches can be imported`,
    );
  }
  const call = calls.find((one) => one.node === i);
  const written = node.token_ids.filter((_, at) => node.mask[at] === true);
  const sampled = {
    token_ids: node.token_ids.length > 0 ? written : null,
    logprobs:
      node.token_ids.length > 0 && node.logprobs.length === written.length ? node.logprobs : null,
    finish: call?.finish_reason ?? UNSAID.finish,
    prompt_tokens: call?.usage?.prompt_tokens ?? null,
    completion_tokens: call?.usage?.completion_tokens ?? null,
  };
  return fromChat(node.message, where, { sampled });
}

/** The tokens along each path from a root; null where a turn has none. */
function segmentsOf(nodes: readonly Node[]): Trajectory["segments"] {
  const rows: { tokens: number[]; actions: [number, number][] }[] = [];
  for (const [i, { parent, token_ids, mask, sampled }] of nodes.entries()) {
    if (i === 0 || parent === null || parent === undefined) rows.push({ tokens: [], actions: [] });
    if (sampled && token_ids.length === 0) return null;
    const row = rows.at(-1) as (typeof rows)[number];
    const from = row.tokens.length + mask.indexOf(true);
    row.tokens.push(...token_ids);
    const written = mask.filter((own) => own).length;
    if (written > 0) row.actions.push([from, from + written]);
  }
  return rows.some(({ actions }) => actions.length > 0) ? rows : null;
}

function failedEpisode(failure: RolloutFailure, context: ExportContext): JsonObject {
  const { id, type, message } = failure;
  const task = taskOf({ id, messages: [] });
  return { ...frame(failure, context, task), ok: false, errors: [{ type, message }], traces: [] };
}

export const verifiers: TrajectoryFormat = {
  name: "verifiers",
  about: "traces.jsonl of verifiers v1, one episode a line",
  grouped: false,
  holdsFailures: true,
  missing:
    "rewards of single turns, logs, and the address of randomness (none); the outcome code is the stop condition",
  write: ({ trajectories, failures }, context) => [
    ...trajectories.map((trajectory) => encodeEpisode(coding, trajectory, context)),
    ...failures.map((failure) => failedEpisode(failure, context)),
  ],
  read(record, place) {
    const {
      id: name,
      errors,
      traces,
      task,
    } = parsed(episodeSchema, record, "not an Episode of verifiers");
    if (traces.length > 0) {
      const { trajectory, foreign } = decodeEpisode(coding, record, place);
      return { trajectories: [trajectory], failures: [], foreign: Number(foreign) };
    }
    const id = taskName(task, place);
    const { type, message } = errors.at(-1) ?? { type: "unknown", message: "there is no trace" };
    const sample = sampleIn(name) ?? place.nextSample(id);
    return { trajectories: [], failures: [{ id, sample, type, message }], foreign: 0 };
  },
};
