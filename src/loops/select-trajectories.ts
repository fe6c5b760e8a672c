/**
 * Loop B on episodes: the episodes of a task are a pack, and one of the first N is chosen. What is
 * shown changes; the policy that played does not.
 */

import type { TrajectoryGroup } from "../core/trajectory.ts";
import type { FinishedRun } from "../runs/scored-run.ts";
import type { OpenScorerOptions } from "../scorers/open.ts";
import { withAxes } from "./axes.ts";
import type { ScoredSample } from "./decide.ts";
import { type EpisodeOptions, type PlayedEpisode, withEpisodes } from "./episodes.ts";
import type { Joined } from "./join.ts";
import type { ScoredPack } from "./score-packs.ts";
import { type SelectOptions, writeSelection } from "./select.ts";

/** What `selectTrajectories` is given. @see {@link selectTrajectories} */
export interface SelectTrajectoriesOptions
  extends EpisodeOptions,
    OpenScorerOptions,
    Pick<SelectOptions, "policy" | "n" | "slice" | "axes"> {}

/**
 * Plays the episodes of a rollout again, chooses one of the first `n` of each task, and writes a run.
 * @example
 * ```ts
 * import { openPlayable } from "lockedroom/environments";
 * import { builtInPolicy, selectTrajectories } from "lockedroom/loops";
 * const { summary } = await selectTrajectories({
 *   trajectories: "runs/games",
 *   environment: await openPlayable("twenty48"),
 *   outdir: "runs/best-of-2",
 *   policy: builtInPolicy("best"),
 *   n: 2,
 * });
 * console.log(summary.metrics.pass_at_1, summary.metrics.pass_at_n);
 * ```
 */
export async function selectTrajectories(options: SelectTrajectoriesOptions): Promise<FinishedRun> {
  const { policy, n, slice } = options;
  return withAxes(options.axes, options, (axes) =>
    withEpisodes("select", options, (run) => {
      const { described, settings, failures } = run;
      return writeSelection(run, {
        ...{ policy, n, slice, axes, described, settings, failures },
        instrument: described.judge?.identity.name ?? described.environment?.name ?? "",
        async score(batch) {
          const episodes = await run.replayed(batch);
          return batch.map((joined, i) => packOf(joined, episodes[i] ?? []));
        },
      });
    }),
  );
}

/** Games with the same moves are not the same game, so each has its own score. */
function packOf(
  { example, answer }: Joined<TrajectoryGroup>,
  episodes: readonly PlayedEpisode[],
): ScoredPack<TrajectoryGroup> {
  return {
    ...{ example, pack: answer, episodes: episodes.map(({ episode }) => episode) },
    samples: episodes.map(toSample),
    firstOf: episodes.map((_, i) => i),
  };
}

function toSample({ completion, sum_logprob, score, passed }: PlayedEpisode, index: number) {
  return { ...{ index, completion, sum_logprob, passed }, ...score } satisfies ScoredSample;
}
