/** Right answers in the form that the scorer accepts must pass for every example. */

import { passes } from "../core/score.ts";
import { written } from "./answer-forms.ts";
import type { AnswerForm, Target } from "./attack.ts";
import type { Effort } from "./effort.ts";
import { troubleSighting } from "./oracle.ts";
import { shape } from "./search.ts";

const BATCH = 256;

export async function checkRightAnswers(
  { subject, finds, inputs, stop }: Effort,
  all: readonly Target[],
  form: AnswerForm,
): Promise<void> {
  const targets = all.slice(0, inputs);
  for (let from = 0; from < targets.length && !subject.hung && !stop(); from += BATCH) {
    const some = targets.slice(from, from + BATCH);
    const requests = some.map(({ example, answer }) => ({
      ...{ example, completion: written(form, answer) },
    }));
    const scores = await subject.score(requests);
    for (const [i, target] of some.entries()) {
      const [score, completion] = [scores[i], requests[i]?.completion];
      if (!score || completion === undefined) continue;
      const where = {
        attack_class: "right_answers",
        attack: `the right answer ${shape(target.answer)}`,
      };
      const trouble = troubleSighting(subject, target, completion, score, where, 1);
      if (trouble) finds.add(trouble);
      else if (score.reward !== null && !passes(score.reward))
        finds.add({
          ...where,
          problem: "right_refused",
          id: target.example.id,
          ...{ completion, expected_reward: 1, reward: score.reward, code: score.code },
          why: "The right answer does not pass in a form that passes for other examples.",
        });
    }
  }
}
