/** Options of commands that read trajectories, and the environment that these were made in. */

import { Option } from "commander";
import type { PlayableEnvironment } from "../core/environment.ts";
import { usageError } from "../core/errors.ts";
import { findEpisodes } from "../runs/recorded-episodes.ts";
import { startProgress, totalBytes } from "./progress.ts";
import { err, warning } from "./terminal.ts";

export interface TrajectoryFlags {
  readonly trajectories?: string;
  readonly env?: string;
}

export const TRAJECTORIES = new Option(
  "--trajectories <folder|file>",
  "episodes of rollout --env, in place of --dataset and what answers it",
);

export const ENV = new Option(
  "--env <environment>",
  "their environment: a name of env list, a file, or openenv:URL (default: the one that the rollout names)",
);

/** Flags that mean nothing where the environment gives tasks and rewards. */
export function refuseBeside(
  flags: Readonly<Record<string, unknown>>,
  names: readonly string[],
): void {
  const given = names.find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(
    `--${flag} does not go with --trajectories`,
    "Leave it out: the environment brings the tasks and gives the rewards.",
  );
}

/** Without --trajectories the data set and what answers it must be named. */
export function requireScored(
  command: string,
  flags: TrajectoryFlags & Readonly<Record<string, unknown>>,
  answers: "completions" | "samples",
): void {
  if (flags.env !== undefined)
    throw usageError("--env needs --trajectories", "Name the rollout's folder with it.");
  const lost = ["dataset", answers].find((name) => flags[name] === undefined);
  if (lost === undefined) return;
  throw usageError(
    `${command} needs --${lost}`,
    `Give --dataset and --${answers}, or --trajectories for episodes of an environment.`,
  );
}

/** Opens the environment and a progress bar, and always closes both. */
export async function withTrajectories<T>(
  { trajectories, env, quiet }: TrajectoryFlags & { trajectories: string; quiet?: boolean },
  work: (environment: PlayableEnvironment, onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  return withEnvironmentOf({ trajectories, env }, async (environment, file) => {
    const progress = startProgress("Replaying", totalBytes(file), quiet);
    try {
      return await work(environment, progress.add);
    } finally {
      progress.stop();
    }
  });
}

/** Opens the environment that the trajectories are of, and closes it. */
export async function withEnvironmentOf<T>(
  { trajectories, env }: { readonly trajectories: string; readonly env?: string | undefined },
  work: (environment: PlayableEnvironment, file: string) => Promise<T>,
): Promise<T> {
  const { file, rollout } = await findEpisodes(trajectories);
  const named = env ?? rollout?.environment.path ?? rollout?.environment.name;
  if (named === undefined)
    throw usageError(`${file} does not say what environment it is of`, "Add --env NAME.");
  const { openPlayable } = await import("../openenv/open-playable.ts");
  const environment = await openPlayable(named, (text) => err(warning(text, "")));
  try {
    return await work(environment, file);
  } finally {
    await environment.close();
  }
}
