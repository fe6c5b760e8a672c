/** What a run's manifest leads to: its data set with all fields, its tools, its system prompt. */

import path from "node:path";
import type { Tool } from "../../core/environment.ts";
import { dataError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isFields, toExample } from "../../core/records.ts";
import { openAiTool } from "../../formats/openai-tool.ts";
import { contentOf } from "../../runs/folder-kind.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { fileExists, sha256OfFile } from "../../runs/whole-file.ts";
import { asked } from "../conversation.ts";
import type { Task } from "../task.ts";

interface Inputs {
  readonly inputs: readonly {
    readonly role: string;
    readonly path: string | null;
    readonly sha256: string;
  }[];
}

export interface BehindDataset {
  /** Undefined where the data set is not to be had. */
  readonly file: string | undefined;
  readonly notes: readonly string[];
  tasks(isWanted: (id: string) => boolean): AsyncGenerator<Task>;
}

/** The data set of a run, if it is still where it was. */
export async function openDataset({ inputs }: Inputs, run: string): Promise<BehindDataset> {
  const input = inputs.find(({ role }) => role === "dataset");
  const file = input?.path ?? undefined;
  const intact =
    file !== undefined && fileExists(file) && (await sha256OfFile(file)) === input?.sha256;
  const missing = `${run}: its data set is not where it was, so rows have only the fields that the run repeats`;
  return {
    file: intact ? file : undefined,
    notes: intact ? [] : [missing],
    tasks: (isWanted) => exampleTasks(file as string, isWanted),
  };
}

export async function* exampleTasks(
  file: string,
  isWanted: (id: string) => boolean = () => true,
): AsyncGenerator<Task> {
  for await (const batch of new JsonlFile(file, toExample).batches()) {
    for (const { id, prompt, ...fields } of batch) {
      if (!isWanted(id)) continue;
      const { messages, tools, ...others } = fields;
      for (const [name, value] of Object.entries({ messages, tools }))
        if (value !== undefined && !areMessages(value) && !isTools(value))
          throw reserved(file, id, name);
      yield {
        ...{ id, attempts: [], item: itemOf(others) },
        prompt: areMessages(messages) ? messages : asked(prompt),
        tools: Array.isArray(tools) ? (tools as JsonObject[]) : [],
      };
    }
  }
}

function isTools(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isFields(one) && one.type === "function");
}

function reserved(file: string, id: string, name: string): Error {
  return dataError(
    `${file}: the example "${id}" has a field ${name} that is no list of ${name}`,
    "The format reserves this name; rename the field.",
  );
}

/** Messages of an imported row, which say more than the prompt that was made of them. */
export function areMessages(value: unknown): value is JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isFields(one) && typeof one.role === "string")
  );
}

/** Without fields that have no value: JSON has no place for them. */
export function itemOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}

/** The tools of the environment that a run of episodes was played in. */
export async function toolsBehind({ inputs }: Inputs): Promise<JsonObject[]> {
  const input = inputs.find(({ role }) => role === "trajectories");
  if (!input?.path) return [];
  const { manifest } = await contentOf(path.dirname(input.path));
  return toolsIn(manifest);
}

export function toolsIn(manifest: JsonObject | undefined): JsonObject[] {
  const tools = manifest?.tools;
  return Array.isArray(tools) ? (tools as unknown as Tool[]).map(openAiTool) : [];
}

/** Null where there was none; undefined where nobody says. */
export function systemOf({ prompt }: { readonly prompt: unknown }): string | null | undefined {
  const sha256 = isFields(prompt) ? prompt.system_sha256 : undefined;
  return sha256 === null || typeof sha256 === "string" ? sha256 : undefined;
}

export function noPrompts(run: string): Error {
  return dataError(
    `${run}: the data set of the rollout is not where it was, and answers do not repeat their prompts`,
    "Put the data set back, or score the answers with eval and name its run.",
  );
}
