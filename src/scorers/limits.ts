/** A day: timers cannot count much further. */
export const LONGEST_MS = 24 * 60 * 60 * 1000;
