/** A trajectory with a judge's score as its reward, and as its environment gave it. */

import type { Judgement } from "./judge.ts";
import type { Trajectory } from "./trajectory.ts";

/** The judge's score of an attempt. */
export const RULER_SCORE = "ruler_score";
/** The reward that the environment gave, where it gave one. */
export const INDEPENDENT_REWARD = "independent_reward";

const LOGGED = "judge: ";

/** What the judge said of an attempt; undefined where none did. */
export function explanationOf({
  metrics,
  logs,
}: Pick<Trajectory, "metrics" | "logs">): string | undefined {
  if (metrics[RULER_SCORE] === undefined) return undefined;
  return logs.findLast((line) => line.startsWith(LOGGED))?.slice(LOGGED.length);
}

/** The explanation goes into the logs. */
export function judgedTrajectory(
  trajectory: Trajectory,
  { score, explanation }: Judgement,
): Trajectory {
  const { reward, metrics, logs } = trajectory;
  return {
    ...trajectory,
    reward: score,
    metrics: {
      ...metrics,
      [RULER_SCORE]: score,
      ...(reward !== null && { [INDEPENDENT_REWARD]: reward }),
    },
    logs: [...logs, LOGGED + explanation],
  };
}

/** As its environment gave it; the logs stay. */
export function unjudgedTrajectory(trajectory: Trajectory): Trajectory {
  const { [RULER_SCORE]: score, [INDEPENDENT_REWARD]: reward, ...metrics } = trajectory.metrics;
  return score === undefined ? trajectory : { ...trajectory, reward: reward ?? null, metrics };
}
