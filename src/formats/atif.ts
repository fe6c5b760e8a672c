/**
 * ATIF, the Agent Trajectory Interchange Format of Harbor. A document is one trajectory; a file of
 * ours holds one document a line.
 */

import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { type AssistantMessage, actionText, callsOf, contentOf, spokenText } from "./chat.ts";
import { type EpisodeCoding, episodeFormat, OWN, type Place, UNSAID } from "./format.ts";
import { openAiTool } from "./openai-tool.ts";
import { episodeName, outcomeFields, outcomeOf } from "./outcome.ts";
import { anything, numbers, parsed, someNumbers } from "./parsed.ts";
import { rowsOf, type TurnTokens, turnsOf, turnTokens } from "./turn-tokens.ts";

/** The first version with a place for the tools. */
const VERSION = "ATIF-v1.5";

const count = z.int().min(0);
const metricsSchema = z.looseObject({
  prompt_tokens: count.nullish(),
  completion_tokens: count.nullish(),
  prompt_token_ids: someNumbers,
  completion_token_ids: someNumbers,
  logprobs: someNumbers,
  extra: z.looseObject({ reward: z.number().nullish(), finish: z.string().optional() }).nullish(),
});

const stepSchema = z.looseObject({
  source: z.string(),
  message: anything,
  tool_calls: anything,
  observation: z
    .looseObject({
      results: z.array(z.looseObject({ source_call_id: z.string().nullish(), content: anything })),
    })
    .nullish(),
  metrics: metricsSchema.nullish(),
});

const documentSchema = z.looseObject({
  schema_version: z.string().startsWith("ATIF-v1."),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  steps: z.array(stepSchema),
  final_metrics: z
    .looseObject({
      extra: z.looseObject({ reward: z.number().nullish(), metrics: numbers.optional() }).nullish(),
    })
    .nullish(),
  extra: anything,
});

type Step = z.infer<typeof stepSchema>;

const coding: EpisodeCoding = {
  encode(trajectory, { tools, environment, policy, version }) {
    const { messages, reward, metrics } = trajectory;
    const steps = stepsOf(messages, turnTokens(trajectory));
    return {
      schema_version: VERSION,
      session_id: episodeName(trajectory),
      agent: {
        ...{ name: "lockedroom", version },
        ...(policy !== null && { model_name: policy }),
        ...(tools.length > 0 && { tool_definitions: tools.map(openAiTool) }),
        ...(environment !== null && { extra: { environment } }),
      },
      steps: steps.map((step, i) => ({ step_id: i + 1, ...step })),
      final_metrics: {
        ...total(trajectory, "prompt_tokens"),
        ...total(trajectory, "completion_tokens"),
        total_steps: steps.length,
        extra: { reward, metrics },
      },
      extra: outcomeFields(trajectory),
    };
  },

  decode(record: JsonObject, place: Place): Trajectory {
    const found = parsed(documentSchema, record, "not an ATIF document");
    const name = found.session_id ?? found.trajectory_id ?? `line-${place.line}`;
    const { reward = null, metrics = {} } = found.final_metrics?.extra ?? {};
    return {
      ...outcomeOf(found.extra, name, place),
      messages: found.steps.flatMap(messagesOf),
      segments: segmentsOf(found.steps),
      reward,
      metrics,
    };
  },

  withRest: (record, rest) => ({
    ...record,
    extra: { ...(record.extra as JsonObject), [OWN]: rest },
  }),
  restOf: ({ extra }) => (isFields(extra) ? extra[OWN] : undefined),
};

/** A sum is stated only where every turn has its number. */
function total(trajectory: Trajectory, name: "prompt_tokens" | "completion_tokens"): JsonObject {
  const counts = turnsOf(trajectory).map(({ sampled }) => sampled[name]);
  if (counts.includes(null)) return {};
  return { [`total_${name}`]: counts.reduce<number>((sum, n) => sum + (n ?? 0), 0) };
}

interface GrowingStep {
  readonly [key: string]: Json | undefined;
  observation?: { results: Json[] };
}

/** A tool's reply belongs to the step before it. */
function stepsOf(
  messages: readonly TrajectoryMessage[],
  tokens: readonly TurnTokens[] | undefined,
): JsonObject[] {
  const steps: GrowingStep[] = [];
  let turn = 0;
  for (const message of messages) {
    if (message.role === "assistant") steps.push(agentStep(message, tokens?.[turn++]));
    else if (message.role !== "tool") {
      steps.push({ source: message.role, message: message.content });
    } else {
      const last = steps.at(-1);
      const step = last?.source === "agent" || last?.observation ? last : afterNothing(steps);
      const calls = (step.tool_calls ?? []) as { tool_call_id: string }[];
      const answered = calls.some((call) => call.tool_call_id === message.tool_call_id);
      step.observation ??= { results: [] };
      step.observation.results.push({
        ...(answered && { source_call_id: message.tool_call_id }),
        content: message.content,
      });
    }
  }
  return steps;
}

/** A reply that no turn asked for. */
function afterNothing(steps: GrowingStep[]): GrowingStep {
  const step: GrowingStep = { source: "system", message: "" };
  steps.push(step);
  return step;
}

function agentStep(message: AssistantMessage, tokens: TurnTokens | undefined): GrowingStep {
  const { tool_calls: calls, sampled, reward } = message;
  const { prompt_tokens, completion_tokens, token_ids, logprobs, finish } = sampled;
  return {
    source: "agent",
    message: spokenText(message),
    ...(calls && {
      tool_calls: calls.map((call) => ({
        ...{ tool_call_id: call.id, function_name: call.name, arguments: call.arguments },
      })),
    }),
    metrics: {
      ...(prompt_tokens !== null && { prompt_tokens }),
      ...(completion_tokens !== null && { completion_tokens }),
      ...(tokens && { prompt_token_ids: tokens.prompt }),
      ...(token_ids && { completion_token_ids: token_ids }),
      ...(logprobs && { logprobs }),
      extra: { reward, finish },
    },
  };
}

function messagesOf(step: Step, index: number): TrajectoryMessage[] {
  const where = `step ${index + 1}`;
  const content = contentOf(step.message, where);
  const replies = (step.observation?.results ?? []).map((result): TrajectoryMessage => {
    const { source_call_id: id } = result;
    const reply = contentOf(result.content, `the observation of ${where}`);
    return { role: "tool", content: reply, ...(typeof id === "string" && { tool_call_id: id }) };
  });
  if (step.source === "agent") return [agentMessage(step, content, where), ...replies];
  if (step.source !== "system" && step.source !== "user") {
    throw new TypeError(
      `${where} has the source ${JSON.stringify(step.source)}; known are system, user and agent`,
    );
  }
  const empty = content === "" && replies.length > 0;
  return [...(empty ? [] : [{ role: step.source, content } as const]), ...replies];
}

function agentMessage({ tool_calls, metrics }: Step, spoken: string, where: string) {
  const calls = callsOf(tool_calls, where);
  return {
    role: "assistant" as const,
    content: actionText(spoken, calls),
    ...(calls && { tool_calls: calls }),
    sampled: {
      token_ids: metrics?.completion_token_ids ?? null,
      logprobs: metrics?.logprobs ?? null,
      finish: metrics?.extra?.finish ?? UNSAID.finish,
      prompt_tokens: metrics?.prompt_tokens ?? null,
      completion_tokens: metrics?.completion_tokens ?? null,
    },
    reward: metrics?.extra?.reward ?? null,
  };
}

/** Null where one of the turns has no tokens. */
function segmentsOf(steps: readonly Step[]) {
  const turns = steps
    .filter(({ source }) => source === "agent")
    .map(({ metrics }) => ({
      prompt: metrics?.prompt_token_ids,
      written: metrics?.completion_token_ids,
    }));
  const known = turns.flatMap(({ prompt, written }) =>
    prompt && written ? [{ prompt, written }] : [],
  );
  return turns.length > 0 && known.length === turns.length ? rowsOf(known) : null;
}

export const atif = episodeFormat(coding, {
  name: "atif",
  about: "ATIF documents of Harbor, one a line",
  missing:
    'reward (none), outcome code ("imported"), whether the episode ended (no), rewards of single turns, and the address of randomness (none)',
});
