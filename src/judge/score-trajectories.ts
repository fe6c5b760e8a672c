/**
 * Judges the episodes of a rollout, each task's as one group, and writes them as a rollout whose rewards
 * are the judge's scores. The reward of the environment stays in the metrics, the explanation goes into
 * the logs. A group without a verdict is not there; it is counted and has a line of its own.
 */

import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { type GroupJudge, type GroupVerdict, isDropped, type Judgement } from "../core/judge.ts";
import { judgedTrajectory } from "../core/judged-trajectory.ts";
import type { Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import { EpisodeTally } from "../loops/episode-tally.ts";
import { type Prices, RolloutTally } from "../loops/rollout-tally.ts";
import { addTurns, notedOf } from "../loops/trajectory-turns.ts";
import { DROPPED, FAILURES, JUDGEMENTS, TRAJECTORIES } from "../runs/artifacts.ts";
import { type FinishedRollout, finishRollout } from "../runs/finished-rollout.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { NotedAnswer } from "../runs/note-facts.ts";
import { openRollout, type Rollout } from "../runs/read-rollout.ts";
import { findEpisodes, type RecordedEpisodes } from "../runs/recorded-episodes.ts";
import { RunFolder } from "../runs/run-folder.ts";
import { surveyTrajectories, TrajectoryGroups } from "../runs/trajectory-groups.ts";
import {
  type AskedGroup,
  type Attempt,
  askedGroups,
  inDrawnOrder,
  judgementLine,
} from "./asked-groups.ts";
import { JudgeTally } from "./judge-tally.ts";
import type { JudgingOptions } from "./judging-options.ts";

/** What `scoreTrajectories` is given. @see {@link scoreTrajectories} */
export interface ScoreTrajectoriesOptions extends JudgingOptions {
  /** The folder of a rollout in an environment. */
  readonly trajectories: string;
  readonly outdir: string;
}

/**
 * Judges a rollout and writes it with the judge's scores as rewards.
 * @example
 * ```ts
 * import { openEmbeddedJudge, scoreTrajectories } from "lockedroom/judge";
 * const judge = await openEmbeddedJudge();
 * const { summary } = await scoreTrajectories({
 *   trajectories: "runs/replies",
 *   judge,
 *   outdir: "runs/replies-judged",
 * });
 * console.log(summary.episodes?.reward_mean, summary.judge?.dropped);
 * await judge.close();
 * ```
 */
export async function scoreTrajectories(
  options: ScoreTrajectoriesOptions,
): Promise<FinishedRollout> {
  const occasion = observeOccasion();
  const found = await findEpisodes(options.trajectories);
  requireUnjudged(found, options.trajectories);
  const source = await openRollout(options.trajectories);
  const { ids } = await surveyTrajectories(found.file, () => {});
  const { outdir, force, judge } = options;
  const folder = await RunFolder.open(outdir, "rollout", { force, inputs: [found.file] });
  try {
    const made = await writeJudged(folder, { ...options, source, found, total: ids.length });
    const { inputs: _, volatile, ...manifest } = source.manifest;
    const { requests, from_cache } = judge.traffic;
    return await finishRollout(
      folder,
      {
        ...manifest,
        ...{ command: "judge score", inputs: [made.input] },
        judge: {
          identity: judge.identity,
          trajectories_sha256: made.input.sha256,
        },
        volatile: {
          ...(await occasion()),
          ...(volatile.checkpoint !== undefined && { checkpoint: volatile.checkpoint }),
          judge: { requests, from_cache },
        },
      },
      made.summary,
      made.noted,
    );
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

interface Work extends ScoreTrajectoriesOptions {
  readonly source: Rollout;
  readonly found: RecordedEpisodes;
  /** Tasks. */
  readonly total: number;
}

async function writeJudged(folder: RunFolder, work: Work) {
  const { judge, source, found, total } = work;
  const { tools = [], solved = [] } = source.manifest;
  const groups = new TrajectoryGroups(found.file, new Map(), work);
  const tally = new JudgeTally({
    ...(work.droppedLimit !== undefined && { limit: work.droppedLimit }),
    total,
  });
  const [turns, episodes] = [new RolloutTally(), new EpisodeTally(solved)];
  const lines = await folder.lines(TRAJECTORIES);
  const judgements = await folder.lines(JUDGEMENTS);
  const dropped: string[] = [];
  const noted: NotedAnswer[] = [];
  work.onStart?.(total);
  const toGroup = (task: TrajectoryGroup) => groupOf(task, judge, tools);
  for await (const [group, verdict] of askedGroups(judge, groups.batches(), toGroup)) {
    if (verdict) {
      judgements.add(judgementLine(group, verdict));
      tally.add(verdict);
    }
    if (verdict && isDropped(verdict)) dropped.push(droppedLine(verdict));
    for (const trajectory of judgedOnes(group, verdict)) {
      episodes.add(trajectory);
      addTurns(turns, trajectory);
      if (noted.length < 2) noted.push(notedOf(trajectory));
      lines.add(canonicalJson(trajectory as unknown as Json));
    }
    await Promise.all([lines.flush(), judgements.flush()]);
    work.onTask?.(verdict);
  }
  requireUnchanged(source, groups.sha256, work.trajectories);
  await writeLines(folder, DROPPED, dropped);
  const failures = found.failures.map((failure) => canonicalJson(failure as unknown as Json));
  await writeLines(folder, FAILURES, failures);
  return {
    input: { ...groups.asInput("trajectories") },
    noted,
    summary: {
      ...turns.summary(total, pricesOf(source)),
      episodes: episodes.summary(found.failures),
      judge: tally.summary(work.prices),
    },
  };
}

interface TrajectoryAttempt extends Attempt {
  readonly trajectory: Trajectory;
}

interface TaskGroup extends AskedGroup<TrajectoryAttempt> {
  readonly trajectories: readonly Trajectory[];
}

/** An episode whose environment broke has nothing to judge, and stays without a reward. */
function groupOf(
  { id, trajectories }: TrajectoryGroup,
  judge: GroupJudge,
  tools: TaskGroup["tools"],
): TaskGroup {
  const attempts = trajectories
    .filter(({ code }) => code !== ENVIRONMENT_ERROR)
    .map((trajectory) => ({
      ...{ trajectory, sample: trajectory.sample, messages: trajectory.messages },
    }));
  return { id, tools, trajectories, attempts: inDrawnOrder(attempts, judge, id) };
}

function judgedOnes(
  { trajectories, attempts }: TaskGroup,
  verdict: GroupVerdict | undefined,
): readonly Trajectory[] {
  if (!verdict) return trajectories;
  if (isDropped(verdict)) return [];
  return trajectories.map((trajectory) => {
    const place = attempts.findIndex((attempt) => attempt.trajectory === trajectory);
    if (place < 0) return trajectory;
    return judgedTrajectory(trajectory, verdict.judgements[place] as Judgement);
  });
}

function droppedLine({ id, dropped }: Extract<GroupVerdict, { dropped: unknown }>): string {
  return canonicalJson({ id, ...dropped });
}

async function writeLines(folder: RunFolder, name: string, lines: readonly string[]) {
  if (lines.length === 0) return;
  const file = await folder.lines(name);
  for (const line of lines) file.add(line);
  await file.flush();
}

/** What the policy's own tokens cost. */
function pricesOf({ summary: { cost } }: Rollout): Prices | undefined {
  const { price_in, price_out } = cost;
  return price_in === null || price_out === null ? undefined : { in: price_in, out: price_out };
}

function requireUnjudged({ rollout, file }: RecordedEpisodes, given: string): void {
  if (!rollout)
    throw dataError(
      `${file} lies in no rollout folder, so nothing says which policy acted in it`,
      "Name the folder of a rollout in an environment.",
    );
  if (rollout.judge)
    throw dataError(
      `${given} was judged already, by ${visibleShort(rollout.judge.identity.name, 60)}`,
      "Name the rollout that was judged.",
    );
}

function requireUnchanged({ summary }: Rollout, sha256: string, given: string): void {
  if (summary.files[TRAJECTORIES] === sha256) return;
  throw dataError(
    `${TRAJECTORIES} in ${given} was changed after the rollout`,
    "Make the rollout again.",
  );
}
