/**
 * Tasks with tools, such as email-search and tool-calls. The judge knows neither the right call nor
 * the right answer. It sees whether calls can be read, whether their arguments come from the
 * conversation, whether a tool failed, whether there is an answer, and how many turns it took.
 */

import { z } from "zod";
import { type Attempt, type ReadMessage, wordsOf } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";

const MANY_TURNS = 10;
const FINAL = /answer|final|finish|submit|done/;
const TROUBLE = /\b(?:error|invalid|unknown|failed|exception|no such|not found)\b/i;

const readable: Criterion = {
  line: "Every turn is a call of a tool that was offered.",
  short: "readable calls",
  weight: 2,
  measure: (attempt) => shareOf(turnsOf(attempt), (turn) => callsOf(turn, attempt).length > 0),
};

const grounded: Criterion = {
  line: "The arguments of calls come from the conversation.",
  short: "grounded arguments",
  weight: 2,
  measure(attempt) {
    const calls = turnsOf(attempt).flatMap((turn) => callsOf(turn, attempt));
    if (calls.length === 0) return 0;
    const heard = new Set(
      wordsOf(
        attempt.messages
          .filter(({ role }) => role !== "assistant")
          .map(({ content }) => content)
          .join(" "),
      ),
    );
    const used = wordsOf(calls.map(({ arguments: given }) => values(given)).join(" "));
    return used.length === 0 ? 1 : shareOf(used, (word) => heard.has(word));
  },
};

const clean: Criterion = {
  line: "No tool fails.",
  short: "tools without errors",
  measure({ messages }) {
    const results = messages.filter(({ role }) => role === "tool");
    return results.length === 0 ? 1 : shareOf(results, ({ content }) => !TROUBLE.test(content));
  },
};

/** Where no tool gives an answer, the last call is what was asked for. */
const answered: Criterion = {
  line: "It ends with an answer.",
  short: "answer",
  weight: 2,
  measure(attempt) {
    const last = turnsOf(attempt).at(-1);
    const call = last && callsOf(last, attempt)[0];
    if (!call) return 0;
    return !attempt.tools.some((name) => FINAL.test(name)) || FINAL.test(call.name) ? 1 : 0;
  },
};

const quick: Criterion = {
  line: "It takes few turns.",
  short: "turns",
  measure: (attempt) => Math.max(0, 1 - (turnsOf(attempt).length - 1) / MANY_TURNS),
};

const CATALOGUE = [readable, grounded, clean, answered, quick];

export const toolUse: JudgedTask = {
  name: "tool use",
  recognises: ({ tools }) => tools.length > 0,
  catalogue: CATALOGUE,
  goal: CATALOGUE,
};

function turnsOf({ messages }: Attempt): ReadMessage[] {
  return messages.filter(({ role }) => role === "assistant");
}

interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

const WRITTEN = z.strictObject({ tool: z.string(), arguments: z.unknown() });

/** The calls of offered tools, native or written as JSON. */
function callsOf({ content, tool_calls: native }: ReadMessage, { tools }: Attempt): Call[] {
  const calls = native.length > 0 ? native : written(content);
  return calls.filter(({ name }) => tools.includes(name));
}

function written(text: string): Call[] {
  try {
    const read = WRITTEN.safeParse(JSON.parse(text));
    return read.success ? [{ name: read.data.tool, arguments: read.data.arguments }] : [];
  } catch {
    return [];
  }
}

/** The values of an argument object as one text, without its keys. */
function values(given: unknown): string {
  if (typeof given !== "object" || given === null) return String(given);
  return Object.values(given).map(values).join(" ");
}

function shareOf<T>(items: readonly T[], so: (item: T) => boolean): number {
  return items.filter(so).length / Math.max(1, items.length);
}
