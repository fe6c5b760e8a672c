/** Rows of a training file from the tasks of runs; what cannot become a sound row is counted. */

import type { JsonObject } from "../core/json.ts";
import { rowCheck } from "./checks/row.ts";
import type { TuneKind } from "./kinds.ts";
import { identityOf, promptOf } from "./row-identity.ts";
import { type RuleName, severityOf } from "./rules.ts";
import type { Attempt, Task } from "./task.ts";

/** Which assistant messages of an episode are learned. */
export const TURNS = ["all", "last", "rewarded"] as const;
export type Turns = (typeof TURNS)[number];

export interface RowOptions {
  readonly kind: TuneKind;
  /** Instructions to put before each conversation that has none. */
  readonly system?: string | undefined;
  /** SFT: answers that nobody scored, or that failed, too. */
  readonly keepAll?: boolean | undefined;
  /** SFT: most answers to one input. */
  readonly perExample: number;
  readonly turns: Turns;
}

export interface BuiltRow {
  readonly row: JsonObject;
  readonly id: string;
  readonly prompt: string;
}

/** Why a task or an attempt is in no row. */
export type LeftOut =
  | "not_passed"
  | "no_reward_difference"
  | "nothing_to_learn"
  | "repeated"
  | RuleName;

/** One pass over tasks: it remembers which inputs it met. */
export class RowBuilder {
  readonly #options: RowOptions;
  readonly #met = new Map<string, number>();
  readonly #check: (fields: Record<string, unknown>) => void;
  #broken: RuleName | undefined;
  readonly leftOut: Partial<Record<LeftOut, number>> = {};

  constructor(options: RowOptions) {
    this.#options = options;
    this.#check = rowCheck(options.kind, (rule) => {
      if (severityOf(rule) === "error") this.#broken ??= rule;
    });
  }

  rowsOf(task: Task): BuiltRow[] {
    const { kind } = this.#options;
    const made = {
      sft: () => this.#texts(task),
      dpo: () => this.#pairs(task),
      rft: () => this.#items(task),
    };
    return made[kind]().flatMap((row) => {
      const problem = this.#problemOf(row);
      if (problem) {
        this.#leave(problem);
        return [];
      }
      return [{ row, id: task.id, prompt: promptOf(kind, row) ?? "" }];
    });
  }

  #leave(why: LeftOut): void {
    this.leftOut[why] = (this.leftOut[why] ?? 0) + 1;
  }

  #problemOf(row: JsonObject): LeftOut | undefined {
    this.#broken = undefined;
    this.#check(row as Record<string, unknown>);
    if (this.#broken) return this.#broken;
    const { kind, perExample } = this.#options;
    const identity = identityOf(kind, row);
    if (!identity) return "messages_missing";
    const { input, answer } = identity;
    const [asked, whole] = [
      `${input.high}.${input.low}`,
      `${input.high}.${input.low}.${answer.low}`,
    ];
    const rows = this.#met.get(asked) ?? 0;
    if (this.#met.has(whole) || (kind === "sft" && rows >= perExample)) return "repeated";
    this.#met.set(whole, 1).set(asked, rows + 1);
    return undefined;
  }

  #texts(task: Task): JsonObject[] {
    const { keepAll, perExample, turns } = this.#options;
    const good = task.attempts.filter(({ passed }) => keepAll || passed === true);
    if (good.length === 0) this.#leave("not_passed");
    const best = good.toSorted((a, b) => (b.reward ?? 0) - (a.reward ?? 0));
    return best.slice(0, perExample).flatMap((attempt) => {
      const learned = weighted(attempt, turns);
      if (!learned) this.#leave("nothing_to_learn");
      if (!learned) return [];
      return [{ messages: [...this.#prompt(task), ...learned], ...toolFields(task) }];
    });
  }

  #pairs(task: Task): JsonObject[] {
    const pair = task.pair ?? bestAndWorst(task.attempts);
    if (!pair) this.#leave("no_reward_difference");
    if (!pair) return [];
    const [better, worse] = pair;
    return [
      {
        input: { messages: this.#prompt(task), ...toolFields(task) },
        preferred_output: better.messages,
        non_preferred_output: worse.messages,
      },
    ];
  }

  #items(task: Task): JsonObject[] {
    const messages = this.#prompt(task).map((message) =>
      message.role === "system" ? { ...message, role: "developer" } : message,
    );
    const { tools } = toolFields(task);
    return [{ messages, ...(tools && { tools }), id: task.id, ...task.item }];
  }

  #prompt({ prompt }: Task): JsonObject[] {
    const { system } = this.#options;
    const instructed = prompt.some(({ role }) => role === "system" || role === "developer");
    if (system === undefined || instructed) return [...prompt];
    return [{ role: "system", content: system }, ...prompt];
  }
}

function toolFields({ tools, extra = {} }: Task): { tools?: readonly JsonObject[] } & JsonObject {
  return { ...(tools.length > 0 && { tools }), ...extra };
}

/** The highest reward against the lowest; undefined where all are the same. */
function bestAndWorst(attempts: readonly Attempt[]): readonly [Attempt, Attempt] | undefined {
  const scored = attempts.filter(({ reward }) => reward !== null);
  const ranked = scored.toSorted((a, b) => (b.reward as number) - (a.reward as number));
  const [best, worst] = [ranked[0], ranked.at(-1)];
  return best && worst && best.reward !== worst.reward ? [best, worst] : undefined;
}

/** Weights only where some turns are not to be learned; undefined where none is. */
function weighted(
  { messages, turnRewards }: Attempt,
  turns: Turns,
): readonly JsonObject[] | undefined {
  const count = messages.filter(({ role }) => role === "assistant").length;
  if (turns === "all" || (turns === "last" && count === 1)) return messages;
  const isLearned = (turn: number) =>
    turns === "last" ? turn === count - 1 : (turnRewards?.[turn] ?? 0) > 0;
  let [turn, learned] = [0, 0];
  const marked = messages.map((message) => {
    if (message.role !== "assistant") return message;
    const weight = Number(isLearned(turn++));
    learned += weight;
    return { ...message, weight };
  });
  return learned > 0 ? marked : undefined;
}
