/** The calendar of the plan: days as local dates, written 2026-11-15; weeks; the five phases. */

/** YYYY-MM-DD; compares as text. */
export type Day = string;

const DAY_MS = 86_400_000;

export function localDay(date: Date): Day {
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, "0")).join("-");
}

const [EARLIEST, LATEST] = [-62_135_510_400, 253_402_214_400];

/** The local date of a commit's time in seconds, limited to the years 1 to 9999. */
export function dayOfSeconds(seconds: number): Day {
  const known = Number.isNaN(seconds) ? LATEST : seconds;
  return localDay(new Date(1000 * Math.min(LATEST, Math.max(EARLIEST, known))));
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && addDays(text, 0) === text;
}

/** In UTC, where every day has 24 hours. */
export function addDays(day: Day, count: number): Day {
  const moved = new Date(noon(day) + count * DAY_MS);
  return Number.isNaN(moved.getTime()) ? "" : moved.toISOString().slice(0, 10);
}

/** How many days `later` comes after `earlier`; negative when it comes before. */
export function daysBetween(earlier: Day, later: Day): number {
  return Math.round((noon(later) - noon(earlier)) / DAY_MS);
}

function noon(day: Day): number {
  return Date.parse(`${day}T12:00:00Z`);
}

export interface Phase {
  readonly phase: number;
  readonly title: string;
  readonly first: number;
  readonly last: number;
}

export const PHASES: readonly Phase[] = [
  { phase: 0, title: "an eval harness, logging, one measured baseline", first: 1, last: 7 },
  { phase: 1, title: "a repeatable DPO pipeline on Azure Foundry", first: 8, last: 28 },
  { phase: 2, title: "a stable RFT run with graders and a KL penalty", first: 29, last: 56 },
  {
    phase: 3,
    title: "several objectives or a constraint, with the trade-off",
    first: 57,
    last: 84,
  },
  { phase: 4, title: "capstone: reference, case study, talk", first: 85, last: 120 },
];

export const LAST_DAY = 120;
/** The phase in plan.json when all phases are passed. */
export const DONE = PHASES.length;

/** The phase by the calendar; after the last day, the last one. */
export function phaseOfDay(day: number): Phase {
  return PHASES.find(({ last }) => day <= last) ?? (PHASES.at(-1) as Phase);
}

/** Weeks count from day 1, so that phase 0 is week 1. */
export function weekOfDay(day: number): number {
  return Math.ceil(day / 7);
}

export function daysOfWeek(week: number): { readonly first: number; readonly last: number } {
  return { first: 7 * week - 6, last: 7 * week };
}
