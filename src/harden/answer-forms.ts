/**
 * The forms in which a scorer accepts an answer. They are found by trying: forms that the user
 * names, forms of accepted golden rows, common forms, and literals of the scorer's own source.
 */

import type { GoldenRow } from "../core/records.ts";
import { passes } from "../core/score.ts";
import type { AnswerForm, Target } from "./attack.ts";
import type { Subject } from "./subject.ts";

const COMMON: readonly (readonly [before: string, after: string])[] = [
  ["Final: ", ""],
  ["", ""],
  ["Answer: ", ""],
  ["The answer is ", "."],
  ["#### ", ""],
  ["\\boxed{", "}"],
  ["$\\boxed{", "}$"],
  ["<answer>", "</answer>"],
  ['{"answer": ', "}"],
  ['{"answer": "', '"}'],
  ["**", "**"],
];

/** Marks the answer in a form that the user names. */
export const PLACE = "{}";

/** Examples that every form is tried on. */
const TRIED = 24;
const MOST_FORMS = 3;

export async function acceptedForms(
  subject: Subject,
  targets: readonly Target[],
  candidates: readonly AnswerForm[],
): Promise<AnswerForm[]> {
  const sample = targets.slice(0, TRIED);
  const accepted: AnswerForm[] = [];
  for (const form of unique(candidates)) {
    if (accepted.length === MOST_FORMS) break;
    const scores = await subject.score(
      sample.map(({ example, answer }) => ({ example, completion: written(form, answer) })),
    );
    const right = scores.filter(({ reward }) => passes(reward)).length;
    if (right * 2 > sample.length) accepted.push(form);
  }
  return accepted;
}

export function written({ before, after }: AnswerForm, text: string): string {
  return before + text + after;
}

export function formCandidates(
  named: readonly string[],
  golden: readonly { readonly row: GoldenRow; readonly target: Target | undefined }[],
  literals: readonly string[],
): AnswerForm[] {
  return [
    ...named.map((text) => {
      const [before = "", ...rest] = text.split(PLACE);
      return { before, after: rest.join(PLACE), from: "user" as const };
    }),
    ...golden
      .flatMap(({ row, target }) => goldenForm(row, target))
      .toSorted((a, b) => a.before.length + a.after.length - b.before.length - b.after.length),
    ...COMMON.map(([before, after]) => ({ before, after, from: "common" as const })),
    ...literals
      .flatMap((literal) => [literal, `${literal} `])
      .map((before) => ({ before, after: "", from: "source" as const })),
  ];
}

/** The text around the answer in an accepted row. */
function goldenForm(row: GoldenRow, target: Target | undefined): AnswerForm[] {
  if (!target || !passes(row.expected_reward)) return [];
  const at = row.completion.lastIndexOf(target.answer);
  if (at < 0) return [];
  const before = row.completion.slice(0, at);
  const after = row.completion.slice(at + target.answer.length);
  return [{ before, after, from: "golden" }];
}

function unique(forms: readonly AnswerForm[]): AnswerForm[] {
  const seen = new Map<string, AnswerForm>();
  for (const form of forms) {
    const key = JSON.stringify([form.before, form.after]);
    if (!seen.has(key)) seen.set(key, form);
  }
  return [...seen.values()];
}
