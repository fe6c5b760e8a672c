/** What a score says about a completion: whether it is a find, and of which kind. */

import { type CheckedScore, passes } from "../core/score.ts";
import type { Attack, Target } from "./attack.ts";
import type { Sighting } from "./finds.ts";
import { couldState } from "./readings.ts";
import { messageOf, type Subject, type Trouble, troubleOf } from "./subject.ts";

type Where = Pick<Sighting, "attack_class" | "attack">;

const TROUBLE: Record<Trouble, string> = {
  timeout: "The scorer ran over its time limit",
  not_deterministic: "The scorer is not deterministic",
  scorer_error: "The scorer failed",
};

/** A scorer that fails, hangs or answers in two ways. */
export function troubleSighting(
  subject: Subject,
  target: Target,
  completion: string,
  score: CheckedScore,
  where: Where,
  expected_reward = 0,
): Sighting | undefined {
  const problem = troubleOf(score);
  if (!problem) return undefined;
  const { example } = target;
  const inTrouble = async (text: string) =>
    (await scoreOf(subject, text, example)).find((one) => troubleOf(one) === problem);
  const why = (one: CheckedScore) => `${TROUBLE[problem]}: ${messageOf(one).replace(/\.?$/, ".")}`;
  // A part of a right answer is expected to get 0 only if it does not state the answer any more.
  const still = async (text: string) =>
    (expected_reward === 0 || !couldState(text, target)) && (await inTrouble(text)) !== undefined;
  const smaller = async (text: string) => ({
    ...{ expected_reward: 0, why: why((await inTrouble(text)) ?? score) },
  });
  return {
    ...where,
    problem,
    id: example.id,
    ...{ completion, expected_reward, reward: score.reward, code: score.code },
    why: why(score),
    // To try it again and again would take the time limit each time.
    ...(problem === "timeout" ? {} : { still, smaller }),
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
    why: `This completion does not answer ${JSON.stringify(answer)}, but the scorer accepts it.`,
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
    why: `This completion passes here, where ${a} is right, and for ${other.example.id}, where ${b} is.`,
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
