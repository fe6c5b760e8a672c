/** Texts of the portfolio: long enough, and with links to runs and reports. */

import path from "node:path";
import { linkTargets, wordCount } from "../notes.ts";
import { realInside, textOf, workspacePath } from "../workspace-files.ts";
import type { KnownReport, KnownRun } from "../workspace-runs.ts";
import { missing, type PlanContext } from "./criterion.ts";
import type { Training } from "./training.ts";

export const MIN_WORDS = 200;

/** The text of a file with enough words. */
export function essay({ dir }: PlanContext, file: string): string | undefined {
  const text = textOf(dir, file);
  return text !== undefined && wordCount(text) >= MIN_WORDS ? text : undefined;
}

export const tooShort = ({ dir }: PlanContext, file: string, expected: string) => {
  const text = textOf(dir, file);
  const found = text === undefined ? `no ${file}` : `${file} has ${wordCount(text)} words`;
  return missing(expected, found, `Write ${file}, ${MIN_WORDS} words or more.`);
};

/** The valid runs, trainings and gate reports that a text of this file links to. */
export async function linked(
  { dir, runs: known, trainings }: PlanContext,
  file: string,
  text: string,
): Promise<{ runs: KnownRun[]; trained: Training[]; reports: KnownReport[] }> {
  const named = new Set(
    linkTargets(text).flatMap((target) =>
      [path.dirname(file), "."].flatMap((from) => {
        const real = realInside(dir, path.resolve(dir, from, target));
        return real === undefined ? [] : [workspacePath(dir, real)];
      }),
    ),
  );
  const mentioned = ({ path: name }: { path: string }) =>
    named.has(name) || [...named].some((one) => one.startsWith(`${name}/`));
  const runs: KnownRun[] = [];
  for (const run of known.runs.filter(mentioned))
    if ((await known.problemOf(run)) === undefined) runs.push(run);
  const trained: Training[] = [];
  for (const { path: name } of trainings.known.filter(mentioned)) {
    const opened = await trainings.open(name);
    if (typeof opened !== "string") trained.push(opened);
  }
  const reports: KnownReport[] = [];
  for (const report of known.reports.filter(mentioned))
    if (typeof (await known.compared(report)) !== "string") reports.push(report);
  return { runs, trained, reports };
}
