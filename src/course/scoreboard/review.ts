/** Reviews the weeks: does each figure still agree with its run, does each linked file still exist? */

import { existsSync } from "node:fs";
import path from "node:path";
import { canonicalJson, dataError, messageOf } from "../../core/index.ts";
import { openRun, type Run } from "../../runs/index.ts";
import { RunVerifier, type Verification } from "../run-verifier.ts";
import { type Part, Parts } from "./cost.ts";
import { measureWeek } from "./measure.ts";
import { type UsedRun, type Week, weekFile } from "./week.ts";

export const MIN_FAILURES = 2;
export const MIN_FIXES = 1;

export interface Review {
  readonly week: number;
  /** What the week lacks, and what has changed. */
  readonly warnings: readonly string[];
  /** Why the rows of its run were not scored again, where they were not. */
  readonly not_rescored: string | undefined;
}

export async function reviewWeeks(dir: string, weeks: readonly Week[]): Promise<Review[]> {
  const verifier = new RunVerifier(dir);
  const reviews: Review[] = [];
  for (const week of weeks) {
    const figures = await reviewFigures(dir, week, verifier);
    reviews.push({
      week: week.week,
      warnings: [...shortfalls(week), ...lostLinks(dir, week), ...figures.problems],
      not_rescored: figures.skipped,
    });
  }
  return reviews;
}

function shortfalls({ failures, fixes }: Week): string[] {
  const lacking = [
    ...(failures.length < MIN_FAILURES
      ? [`failures ${failures.length} of ${MIN_FAILURES} (--failure)`]
      : []),
    ...(fixes.length < MIN_FIXES ? [`fixes ${fixes.length} of ${MIN_FIXES} (--fix)`] : []),
  ];
  return lacking.length === 0 ? [] : [lacking.join(", ")];
}

function lostLinks(dir: string, { shipped, skills }: Week): string[] {
  const links = [
    ...Object.entries(shipped),
    ...Object.entries(skills).map(([name, skill]) => [name, skill.path] as const),
  ];
  return links
    .filter(([, file]) => file !== null && !existsSync(path.join(dir, file)))
    .map(([name, file]) => `${file}, linked as ${name}, does not exist`);
}

type Figures = { readonly problems: readonly string[]; readonly skipped?: string | undefined };

async function reviewFigures(dir: string, week: Week, verifier: RunVerifier): Promise<Figures> {
  const file = weekFile(week.week);
  if (week.run === null && week.parts.length === 0) {
    const typed = Object.values(week.metrics).some((value) => value !== null);
    return { problems: typed ? [`${file} has figures but no run`] : [] };
  }
  const run = week.run === null ? undefined : await reopen(dir, week.run, verifier);
  const baseline = week.baseline === null ? undefined : await reopen(dir, week.baseline, verifier);
  const problems = [run, baseline].flatMap((found) => found?.problem ?? []);
  if (problems.length > 0) return { problems };
  try {
    const again = await measureWeek(run?.run, baseline?.run, await reopenParts(dir, week));
    const same = canonicalJson(comparable(again)) === canonicalJson(comparable(week.metrics));
    return {
      problems: same
        ? []
        : [
            `${file} has other figures than ${week.run?.path ?? "its runs"}: one of them was edited`,
          ],
      skipped: week.run === null || week.run.rescored ? undefined : run?.skipped,
    };
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

/** The run time, and money for it, differ when the same run is made again. */
function comparable({ cost, ...rest }: Week["metrics"]) {
  return { ...rest, timed: cost !== null, tokens: cost?.tokens ?? null };
}

async function reopenParts(dir: string, { parts, price_per_hour: price }: Week): Promise<Part[]> {
  const opened = new Parts(dir);
  const found: Part[] = [];
  for (const { path: name, kind, manifest_sha256: hash } of parts) {
    const part = kind === "train" ? await opened.training(name, price) : await opened.rollout(name);
    if (part.used.manifest_sha256 !== hash)
      throw dataError(`${name} is not the run that was measured`, "Add the week again.");
    found.push(part);
  }
  return found;
}

type Reopened = Verification & { readonly run?: Run };

async function reopen(dir: string, used: UsedRun, verifier: RunVerifier): Promise<Reopened> {
  try {
    const run = await openRun(path.join(dir, used.path));
    const same =
      run.summary.results_sha256 === used.results_sha256 &&
      run.summary.manifest_sha256 === used.manifest_sha256;
    if (!same) return { problem: `${used.path} is not the run that was measured` };
    const { problem, skipped } = await verifier.verify(run);
    return problem === undefined ? { run, skipped } : { problem: `${used.path}: ${problem}` };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
