/** What the commits of a week shipped, and which days had a commit, a write-up and an artifact. */

import { wordCount } from "../notes.ts";
import { textOf } from "../workspace-files.ts";
import { addDays, type Day, daysBetween, daysOfWeek } from "./calendar.ts";
import type { PlanContext } from "./criterion.ts";
import type { Contribution, History } from "./history.ts";
import { readSweep } from "./sweeps.ts";

/** Of a write-up. A longer one counts, with a remark: the plan asks for a short one. */
const MIN_WORDS = 200;
const MAX_WORDS = 600;
const MIN_SHORT_POST = 100;
const CALENDAR_DAYS = 28;

export interface Deliverable {
  readonly id: "build" | "theory" | "evaluation" | "blog";
  /** What was shipped, by path; empty when nothing was. */
  readonly shipped: readonly string[];
  readonly next: string;
  /** What counts and is not as the plan asks for it. */
  readonly remarks: readonly string[];
}

export type DayMark = "before" | "none" | "commit" | "full";

export type Activity = ReturnType<typeof activity>;

export function activity({ start, contributions }: History, today: Day) {
  const byDay = new Map<Day, Contribution[]>();
  for (const one of contributions) byDay.set(one.day, [...(byDay.get(one.day) ?? []), one]);
  const markOf = (date: Day): DayMark => {
    const found = byDay.get(date);
    if (!found) return date < start ? "before" : "none";
    return isFull(found) ? "full" : "commit";
  };
  const days = Math.max(1, daysBetween(start, today) + 1);
  const marks = Array.from({ length: days }, (_, i) => markOf(addDays(start, i)));
  const worked = marks.map((mark) => mark === "commit" || mark === "full");
  // Today is not over: without a commit today, the streak up to yesterday counts.
  const until = worked.at(-1) === false ? worked.slice(0, -1) : worked;
  return {
    /** Days in a row with a commit, up to today or yesterday. */
    streak: until.length - 1 - until.lastIndexOf(false),
    longest: longestRow(worked),
    /** Days with a commit, a write-up and an artifact. */
    full_days: marks.filter((mark) => mark === "full").length,
    /** Those of them whose write-up has more words than the plan asks for. */
    long_days: [...byDay.values()].filter((day) => isFull(day) && wordsOf(day) > MAX_WORDS).length,
    days,
    /** The last four weeks, today last. */
    calendar: Array.from({ length: CALENDAR_DAYS }, (_, i) => {
      const date = addDays(today, i - CALENDAR_DAYS + 1);
      return { date, mark: markOf(date) };
    }),
  };
}

function isFull(contributions: readonly Contribution[]): boolean {
  const artifact = contributions.some(({ files }) => files.some(isArtifact));
  return artifact && wordsOf(contributions) >= MIN_WORDS;
}

function wordsOf(contributions: readonly Contribution[]): number {
  const written = contributions.flatMap((one) => [...one.words.values()]);
  return written.reduce((sum, count) => sum + count, 0);
}

const isArtifact = (file: string): boolean =>
  file.startsWith("runs/") && !file.endsWith("/.gitkeep");

function longestRow(worked: readonly boolean[]): number {
  let [longest, row] = [0, 0];
  for (const one of worked) {
    row = one ? row + 1 : 0;
    longest = Math.max(longest, row);
  }
  return longest;
}

/** Files that commits of a week added, and whether a commit is of that week. */
export function newFiles({ start, contributions }: History, week: number) {
  const { first, last } = daysOfWeek(week);
  const [from, to] = [addDays(start, first - 1), addDays(start, last - 1)];
  const within = ({ day }: Contribution) => day >= from && day <= to;
  const news = new Set<string>();
  const seen = new Set<string>();
  for (const one of contributions) {
    for (const file of one.files) if (!seen.has(file) && within(one)) news.add(file);
    for (const file of one.files) seen.add(file);
  }
  return { news, within };
}

/** What commits of one week of the plan have shipped. */
export async function deliverables(
  context: PlanContext,
  history: History,
  week: number,
): Promise<Deliverable[]> {
  const { dir } = context;
  const { news, within } = newFiles(history, week);
  const runs = await newRuns(context, news);
  const sweeps = await newSweeps(context, news);
  const notes = changedNotes(dir, history.contributions, within);
  const evaluations = runs.filter(({ loop }) => loop === "A").map(({ path: name }) => name);
  return [
    {
      id: "build",
      shipped: [...runs.map(({ path: name }) => name), ...(await newTrainings(context, news))],
      next: "Finish a new run or training in runs/ and commit it.",
      remarks: [],
    },
    {
      id: "theory",
      shipped: notes,
      next: `Write a note in notes/ on one idea, math and intuition, with ${MIN_WORDS} to ${MAX_WORDS} words of your own, and commit it.`,
      remarks: tooLong(dir, notes),
    },
    {
      id: "evaluation",
      shipped: [...(await newReports(context, news)), ...sweeps, ...evaluations],
      next: "Commit a Loop A run, a sweep, a page that report wrote in runs/, or a gate report saved with --report runs/NAME.json.",
      remarks: [],
    },
    {
      id: "blog",
      shipped: newPosts(dir, news),
      next: `Commit a post in posts/ of ${MIN_WORDS} words or more, or two of ${MIN_SHORT_POST}.`,
      remarks: [],
    },
  ];
}

type News = ReadonlySet<string>;

async function newRuns({ runs: known }: PlanContext, news: News) {
  const runs: { path: string; loop: string }[] = [];
  for (const one of known.runs) {
    if (news.has(`${one.path}/summary.json`) && (await known.problemOf(one)) === undefined)
      runs.push({ path: one.path, loop: one.run.manifest.loop });
  }
  return runs;
}

async function newTrainings({ trainings }: PlanContext, news: News): Promise<string[]> {
  const made: string[] = [];
  for (const { path: name } of trainings.known) {
    if (news.has(`${name}/summary.json`) && typeof (await trainings.open(name)) !== "string")
      made.push(name);
  }
  return made;
}

async function newSweeps(context: PlanContext, news: News): Promise<string[]> {
  const made: string[] = [];
  for (const file of [...news].filter((one) => /^runs\/.*\/sweep\.json$/.test(one)).sort())
    if (typeof (await readSweep(context, file)) !== "string") made.push(file);
  return made;
}

/** Verdicts of the gate, and pages about runs. */
async function newReports({ runs: known, pages }: PlanContext, news: News): Promise<string[]> {
  const reports: string[] = [];
  for (const one of known.reports) {
    if (news.has(one.path) && typeof (await known.compared(one)) !== "string")
      reports.push(one.path);
  }
  for (const file of pages.files)
    if (news.has(file) && typeof (await pages.read(file)) === "object") reports.push(file);
  return reports;
}

/** Notes changed this week that have enough words besides the template's. */
function changedNotes(
  dir: string,
  contributions: readonly Contribution[],
  within: (one: Contribution) => boolean,
): string[] {
  const own = new Map<string, number>();
  for (const one of contributions)
    for (const [file, count] of one.words) own.set(file, (own.get(file) ?? 0) + count);
  const changed = new Set(
    contributions
      .filter(within)
      .flatMap((one) => [...one.words].filter(([, count]) => count > 0).map(([file]) => file)),
  );
  return [...changed]
    .filter((file) => file.startsWith("notes/") && (own.get(file) ?? 0) >= MIN_WORDS)
    .filter((file) => wordsIn(dir, file) >= MIN_WORDS)
    .sort();
}

function tooLong(dir: string, files: readonly string[]): string[] {
  return files
    .filter((file) => wordsIn(dir, file) > MAX_WORDS)
    .map(
      (file) =>
        `${file} has ${wordsIn(dir, file)} words; the plan asks for ${MIN_WORDS} to ${MAX_WORDS}, so that one idea is compressed.`,
    );
}

function newPosts(dir: string, news: ReadonlySet<string>): string[] {
  const posts = [...news].filter((file) => /^posts\/.*\.md$/.test(file)).sort();
  const long = posts.filter((file) => wordsIn(dir, file) >= MIN_WORDS);
  const short = posts.filter((file) => wordsIn(dir, file) >= MIN_SHORT_POST);
  return long.length > 0 || short.length >= 2 ? short : [];
}

function wordsIn(dir: string, file: string): number {
  return wordCount(textOf(dir, file) ?? "");
}
