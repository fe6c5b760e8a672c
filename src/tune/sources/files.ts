/** Tasks of files: texts, pairs, examples or trajectories, told apart by the first row. */

import type { JsonObject } from "../../core/json.ts";
import { isFields } from "../../core/records.ts";
import { callsOf, spokenText } from "../../formats/chat.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { openTrajectories } from "../../runs/trajectory-source.ts";
import { sha256OfFile } from "../../runs/whole-file.ts";
import { answered, asked } from "../conversation.ts";
import type { Attempt, Task, TaskSource } from "../task.ts";
import { areMessages, exampleTasks, itemOf } from "./behind.ts";
import { pairTask } from "./preferences.ts";
import { openEpisodes } from "./rollouts.ts";

type Fields = Record<string, unknown>;

export async function openFile(file: string): Promise<TaskSource> {
  const first = await firstRow(file);
  if (first && "messages" in first && "reward" in first && "sample" in first) {
    const { manifest } = await openTrajectories(file);
    return openEpisodes(file, file, manifest);
  }
  const isExample = first && "prompt" in first && !("completion" in first) && !("chosen" in first);
  const [what, tasks] = isExample
    ? ["examples", () => exampleTasks(file)]
    : ["texts or pairs", () => rowTasks(file)];
  return {
    ...{ path: file, what: what as string, notes: [], sha256: await sha256OfFile(file) },
    tasks: tasks as () => AsyncGenerator<Task>,
  };
}

async function firstRow(file: string): Promise<Fields | undefined> {
  const lines = new JsonlFile(file, (fields) => fields);
  for await (const [first] of lines.batches()) return first;
  return undefined;
}

async function* rowTasks(file: string): AsyncGenerator<Task> {
  const lines = new JsonlFile(file, toTask);
  for await (const batch of lines.batches()) yield* batch;
}

function toTask(fields: Fields, line: number): Task {
  const { prompt, completion, chosen, rejected, messages, original } = fields;
  const id = typeof fields.id === "string" ? fields.id : `line-${line}`;
  if (isFields(original)) return keptPair(id, original as JsonObject);
  if (areMessages(messages)) return textTask(id, messages, fields);
  if (typeof prompt !== "string") throw new TypeError("a row needs a prompt, or messages");
  if (typeof chosen === "string" && typeof rejected === "string")
    return pairTask({ ...(fields as object), id, prompt, chosen, rejected });
  if (typeof completion !== "string") throw new TypeError("a row needs a completion or a pair");
  return {
    ...{ id, prompt: asked(prompt), tools: [], item: {} },
    attempts: [given(answered(completion))],
  };
}

/** A text is there to be learned: somebody chose it. */
const given = (messages: readonly JsonObject[]): Attempt => ({
  ...{ messages, reward: null, passed: true },
});

function textTask(id: string, messages: readonly JsonObject[], fields: Fields): Task {
  const first = messages.findIndex(({ role }) => role === "assistant");
  const from = first < 0 ? messages.length : first;
  const { tools, parallel_tool_calls } = fields;
  return {
    ...{ id, item: {}, prompt: messages.slice(0, from) },
    tools: Array.isArray(tools) ? (tools as JsonObject[]) : [],
    attempts: [given(messages.slice(from).map(withoutCallText))],
    extra: itemOf({ parallel_tool_calls }),
  };
}

/** An imported call stands in the content as well, where training reads it. */
function withoutCallText(message: JsonObject): JsonObject {
  const { content, tool_calls: given } = message;
  if (typeof content !== "string" || !Array.isArray(given)) return message;
  const calls = callsOf(given, "a message");
  const said = spokenText({ content, tool_calls: calls });
  return said === "" && content !== "" ? { ...message, content: null } : message;
}

/** A pair that was imported with more than three texts. */
function keptPair(id: string, original: JsonObject): Task {
  const { input, preferred_output: better, non_preferred_output: worse } = original;
  if (
    !isFields(input) ||
    !areMessages(input.messages) ||
    !areMessages(better) ||
    !areMessages(worse)
  )
    throw new TypeError("original is no DPO row");
  const { messages, tools, ...extra } = input;
  const pair = [given(better), given(worse)] as const;
  return {
    ...{ id, prompt: messages as JsonObject[], item: {}, attempts: [pair[0]], pair },
    tools: Array.isArray(tools) ? (tools as JsonObject[]) : [],
    extra: itemOf(extra),
  };
}
