/** Scorers of commands: their options, the scorer of the workspace, a progress bar while scoring. */

import { existsSync } from "node:fs";
import path from "node:path";
import { type Command, Option } from "commander";
import type { GuardedScorer } from "../core/score.ts";
import { DEFAULT_SCORER } from "../scorers/load.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS, openScorer } from "../scorers/open.ts";
import { addPythonOption } from "./grader-host.ts";
import { type RunFlags, wholeNumber } from "./options.ts";
import { startProgress, totalBytes } from "./progress.ts";

/** How a scorer is called. */
export interface ScorerFlags {
  readonly jobs?: number;
  readonly concurrency: number;
  readonly scorerTimeout: number;
}

export function addScorerOptions(command: Command): Command {
  return addPythonOption(command)
    .option(
      "--scorer <name|file>",
      `a built-in, a .ts or .js file, or a grader .json file (default: the workspace's own, otherwise ${DEFAULT_SCORER})`,
    )
    .addOption(CONCURRENCY)
    .addOption(SCORER_TIMEOUT);
}

export const CONCURRENCY = new Option(
  "--concurrency <n>",
  "rows at once, for an asynchronous scorer",
)
  .argParser(wholeNumber(1, 256))
  .default(DEFAULT_CONCURRENCY);

/** At most a day: timers cannot count much further. */
export const SCORER_TIMEOUT = new Option(
  "--scorer-timeout <ms>",
  "time limit for scoring one completion",
)
  .argParser(wholeNumber(1, 86_400_000))
  .default(DEFAULT_TIMEOUT_MS);

export const JOBS = new Option("--jobs <n>", "scoring threads; they do not change the results")
  .argParser(wholeNumber(1, 64))
  .default(1);

/** Opens the scorer given with --scorer, else the workspace's, else the built-in one. */
export async function openScorerHere(
  given: string | undefined,
  flags: ScorerFlags,
): Promise<GuardedScorer> {
  const { jobs, concurrency, scorerTimeout: timeoutMs } = flags;
  return openScorer(await scorerHere(given), { jobs, concurrency, timeoutMs });
}

export async function scorerHere(given: string | undefined): Promise<string> {
  return given ?? (await fileHere("scorer")) ?? DEFAULT_SCORER;
}

/** The path of the workspace's selection policy. */
export async function policyHere(): Promise<string | undefined> {
  return fileHere("selection_policy");
}

/** A file of the course workspace around the current folder, if there is one. */
async function fileHere(role: "scorer" | "selection_policy"): Promise<string | undefined> {
  if (!inWorkspace(process.cwd())) return undefined;
  // Loaded lazily: outside of a workspace no command needs the course.
  const { findWorkspace, readConfig } = await import("../course/workspace.ts");
  const dir = findWorkspace(process.cwd());
  return dir && path.relative("", path.join(dir, readConfig(dir)[role]));
}

function inWorkspace(from: string): boolean {
  for (let dir = from; ; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, "lockedroom.json"))) return true;
    if (dir === path.dirname(dir)) return false;
  }
}

/** Flags of a command that scores the completions of a data set and writes a run. */
export interface ScoringFlags extends ScorerFlags, RunFlags {
  readonly dataset: string;
  readonly scorer?: string;
}

/**
 * Opens the scorer and a progress bar, and always closes both. `file` is the input besides the data
 * set, for the progress.
 */
export async function withScoring<T>(
  flags: ScoringFlags,
  file: string,
  work: (scorer: GuardedScorer, onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const scorer = await openScorerHere(flags.scorer, flags);
  const progress = startProgress("Scoring", totalBytes(flags.dataset, file), flags.quiet);
  try {
    return await work(scorer, progress.add);
  } finally {
    progress.stop();
    await scorer.close();
  }
}
