/** An answer of the server as a turn: its text, its reward, its end. */

import { z } from "zod";
import type { EpisodeEnd, Message } from "../core/environment.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isName } from "../core/score.ts";
import { RemoteFailure } from "./remote-failure.ts";

export interface RemoteTurn {
  readonly observation: readonly Message[];
  /** Null where the server gave none. */
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly end: EpisodeEnd | undefined;
}

const REPLY = z.looseObject({
  observation: z.record(z.string(), z.json()),
  // OpenEnv allows true and false as rewards.
  reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
  done: z.boolean(),
  metadata: z.record(z.string(), z.json()).nullish(),
});

/** What a server may say of a turn. Each field that it says otherwise is left aside. */
const METADATA = z.object({
  code: z.string().refine(isName).optional().catch(undefined),
  truncated: z.boolean().catch(false).default(false),
  details: z.record(z.string(), z.json()).catch({}).default({}),
  metrics: z.record(z.string(), z.number()).catch({}).default({}),
});

const MESSAGES = z.array(
  z.object({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() }),
);

const TOOL_RESULT = z.looseObject({
  tool_name: z.string(),
  result: z.json().optional(),
  error: z.looseObject({ message: z.string() }).nullish(),
});

export function readTurn(data: JsonObject): RemoteTurn {
  const reply = REPLY.safeParse(data);
  if (!reply.success) {
    const [issue] = reply.error.issues;
    const field = issue?.path.join(".") || "it";
    throw new RemoteFailure(`sent no valid turn: ${field}: ${issue?.message}`);
  }
  const { observation, reward = null, done, metadata } = reply.data;
  const { code, truncated, details, metrics } = METADATA.parse(
    metadata ?? observation.metadata ?? {},
  );
  const failed = TOOL_RESULT.safeParse(observation).data?.error ? { tool_errors: 1 } : {};
  const end = {
    code: code ?? (truncated ? "truncated" : "done"),
    ...{ terminated: !truncated, details },
  };
  return {
    observation: messagesOf(observation),
    reward,
    metrics: { ...failed, ...metrics },
    end: done ? end : undefined,
  };
}

/** What the policy reads: messages, a tool's result, the one text there is, or all of it as JSON. */
function messagesOf(observation: JsonObject): readonly Message[] {
  const messages = MESSAGES.safeParse(observation.messages);
  if (messages.success) return messages.data;
  const tool = TOOL_RESULT.safeParse(observation);
  if (tool.success) {
    const { error, result } = tool.data;
    const text = error ? `error: ${error.message}` : resultText(result ?? null);
    return [{ role: "tool", content: `${text}\n` }];
  }
  const shown = withoutMetadata(observation);
  const values = Object.values(shown);
  if (values.length === 0) return [];
  const [only] = values;
  const text = values.length === 1 && typeof only === "string" ? only : canonicalJson(shown);
  return [{ role: "user", content: `${text}\n` }];
}

/** Of an observation: the rest of an answer stands beside it. */
export function withoutMetadata(observation: JsonObject): JsonObject {
  const { metadata: _m, reward: _r, done: _d, ...shown } = observation;
  return shown;
}

const CONTENT = z.looseObject({
  content: z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
});

/** A text, the texts of an MCP result, or the value as JSON. */
function resultText(result: Json): string {
  if (typeof result === "string") return result;
  const mcp = CONTENT.safeParse(result);
  if (mcp.success) return mcp.data.content.map(({ text }) => text).join("\n");
  return canonicalJson(result);
}
