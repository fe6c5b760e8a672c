/**
 * Gathers episodes in parallel. One that fails is counted and has no trajectory; more failures than
 * allowed end the gathering.
 */

import { setMaxListeners } from "node:events";
import type { Actor, Reply } from "../core/actor.ts";
import { ENVIRONMENT_ERROR, type Environment } from "../core/environment.ts";
import { episodeAddress } from "../core/episode-address.ts";
import { dataError, type LockedRoomError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import type { RolloutFailure, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import { eachAlone } from "./each-alone.ts";
import { type Outcome, playEach } from "./play.ts";
import { groupsOf, type TaskEpisode, trajectoryOf } from "./trajectory.ts";

/** The share of episodes that may fail where nothing else is said, and the least number. */
const FAILING_SHARE = 0.02;
const FAILING_LEAST = 1;

export interface GatherOptions {
  readonly actor: Actor;
  readonly environment: Environment;
  readonly tasks: readonly Example[];
  /** Episodes of each task. */
  readonly n: number;
  /** Part of the address of every episode. */
  readonly seed: number;
  /** How many may fail (default: 2 %, and at least one). */
  readonly maxFailures?: number | undefined;
  /** Episodes that are not played. */
  readonly skips?: ((id: string, sample: number) => boolean) | undefined;
  readonly onReply?: ((reply: Reply) => void) | undefined;
  /** Called for one episode at a time, in the order in which they end. */
  readonly onEpisode?:
    | ((trajectory: Trajectory, replies: readonly Reply[]) => void | Promise<void>)
    | undefined;
}

/** Plays every episode; gives those that failed, in the order of the tasks and their samples. */
export async function gather(options: GatherOptions): Promise<RolloutFailure[]> {
  const { actor, onReply, tasks, n } = options;
  const environment = eachAlone(options.environment);
  const most = options.maxFailures ?? defaultMaxFailures(tasks.length * n);
  const requests = requested(options);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // One for each request.
  const failures: RolloutFailure[] = [];
  let last: Promise<void> = Promise.resolve();

  const take = async (outcome: Outcome<TaskEpisode, Reply>) => {
    const found = recorded(outcome, actor);
    if ("type" in found) {
      failures.push(found);
      if (failures.length > most) throw tooMany(failures, most, outcome);
    } else if ("episode" in outcome) {
      await options.onEpisode?.(found, outcome.episode.generations);
    }
  };
  /** Loops share the requests; each takes the next one when it has room. */
  const loop = async () => {
    const played = { batch: actor.batch, stop: stop.signal, onReply };
    for await (const outcome of playEach(actor, environment, requests, played)) {
      last = last.then(() => take(outcome));
      await last;
    }
  };
  const { episodesAtOnce = actor.concurrency } = environment;
  const loops = Array.from({ length: Math.min(actor.concurrency, episodesAtOnce) }, () =>
    loop().catch((error) => {
      if (!stop.signal.aborted) stop.abort(error);
    }),
  );
  await Promise.all(loops);
  if (stop.signal.aborted) throw stop.signal.reason;
  const place = new Map(tasks.map(({ id }, i) => [id, i]));
  return failures.toSorted(
    (a, b) => Number(place.get(a.id)) - Number(place.get(b.id)) || a.sample - b.sample,
  );
}

function defaultMaxFailures(episodes: number): number {
  return Math.max(FAILING_LEAST, Math.floor(FAILING_SHARE * episodes));
}

/**
 * Gathers episodes in memory, by task.
 * @example
 * ```ts
 * import { gatherGroups } from "lockedroom/loops";
 * import { openEmbeddedPolicy } from "lockedroom";
 * import { openPlayable } from "lockedroom/environments";
 * const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 16, stop: [], seed: 0 };
 * const policy = await openEmbeddedPolicy("checkpoint", { sampling });
 * const { environment, tasks, tools } = await openPlayable("arithmetic");
 * const some = (await tasks("dev")).slice(0, 4);
 * const groups = await gatherGroups({ actor: policy.actor(tools), environment, tasks: some, n: 2, seed: 0 });
 * console.log(groups[0]?.trajectories.map(({ reward }) => reward));
 * await policy.close();
 * ```
 */
export async function gatherGroups(
  options: Omit<GatherOptions, "skips" | "onEpisode">,
): Promise<TrajectoryGroup[]> {
  const trajectories: Trajectory[] = [];
  const onEpisode = (one: Trajectory) => void trajectories.push(one);
  const failures = await gather({ ...options, onEpisode });
  return groupsOf(options.tasks, { trajectories, failures });
}

/** One iterator for all loops. */
function* requested({
  tasks,
  n,
  seed,
  skips,
}: GatherOptions): Generator<TaskEpisode, void, undefined> {
  for (const task of tasks) {
    for (let sample = 0; sample < n; sample++) {
      if (skips?.(task.id, sample)) continue;
      yield { task, sample, address: episodeAddress(seed, task.id, sample) };
    }
  }
}

function recorded(
  outcome: Outcome<TaskEpisode, Reply>,
  { preamble }: Actor,
): Trajectory | RolloutFailure {
  const { task, sample } = outcome.request;
  const failed = { id: task.id, sample };
  if ("failure" in outcome) {
    const { type, error } = outcome.failure;
    return { ...failed, type, message: error.message };
  }
  const { end } = outcome.episode;
  if (end.code === ENVIRONMENT_ERROR) {
    const message = String(end.details.message ?? "it gave no reason");
    return { ...failed, type: ENVIRONMENT_ERROR, message };
  }
  return trajectoryOf(outcome.request, outcome.episode, preamble);
}

function tooMany(
  failures: readonly RolloutFailure[],
  most: number,
  outcome: Outcome<TaskEpisode, Reply>,
): LockedRoomError {
  const { id, sample, type, message } = failures.at(-1) as RolloutFailure;
  const which = `the last is sample ${sample + 1} of ${visibleShort(id, 60)} (${type})`;
  const hint = "failure" in outcome ? outcome.failure.error.hint : undefined;
  const count = failures.length === 1 ? "1 episode" : `${failures.length} episodes`;
  return dataError(
    `${count} failed and --max-failures allows ${most}; ${which}: ${message}`,
    hint ?? "Correct the cause, or allow more failures.",
  );
}
