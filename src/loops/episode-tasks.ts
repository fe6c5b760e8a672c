/** The tasks that the episodes of a rollout are of, from their environment. */

import { type PlayableEnvironment, SPLITS, type Split } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import type { RecordedEpisodes } from "../runs/recorded-episodes.ts";
import { surveyTrajectories } from "../runs/trajectory-groups.ts";
import { ExampleFingerprints } from "./scoring-run.ts";

interface Tasks {
  readonly tasks: readonly Example[];
  readonly split: string | undefined;
  /** Episodes of each task. */
  readonly n: number;
  /** How many tasks the split has, where these are not simply its first ones. */
  readonly chosenOf?: number;
}

/** The tasks that the episodes are of, in the order of the environment. */
export async function tasksOf(
  { file, rollout, failures }: RecordedEpisodes,
  environment: PlayableEnvironment,
  name: string,
): Promise<Tasks> {
  const splits = SPLITS.filter((split) => (rollout?.split ?? split) === split);
  const bySplit = new Map<Split, readonly Example[]>();
  for (const split of splits) bySplit.set(split, await environment.tasks(split));
  const splitOf = new Map(
    [...bySplit].flatMap(([split, tasks]) => tasks.map(({ id }) => [id, split] as const)),
  );
  let found: Split | undefined;
  const check = (id: string) => {
    const split = splitOf.get(id);
    if (split === undefined) throw unknownTask(id, name, rollout?.split ?? undefined);
    found ??= split;
    if (split !== found)
      throw dataError(
        `${visibleShort(id, 60)} is a task of the split ${split}, and those before are of ${found}`,
        "Evaluate the splits apart.",
      );
  };
  const survey = await surveyTrajectories(file, check);
  for (const { id } of failures) check(id);
  const all = (found && bySplit.get(found)) ?? [];
  const n = Math.max(rollout?.n ?? 1, survey.samples);
  const asked = rollout?.examples ? all.slice(0, rollout.examples.count) : [];
  if (asked.length > 0 && fingerprintOf(asked) === rollout?.examples?.sha256)
    return { tasks: asked, split: found, n };
  const present = new Set([...survey.ids, ...failures.map(({ id }) => id)]);
  const tasks = all.filter(({ id }) => present.has(id));
  const first = tasks.every(({ id }, i) => all[i]?.id === id);
  return { tasks, split: found, n, ...(!first && { chosenOf: all.length }) };
}

function fingerprintOf(tasks: readonly Example[]): string {
  const examples = new ExampleFingerprints();
  for (const task of tasks) examples.add(task);
  return examples.identity().sha256;
}

function unknownTask(id: string, name: string, split: string | undefined): Error {
  const where = split === undefined ? "any split" : `the split ${split}`;
  return dataError(
    `the environment ${name} has no task ${JSON.stringify(visibleShort(id, 60))} in ${where}`,
    "Name the environment that the trajectories were made in with --env.",
  );
}
