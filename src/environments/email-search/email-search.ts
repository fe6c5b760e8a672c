/**
 * Questions about an inbox, answered with three tools: search, read, answer with sources. Rewards
 * follow ART-E, with its partial credit for finding and reading the right mail.
 */

import { z } from "zod";
import type { Action, Split, Turn } from "../../core/environment.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Example } from "../../core/records.ts";
import { rngAt, shuffled } from "../../core/rng.ts";
import type { EnvironmentDefinition } from "../definition.ts";
import { callText, toolSet } from "../json-call.ts";
import { type Fact, inbox, questionAbout } from "./inbox.ts";
import { mailWith, searchMails } from "./search.ts";

interface Search {
  readonly question: string;
  /** Null when no mail has the answer. */
  readonly fact: Fact | null;
  readonly turn: number;
  readonly found: boolean;
  readonly read: boolean;
  readonly invalidId: boolean;
}

export const MOST_TURNS = 10;
export const UNKNOWN = "I don't know";
const DAY = z.string().regex(/^\d{4}-\d\d-\d\d$/);

const PARAMETERS = {
  search_emails: z.strictObject({
    keywords: z.array(z.string().min(1)).min(1),
    from_addr: z.string().optional(),
    to_addr: z.string().optional(),
    sent_after: DAY.optional(),
    sent_before: DAY.optional(),
    max_results: z.int().min(1).max(10).default(3),
  }),
  read_email: z.strictObject({ message_id: z.string() }),
  return_final_answer: z.strictObject({ answer: z.string(), sources: z.array(z.string()) }),
} as const;

type ToolName = keyof typeof PARAMETERS;

const PURPOSES: Readonly<Record<ToolName, string>> = {
  search_emails: "Mails that hold every keyword: their ids and subjects.",
  read_email: "The text of a mail.",
  return_final_answer: `The answer, as short as possible, and the ids of the mails that it is from. "${UNKNOWN}" when no mail has it.`,
};

const TOOLS = toolSet(PARAMETERS, PURPOSES);

const PENALTIES = { invalid_json: -2, unknown_tool: -1.9, bad_arguments: -1.8 } as const;

export const emailSearch: EnvironmentDefinition<Search> = {
  name: "email-search",
  version: "1.0.0",
  spec: `Answer a question about an inbox of 5,000 mails with one tool call as JSON in each of at most ${MOST_TURNS} turns, {"tool": name, "arguments": {…}}. With p = 0.1 for finding the mail, 0.1 for reading it, 0.1 for no invalid id and 0.1 for the right sources, the reward is p - 2 for bad JSON, p - 1.9 for an unknown tool, p - 1.8 for bad arguments, p - 1 for a wrong answer, p for "${UNKNOWN}" or no answer, and 1 + 0.3 for right sources + 0.1 / their number + 0.1 (1 - turns / ${MOST_TURNS}) for a right answer.`,
  codes: [
    "correct",
    "rightly_unknown",
    "wrong_answer",
    "wrongly_unknown",
    "no_answer",
    ...Object.keys(PENALTIES),
  ],
  solved: ["correct", "rightly_unknown"],
  rewards: [-2, 1.5],
  maxTurns: MOST_TURNS,
  random: false,
  tools: TOOLS.tools,
  tasks,
  reset: (task) => ({
    state: {
      question: task.prompt,
      fact: (task as unknown as { fact: Fact | null }).fact,
      ...{ turn: 0, found: false, read: false, invalidId: false },
    },
    observation: [{ role: "user", content: `${task.prompt}\n` }],
    reward: 0,
  }),
  step,
  players: { gold, idle: () => "" },
  ansi: ({ question, turn }) => `${question}\n(turn ${turn + 1} of ${MOST_TURNS})`,
};

function step(before: Search, { text }: Action): Turn<Search> {
  const state = { ...before, turn: before.turn + 1 };
  const call = TOOLS.read(text);
  if (typeof call === "string") {
    return ended(state, call, PENALTIES[call] + partial(state), { answer: text.slice(0, 200) });
  }
  if (call.tool === "return_final_answer") return answered(state, call.arguments);
  const [next, result] =
    call.tool === "search_emails" ? searched(state, call.arguments) : read(state, call.arguments);
  const errors = { tool_errors: Number(result === NO_MAIL) };
  if (next.turn === MOST_TURNS) {
    const last = ended(next, "no_answer", partial(next), {});
    return { ...last, metrics: { ...last.metrics, ...errors } };
  }
  const observation = [{ role: "tool" as const, content: `${result}\n` }];
  return { state: next, observation, reward: 0, metrics: errors };
}

/** What reading an id that no mail has gives. */
const NO_MAIL = "no such mail";

type Arguments<T extends ToolName> = z.output<(typeof PARAMETERS)[T]>;

function searched(state: Search, query: Arguments<"search_emails">): [Search, string] {
  const mails = searchMails(query);
  const found =
    state.found || mails.some(({ message_id }) => message_id === state.fact?.message_id);
  const lines = mails.map(({ message_id, subject }) => ({ message_id, snippet: subject }));
  return [{ ...state, found }, JSON.stringify(lines)];
}

function read(state: Search, { message_id }: Arguments<"read_email">): [Search, string] {
  const mail = mailWith(message_id);
  if (!mail) return [{ ...state, invalidId: true }, NO_MAIL];
  const right = message_id === state.fact?.message_id;
  return [{ ...state, read: state.read || right }, mail.body];
}

function answered(state: Search, given: Arguments<"return_final_answer">): Turn<Search> {
  const { fact } = state;
  const sources = new Set(given.sources);
  const right = fact !== null && sources.size === 1 && sources.has(fact.message_id);
  const invalid = {
    ...state,
    invalidId: state.invalidId || [...sources].some((id) => !mailWith(id)),
  };
  const p = partial(invalid, right);
  const quick = 0.1 * (1 - state.turn / MOST_TURNS);
  if (plain(given.answer) === plain(UNKNOWN)) {
    // Without a search nobody can know that no mail has the answer.
    return fact === null && state.turn > 1
      ? ended(invalid, "rightly_unknown", 1 + quick, {})
      : ended(invalid, "wrongly_unknown", p, {});
  }
  if (fact === null || plain(given.answer) !== plain(fact.answer)) {
    return ended(invalid, "wrong_answer", p - 1, { answer: given.answer.slice(0, 200) });
  }
  const count = Math.max(1, sources.size);
  return ended(invalid, "correct", 1 + (right ? 0.3 : 0) + 0.1 / count + quick, {}, right);
}

function partial({ found, read, invalidId }: Search, sources = false): number {
  return [found, read, !invalidId, sources].filter(Boolean).length / 10;
}

const plain = (text: string) => text.trim().toLowerCase().replace(/[.!]$/, "");

function ended(
  state: Search,
  code: string,
  reward: number,
  details: JsonObject,
  rightSources = false,
): Turn<Search> {
  const metrics = {
    ...{ turns: state.turn, right_sources: rightSources ? 1 : 0 },
    tool_errors: Number(code in PENALTIES),
  };
  return { state, observation: [], reward, metrics, end: { code, terminated: true, details } };
}

function gold({ question, fact, found, read, turn }: Search): string {
  const about = question.split(" ").slice(-3).join(" ").replace("?", "");
  if (turn === 0 || (fact && !found)) {
    const keywords = [about, ...(fact ? [fact.topic] : [])];
    return callText({ tool: "search_emails", arguments: { keywords } });
  }
  if (!fact) return finalAnswer(UNKNOWN, []);
  const { message_id, answer } = fact;
  return read
    ? finalAnswer(answer, [message_id])
    : callText({ tool: "read_email", arguments: { message_id } });
}

function finalAnswer(answer: string, sources: string[]): string {
  return callText({ tool: "return_final_answer", arguments: { answer, sources } });
}

const QUESTIONS: Readonly<Record<Split, readonly [from: number, to: number]>> = {
  train: [0, 1000],
  dev: [1000, 1100],
  holdout: [1100, 1300],
};
/** Of so many questions one has no answer. */
const UNKNOWN_EVERY = 7;

function tasks(split: Split): Example[] {
  const { facts, unknown } = inbox();
  const asked = shuffled(facts, rngAt("email-search", "questions"));
  const [from, to] = QUESTIONS[split];
  return Array.from({ length: to - from }, (_, i) => {
    const at = from + i;
    const fact = at % UNKNOWN_EVERY === 0 ? null : (asked[at] as Fact);
    const about = fact ?? (unknown[at] as Fact);
    return { id: `mail-${at}`, prompt: questionAbout(about), fact };
  }) as unknown as Example[];
}
