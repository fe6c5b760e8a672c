/**
 * Compares two rollouts by a judge. A judge's scores are relative within a group, so the attempts of
 * both at a task are judged in one group. Writes an evaluation of each side, with the judge's answers.
 */

import path from "node:path";
import type { PlayableEnvironment } from "../core/environment.ts";
import { dataError, usageError } from "../core/errors.ts";
import { type GroupJudge, type GroupVerdict, isDropped, type Judgement } from "../core/judge.ts";
import { scorerOfJudge } from "../core/judge-scorer.ts";
import { PREFERRED } from "../core/preference.ts";
import type { Example } from "../core/records.ts";
import type { TrajectoryGroup } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import { type EpisodeRun, type PlayedEpisode, withEpisodes } from "../loops/episodes.ts";
import { whyMissing } from "../loops/eval-trajectories.ts";
import { EvaluationRows } from "../loops/evaluation-rows.ts";
import type { Joined } from "../loops/join.ts";
import { JUDGEMENTS } from "../runs/artifacts.ts";
import { contentOf } from "../runs/folder-kind.ts";
import { type JudgeSummary, SIDES, type Side } from "../runs/judge-schemas.ts";
import { aRun } from "../runs/kinds.ts";
import type { LineFile } from "../runs/line-files.ts";
import type { FinishedRun } from "../runs/scored-run.ts";
import {
  type AskedGroup,
  type Attempt,
  askedGroups,
  inDrawnOrder,
  judgementLine,
} from "./asked-groups.ts";
import { JudgeTally } from "./judge-tally.ts";
import type { JudgingOptions } from "./judging-options.ts";
import { type EpisodePair, isWhole, type Judged, pairRow } from "./pair-rows.ts";
import { PreferenceCount, type Preferences, type ScoredAttempt } from "./preferences.ts";

/** What `judgeTogether` is given. @see {@link judgeTogether} */
export interface JudgeTogetherOptions extends JudgingOptions {
  /** Folders of two rollouts, or files of trajectories. */
  readonly baseline: string;
  readonly candidate: string;
  /** The environment that both were made in. */
  readonly environment: PlayableEnvironment;
  /** Gets the folders `baseline` and `candidate`. */
  readonly outdir: string;
}

export interface JudgedTogether {
  readonly baseline: FinishedRun;
  readonly candidate: FinishedRun;
  readonly preferences: Preferences;
  readonly judge: JudgeSummary;
}

/**
 * Judges two rollouts of the same tasks together and writes an evaluation of each.
 * @example
 * ```ts
 * import { openPlayable } from "lockedroom/environments";
 * import { judgeTogether, openEmbeddedJudge } from "lockedroom/judge";
 * const judge = await openEmbeddedJudge();
 * const { preferences } = await judgeTogether({
 *   baseline: "runs/before",
 *   candidate: "runs/after",
 *   environment: await openPlayable("support-replies"),
 *   judge,
 *   outdir: "runs/judged",
 * });
 * console.log(preferences.win_rate, preferences.p_value);
 * await judge.close();
 * ```
 */
export async function judgeTogether(options: JudgeTogetherOptions): Promise<JudgedTogether> {
  await requireNoRun(options.outdir);
  const { environment, force, onBytes } = options;
  const opened = (side: Side) => ({
    ...{ environment, force, onBytes, trajectories: options[side] },
    outdir: path.join(options.outdir, side),
  });
  return withEpisodes("eval", opened("baseline"), (baseline) =>
    withEpisodes("eval", opened("candidate"), (candidate) =>
      judgeBoth({ baseline, candidate }, options),
    ),
  );
}

type Runs = Readonly<Record<Side, EpisodeRun>>;

interface Written {
  readonly rows: EvaluationRows;
  readonly judgements: LineFile;
}

async function judgeBoth(runs: Runs, options: JudgeTogetherOptions): Promise<JudgedTogether> {
  requireSameNumber(runs, options);
  const { judge, environment } = options;
  const tally = new JudgeTally({
    ...(options.droppedLimit !== undefined && { limit: options.droppedLimit }),
    total: runs.baseline.tasks,
  });
  const preferences = new PreferenceCount();
  const written = {
    baseline: await openFiles(runs.baseline),
    candidate: await openFiles(runs.candidate),
  };
  options.onStart?.(runs.baseline.tasks);
  const tasks = pairedTasks(runs, options);
  const toGroup = (task: PairedTask) => groupOf(task, judge, environment.tools);
  for await (const [group, verdict] of askedGroups(judge, tasks, toGroup)) {
    await writeTask(group, verdict, runs, written);
    if (verdict) {
      tally.add(verdict);
      if (!isDropped(verdict)) preferences.add(scoredAttempts(group, verdict.judgements));
    }
    options.onTask?.(verdict);
  }
  const summary = tally.summary(options.prices);
  const known = {
    baseline: await runs.baseline.describe(),
    candidate: await runs.candidate.describe(),
  };
  const finished = (side: Side) =>
    finish(side, runs[side], written[side], { judge, summary, known });
  return {
    baseline: await finished("baseline"),
    candidate: await finished("candidate"),
    preferences: preferences.found(),
    judge: summary,
  };
}

async function openFiles({ folder }: EpisodeRun): Promise<Written> {
  return { rows: await EvaluationRows.open(folder), judgements: await folder.lines(JUDGEMENTS) };
}

/** A task with the episodes of both rollouts, by sample. */
interface PairedTask {
  readonly example: Example;
  readonly pairs: readonly EpisodePair[];
}

async function* pairedTasks(
  runs: Runs,
  options: JudgeTogetherOptions,
): AsyncGenerator<PairedTask[], void, void> {
  const { n } = runs.baseline;
  const before = runs.baseline.scored((batch) => played(runs.baseline, batch));
  const after = runs.candidate.scored((batch) => played(runs.candidate, batch));
  for (;;) {
    const [one, other] = [await before.next(), await after.next()];
    if (one.done && other.done) return;
    const [tasks, others] = [one.value ?? [], other.value ?? []];
    if (tasks.length !== others.length) throw otherTasks(options);
    yield tasks.map(({ example, episodes }, i) => {
      const { example: second, episodes: more } = others[i] as (typeof tasks)[number];
      if (second.id !== example.id) throw otherTasks(options, example.id);
      return {
        example,
        pairs: Array.from({ length: n }, (_, sample) => ({
          baseline: episodes.find((episode) => episode.sample === sample),
          candidate: more.find((episode) => episode.sample === sample),
        })),
      };
    });
  }
}

async function played(run: EpisodeRun, batch: readonly Joined<TrajectoryGroup>[]) {
  const episodes = await run.replayed(batch);
  return batch.map(({ example }, i) => ({
    ...{ example, episodes: episodes[i] ?? ([] as PlayedEpisode[]) },
  }));
}

interface PairedAttempt extends Attempt {
  readonly side: Side;
  readonly reward: number | null;
}

interface PairedGroup extends AskedGroup<PairedAttempt>, PairedTask {}

function groupOf(
  task: PairedTask,
  judge: GroupJudge,
  tools: PlayableEnvironment["tools"],
): PairedGroup {
  const { id } = task.example;
  const attempts = task.pairs.filter(isWhole).flatMap((pair) =>
    SIDES.map((side) => {
      const { sample, score, episode } = pair[side];
      return { side, sample, messages: episode.messages, reward: score.reward };
    }),
  );
  return { ...task, id, tools, attempts: inDrawnOrder(attempts, judge, id) };
}

function scoredAttempts(
  { attempts }: PairedGroup,
  judgements: readonly Judgement[],
): ScoredAttempt[] {
  return attempts.map(({ side, reward }, i) => ({
    ...{ side, reward, score: (judgements[i] as Judgement).score },
  }));
}

async function writeTask(
  group: PairedGroup,
  verdict: GroupVerdict | undefined,
  runs: Runs,
  written: Readonly<Record<Side, Written>>,
): Promise<void> {
  for (const side of SIDES) {
    const { n, failureOf } = runs[side];
    const { rows, judgements } = written[side];
    const made = group.pairs.map((pair, sample) => {
      const why = whyMissing(failureOf(group.id, sample));
      const judged = verdictOf(group, verdict, sample);
      const row = pairRow(group.example, side, { pair, why, verdict: judged });
      return n === 1 ? row : { ...row, sample };
    });
    await rows.add(made);
    if (!verdict) continue;
    judgements.add(judgementLine(group, verdict));
    await judgements.flush();
  }
}

/** What the judge said of both episodes of a sample, or why it said nothing. */
function verdictOf(
  { attempts }: PairedGroup,
  verdict: GroupVerdict | undefined,
  sample: number,
): Judged | string {
  if (!verdict) return "there was nothing to judge";
  if (isDropped(verdict)) {
    const { type, message } = verdict.dropped;
    return `the judge gave no verdict (${type}): ${visibleShort(message, 200)}`;
  }
  const of = (side: Side) =>
    verdict.judgements[
      attempts.findIndex((one) => one.side === side && one.sample === sample)
    ] as Judgement;
  return { baseline: of("baseline"), candidate: of("candidate") };
}

interface Ending extends Pick<JudgeTogetherOptions, "judge"> {
  readonly summary: JudgeSummary;
  readonly known: Readonly<Record<Side, Awaited<ReturnType<EpisodeRun["describe"]>>>>;
}

async function finish(
  side: Side,
  run: EpisodeRun,
  { rows }: Written,
  { judge, summary, known }: Ending,
): Promise<FinishedRun> {
  const { n, described, settings, failures } = run;
  const { requests, from_cache } = judge.traffic;
  return rows.finish(run, known[side], {
    ...{ axes: [], fields: [], repeats: n > 1 ? n : undefined },
    settings: { max_examples: null, ...settings },
    described: {
      ...described,
      solved: [PREFERRED],
      scorer: scorerOfJudge(judge.identity),
      judge: {
        identity: judge.identity,
        together: {
          side,
          baseline_sha256: trajectoriesOf(known.baseline),
          candidate_sha256: trajectoriesOf(known.candidate),
        },
      },
    },
    ...{ failures, judge: summary, traffic: { requests, from_cache }, title: "Judged" },
  });
}

function trajectoriesOf({ inputs }: Ending["known"][Side]): string {
  return inputs.find(({ role }) => role === "trajectories")?.sha256 ?? "";
}

function requireSameNumber({ baseline, candidate }: Runs, options: JudgeTogetherOptions): void {
  if (baseline.n !== candidate.n)
    throw dataError(
      `${options.baseline} has ${baseline.n} episodes of each task, and ${options.candidate} has ${candidate.n}`,
      "Make both rollouts with the same --n.",
    );
  if (baseline.tasks !== candidate.tasks) throw otherTasks(options);
}

function otherTasks({ baseline, candidate }: JudgeTogetherOptions, id?: string): Error {
  const first = id === undefined ? "" : `; the first difference is at ${visibleShort(id, 60)}`;
  return dataError(
    `${baseline} and ${candidate} are of different tasks${first}`,
    "Make both rollouts of the same split, with the same --tasks.",
  );
}

/** The two runs lie in folders of their own: what is in the folder above stays as it is. */
async function requireNoRun(outdir: string): Promise<void> {
  const { kind, summary } = await contentOf(outdir);
  if (kind === undefined) return;
  throw usageError(
    `${outdir} holds ${aRun(kind, summary !== undefined)}, which another command wrote`,
    "Choose another --outdir: it gets the folders baseline and candidate.",
  );
}
