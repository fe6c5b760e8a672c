/** What a score says about a completion: whether it is a find, and of which kind. */

import { type CheckedScore, passes } from "../core/score.ts";
import type { Attack, Target } from "./attack.ts";
import type { Sighting } from "./finds.ts";
import { couldState } from "./readings.ts";
import { messageOf, type Subject, type Trouble, troubleOf } from "./subject.ts";

type Where = Pick<Sighting, "attack_class" | "attack">;

const TROUBLE: Record<Trouble, string> = {
  timeout: "the scorer ran over its time limit",
  not_deterministic: "the scorer is not deterministic",
  scorer_error: "the scorer failed",
};

/** A scorer that fails, hangs or answers in two ways. */
export function troubleSighting(
  subject: Subject,
  { example }: Target,
  completion: string,
  score: CheckedScore,
  where: Where,
  expected_reward = 0,
): Sighting | undefined {
  const problem = troubleOf(score);
  if (!problem) return undefined;
  const still = async (text: string) =>
    (await scoreOf(subject, text, example)).some((one) => troubleOf(one) === problem);
  return {
    ...where,
    problem,
    id: example.id,
    ...{ completion, expected_reward, reward: score.reward, code: score.code },
    why: `${TROUBLE[problem]}: ${messageOf(score)}`,
    // To try it again and again would take the time limit each time.
    ...(problem === "timeout" ? {} : { still }),
  };
}

/** A completion that passes although it states a wrong answer, or none. */
export function wrongSighting(
  subject: Subject,
  target: Target,
  { completion, payload }: Pick<Attack, "completion"> & { payload?: string },
  { reward, code }: CheckedScore,
  where: Where,
): Sighting {
  const { example, answer } = target;
  const kept = payload === completion ? undefined : payload;
  const unstated = !couldState(completion, target);
  const still = async (text: string) =>
    (kept !== undefined || !couldState(text, target)) &&
    (await scoreOf(subject, text, example)).every((score) => passes(score.reward));
  return {
    ...where,
    problem: "wrong_passes",
    id: example.id,
    ...{ completion, expected_reward: 0, reward, code },
    why: `the answer ${JSON.stringify(answer)} is not what it states, and it passes`,
    ...(kept !== undefined && { payload: kept }),
    ...((kept !== undefined || unstated) && { still }),
  };
}

/** A completion that passes for two examples with different answers. */
export function severalSighting(
  subject: Subject,
  [one, other]: readonly [Target, Target],
  completion: string,
  { reward, code }: CheckedScore,
  where: Where,
): Sighting {
  const [a, b] = [one, other].map(({ answer }) => JSON.stringify(answer));
  return {
    ...where,
    problem: "several_pass",
    id: one.example.id,
    ...{ completion, expected_reward: 0, reward, code },
    why: `it passes here, where ${a} is right, and for ${other.example.id}, where ${b} is`,
    still: async (text) =>
      (await scoreOf(subject, text, one.example, other.example)).every((score) =>
        passes(score.reward),
      ),
  };
}

function scoreOf(
  subject: Subject,
  completion: string,
  ...examples: readonly Target["example"][]
): Promise<CheckedScore[]> {
  return subject.score(examples.map((example) => ({ example, completion })));
}
