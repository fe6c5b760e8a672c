/** What `/metadata`, `/schema` and `/openapi.json` say of an environment. */

import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import { OUT_OF_TURNS } from "../environments/definition.ts";
import type { OpenedEnvironment } from "../environments/open.ts";
import { RESET, TEXT_ACTION } from "./session.ts";

const OBSERVATION = z.object({
  text: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
});

const STATE = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int(),
  task_id: z.string().nullable(),
  seed: z.int(),
});

const REPLY = z.object({
  observation: OBSERVATION,
  reward: z.number().nullable(),
  done: z.boolean(),
});

export function metadataOf({ identity, definition }: OpenedEnvironment): JsonObject {
  const { name, version, spec, source_sha256 } = identity;
  const { codes, solved, rewards, maxTurns, memoryless = false } = definition;
  return {
    ...{ name, version, description: spec },
    readme_content: [
      `# ${name}`,
      spec,
      `Outcome codes: ${codes.join(", ")}. Solved: ${solved.join(", ")}.`,
      `Reward: ${rewards ? rewards.join(" to ") : "none"}. At most ${maxTurns} turns.`,
    ].join("\n\n"),
    // OpenEnv has no fields for these; `openenv:URL` reads them.
    lockedroom: {
      ...{ codes: [...codes, OUT_OF_TURNS], solved, rewards, memoryless, source_sha256 },
      max_turns: maxTurns,
    },
  };
}

export function schemasOf(): JsonObject {
  return { action: json(TEXT_ACTION), observation: json(OBSERVATION), state: json(STATE) };
}

export function openApi({ identity }: OpenedEnvironment): JsonObject {
  const get = (summary: string) => ({ get: { summary, responses: answers({}) } });
  return {
    openapi: "3.1.0",
    info: { title: identity.name, version: identity.version, description: identity.spec },
    paths: {
      "/reset": post("Begins an episode.", json(RESET), json(REPLY)),
      "/step": post(
        "Takes one action.",
        { type: "object", properties: { action: json(TEXT_ACTION) }, required: ["action"] },
        json(REPLY),
      ),
      "/state": get("Where the episode stands."),
      "/health": get("Whether the server is up."),
      "/metadata": get("What the environment is."),
      "/schema": get("Schemas of action, observation and state."),
      "/mcp": post("Tools by JSON-RPC.", { type: "object" }, { type: "object" }),
    },
  };
}

function post(summary: string, body: JsonObject, reply: JsonObject): JsonObject {
  const requestBody = { content: { "application/json": { schema: body } } };
  return { post: { summary, requestBody, responses: answers(reply) } };
}

function answers(schema: JsonObject): JsonObject {
  return { 200: { description: "done", content: { "application/json": { schema } } } };
}

function json(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" }) as JsonObject;
  return rest;
}
