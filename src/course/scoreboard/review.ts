/** Looks at the weeks again: is each figure still what its run says, does each link still lead somewhere? */

import { existsSync } from "node:fs";
import path from "node:path";
import { canonicalJson, messageOf, openRun, type Run } from "../../index.ts";
import { problemOfRun } from "../plan/shelf.ts";
import { measureRun } from "./measure.ts";
import { type UsedRun, type Week, weekFile } from "./week.ts";

const FEWEST_FAILURES = 2;
const FEWEST_FIXES = 1;

/** Sentences about what a week lacks, and about what no longer holds. */
export async function reviewWeek(dir: string, week: Week): Promise<string[]> {
  return [...shortfalls(week), ...lostLinks(dir, week), ...(await figureProblems(dir, week))];
}

function shortfalls({ failures, fixes }: Week): string[] {
  const found = `${failures.length} ${failures.length === 1 ? "failure" : "failures"} discovered`;
  return [
    ...(failures.length < FEWEST_FAILURES
      ? [`${found}, ${FEWEST_FAILURES} or more are asked for (--failure)`]
      : []),
    ...(fixes.length < FEWEST_FIXES ? ["no fix validated, one or more is asked for (--fix)"] : []),
  ];
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

async function figureProblems(dir: string, week: Week): Promise<string[]> {
  if (week.run === null) {
    const typed = Object.values(week.metrics).some((value) => value !== null);
    return typed ? [`${weekFile(week.week)} has figures and names no run: they were typed`] : [];
  }
  const run = await reopen(dir, week.run);
  const baseline = week.baseline === null ? undefined : await reopen(dir, week.baseline);
  const problems = [run, baseline].filter((found) => typeof found === "string");
  if (typeof run === "string" || typeof baseline === "string") return problems;
  try {
    const again = await measureRun(run, baseline);
    return canonicalJson(comparable(again)) === canonicalJson(comparable(week.metrics))
      ? []
      : [`${weekFile(week.week)} has other figures than ${week.run.path}: one of them was edited`];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** Time is a fact of the occasion: the same run, made again with the same bytes, takes another. */
function comparable({ cost, ...rest }: Week["metrics"]) {
  return { ...rest, cost: cost?.unit === "seconds" ? "seconds" : cost };
}

async function reopen(dir: string, used: UsedRun): Promise<Run | string> {
  try {
    const run = await openRun(path.join(dir, used.path));
    const same =
      run.summary.results_sha256 === used.results_sha256 &&
      run.summary.manifest_sha256 === used.manifest_sha256;
    if (!same) return `${used.path} is another run than the one that was measured`;
    const problem = await problemOfRun(run);
    return problem === undefined ? run : `${used.path}: ${problem}`;
  } catch (error) {
    return messageOf(error);
  }
}
