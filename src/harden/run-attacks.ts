/** Tries the attack classes on examples until the number of inputs is used up. */

import { type CheckedScore, passes, type ScoreRequest } from "../core/score.ts";
import { written } from "./answer-forms.ts";
import type { AnswerForm, Attack, AttackClass, Material, Target } from "./attack.ts";
import type { Effort } from "./effort.ts";
import type { Finds } from "./finds.ts";
import { severalSighting, troubleSighting, wrongSighting } from "./oracle.ts";
import { differ, wrongAnswers } from "./targets.ts";

export interface AttackTally {
  tried: number;
  lenient: number;
}

export interface AttackRun extends Effort {
  readonly classes: readonly AttackClass[];
  /** In the order in which they are attacked. */
  readonly targets: readonly Target[];
  readonly forms: readonly AnswerForm[];
  readonly strict: boolean;
  readonly lenient: Finds;
}

interface Planned {
  readonly attackClass: AttackClass;
  readonly attack: Attack;
  readonly target: Target;
  /** Requests of this attack, its own example first. */
  readonly requests: readonly ScoreRequest[];
}

const BATCH = 256;

export async function runAttacks(run: AttackRun): Promise<Map<string, AttackTally>> {
  const tally = new Map(run.classes.map(({ name }) => [name, { tried: 0, lenient: 0 }]));
  let waiting: Planned[] = [];
  let planning = 0;
  const flush = async () => {
    const requests = waiting.flatMap((planned) => planned.requests);
    const scores = await run.subject.score(requests);
    let at = 0;
    for (const planned of waiting) {
      const own = scores.slice(at, at + planned.requests.length);
      at += planned.requests.length;
      record(run, planned, own, tally.get(planned.attackClass.name) as AttackTally);
    }
    waiting = [];
  };
  for (const [index, target] of run.targets.entries()) {
    const form = run.forms[index % run.forms.length] as AnswerForm;
    const material = materialOf(target, run.targets, index, form);
    for (const planned of plannedOf(run.classes, material)) {
      const used = planning + planned.requests.length;
      if (used > run.inputs || run.subject.hung || run.stop()) break;
      planning = used;
      waiting.push(planned);
      if (waiting.length >= BATCH) await flush();
    }
  }
  if (!run.subject.hung) await flush();
  return tally;
}

/** The attacks on one example, as completions. */
export function plannedOf(classes: readonly AttackClass[], material: Material): Planned[] {
  return classes.flatMap((attackClass) =>
    attackClass
      .make(material)
      .filter(({ kind, payload }) => kind === "disguise" || payload.trim() !== material.answer)
      .filter(({ kind, offers }) => kind !== "hedge" || (offers ?? []).length > 0)
      .map((attack) => ({
        ...{ attackClass, attack, target: material },
        requests: [material, ...(attack.offers ?? [])].map(({ example }) => ({
          example,
          completion: attack.completion,
        })),
      })),
  );
}

const OTHERS = 4;

export function materialOf(
  target: Target,
  targets: readonly Target[],
  index: number,
  form: AnswerForm,
): Material {
  const others: Target[] = [];
  for (let step = 1; step < targets.length && others.length < OTHERS; step++) {
    const other = targets[(index + step) % targets.length] as Target;
    if ([target, ...others].every((one) => differ(one, other))) others.push(other);
  }
  return {
    ...target,
    form,
    others,
    wrong: wrongAnswers(target, others),
    write: (text) => written(form, text),
  };
}

function record(
  { subject, finds, lenient, strict }: AttackRun,
  { attackClass, attack, target, requests }: Planned,
  scores: readonly CheckedScore[],
  tally: AttackTally,
): void {
  tally.tried++;
  const where = { attack_class: attackClass.name, attack: attack.note };
  const [score] = scores as [CheckedScore];
  const { completion } = attack;
  const trouble = troubleSighting(subject, target, completion, score, where);
  if (trouble) {
    finds.add(trouble);
    return;
  }
  if (!passes(score.reward)) return;
  if (attack.kind === "wrong") finds.add(wrongSighting(subject, target, attack, score, where));
  if (attack.kind === "hedge") {
    const at = scores.findIndex((other, i) => i > 0 && passes(other.reward));
    const other = attack.offers?.[at - 1];
    if (other && requests[at])
      finds.add(severalSighting(subject, [target, other], completion, score, where));
  }
  if (attack.kind === "disguise") {
    tally.lenient++;
    (strict ? finds : lenient).add({
      ...where,
      problem: "lenient_form",
      id: target.example.id,
      ...{ completion, expected_reward: 0, reward: score.reward, code: score.code },
      why: "The right answer passes in a form that was not declared.",
    });
  }
}
