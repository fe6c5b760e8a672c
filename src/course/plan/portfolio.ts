/** What the texts of a portfolio hold: enough words, and links to work that can be looked at. */

import path from "node:path";
import { linkTargets, wordCount } from "../notes.ts";
import type { KnownReport, KnownRun } from "../shelf.ts";
import { realInside, recorded, textOf } from "../workspace-files.ts";
import { missing, type Place } from "./criterion.ts";
import type { Training } from "./training.ts";

export const MIN_WORDS = 200;

/** Text of a file that has something to say, or nothing. */
export function essay({ dir }: Place, file: string): string | undefined {
  const text = textOf(dir, file);
  return text !== undefined && wordCount(text) >= MIN_WORDS ? text : undefined;
}

export const tooShort = ({ dir }: Place, file: string, expected: string) => {
  const text = textOf(dir, file);
  const found = text === undefined ? `no ${file}` : `${file} has ${wordCount(text)} words`;
  return missing(expected, found, `Write ${file}, ${MIN_WORDS} words or more.`);
};

/** Sound runs, trainings and gate reports that hold, which a text of this file links to. */
export async function linked(
  { dir, shelf, trainings }: Place,
  file: string,
  text: string,
): Promise<{ runs: KnownRun[]; trained: Training[]; reports: KnownReport[] }> {
  const named = new Set(
    linkTargets(text).flatMap((target) =>
      [path.dirname(file), "."].flatMap((from) => {
        const real = realInside(dir, path.resolve(dir, from, target));
        return real === undefined ? [] : [recorded(dir, real)];
      }),
    ),
  );
  const mentioned = ({ path: known }: { path: string }) =>
    named.has(known) || [...named].some((name) => name.startsWith(`${known}/`));
  const runs: KnownRun[] = [];
  for (const known of shelf.runs.filter(mentioned))
    if ((await shelf.problemOf(known)) === undefined) runs.push(known);
  const trained: Training[] = [];
  for (const known of trainings.known.filter(mentioned)) {
    const opened = await trainings.open(known.path);
    if (typeof opened !== "string") trained.push(opened);
  }
  const reports: KnownReport[] = [];
  for (const known of shelf.reports.filter(mentioned))
    if (typeof (await shelf.compared(known)) !== "string") reports.push(known);
  return { runs, trained, reports };
}
