/** Trajectories of a file by task, one task in memory at a time. */

import { dataError } from "../core/errors.ts";
import { IdSet } from "../core/id-set.ts";
import type { RolloutFailure, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { byTask, failuresByTask } from "../runs/by-task.ts";

/**
 * Episodes of a task that follow each other are a group. Failures come with the first group of their
 * task, and those of tasks without any trajectory at the end. `together` refuses a file in which a task
 * comes back after another.
 */
export async function* groupsOf(
  batches: AsyncIterable<readonly Trajectory[]>,
  failures: readonly RolloutFailure[],
  { together, label }: { readonly together: boolean; readonly label: string },
): AsyncGenerator<TrajectoryGroup, void, void> {
  const failed = failuresByTask(failures);
  const seen = new IdSet();
  const take = (id: string, trajectories: readonly Trajectory[]): TrajectoryGroup => {
    if (together && seen.add(id)) {
      throw dataError(
        `${label}: the episodes of the task ${id} do not follow each other`,
        "This format has all episodes of a task on one line. Sort the file by task, or choose another format.",
      );
    }
    const own = failed.get(id) ?? [];
    failed.delete(id);
    return { id, trajectories, failures: own };
  };
  for await (const groups of byTask(batches)) {
    for (const group of groups) yield take(group[0]?.id as string, group);
  }
  for (const id of [...failed.keys()]) yield take(id, []);
}
