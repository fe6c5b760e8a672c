/** The learner's two-step program: each part is called with hidden inputs and compared with ours. */

import { type Rng, rngAt } from "../core/index.ts";
import {
  actionAt,
  type CreditAssignment,
  softmax,
  TWO_STEP_UPDATES,
  type TwoStepDraws,
  type TwoStepEpisode,
  type TwoStepPolicy,
  type TwoStepStep,
  type TwoStepTraining,
  trainOnDraws,
  twoStepReward,
  type Vector,
} from "../learn/index.ts";
import { type CheckContext, ensure } from "./check-context.ts";
import { type Allowed, checkImports } from "./imports.ts";
import { hiddenSeed, type LearnerFile } from "./learner-code.ts";

/** What the assignment comes with; `lockedroom/learn` also has every part that is to be written. */
export const TWO_STEP_IMPORTS: Allowed = {
  "lockedroom/learn": ["softmax", "runTwoStep"],
  "lockedroom/extensions": ["isProgram"],
  "node:util": ["parseArgs"],
};

const TOLERANCE = 1e-9;

const hidden = (context: CheckContext, part: string): Rng => rngAt(hiddenSeed(context, part));

const pair = (rng: Rng): Vector => [2 * rng.next() - 1, 2 * rng.next() - 1];

export async function checkUpdate(
  context: CheckContext,
  file: LearnerFile,
  credit: CreditAssignment,
): Promise<string> {
  await checkImports(file, TWO_STEP_IMPORTS);
  const rng = hidden(context, "2");
  const cases = Array.from({ length: 40 }, (): [TwoStepPolicy, TwoStepEpisode] => [
    { first: pair(rng), second: [pair(rng), pair(rng)] },
    { first: rng.below(2), second: rng.below(2), advantage: 2 * rng.next() - 1, lr: rng.next() },
  ]);
  const given = (await file.call("update", cases)) as (TwoStepPolicy | undefined)[];
  for (const [i, [policy, episode]] of cases.entries()) {
    const wanted = TWO_STEP_UPDATES[credit](policy, episode);
    for (const part of ["first", "second"] as const) {
      ensure(isClose(given[i]?.[part], wanted[part]), () => ({
        expected: `${part} logits ${JSON.stringify(wanted[part])} for ${JSON.stringify(episode)}`,
        found: JSON.stringify(given[i]?.[part]) ?? "nothing",
        where: `update in ${file.name}`,
      }));
    }
  }
  return `${cases.length} hidden episodes`;
}

export async function checkWorld(context: CheckContext, file: LearnerFile): Promise<string> {
  await checkImports(file, TWO_STEP_IMPORTS);
  const rng = hidden(context, "2 world");
  const cases = Array.from({ length: 60 }, () => {
    const args = [rng.below(2), rng.below(2), rng.next()] as const;
    return { args, wanted: twoStepReward(...args) };
  });
  await file.checkReturns("reward", cases, `reward in ${file.name}`);
  return `${cases.length} hidden draws`;
}

export async function checkSampling(context: CheckContext, file: LearnerFile): Promise<string> {
  await checkImports(file, TWO_STEP_IMPORTS);
  const rng = hidden(context, "2 sampling");
  const cases = Array.from({ length: 60 }, (_, i) => {
    const logits = pair(rng).map((logit) => 3 * logit);
    const draw = [0, 0.999999][i] ?? rng.next();
    return { args: [logits, draw] as const, wanted: actionAt(softmax(logits), draw) };
  });
  await file.checkReturns("sample", cases, `sample in ${file.name}`);
  return `${cases.length} hidden draws`;
}

/** The whole log, line by line: the world, the sampling, the baseline and the update together. */
export async function checkProgram(
  context: CheckContext,
  file: LearnerFile,
  credit: CreditAssignment,
): Promise<string> {
  await checkImports(file, TWO_STEP_IMPORTS);
  const rng = hidden(context, "2 program");
  const cases = [true, false].map((baseline): [TwoStepDraws[], TwoStepTraining] => [
    Array.from({ length: 30 }, () => ({
      ...{ first: rng.next(), second: rng.next(), reward: rng.next() },
    })),
    { lr: 0.1 + rng.next(), baseline },
  ]);
  const logs = await file.call("train", cases);
  for (const [i, [draws, training]] of cases.entries()) {
    const wanted = [...trainOnDraws(draws, training, TWO_STEP_UPDATES[credit])];
    const log = Array.isArray(logs[i]) ? (logs[i] as Partial<TwoStepStep>[]) : [];
    ensure(log.length === wanted.length, {
      expected: `one line for each of ${wanted.length} hidden episodes`,
      found: `${log.length}`,
      where: `train in ${file.name}`,
    });
    for (const [at, line] of wanted.entries()) checkLine(file, training, line, log[at] ?? {});
  }
  return `${cases.length} hidden trainings of 30 episodes`;
}

function checkLine(
  file: LearnerFile,
  { baseline }: TwoStepTraining,
  wanted: TwoStepStep,
  found: Partial<TwoStepStep>,
): void {
  for (const field of Object.keys(wanted) as (keyof TwoStepStep)[]) {
    ensure(isClose(found[field], wanted[field]), () => ({
      expected: `${field} ${JSON.stringify(wanted[field])} in step ${wanted.step}, ${baseline ? "with" : "without"} a baseline`,
      found: JSON.stringify(found[field]) ?? "nothing",
      where: `train in ${file.name}`,
    }));
  }
}

/** The learner's code may return anything. */
function isClose(found: unknown, wanted: unknown): boolean {
  if (typeof wanted === "number") {
    return typeof found === "number" && Math.abs(found - wanted) < TOLERANCE;
  }
  if (typeof found !== "object" || found === null) return false;
  const [a, b] = [found as Record<string, unknown>, wanted as Record<string, unknown>];
  return (
    Array.isArray(found) === Array.isArray(wanted) &&
    Object.keys(b).every((key) => isClose(a[key], b[key])) &&
    (!Array.isArray(wanted) || (found as unknown[]).length === wanted.length)
  );
}
