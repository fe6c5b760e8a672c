/** One episode behind OpenEnv's messages: reset, step, state. */

import { z } from "zod";
import { SPLITS, type Split, type Turn } from "../core/environment.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { OUT_OF_TURNS } from "../environments/definition.ts";
import { episodeSeed } from "../environments/episode.ts";

/** Which episode to begin; all fields may be left out. */
export const RESET = z.looseObject({
  seed: z.int().min(0).nullish(),
  episode_id: z.string().max(255).nullish(),
  split: z.enum(SPLITS).nullish(),
  index: z.int().min(0).nullish(),
});

/** One required field, so that clients may send a bare string as action. */
export const TEXT_ACTION = z.strictObject({
  text: z.string().describe("What the policy answers in this turn."),
});

const CALL_TOOL = z.looseObject({
  type: z.literal("call_tool"),
  tool_name: z.string(),
  arguments: z.record(z.string(), z.json()).default({}),
});
const LIST_TOOLS = z.looseObject({ type: z.literal("list_tools") });

/** What a client gets for a reset and for a step. */
export interface Reply {
  readonly observation: JsonObject;
  readonly reward: number | null;
  readonly done: boolean;
  readonly metadata?: JsonObject;
}

/** A request that the client can correct. */
export class RefusedAction extends Error {
  override readonly name = "RefusedAction";
}

export class Session {
  readonly #definition: AnyDefinition;
  #task: Example | undefined;
  #turn: Turn<unknown> | undefined;
  #steps = 0;
  #episodeId: string | null = null;
  #seed = 0;

  constructor(definition: AnyDefinition) {
    this.#definition = definition;
  }

  reset(given: unknown = {}): Reply {
    const { seed, split, index, episode_id } = RESET.parse(given ?? {});
    this.#seed = seed ?? 0;
    this.#task = taskAt(this.#definition, split ?? "train", index ?? 0);
    this.#episodeId = episode_id ?? `${this.#task.id}/${this.#seed}`;
    this.#steps = 0;
    this.#turn = this.#definition.reset(this.#task, episodeSeed(this.#seed, this.#task));
    return this.#reply(this.#turn);
  }

  step(action: unknown): Reply {
    if (LIST_TOOLS.safeParse(action).success) {
      return { observation: { tools: toolList(this.#definition) }, reward: 0, done: false };
    }
    const call = CALL_TOOL.safeParse(action);
    const turn = this.#act(call.success ? textOfCall(call.data) : TEXT_ACTION.parse(action).text);
    if (!call.success) return this.#reply(turn);
    const { observation, ...rest } = this.#reply(turn);
    const { tool_name } = call.data;
    return {
      observation: { ...observation, tool_name, result: resultOf(turn), error: null },
      ...rest,
    };
  }

  /** The text that a call of a tool gives back; for MCP. */
  call(tool_name: string, given: JsonObject): Reply & { readonly result: string } {
    const turn = this.#act(textOfCall({ tool_name, arguments: given }));
    return { ...this.#reply(turn), result: resultOf(turn) };
  }

  state(): JsonObject {
    return {
      episode_id: this.#episodeId,
      step_count: this.#steps,
      task_id: this.#task?.id ?? null,
      seed: this.#seed,
    };
  }

  #act(text: string): Turn<unknown> {
    const { maxTurns } = this.#definition;
    if (!this.#turn) this.reset();
    const before = this.#turn as Turn<unknown>;
    if (before.end) throw new RefusedAction("the episode is over: send a reset");
    this.#steps++;
    const turn: Turn<unknown> = this.#definition.step(before.state, { text });
    const cut = !turn.end && this.#steps === maxTurns;
    const end = { code: OUT_OF_TURNS, terminated: false, details: { turns: this.#steps } };
    this.#turn = cut ? { ...turn, end } : turn;
    return this.#turn;
  }

  #reply({ observation, reward, metrics = {}, end }: Turn<unknown>): Reply {
    const messages = observation.map(({ role, content }) => ({ role, content }));
    const text = messages.map(({ content }) => content).join("");
    const metadata: JsonObject = {
      ...(end && { code: end.code, terminated: end.terminated, truncated: !end.terminated }),
      ...(end && { details: end.details }),
      ...(Object.keys(metrics).length > 0 && { metrics }),
    };
    return {
      observation: { text, messages },
      reward,
      done: end !== undefined,
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
  }
}

function taskAt(definition: AnyDefinition, split: Split, index: number): Example {
  const tasks = definition.tasks(split);
  const task = tasks[index];
  if (task) return task;
  throw new RefusedAction(`${split} has ${tasks.length} tasks, so there is no index ${index}`);
}

function textOfCall(call: { readonly tool_name: string; readonly arguments: Json }): string {
  return canonicalJson({ tool: call.tool_name, arguments: call.arguments });
}

function resultOf({ observation }: Turn<unknown>): string {
  return observation.map(({ content }) => content).join("");
}

/** As OpenEnv lists tools. */
function toolList({ tools = [] }: AnyDefinition): JsonObject[] {
  return tools.map(({ name, description, parameters }) => ({
    ...{ name, description, input_schema: parameters },
  }));
}
