/** The catalogue: which task a request is about, and what is measured for each line of its rubric. */

import { visibleShort } from "../../core/visible.ts";
import { badRequest } from "../../http/errors.ts";
import { DEFAULT_RUBRIC } from "../rubric.ts";
import type { Attempt } from "./attempt.ts";
import type { Criterion, JudgedTask } from "./criterion.ts";
import { anyText } from "./tasks/any-text.ts";
import { arithmetic } from "./tasks/arithmetic.ts";
import { boatRace } from "./tasks/boat-race.ts";
import { headlines } from "./tasks/headlines.ts";
import { supportReplies } from "./tasks/support-replies.ts";
import { toolUse } from "./tasks/tool-use.ts";
import { twenty48 } from "./tasks/twenty48.ts";
import { wordGroups } from "./tasks/word-groups.ts";

/** The first that recognises a request; the last recognises every one. */
export const JUDGED_TASKS: readonly JudgedTask[] = [
  ...[toolUse, arithmetic, supportReplies, headlines, boatRace, twenty48, wordGroups, anyText],
];

const DEFAULT_LINES = DEFAULT_RUBRIC.text.split("\n").map((line) => line.replace(/^- /, ""));

/** What is measured, or a refusal that lists what could be. Default rules stand for the task's goal. */
export function criteriaFor(attempt: Attempt, lines: readonly string[]): Criterion[] {
  const task = JUDGED_TASKS.find((one) => one.recognises(attempt)) ?? anyText;
  const byDefault = lines.some((line) => DEFAULT_LINES.includes(line));
  const own = lines.filter((line) => !DEFAULT_LINES.includes(line));
  return [
    ...(byDefault ? task.goal : []),
    ...own.map((line) => {
      const known = task.catalogue.find((one) => one.line === line);
      if (known) return known;
      throw badRequest(refusal(task, line), "messages", "unknown_rule");
    }),
  ];
}

function refusal({ name, catalogue }: JudgedTask, line: string): string {
  const known = catalogue.map((one) => `"${one.line}"`).join(" ");
  return `the embedded judge does not know the rule "${visibleShort(line, 80)}": a rubric in your own words needs a language model (--judge openai:MODEL). For this task (${name}) it knows the default rubric and: ${known}`;
}

/** The weighted mean of what is measured, and the values in words. An attempt without a word has 0. */
export function honestScore(
  attempt: Attempt,
  criteria: readonly Criterion[],
): { score: number; explanation: string } {
  const silent = attempt.messages.every(
    ({ role, content, tool_calls: calls }) =>
      role !== "assistant" || (content.trim() === "" && calls.length === 0),
  );
  if (silent) return { score: 0, explanation: "there is no answer" };
  const measured = criteria.map((criterion) => ({ criterion, value: criterion.measure(attempt) }));
  const weight = (of: Criterion) => of.weight ?? 1;
  const total = measured.reduce((sum, one) => sum + weight(one.criterion), 0);
  const score = measured.reduce((sum, one) => sum + weight(one.criterion) * one.value, 0) / total;
  const explanation = measured
    .map(({ criterion, value }) => `${criterion.short} ${Number(value.toFixed(2))}`)
    .join(", ");
  return { score, explanation };
}
