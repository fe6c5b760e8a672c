/** What each commit added, from git: words of notes and posts, files of runs. */

import type { Commit, Git } from "../git.ts";
import { words } from "../notes.ts";
import { type Day, dayOfSeconds, isDay } from "./calendar.ts";

export interface Contribution {
  readonly day: Day;
  readonly files: readonly string[];
  /** Words that a commit added to each note or post. */
  readonly words: ReadonlyMap<string, number>;
}

export interface History {
  /** The local date of the first commit: day 1. */
  readonly start: Day;
  /** Oldest first; of the first one, which created the workspace, only the day counts. */
  readonly contributions: readonly Contribution[];
}

export async function readHistory(git: Git): Promise<History> {
  const commits = await git.commits();
  const written = parseDiffs(await git.run(...DIFFS));
  const contributions = commits.map(({ hash, time, day, files }: Commit, i) => ({
    day: isDay(day) ? day : dayOfSeconds(time),
    files: i === 0 ? [] : files,
    words: i === 0 ? new Map<string, number>() : (written.get(hash) ?? new Map<string, number>()),
  }));
  return { start: (contributions[0] as Contribution).day, contributions };
}

const COMMIT = "\x1e";

/**
 * Flags that override a person's git settings. Merges are left out: their content was written in the
 * commits that they join.
 */
const DIFFS = [
  ...["log", "--no-merges", `--format=${COMMIT}%H`, "-p", "--unified=0", "--no-renames"],
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"],
  "-O/dev/null",
  ...["--", "notes", "posts"],
];

/** Words added to each file by each commit: words of added lines that removed lines did not have. */
export function parseDiffs(log: string): Map<string, Map<string, number>> {
  const commits = new Map<string, Map<string, number>>();
  const lines = log.split("\n");
  let files = new Map<string, number>();
  let file = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.startsWith(COMMIT)) {
      files = new Map();
      commits.set(line.slice(1), files);
    } else if (line.startsWith("+++ ")) {
      file = line
        .slice(4)
        .replace(/^"?b\//, "")
        .replace(/["\t]*$/, "");
    } else if (line.startsWith("@@ ")) {
      // The header has the number of lines, so that no content is taken for a header.
      const [removed, added] = hunkSizes(line);
      const hunk: string[] = [];
      while (hunk.length < removed + added && at + 1 < lines.length) {
        const next = lines[++at] as string;
        if (!next.startsWith("\\")) hunk.push(next); // "\ No newline at end of file"
      }
      files.set(file, (files.get(file) ?? 0) + freshWords(hunk));
    }
  }
  return commits;
}

/** `@@ -3,2 +3 @@`: a size that is left out is 1. */
function hunkSizes(header: string): [removed: number, added: number] {
  const [, removed, added] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(header) ?? [];
  return [Number(removed ?? 1), Number(added ?? 1)];
}

/** Moved or reflowed text adds no words. */
function freshWords(hunk: readonly string[]): number {
  const counts = new Map<string, number>();
  let fresh = 0;
  for (const word of wordsBehind("-", hunk)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of wordsBehind("+", hunk)) {
    const left = counts.get(word) ?? 0;
    if (left > 0) counts.set(word, left - 1);
    else fresh++;
  }
  return fresh;
}

function wordsBehind(mark: string, hunk: readonly string[]): string[] {
  return hunk.filter((line) => line.startsWith(mark)).flatMap((line) => words(line.slice(1)));
}
