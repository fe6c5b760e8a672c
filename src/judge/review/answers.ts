/** The answers of a rollout by task: completions with their prompts, or episodes. */

import path from "node:path";
import type { z } from "zod";
import { dataError } from "../../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../../core/json.ts";
import { isFields, toCompletion, toExample, toSelectionPack } from "../../core/records.ts";
import type { Trajectory, TrajectoryMessage } from "../../core/trajectory.ts";
import { visibleShort } from "../../core/visible.ts";
import { answersName } from "../../runs/finished-rollout.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import { openRollout } from "../../runs/read-rollout.ts";
import type { inputFile } from "../../runs/schemas.ts";
import { toTrajectory } from "../../runs/trajectory-schema.ts";
import { isFolder } from "../../runs/whole-file.ts";

export type Input = z.infer<typeof inputFile>;

/** Where a person gets the prompt of an answer from. */
export type Prompt =
  | { readonly text: string }
  /** Of the data set, by the id of the task. */
  | { readonly fingerprint: string | undefined };

export interface Answer {
  readonly prompt: Prompt;
  readonly text: string;
  readonly singleTurn: boolean;
}

export interface Answers {
  readonly source: string;
  readonly byTask: ReadonlyMap<string, Answer>;
  readonly input: Input;
  readonly policy: JsonObject | null;
  /** The data set that the rollout was made with. */
  readonly dataset: string | undefined;
}

/** `sample` counts from 1; a task without that sample has no answer. */
export async function readAnswers(source: string, role: string, sample: number): Promise<Answers> {
  const rollout = isFolder(source) ? await openRollout(source) : undefined;
  const file = rollout ? path.join(source, answersName(rollout.manifest)) : source;
  const lines = new JsonlFile(file, (fields) => toAnswer(fields, sample));
  const byTask = new Map<string, Answer>();
  for await (const batch of lines.batches()) {
    for (const { id, answer } of batch) {
      if (answer === undefined) continue;
      if (byTask.has(id))
        throw dataError(
          `${file} has two answers of sample ${sample} to ${visibleShort(id, 60)}`,
          "Give each task's samples once.",
        );
      byTask.set(id, answer);
    }
  }
  if (byTask.size === 0)
    throw dataError(`${file} has no answer with the number ${sample}`, "Give another --sample.");
  return {
    ...{ source, byTask, input: lines.asInput(role) },
    policy: (rollout?.manifest.policy as JsonObject | undefined) ?? null,
    dataset: rollout?.manifest.inputs.find((input) => input.role === "dataset")?.path,
  };
}

interface Found {
  readonly id: string;
  readonly answer: Answer | undefined;
}

function toAnswer(fields: Record<string, unknown>, sample: number): Found {
  if (Array.isArray(fields.messages)) {
    const trajectory = toTrajectory(fields);
    const wanted = trajectory.sample === sample - 1;
    return { id: trajectory.id, answer: wanted ? episodeAnswer(trajectory) : undefined };
  }
  if (fields.samples !== undefined) {
    const { id, samples, prompt_fingerprint: fingerprint } = toSelectionPack(fields);
    const one = samples[sample - 1];
    const text = isFields(one) ? one.completion : one;
    return { id, answer: text === undefined ? undefined : completed(String(text), fingerprint) };
  }
  const { id, completion, prompt_fingerprint: fingerprint } = toCompletion(fields);
  return { id, answer: sample === 1 ? completed(completion, fingerprint) : undefined };
}

const completed = (text: string, fingerprint: string | undefined): Answer => ({
  ...{ text, prompt: { fingerprint }, singleTurn: true },
});

/** The first observation is the prompt, everything after it the answer. */
function episodeAnswer({ messages }: Trajectory): Answer {
  const first = messages.findIndex(({ role }) => role === "assistant");
  const start = first < 0 ? messages.length : first;
  const prompt = messages.slice(0, start);
  const rest = messages.slice(start);
  const [only] = rest;
  const singleTurn = rest.length === 1 && callsOf(only).length === 0;
  return {
    prompt: { text: prompt.map(({ content }) => content).join("") },
    text: singleTurn ? (only?.content ?? "") : rest.map(messageText).join("\n\n"),
    singleTurn,
  };
}

function messageText(message: TrajectoryMessage): string {
  const calls = callsOf(message).map(
    ({ name, arguments: given }) => `calls ${name} ${canonicalJson(given as Json)}`,
  );
  return [`${message.role}:`, ...(calls.length > 0 ? calls : [message.content])].join("\n");
}

const callsOf = (message: TrajectoryMessage | undefined) =>
  (message?.role === "assistant" ? message.tool_calls : undefined) ?? [];

/** The prompts of a data set by id. */
export async function readPrompts(file: string): Promise<{
  readonly prompts: ReadonlyMap<string, string>;
  readonly input: Input;
}> {
  const lines = new JsonlFile(file, toExample);
  const prompts = new Map<string, string>();
  for await (const batch of lines.batches())
    for (const { id, prompt } of batch) prompts.set(id, prompt);
  return { prompts, input: lines.asInput("dataset") };
}
