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

/** Examples that every form is tried on, and how many of them first: most forms fail there. */
const TRIED = 24;
const FIRST = 4;
const MOST_FORMS = 3;

export async function acceptedForms(
  subject: Subject,
  targets: readonly Target[],
  candidates: readonly AnswerForm[],
  inputs: number,
): Promise<AnswerForm[]> {
  const sample = targets.slice(0, TRIED);
  const accepted: AnswerForm[] = [];
  const passing = async (form: AnswerForm, some: readonly Target[]) => {
    const completions = some.map(({ example, answer }) => ({
      ...{ example, completion: written(form, answer) },
    }));
    return (await subject.score(completions)).filter(({ reward }) => passes(reward)).length;
  };
  for (const form of unique(candidates)) {
    const left = inputs - subject.counts.forms;
    // Forms that the user names are all tried.
    if (form.from !== "user" && accepted.length >= MOST_FORMS) break;
    if (left < Math.min(FIRST, sample.length)) break;
    const first = sample.slice(0, FIRST);
    const rest = sample.slice(FIRST, left);
    const right = await passing(form, first);
    if (right === 0) continue;
    const all = right + (await passing(form, rest));
    if (all * 2 > first.length + rest.length) accepted.push(form);
  }
  return accepted;
}

/** Forms that the user names and that were not accepted, with a text that was tried. */
export function formsNotUsed(
  named: readonly string[],
  accepted: readonly AnswerForm[],
  [first]: readonly Target[],
): { form: string; tried: string }[] {
  return named
    .map((form) => ({ form, parsed: namedForm(form) }))
    .filter(({ parsed: { before, after } }) =>
      accepted.every((one) => one.before !== before || one.after !== after),
    )
    .map(({ form, parsed }) => ({ form, tried: written(parsed, first?.answer ?? "") }));
}

/** The first place is where the answer stands. */
function namedForm(text: string): AnswerForm {
  const [before = "", ...rest] = text.split(PLACE);
  return { before, after: rest.join(PLACE), from: "user" };
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
    ...named.map(namedForm),
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
