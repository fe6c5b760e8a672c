/** Episodes of a rollout, played again in their environment before anything is made of them. */

import { ENVIRONMENT_ERROR, type PlayableEnvironment } from "../core/environment.ts";
import { EpisodeSeed } from "../core/episode-seed.ts";
import { dataError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import { scorerOfJudge } from "../core/judge-scorer.ts";
import { unjudgedTrajectory } from "../core/judged-trajectory.ts";
import { toExample } from "../core/records.ts";
import {
  actionsOf,
  type Disagreement,
  disagreement,
  isBroken,
  type Replayed,
  replayEpisodes,
  replayRequest,
} from "../core/replay.ts";
import { type CheckedScore, isSolved, type ScorerIdentity } from "../core/score.ts";
import type { RolloutFailure, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import { failuresByTask } from "../runs/by-task.ts";
import type { ReadOptions } from "../runs/jsonl.ts";
import type { JudgedRollout } from "../runs/judge-schemas.ts";
import { findEpisodes, type RecordedEpisodes } from "../runs/recorded-episodes.ts";
import { openRows } from "../runs/rows.ts";
import type { FolderOptions } from "../runs/run-folder.ts";
import type { Manifest, RowEpisode, Summary } from "../runs/schemas.ts";
import { TrajectoryGroups } from "../runs/trajectory-groups.ts";
import { tasksOf } from "./episode-tasks.ts";
import type { Joined } from "./join.ts";
import { PACKS_AT_ONCE } from "./score-packs.ts";
import { type JoinedRun, withJoinedRun } from "./scoring-run.ts";
import type { StatedProvenance } from "./stated.ts";

/** What commands on trajectories are given. @see {@link evaluateTrajectories} */
export interface EpisodeOptions extends Pick<FolderOptions, "force">, Pick<ReadOptions, "onBytes"> {
  /** A rollout's folder, or a file of trajectories. */
  readonly trajectories: string;
  /** The environment that they were made in. */
  readonly environment: PlayableEnvironment;
  readonly outdir: string;
  /** For trajectories without a provenance file: which policy acted, and how it was sampled. */
  readonly stated?: StatedProvenance | undefined;
}

export interface EpisodeRun extends JoinedRun<TrajectoryGroup> {
  /** Episodes of each task. */
  readonly n: number;
  /** How many tasks there are. */
  readonly tasks: number;
  /** What the manifest says of the environment, and of the judge of selected episodes. */
  readonly described: Pick<Manifest, "environment" | "split" | "solved" | "judge">;
  readonly settings: JsonObject;
  readonly failures: Summary["failures"];
  /** Why there is no such episode, where its rollout failed. */
  failureOf(id: string, sample: number): RolloutFailure | undefined;
  /** By group, its episodes in the order of their samples; one that is not true is refused. */
  replayed(batch: readonly Joined<TrajectoryGroup>[]): Promise<PlayedEpisode[][]>;
}

/** An episode as a row has it. */
export interface PlayedEpisode {
  readonly sample: number;
  /** What the policy wrote in all turns. */
  readonly completion: string;
  readonly sum_logprob: number | null;
  readonly score: CheckedScore;
  readonly passed: boolean;
  readonly episode: RowEpisode;
}

const FIRST_FAILURES = 5;

export async function withEpisodes<T>(
  kind: "eval" | "select",
  options: EpisodeOptions,
  work: (run: EpisodeRun) => Promise<T>,
): Promise<T> {
  const { environment: played } = options;
  const source = await findEpisodes(options.trajectories);
  const instrument = scorerIdentityOf(played);
  const judge = source.rollout?.judge ?? undefined;
  if (judge && kind === "eval") throw judgedAlready(options.trajectories, judge);
  requireSameName(source, instrument);
  const { tasks, split, n, chosenOf } = await tasksOf(source, played, instrument.name);
  const then = source.rollout?.environment.source_sha256 ?? null;
  const changed = then !== null && then !== instrument.source_sha256 ? then : undefined;
  const failures = failuresByTask(source.failures);
  const seed = new EpisodeSeed(source.rollout?.seed);
  const sides = {
    dataset: openRows(tasks, "tasks", toExample),
    answers: new TrajectoryGroups(source.file, failures, options),
    inputs: [source.file],
    ...{ role: "trajectories" as const, batchSize: PACKS_AT_ONCE, boundByRow: false },
    instrument: {
      identity: judge ? scorerOfJudge(judge.identity) : instrument,
      concurrency: 1,
    },
  };
  return withJoinedRun(kind, options, sides, (run) =>
    work({
      ...{ ...run, n, tasks: tasks.length },
      described: {
        ...(judge && { judge: { identity: judge.identity } }),
        environment: { ...played.environment.identity, ...identityOf(instrument) },
        ...(split !== undefined && { split }),
        solved: [...played.solved],
      },
      settings: {
        ...(changed !== undefined && { rollout_source_sha256: changed }),
        ...(chosenOf !== undefined && { tasks_chosen_of: chosenOf }),
      },
      failures: summaryOf(source.failures),
      failureOf: (id, sample) => failures.get(id)?.find((one) => one.sample === sample),
      replayed: (batch) =>
        replayGroups(batch, played, {
          ...{ file: source.file, changed, instrument, seed, judged: judge !== undefined },
        }),
    }),
  );
}

/** An environment scores as a scorer does: it has a name, a version and code. */
function scorerIdentityOf({ environment, rewards }: PlayableEnvironment): ScorerIdentity {
  const { name, version, spec, source_sha256: source, path } = environment.identity;
  return {
    name: String(name),
    version: String(version ?? ""),
    spec: String(spec ?? ""),
    // What a server plays has no code here; what it says of itself stands for it.
    source_sha256: typeof source === "string" ? source : fingerprint(environment.identity),
    path: typeof path === "string" ? path : null,
    ...(rewards && { range: [rewards[0], rewards[1]] as [number, number] }),
  };
}

function identityOf({ name, version, spec, source_sha256, path }: ScorerIdentity) {
  return { name, version, spec, source_sha256, path };
}

/** The scores of a judge are relative within its groups: no environment gives them again. */
function judgedAlready(given: string, { identity }: JudgedRollout): Error {
  return dataError(
    `the rewards in ${given} are scores of the judge ${visibleShort(identity.name, 60)}, which no environment gives again`,
    "Name the rollout that was judged. To select by the judge's scores use selection-demo; to compare two rollouts by a judge use judge score --against.",
  );
}

function requireSameName({ file, rollout }: RecordedEpisodes, { name }: ScorerIdentity): void {
  if (!rollout || rollout.environment.name === name) return;
  throw dataError(
    `${file} was made in the environment ${visibleShort(rollout.environment.name, 60)}, not in ${name}`,
    "Leave --env out, or name the environment of the rollout.",
  );
}

function summaryOf(failures: readonly RolloutFailure[]): Summary["failures"] {
  if (failures.length === 0) return undefined;
  return { count: failures.length, first: failures.slice(0, FIRST_FAILURES) };
}

interface Replaying {
  readonly file: string;
  /** The hash of the environment's code at the rollout, where it is another now. */
  readonly changed: string | undefined;
  readonly instrument: ScorerIdentity;
  readonly seed: EpisodeSeed;
  /** Whether the rewards are a judge's. */
  readonly judged: boolean;
}

async function replayGroups(
  batch: readonly Joined<TrajectoryGroup>[],
  { environment, solved }: PlayableEnvironment,
  context: Replaying,
): Promise<PlayedEpisode[][]> {
  const requests = batch.flatMap(({ example, answer }) =>
    (answer?.trajectories ?? []).map((episode) => {
      if (!context.seed.played(episode)) throw otherGame(episode, context);
      return replayRequest(example, episode);
    }),
  );
  const replayed = (await replayEpisodes(environment, requests)).values();
  return batch.map(({ answer }) =>
    (answer?.trajectories ?? []).map((episode) => {
      const again = replayed.next().value as Replayed;
      const given = context.judged ? unjudgedTrajectory(episode) : episode;
      const other = isBroken(given, again) ? undefined : disagreement(given, again);
      if (other) throw notTrue(episode, other, context);
      const played = playedEpisode(given, again, solved);
      return context.judged ? scoredByJudge(played, episode, solved) : played;
    }),
  );
}

function otherGame({ id, sample }: Trajectory, { file, seed }: Replaying): Error {
  return dataError(
    `${file}: ${visibleShort(id, 60)}, sample ${sample + 1}: it was not played with the seed ${seed.expected ?? "of the others (none)"} as its sample ${sample + 1}`,
    "Episodes of other seeds or samples may have been chosen by their results. Make the rollout again.",
  );
}

function notTrue(
  { id, sample }: Trajectory,
  { turn, what, recorded, replayed }: Disagreement,
  { file, changed, instrument }: Replaying,
): Error {
  const at = turn === undefined ? "" : turn === 0 ? ", before turn 1" : `, turn ${turn}`;
  const short = (hash: string) => hash.slice(0, 12);
  const why =
    changed === undefined
      ? "The file was changed after the rollout, or the environment depends on more than its code and its seed (see env check). Make the rollout again."
      : `The environment's code is not that of the rollout: ${short(changed)}… then, ${short(instrument.source_sha256)}… now. Evaluate with the code of the rollout, or make the rollout again.`;
  return dataError(
    `${file}: ${visibleShort(id, 60)}, sample ${sample + 1}${at}: the ${what} is ${visibleShort(recorded, 80)}, but ${instrument.name} gives ${visibleShort(replayed, 80)}`,
    why,
  );
}

/** The score of an episode: null where the environment broke, or gives no reward. */
function episodeScore(
  recorded: Pick<Trajectory, "code">,
  replayed: Replayed,
  solved: readonly string[],
): { readonly score: CheckedScore; readonly passed: boolean } {
  if (isBroken(recorded, replayed)) {
    const { code, details = {} } = replayed.end ?? {};
    const why = { message: "the environment broke when the episode was played" };
    const score = { reward: null, code: ENVIRONMENT_ERROR };
    return {
      score: { ...score, details: code === ENVIRONMENT_ERROR ? details : why },
      passed: false,
    };
  }
  const { reward, end } = replayed;
  return {
    score: { reward, code: recorded.code, details: end?.details ?? {} },
    passed: isSolved({ reward, code: recorded.code }, solved),
  };
}

function playedEpisode(
  trajectory: Trajectory,
  replayed: Replayed,
  solved: readonly string[],
): PlayedEpisode {
  const { sample, address, terminated, messages } = trajectory;
  const { turns: _turns, ...metrics } = isBroken(trajectory, replayed)
    ? trajectory.metrics
    : replayed.metrics;
  const actions = actionsOf(messages);
  return {
    sample,
    completion: actions.join("\n"),
    sum_logprob: sumLogprob(trajectory),
    ...episodeScore(trajectory, replayed, solved),
    episode: {
      ...{ sample, address: [...address], terminated, metrics },
      messages: messages.map(withoutTokens),
      turns: actions.length,
    },
  };
}

/** The judge scores; whether the task is solved its environment says. */
function scoredByJudge(
  played: PlayedEpisode,
  { reward, code, metrics }: Trajectory,
  solved: readonly string[],
): PlayedEpisode {
  const { turns: _turns, ...all } = metrics;
  return {
    ...played,
    score: { ...played.score, reward },
    passed: isSolved({ reward, code }, solved),
    episode: { ...played.episode, metrics: all },
  };
}

function withoutTokens(message: Trajectory["messages"][number]): RowEpisode["messages"][number] {
  if (message.role !== "assistant") return message;
  const { sampled: _, tool_calls: calls, ...rest } = message;
  return { ...rest, ...(calls && { tool_calls: calls.map((call) => ({ ...call })) }) };
}

/** Of all turns; null where one is not known. */
function sumLogprob({ messages }: Trajectory): number | null {
  let sum = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    if (message.sampled.logprobs === null) return null;
    for (const value of message.sampled.logprobs) sum += value;
  }
  return sum;
}
