/** The completions that the search starts from. */

import { written } from "./answer-forms.ts";
import type { AnswerForm, AttackClass, Target } from "./attack.ts";
import type { Data } from "./data.ts";
import { materialOf, plannedOf } from "./run-attacks.ts";
import type { Entry } from "./search.ts";

/** Examples whose attacks are seeds. */
const PROBED = 6;

/** Right answers, golden rows, and the attacks on a few examples. */
export function seedsOf(
  targets: readonly Target[],
  forms: readonly AnswerForm[],
  classes: readonly AttackClass[],
  golden: Data["golden"],
): Entry[] {
  const right = targets
    .slice(0, 64)
    .flatMap((target) =>
      forms.map((form) => ({ target, completion: written(form, target.answer) })),
    );
  const attacks = probed(targets).flatMap((target) => {
    const material = materialOf(target, targets, targets.indexOf(target), forms[0] as AnswerForm);
    return plannedOf(classes, material).map(({ attack }) => ({
      target,
      completion: attack.completion,
    }));
  });
  return [...right, ...goldenEntries(golden), ...attacks];
}

/** Examples of different kinds: zero, negative, of few and of many digits. */
function probed(targets: readonly Target[]): Target[] {
  const kinds = new Map<string, Target>();
  for (const target of targets) {
    const { value, answer } = target;
    const kind = value === null ? "text" : `${Math.sign(value)} ${answer.length}`;
    if (!kinds.has(kind)) kinds.set(kind, target);
  }
  return [...kinds.values()].slice(0, PROBED);
}

/** Golden rows of examples that have an answer. */
export function goldenEntries(golden: Data["golden"]): Entry[] {
  return golden.flatMap(({ row, target }) =>
    target ? [{ target, completion: row.completion }] : [],
  );
}
