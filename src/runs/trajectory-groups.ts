/** The episodes of a file, those of one task together. */

import { dataError } from "../core/errors.ts";
import { IdSet } from "../core/id-set.ts";
import type { RolloutFailure, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import { byTask } from "./by-task.ts";
import { JsonlFile, type ReadOptions } from "./jsonl.ts";
import type { Rows } from "./rows.ts";
import { toTrajectory } from "./trajectory-schema.ts";

/** Which tasks a file has episodes of. */
export interface TrajectorySurvey {
  /** In the order of the file. */
  readonly ids: readonly string[];
  /** The largest number of episodes of a task. */
  readonly samples: number;
}

/** A look at ids alone; `check` refuses one, and the error names its line. */
export async function surveyTrajectories(
  file: string,
  check: (id: string) => void,
): Promise<TrajectorySurvey> {
  const ids: string[] = [];
  const seen = new IdSet();
  let samples = 0;
  let last: { readonly id: string; readonly sample: number } | undefined;
  const lines = new JsonlFile(file, ({ id, sample }) => {
    if (typeof id !== "string" || !Number.isSafeInteger(sample) || Number(sample) < 0)
      throw new TypeError("not a trajectory: it needs id and sample");
    const here = { id, sample: Number(sample) };
    if (id !== last?.id) {
      if (seen.add(id)) throw outOfOrder(id, "the episodes of its task do not follow each other");
      check(id);
      ids.push(id);
    } else if (here.sample <= last.sample) {
      throw outOfOrder(id, `its sample ${here.sample} comes after sample ${last.sample}`);
    }
    samples = Math.max(samples, here.sample + 1);
    last = here;
  });
  for await (const _ of lines.batches()) {
    // Only checked and counted.
  }
  if (ids.length === 0) throw dataError(`${file} is empty`, "Give at least one trajectory.");
  return { ids, samples };
}

function outOfOrder(id: string, why: string): Error {
  return dataError(
    `${visibleShort(id, 60)}: ${why}`,
    "Put each episode in once, in the order of tasks and then samples.",
  );
}

/** Groups in the order of the file, each with the failures of its task. */
export class TrajectoryGroups implements Rows<TrajectoryGroup> {
  readonly #file: JsonlFile<Trajectory>;
  readonly #failures: ReadonlyMap<string, readonly RolloutFailure[]>;

  constructor(
    file: string,
    failures: ReadonlyMap<string, readonly RolloutFailure[]>,
    options: ReadOptions = {},
  ) {
    this.#file = new JsonlFile(file, toTrajectory, options);
    this.#failures = failures;
  }

  get path(): string {
    return this.#file.path;
  }

  get label(): string {
    return this.#file.label;
  }

  get rows(): number {
    return this.#file.rows;
  }

  get sha256(): string {
    return this.#file.sha256;
  }

  asInput(role: string) {
    return this.#file.asInput(role);
  }

  async *batches(): AsyncGenerator<TrajectoryGroup[], void, void> {
    for await (const groups of byTask(this.#file.batches()))
      yield groups.map((trajectories) => this.#group(trajectories));
  }

  #group(trajectories: readonly Trajectory[]): TrajectoryGroup {
    const id = trajectories[0]?.id as string;
    return { id, trajectories, failures: this.#failures.get(id) ?? [] };
  }
}
