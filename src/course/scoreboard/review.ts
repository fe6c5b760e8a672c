/** Looks at the weeks again: is each figure still what its run says, does each link still lead somewhere? */

import { existsSync } from "node:fs";
import path from "node:path";
import { canonicalJson, messageOf } from "../../core/index.ts";
import { openRun, type Run } from "../../runs/index.ts";
import { RunJudge } from "../sound-run.ts";
import { measureRun } from "./measure.ts";
import { type UsedRun, type Week, weekFile } from "./week.ts";

const FEWEST_FAILURES = 2;
const FEWEST_FIXES = 1;

export interface Review {
  readonly week: number;
  /** What the week lacks, and what no longer holds. */
  readonly warnings: readonly string[];
  /** Why the rows behind its figures were never scored again, where they were not. */
  readonly not_rescored: string | undefined;
}

export async function reviewWeeks(dir: string, weeks: readonly Week[]): Promise<Review[]> {
  const judge = new RunJudge(dir);
  const reviews: Review[] = [];
  for (const week of weeks) {
    const figures = await reviewFigures(dir, week, judge);
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
    ...(failures.length < FEWEST_FAILURES
      ? [`failures ${failures.length} of ${FEWEST_FAILURES} (--failure)`]
      : []),
    ...(fixes.length < FEWEST_FIXES ? [`fixes ${fixes.length} of ${FEWEST_FIXES} (--fix)`] : []),
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
    .map(([name, file]) => `${file}, the link of ${name}, is not there any more`);
}

interface Figures {
  readonly problems: readonly string[];
  readonly skipped?: string | undefined;
}

async function reviewFigures(dir: string, week: Week, judge: RunJudge): Promise<Figures> {
  const file = weekFile(week.week);
  if (week.run === null) {
    const typed = Object.values(week.metrics).some((value) => value !== null);
    return { problems: typed ? [`${file} has figures and names no run: they were typed`] : [] };
  }
  const run = await reopen(dir, week.run, judge);
  const baseline = week.baseline === null ? undefined : await reopen(dir, week.baseline, judge);
  const problems = [run, baseline].flatMap((found) => found?.problem ?? []);
  if (problems.length > 0 || !run.run) return { problems };
  try {
    const again = await measureRun(run.run, baseline?.run);
    const same = canonicalJson(comparable(again)) === canonicalJson(comparable(week.metrics));
    return {
      problems: same ? [] : [`${file} has other figures than ${week.run.path}: one was edited`],
      skipped: week.run.rescored ? undefined : run.skipped,
    };
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

/** Time is a fact of the occasion: the same run, made again with the same bytes, takes another. */
function comparable({ cost, ...rest }: Week["metrics"]) {
  return { ...rest, timed: cost !== null };
}

interface Reopened {
  readonly run?: Run;
  readonly problem?: string;
  readonly skipped?: string | undefined;
}

async function reopen(dir: string, used: UsedRun, judge: RunJudge): Promise<Reopened> {
  try {
    const run = await openRun(path.join(dir, used.path));
    const same =
      run.summary.results_sha256 === used.results_sha256 &&
      run.summary.manifest_sha256 === used.manifest_sha256;
    if (!same) return { problem: `${used.path} is another run than the one that was measured` };
    const { problem, skipped } = await judge.judge(run);
    return problem === undefined ? { run, skipped } : { problem: `${used.path}: ${problem}` };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
