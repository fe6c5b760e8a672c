/** Asks the model of a grader, with the cache that judges have; what it answers is JSON. */

import { usageError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import { CachedChat } from "../providers/cached-chat.ts";
import { ChatEndpoint, type FinalFailure } from "../providers/chat-endpoint.ts";
import type { ChatAsk, ChatMessage } from "../providers/chat-request.ts";
import { connectByFetch } from "../providers/fetch-client.ts";
import type { JudgeAnswer } from "../runs/judge-cache.ts";
import { type Fault, fault } from "./fault.ts";
import { templateField } from "./fields.ts";
import type { LabelModel, ScoreModel } from "./grader-schema.ts";
import { graderHost } from "./host.ts";
import type { OpenKind } from "./opened.ts";
import type { Template, Variables } from "./template.ts";

type ModelGrader = ScoreModel | LabelModel;
type Context = Parameters<OpenKind<ModelGrader>>[1];

/** What the model is asked for: the member `result` of its JSON, after its steps. */
export interface Wanted {
  /** The JSON schema of `result`. */
  readonly result: JsonObject;
  /** The sentence at the end of the request. */
  readonly sentence: string;
}

export interface Asked {
  readonly result: Json | undefined;
  /** For the row's details. */
  readonly usage: JsonObject;
}

export interface AskModel {
  readonly itemFields: readonly string[];
  ask(variables: Variables): Promise<Asked | Fault>;
  close(): Promise<void>;
}

/** Of the sampling settings only these are used; a grader states its own parameters. */
const SAMPLING = { temperature: 0, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };

export async function openModel(
  grader: ModelGrader,
  context: Context,
  wanted: Wanted,
): Promise<AskModel> {
  const { models } = graderHost();
  if (models === undefined)
    throw usageError(`${context.where}: no endpoint is known for the model ${grader.model}`);
  const messages = templatesOf(grader, context);
  const options = await models.endpoint(grader.model);
  const endpoint = new ChatEndpoint(options, connectByFetch(options));
  const cache = await models.cache?.();
  const { model } = grader;
  const chat = new CachedChat({ endpoint, model, sampling: SAMPLING, cache, scope: endpoint.url });
  const end = new AbortController();
  const stop = { soon: end.signal, now: end.signal };
  let lost: FinalFailure | undefined;
  return {
    itemFields: messages.flatMap(({ parts }) => parts.flatMap((part) => part.itemFields)),
    async ask(variables) {
      const written = writtenMessages(messages, variables, wanted);
      if (!Array.isArray(written)) return written as Fault;
      if (lost) return serverError(lost);
      const found = await chat.answer(askOf(grader, written, wanted, variables), stop);
      if (!("error" in found)) return readAnswer(found);
      if (found.everywhere) lost = found;
      return serverError(found);
    },
    async close() {
      end.abort();
    },
  };
}

interface MessageTemplate {
  readonly role: ChatMessage["role"];
  readonly parts: readonly Template[];
}

function templatesOf({ input }: ModelGrader, context: Context): MessageTemplate[] {
  return input.map(({ role, content }, i) => {
    const texts =
      typeof content === "string" ? [content] : [content].flat().map(({ text }) => text);
    const parts = texts.map((text) => templateField(text, `input.${i}.content`, context));
    // Servers other than OpenAI's do not know developers.
    return { role: role === "developer" ? "system" : role, parts };
  });
}

function writtenMessages(
  templates: readonly MessageTemplate[],
  variables: Variables,
  { sentence }: Wanted,
): ChatMessage[] | Fault {
  const messages: ChatMessage[] = [];
  for (const { role, parts } of templates) {
    const texts: string[] = [];
    for (const part of parts) {
      const text = part.render(variables);
      if (typeof text !== "string") return text;
      texts.push(text);
    }
    messages.push({ role, content: texts.join("\n") });
  }
  return [...messages, { role: "system", content: sentence }];
}

function askOf(
  { name, sampling_params: given = {} }: ModelGrader,
  messages: readonly ChatMessage[],
  { result }: Wanted,
  { item }: Variables,
): ChatAsk {
  const { temperature, top_p, seed, reasoning_effort } = given;
  const tokens = given.max_completions_tokens ?? given.max_completion_tokens;
  return {
    ...{ messages, tools: [], address: ["grader", name], what: "item" },
    id: typeof item.id === "string" ? item.id : name,
    answerSchema: { name: "grade", schema: schemaOf(result) },
    parameters: {
      ...{ temperature: temperature ?? null, top_p: top_p ?? null, max_tokens: null },
      max_completion_tokens: tokens ?? null,
      reasoning_effort: reasoning_effort ?? null,
      ...(seed !== undefined && { seed }),
    },
  };
}

function schemaOf(result: JsonObject): object {
  const text = { type: "string" };
  const step = closed({ description: text, conclusion: text });
  return closed({ steps: { type: "array", items: step }, result });
}

function closed(properties: Record<string, object>): object {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

function serverError({ error }: FinalFailure): Fault {
  return fault("model_grader_server_error", "grader", error.message);
}

function readAnswer(answer: JudgeAnswer): Asked | Fault {
  const { completion, finish, refusal, prompt_tokens, completion_tokens } = answer;
  if (refusal !== undefined || finish === "content_filter") {
    const why = refusal === undefined ? "its content filter" : visibleShort(refusal.trim(), 120);
    return fault("model_grader_refusal_error", "grader", `the model refused: ${why}`);
  }
  const value = jsonIn(completion);
  if (isFields(value))
    return { result: value.result as Json, usage: { prompt_tokens, completion_tokens } };
  const why = finish === "length" ? "was cut at the limit of tokens" : "is not a JSON object";
  return parseError(`the model's answer ${why}: ${visibleShort(completion, 120)}`);
}

export function parseError(message: string): Fault {
  return fault("model_grader_parse_error", "grader", message);
}

/** Models put JSON into a fence of Markdown, or a word before it. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  } catch {
    return undefined;
  }
}
