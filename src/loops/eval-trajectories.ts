/** Loop A on episodes: each is played again in its environment, and becomes a row. */

import type { Example } from "../core/records.ts";
import { slicesOf } from "../core/slices.ts";
import type { RolloutFailure } from "../core/trajectory.ts";
import { visibleShort } from "../core/visible.ts";
import type { ResultRow } from "../runs/schemas.ts";
import type { FinishedRun } from "../runs/scored-run.ts";
import type { OpenScorerOptions } from "../scorers/open.ts";
import { AskedFor } from "./asked-for.ts";
import { type Axis, addAxes, withAxes } from "./axes.ts";
import {
  type EpisodeOptions,
  type EpisodeRun,
  type PlayedEpisode,
  withEpisodes,
} from "./episodes.ts";
import { writeEvaluation } from "./eval.ts";
import { missing, resultRow } from "./row.ts";

/** What `evaluateTrajectories` is given. @see {@link evaluateTrajectories} */
export interface EvalTrajectoriesOptions extends EpisodeOptions, OpenScorerOptions {
  /** Fields of the tasks whose values are reported apart. */
  readonly slice?: readonly string[] | undefined;
  /** Secondary scorers of what the policy wrote, all turns joined. */
  readonly axes?: readonly Axis[] | undefined;
}

/**
 * Plays the episodes of a rollout again and writes an evaluation. A reward, code or message that the
 * environment does not give again is refused. Several episodes of a task count like `repeats`.
 * @example
 * ```ts
 * import { openPlayable } from "lockedroom/environments";
 * import { evaluateTrajectories } from "lockedroom/loops";
 * const environment = await openPlayable("twenty48");
 * const { summary } = await evaluateTrajectories({
 *   trajectories: "runs/games",
 *   environment,
 *   outdir: "runs/games-eval",
 * });
 * console.log(summary.metrics.pass_rate, summary.episodes?.metrics.turns?.mean);
 * ```
 */
export async function evaluateTrajectories(options: EvalTrajectoriesOptions): Promise<FinishedRun> {
  const { slice: fields = [] } = options;
  const asked = await AskedFor.of({ dataset: [], completions: [], slice: fields });
  return withAxes(options.axes, options, (axes) =>
    withEpisodes("eval", options, (run) => {
      const { n, described, settings, failures } = run;
      const repeats = n > 1 ? n : undefined;
      return writeEvaluation(run, {
        ...{ axes, fields, repeats, described, failures },
        settings: { max_examples: null, ...settings },
        async score(batch) {
          asked.see(batch.map(({ example }) => example));
          const episodes = await run.replayed(batch);
          const made = batch.flatMap((joined, i) =>
            rowsOf(joined.example, episodes[i] ?? [], run).map((row) => ({
              row: fields.length > 0 ? { ...row, slices: slicesOf(joined.example, fields) } : row,
              example: joined.example,
            })),
          );
          const rows = made.map(({ row }) => row);
          await addAxes(
            axes,
            rows,
            made.map(({ example }) => example),
          );
          return rows;
        },
        seen: () => asked.require(),
      });
    }),
  );
}

/** A row for each wanted episode of a task; one that failed or is not there is missing. */
function rowsOf(
  example: Example,
  episodes: readonly PlayedEpisode[],
  { n, failureOf }: Pick<EpisodeRun, "n" | "failureOf">,
): ResultRow[] {
  return Array.from({ length: n }, (_, sample) => {
    const played = episodes.find((one) => one.sample === sample);
    const row = played
      ? episodeRow(example, played)
      : resultRow(example, undefined, missing(whyMissing(failureOf(example.id, sample))));
    return n === 1 ? row : { ...row, sample };
  });
}

function episodeRow(example: Example, played: PlayedEpisode): ResultRow {
  const { completion, sum_logprob, score, passed, episode } = played;
  const answer = { id: example.id, completion, sum_logprob };
  return { ...resultRow(example, answer, score), passed, episode };
}

/** Why there is no such episode of a task. */
export function whyMissing(failure: RolloutFailure | undefined): string {
  if (!failure) return "there is no such episode of the task";
  return `the rollout failed: ${failure.type}: ${visibleShort(failure.message, 200)}`;
}
