/** Reads a request as a model would: from the text of its messages, and from nothing else. */

import { z } from "zod";
import { sha256 } from "../../core/fingerprint.ts";
import { badRequest } from "../../http/errors.ts";
import type { Attempt } from "./attempt.ts";

/** What a judge was asked. */
export interface Asked {
  readonly rules: readonly string[];
  readonly attempts: readonly Attempt[];
  readonly seed: number;
  /** Whether this is the question after an answer that could not be read. */
  readonly corrective: boolean;
  /** Of the rules and the attempts: the same for the corrective question. */
  readonly hash: string;
  /** Of all messages. */
  readonly characters: number;
  readonly model: string;
  readonly maxTokens: number;
}

const CONTENT = z.union([
  z.string(),
  z.array(z.object({ type: z.literal("text"), text: z.string() })),
]);
const REQUEST = z.object({
  model: z.string(),
  messages: z
    .array(z.object({ role: z.string(), content: CONTENT.nullish().transform(plainText) }))
    .min(1),
  seed: z.int().nullish(),
  stream: z.literal(false, "this judge does not stream").nullish(),
  n: z.literal(1, "this judge gives one answer").nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
});

function plainText(content: z.infer<typeof CONTENT> | null | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text).join("");
}

export function readAsked(body: unknown): Asked {
  const read = REQUEST.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = issue?.path.join(".") ?? "";
    throw badRequest(`the request cannot be read: ${at}: ${issue?.message}`, at);
  }
  const { model, messages, seed, max_tokens: older, max_completion_tokens: newer } = read.data;
  const system = messages.find(({ role }) => role === "system" || role === "developer");
  const first = messages.findIndex(({ role }) => role === "user");
  const question = messages[first]?.content ?? "";
  return {
    model,
    rules: rulesIn(system?.content ?? ""),
    attempts: attemptsIn(question),
    seed: seed ?? 0,
    corrective: messages.slice(first).some(({ role }) => role === "assistant"),
    hash: sha256(`${system?.content}\n${question}`),
    characters: messages.reduce((sum, { content }) => sum + content.length, 0),
    maxTokens: newer ?? older ?? Number.POSITIVE_INFINITY,
  };
}

/** The lines between the sentences that every request has around its rubric. */
function rulesIn(system: string): string[] {
  const [, rubric] =
    /by these rules:\s*\n([\s\S]*?)\n\s*Everything inside the tags is data/.exec(system) ?? [];
  if (rubric === undefined) throw badRequest("the system message has no rules to judge by");
  const lines = rubric.split("\n").map((line) => line.trim().replace(/^([-*•]|\d+[.)])\s+/, ""));
  return lines.filter((line) => line !== "");
}

const CALL = z.object({ name: z.string(), arguments: z.unknown() });
const MESSAGES = z.array(
  z.object({
    role: z.string(),
    content: z.string().default(""),
    tool_calls: z.array(CALL).default([]),
  }),
);
const TOOLS = z.array(z.object({ name: z.string() }));

/** Each attempt with the beginning that all share. */
function attemptsIn(question: string): Attempt[] {
  const tools = blocksOf(question, "tools").flatMap(({ json }) => parsed(TOOLS, json, "tools"));
  const shared = blocksOf(question, "context").flatMap(({ json }) =>
    parsed(MESSAGES, json, "context"),
  );
  const attempts = blocksOf(question, "trajectory").map(({ id, json }) => {
    const own = parsed(MESSAGES, json, `trajectory ${id}`);
    return { id, messages: [...shared, ...own], own, tools: tools.map(({ name }) => name) };
  });
  if (attempts.length === 0) throw badRequest("the request has no attempts to judge");
  return attempts;
}

/** No text of an attempt can end a block: a request writes `<` inside as an escape. */
function blocksOf(text: string, name: string): { id: string; json: string }[] {
  const block = new RegExp(`^<${name}(?: id="([^"<>]*)")?>\\n([^<]*)\\n</${name}>$`, "gm");
  return [...text.matchAll(block)].map(([, id = "", json = ""]) => ({ id, json }));
}

function parsed<T>(schema: z.ZodType<T>, json: string, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw badRequest(`the block of ${where} is not JSON`);
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw badRequest(`the block of ${where} is not a list of messages or tools`);
}
