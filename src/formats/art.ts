/** Trajectory groups of ART (Agent Reinforcement Trainer): all episodes of a task are one line. */

import { z } from "zod";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { RolloutFailure, Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { type AssistantMessage, fromChat, toChat } from "./chat.ts";
import {
  decodeEpisode,
  type EpisodeCoding,
  encodeEpisode,
  OWN,
  type Place,
  type TrajectoryFormat,
  UNSAID,
} from "./format.ts";
import { openAiTool } from "./openai-tool.ts";
import { isCount, outcomeOf } from "./outcome.ts";
import { anything, parsed } from "./parsed.ts";
import { turnTokens } from "./turn-tokens.ts";

const choiceSchema = z.looseObject({
  finish_reason: z.string(),
  logprobs: z
    .looseObject({
      content: z.array(z.looseObject({ token: z.string(), logprob: z.number() })).nullish(),
    })
    .nullish(),
  message: anything,
});
const historySchema = z.looseObject({ messages_and_choices: z.array(anything) });
const trajectorySchema = historySchema.extend({
  additional_histories: z.array(historySchema).default([]),
  reward: z.number(),
  metrics: z.record(z.string(), z.union([z.number(), z.boolean()])).default({}),
  metadata: z
    .record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]))
    .default({}),
  logs: z.array(z.string()).default([]),
});
const groupSchema = z.looseObject({
  trajectories: z.array(z.record(z.string(), anything)),
  exceptions: z.array(z.looseObject({ type: z.string(), message: z.string() })).default([]),
  metadata: z.record(z.string(), anything).default({}),
});

const FINISH = ["stop", "length", "tool_calls", "content_filter", "function_call"];
/** The engines that ART trains with write a token so when it was asked for by number. */
const TOKEN = "token_id:";
/** The type of the exception that stands for an episode without a reward. */
const NO_REWARD = "no_reward";
/** Keys of the metadata that say what ART's fields have no place for. */
const SAID = ["task_id", "sample", "code", "terminated", OWN];

const coding: EpisodeCoding = {
  encode(trajectory, { tools }) {
    const { id, sample, code, terminated, reward, metrics, metadata, logs } = trajectory;
    const [first = [], ...others] = historiesOf(trajectory);
    const history = (messages: readonly TrajectoryMessage[]) => ({
      messages_and_choices: messages.map(messageOrChoice),
      tools: tools.length > 0 ? tools.map(openAiTool) : null,
    });
    return {
      ...history(first),
      additional_histories: others.map(history),
      reward,
      metrics,
      metadata: { ...scalars(metadata), task_id: id, sample, code, terminated },
      logs,
    };
  },

  decode(record: JsonObject, place: Place): Trajectory {
    const found = parsed(trajectorySchema, record, "not a Trajectory of ART");
    const { metadata } = found;
    const histories = [found, ...found.additional_histories];
    const items = histories.flatMap((history) => history.messages_and_choices);
    const given = Object.entries(metadata).filter(([key]) => !SAID.includes(key));
    const name = metadata.task_id ?? metadata.scenario_id ?? `line-${place.line}`;
    return {
      ...outcomeOf({ ...metadata, logs: found.logs }, String(name), place),
      messages: items.map((item, i) => messageFrom(item, `message ${i + 1}`)),
      segments: null,
      reward: found.reward,
      metrics: Object.fromEntries(
        Object.entries(found.metrics).map(([key, value]) => [key, Number(value)]),
      ),
      metadata: Object.fromEntries(given),
    };
  },

  withRest: (record, rest) => ({
    ...record,
    metadata: { ...(record.metadata as JsonObject), [OWN]: canonicalJson(rest) },
  }),
  restOf: ({ metadata }) => ownText(metadata as JsonObject | undefined),
};

/** The metadata of ART holds no lists and no objects, so the rest is a text. */
function ownText(metadata: Readonly<Record<string, unknown>> | undefined): unknown {
  const text = metadata?.[OWN];
  return typeof text === "string" ? JSON.parse(text) : undefined;
}

function scalars(metadata: JsonObject): JsonObject {
  const kept = Object.entries(metadata).filter(([, value]) => typeof value !== "object");
  return Object.fromEntries(kept);
}

/**
 * ART trains on each history by itself, so a policy that read only the last observation has a history
 * for each turn.
 */
function historiesOf(trajectory: Trajectory): (readonly TrajectoryMessage[])[] {
  const { messages } = trajectory;
  const tokens = turnTokens(trajectory);
  if (!tokens || tokens.length < 2 || !tokens.every(({ first }) => first)) return [messages];
  const histories: TrajectoryMessage[][] = [[]];
  let turns = 0;
  for (const message of messages) {
    histories.at(-1)?.push(message);
    if (message.role === "assistant" && ++turns < tokens.length) histories.push([]);
  }
  return histories;
}

function messageOrChoice(message: TrajectoryMessage): Json {
  if (message.role !== "assistant") return toChat(message, "text");
  const { finish } = message.sampled;
  return {
    finish_reason: FINISH.includes(finish) ? finish : "stop",
    index: 0,
    logprobs: logprobsOf(message),
    message: toChat(message, "text"),
  };
}

/** Token ids and log-probs, where both are known. */
function logprobsOf({ sampled: { token_ids, logprobs } }: AssistantMessage): Json {
  if (!token_ids || token_ids.length !== logprobs?.length) return null;
  const content = token_ids.map((id, i) => ({
    ...{ token: `${TOKEN}${id}`, bytes: null, logprob: logprobs[i] as number, top_logprobs: [] },
  }));
  return { content, refusal: null };
}

/** A choice is a turn of the policy; a message of the role assistant without one was given to it. */
function messageFrom(item: unknown, where: string): TrajectoryMessage {
  if (typeof item !== "object" || item === null || !("message" in item)) {
    return fromChat(item, where);
  }
  const { finish_reason: finish, logprobs, message } = parsed(choiceSchema, item, where);
  const content = logprobs?.content ?? undefined;
  const ids = content?.map(({ token }) => tokenId(token));
  const known = ids?.every((id) => id !== undefined) ? ids : undefined;
  return fromChat(message, where, {
    sampled: {
      token_ids: known ?? null,
      logprobs: content?.map(({ logprob }) => logprob) ?? null,
      finish,
      prompt_tokens: null,
      completion_tokens: content?.length ?? null,
    },
  });
}

function tokenId(token: string): number | undefined {
  const id = token.startsWith(TOKEN) ? Number(token.slice(TOKEN.length)) : undefined;
  return isCount(id) ? id : undefined;
}

/** What ART has no place for in a group, so that it can be read back. */
interface OwnPart {
  readonly failed: readonly number[];
  /** ART needs a number as reward: these are exceptions there, and never zeros. */
  readonly unscored: readonly Trajectory[];
}

function noReward({ sample, code }: Trajectory): JsonObject {
  const message = `sample ${sample} ended with ${code} and has no reward`;
  return { type: NO_REWARD, message, traceback: "" };
}

function failuresIn(
  { exceptions, trajectories }: z.infer<typeof groupSchema>,
  own: OwnPart | undefined,
  id: string,
): RolloutFailure[] {
  return exceptions
    .slice(0, exceptions.length - (own?.unscored.length ?? 0))
    .map(({ type, message }, i) => ({
      ...{ id, sample: own?.failed[i] ?? trajectories.length + i, type, message },
    }));
}

export const art: TrajectoryFormat = {
  name: "art",
  about: "trajectory groups of ART, one task a line",
  grouped: true,
  holdsFailures: true,
  missing: `outcome code ("${UNSAID.code}"), whether the episode ended (no), rewards of single turns, and the address of randomness (none)`,
  write({ id, trajectories, failures }, context) {
    const scored = trajectories.filter(({ reward }) => reward !== null);
    const unscored = trajectories.filter(({ reward }) => reward === null);
    const own = { failed: failures.map(({ sample }) => sample), unscored };
    const thrown = failures.map(({ type, message }) => ({ type, message, traceback: "" }));
    const needed = failures.length > 0 || unscored.length > 0;
    return [
      {
        trajectories: scored.map((trajectory) => encodeEpisode(coding, trajectory, context)),
        exceptions: [...thrown, ...unscored.map(noReward)],
        metadata: { task_id: id, ...(needed && { [OWN]: canonicalJson(own) }) },
        metrics: {},
        logs: [],
      },
    ];
  },
  read(record, place) {
    const group = parsed(groupSchema, record, "not a TrajectoryGroup of ART");
    const own = ownText(group.metadata) as OwnPart | undefined;
    const task = String(group.metadata.task_id ?? `line-${place.line}`);
    const decoded = group.trajectories.map((one, i) => named(one as JsonObject, i, place));
    const unscored = own?.unscored ?? [];
    const all = [...decoded.map(({ trajectory }) => trajectory), ...unscored];
    return {
      trajectories: all.sort((a, b) => a.sample - b.sample),
      failures: failuresIn(group, own, task),
      foreign: decoded.filter(({ foreign }) => foreign).length,
    };
  },
};

/** The error of a bad trajectory says which of the group it is. */
function named(record: JsonObject, i: number, place: Place) {
  try {
    return decodeEpisode(coding, record, place);
  } catch (error) {
    throw new TypeError(`trajectory ${i + 1} of the group: ${(error as Error).message}`);
  }
}
