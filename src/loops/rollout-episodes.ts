/**
 * Plays n episodes of each task of an environment with a policy and writes the trajectories as a run.
 * Episodes that ended are kept in a journal: an interrupted rollout plays only the rest.
 */

import type { ActingPolicy } from "../core/actor.ts";
import type { PlayableEnvironment, Split } from "../core/environment.ts";
import { continuable, dataError, LockedRoomError } from "../core/errors.ts";
import { SketchMaker } from "../core/example-sketch.ts";
import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import { IdSet } from "../core/id-set.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { RolloutFailure, Trajectory } from "../core/trajectory.ts";
import { FAILURES, ROLLOUT_SCHEMA, TRAJECTORIES } from "../runs/artifacts.ts";
import {
  type FinishedRollout,
  finishRollout,
  rolloutIn,
  taskIdentity,
} from "../runs/finished-rollout.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { NotedAnswer } from "../runs/note-facts.ts";
import { EPISODES, Journal } from "../runs/rollout-journal.ts";
import type { JournaledEpisode, RolloutManifest, RolloutSummary } from "../runs/rollout-schemas.ts";
import { RunFolder } from "../runs/run-folder.ts";
import { EpisodeTally } from "./episode-tally.ts";
import { ExposureCount } from "./exposure.ts";
import { gather } from "./gather.ts";
import { LatencyTally, type Throughput } from "./latency-tally.ts";
import { triesOf } from "./rollout.ts";
import { rowsInOrder } from "./rollout-order.ts";
import { type Prices, RolloutTally } from "./rollout-tally.ts";
import { ExampleFingerprints } from "./scoring-run.ts";
import { addTurns, notedOf } from "./trajectory-turns.ts";

/** What `rolloutEpisodes` is given. @see {@link rolloutEpisodes} */
export interface RolloutEpisodesOptions {
  readonly policy: ActingPolicy;
  readonly environment: PlayableEnvironment;
  readonly split: Split;
  /** Only so many tasks, the first ones. */
  readonly tasks?: number | undefined;
  /** Episodes of each task. */
  readonly n: number;
  readonly outdir: string;
  /** How many episodes may fail (default: 2 %, and at least one). */
  readonly maxFailures?: number | undefined;
  readonly resume?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly prices?: Prices | undefined;
  /** Further files that are read, such as the system prompt's. */
  readonly inputs?: readonly string[] | undefined;
  /** Called once, with the number of episodes wanted and of those kept from an interrupted run. */
  readonly onStart?: ((wanted: number, kept: number) => void) | undefined;
  readonly onEpisode?: ((trajectory: Trajectory) => void) | undefined;
}

/**
 * Plays episodes of an environment with a policy; an interrupted rollout can be resumed.
 * @example
 * ```ts
 * import { openEmbeddedPolicy } from "lockedroom";
 * import { openPlayable } from "lockedroom/environments";
 * import { rolloutEpisodes } from "lockedroom/loops";
 * const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 16, stop: [], seed: 0 };
 * const policy = await openEmbeddedPolicy("checkpoint", { sampling });
 * const environment = await openPlayable("arithmetic");
 * const { summary } = await rolloutEpisodes({
 *   policy, environment, split: "dev", tasks: 8, n: 2, outdir: "runs/episodes",
 * });
 * console.log(summary.episodes?.pass_rate);
 * await policy.close();
 * ```
 */
export async function rolloutEpisodes(options: RolloutEpisodesOptions): Promise<FinishedRollout> {
  const { policy, environment, split, n, outdir } = options;
  const occasion = observeOccasion();
  const folder = await RunFolder.open(outdir, "rollout", {
    force: options.force,
    resume: options.resume,
    inputs: options.inputs,
  });
  let journal: Journal<JournaledEpisode> | undefined;
  try {
    const tasks = (await environment.tasks(split)).slice(0, options.tasks);
    const { sketch, ...found } = look(tasks, policy);
    const identity = environment.environment.identity;
    const sampled = {
      ...{ n, policy: policy.identity, prompt: policy.prompt },
      sampling: policy.sampling as unknown as JsonObject,
    };
    const whole = { ...taskIdentity(identity, found.examples), ...sampled };
    const done = options.resume && (await rolloutIn(folder, whole, options.force ?? false));
    if (done) {
      await folder.leave();
      return done;
    }
    journal = await Journal.open(folder, whole, options.resume ?? false, EPISODES);
    // Counted before the first answer: whoever sees answers has tried this seed.
    const seeds_tried = await triesOf(policy, found.examples, sketch, true);
    const timing = new LatencyTally();
    const { failures, throughput } = await playMissing(options, tasks, journal, timing);
    const { summary, noted } = await writeInOrder(options, folder, tasks, journal, failures);
    await journal.close();
    const { tools, solved } = environment;
    return await finishRollout(
      folder,
      {
        schema: ROLLOUT_SCHEMA,
        fingerprint_version: FINGERPRINT_VERSION,
        command: "rollout",
        inputs: [],
        ...{ environment: identity, split, tools: [...tools], solved: [...solved] },
        ...{ ...found, ...sampled, seeds_tried },
        volatile: {
          ...(await occasion()),
          ...(policy.place && { checkpoint: policy.place.path }),
          ...timing.record(throughput),
        },
      },
      summary,
      noted,
    );
  } catch (error) {
    await journal?.close();
    await folder.leave();
    const kept = journal && (journal.added > 0 || !journal.isNew);
    throw kept && error instanceof LockedRoomError ? continuable(error, RESUME) : error;
  }
}

const RESUME = "The episodes that ended are kept: continue with the same command and --resume.";

/** Every task has its own id; what the policy met of them in training is counted. */
function look(tasks: readonly Example[], policy: ActingPolicy) {
  if (tasks.length === 0) throw dataError("the split has no tasks", "Choose another --split.");
  const examples = new ExampleFingerprints();
  const exposed = new ExposureCount(policy.seen);
  const sketch = new SketchMaker();
  const seen = new IdSet();
  for (const task of tasks) {
    if (seen.add(task.id)) {
      throw dataError(
        `the environment has two tasks with the id ${JSON.stringify(task.id)}`,
        "Give each task of a split an id of its own.",
      );
    }
    examples.add(task);
    exposed.add(task);
    if (policy.place?.ledger) sketch.add(task);
  }
  return {
    sketch: sketch.sketch(),
    ...{ examples: examples.identity(), exposure: exposed.exposure() },
  } satisfies Pick<RolloutManifest, "examples" | "exposure"> & { sketch: unknown };
}

/** Plays what the journal does not hold. */
async function playMissing(
  options: RolloutEpisodesOptions,
  tasks: readonly Example[],
  journal: Journal<JournaledEpisode>,
  timing: LatencyTally,
): Promise<{ readonly failures: readonly RolloutFailure[]; readonly throughput: Throughput }> {
  const { policy, environment, n } = options;
  options.onStart?.(tasks.length * n, journal.kept);
  const began = performance.now();
  let tokens = 0;
  const failures = await gather({
    actor: policy.actor(environment.tools),
    environment: environment.environment,
    ...{ tasks, n, seed: policy.sampling.seed, maxFailures: options.maxFailures },
    skips: (id, sample) => journal.holds(id, sample),
    onReply: ({ completion_tokens }) => {
      tokens += completion_tokens;
    },
    onEpisode: async (trajectory, replies) => {
      timing.addTurns(replies.map(({ ms }) => ms));
      const { id, sample } = trajectory;
      await journal.add({ id, sample, trajectory } as JournaledEpisode);
      options.onEpisode?.(trajectory);
    },
  });
  return { failures, throughput: { tokens, seconds: (performance.now() - began) / 1000 } };
}

/** Trajectories in the order of the tasks, and the failures beside them. */
async function writeInOrder(
  { environment, n, prices }: RolloutEpisodesOptions,
  folder: RunFolder,
  tasks: readonly Example[],
  journal: Journal<JournaledEpisode>,
  failures: readonly RolloutFailure[],
): Promise<{
  readonly summary: Omit<RolloutSummary, "schema" | "files" | "manifest_sha256">;
  readonly noted: NotedAnswer[];
}> {
  const [first] = failures;
  if (failures.length === tasks.length * n && first) {
    throw dataError(`every episode failed; the first: ${first.message}`, "Correct the cause.");
  }
  const turns = new RolloutTally();
  const episodes = new EpisodeTally(environment.solved);
  const noted: NotedAnswer[] = [];
  const failed = new Set(failures.map(({ id, sample }) => `${sample} ${id}`));
  const lines = await folder.lines(TRAJECTORIES);
  for await (const { rows } of rowsInOrder([tasks], journal.read(), n, ({ id, sample }) =>
    failed.has(`${sample} ${id}`),
  )) {
    for (const { trajectory } of rows) {
      episodes.add(trajectory);
      addTurns(turns, trajectory);
      if (noted.length < 2) noted.push(notedOf(trajectory));
      lines.add(canonicalJson(trajectory as unknown as Json));
      await lines.flush();
    }
  }
  if (failures.length > 0) {
    const file = await folder.lines(FAILURES);
    for (const failure of failures) file.add(canonicalJson(failure as unknown as Json));
    await file.flush();
  }
  return {
    summary: { ...turns.summary(tasks.length, prices), episodes: episodes.summary(failures) },
    noted,
  };
}
