/** Checks one row by the rules of its kind. */

import { isFields } from "../../core/records.ts";
import { DPO_FIELDS, OLD_DPO_FIELDS, SFT_FIELDS, type TuneKind } from "../kinds.ts";
import type { Report } from "../rules.ts";
import { checkMessages, type MessageRules, unknownField } from "./messages.ts";
import { short } from "./short.ts";
import { checkTools } from "./tool-calls.ts";

type Fields = Record<string, unknown>;

const CHAT: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"]);
const REINFORCED: ReadonlySet<unknown> = new Set(["developer", "user", "assistant", "tool"]);
const OUTPUT: ReadonlySet<unknown> = new Set(["assistant", "tool"]);

export type CheckRow = (fields: Fields) => void;

/** A function for the rows of a kind, which reports what is wrong with each. */
export function rowCheck(kind: TuneKind, report: Report): CheckRow {
  return { sft: sftCheck, dpo: dpoCheck, rft: rftCheck }[kind](report);
}

function sftCheck(report: Report): CheckRow {
  const rules: MessageRules = {
    ...{ roles: CHAT, images: true, weights: true, mayEndInCall: true },
    wrongRole: (role, where) => notAmong(role, where, CHAT, report),
  };
  return (fields) => {
    for (const name in fields) if (!SFT_FIELDS.has(name)) unknownField(name, "the row", report);
    const tools = checkTools(fields, "", report);
    const seen = checkMessages(fields.messages, "messages", rules, tools, report);
    if (!seen) {
      report("messages_missing", "messages is not a list with at least one message");
    } else if (seen.assistants === 0) {
      report("no_assistant", "no message is the assistant's");
    } else {
      if (seen.learned === 0)
        report("nothing_to_learn", "all assistant messages have the weight 0");
      if (seen.lastRole !== "assistant")
        report("last_not_assistant", `the last message is of the role ${short(seen.lastRole)}`);
    }
  };
}

function dpoCheck(report: Report): CheckRow {
  const shared = { images: false, weights: false };
  const input: MessageRules = {
    ...{ ...shared, roles: CHAT, mayEndInCall: false },
    wrongRole: (role, where) => notAmong(role, where, CHAT, report),
  };
  const output: MessageRules = {
    ...{ ...shared, roles: OUTPUT, mayEndInCall: true },
    wrongRole: (role, where) => report("output_role", `${where} has the role ${short(role)}`),
  };
  return (fields) => {
    for (const name in fields) {
      if (DPO_FIELDS.has(name)) continue;
      const instead = Object.hasOwn(OLD_DPO_FIELDS, name)
        ? OLD_DPO_FIELDS[name as keyof typeof OLD_DPO_FIELDS]
        : undefined;
      if (instead) report("old_dpo_field", `${name} is an old name; write ${instead}`);
      else unknownField(name, "the row", report);
    }
    const tools = checkInput(fields.input, input, report);
    for (const [name, old] of OUTPUTS) {
      const where = Object.hasOwn(fields, name) || !Object.hasOwn(fields, old) ? name : old;
      const seen = checkMessages(fields[where], where, output, tools, report);
      if (!seen) report("output_missing", `${where} is not a list with at least one message`);
      else if (seen.assistants === 0)
        report("output_no_assistant", `no message of ${where} is the assistant's`);
    }
  };
}

const OUTPUTS = [
  ["preferred_output", "preferred_completion"],
  ["non_preferred_output", "non_preferred_completion"],
] as const;

function checkInput(
  input: unknown,
  rules: MessageRules,
  report: Report,
): ReadonlySet<string> | undefined {
  if (!isFields(input)) {
    report("input_missing", "input is not an object with messages");
    return undefined;
  }
  for (const name in input) if (!SFT_FIELDS.has(name)) unknownField(name, "input", report);
  const tools = checkTools(input, "input.", report);
  if (!checkMessages(input.messages, "input.messages", rules, tools, report))
    report("input_missing", "input.messages is not a list with at least one message");
  return tools;
}

function rftCheck(report: Report): CheckRow {
  const rules: MessageRules = {
    ...{ roles: REINFORCED, images: false, weights: false, mayEndInCall: false },
    wrongRole(role, where) {
      if (role === "system") report("system_role", `${where} has the role system; write developer`);
      else notAmong(role, where, REINFORCED, report);
    },
  };
  return (fields) => {
    const tools = checkTools(fields, "", report);
    const seen = checkMessages(fields.messages, "messages", rules, tools, report);
    if (!seen) report("messages_missing", "messages is not a list with at least one message");
    else if (seen.lastRole !== "user")
      report(
        "last_message",
        `the last message is of the role ${short(seen.lastRole)}, not the user's`,
      );
  };
}

function notAmong(role: unknown, where: string, roles: ReadonlySet<unknown>, report: Report): void {
  report("role", `${where} has the role ${short(role)}; there are ${[...roles].join(", ")}`);
}
