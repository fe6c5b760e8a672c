/** Calendar days: local dates, written 2026-11-15. */

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
