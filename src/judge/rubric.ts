/** What a judge goes by when it compares the episodes of a task. */

import { dataError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";

export interface Rubric {
  readonly text: string;
  /** Part of the judge's identity: another rubric is another instrument. */
  readonly sha256: string;
}

const DEFAULT_RULES = [
  "An attempt that reaches the goal scores well above one that does not.",
  "Of two attempts that reach it, the one with less wasted work scores higher.",
  "Attempts that differ little have scores that differ little.",
  "Progress towards the goal earns part of the score.",
];

export const DEFAULT_RUBRIC: Rubric = rubricOf(DEFAULT_RULES.map((rule) => `- ${rule}`).join("\n"));

/** A judge reads it with every group, and every manifest has it. */
const LONGEST_RUBRIC = 100_000;

/** `where` names the file in messages. The same lines are the same rubric on every system. */
export function readRubric(text: string, where: string): Rubric {
  const rules = text.replaceAll("\r\n", "\n").trim();
  if (!/[\p{L}\p{N}]/u.test(rules))
    throw dataError(
      `${where} has no rubric in it`,
      "Write down what makes one attempt better than another, or leave the option out for the default rubric.",
    );
  if (rules.length > LONGEST_RUBRIC)
    throw dataError(
      `${where} has ${rules.length} characters, and a rubric has at most ${LONGEST_RUBRIC}`,
      "Write down what makes one attempt better than another, in a few rules.",
    );
  if (rules.includes("\0"))
    throw dataError(`${where} is not a text: it has NUL characters`, "Name a text file.");
  return rubricOf(rules);
}

function rubricOf(text: string): Rubric {
  return { text, sha256: sha256(text) };
}
