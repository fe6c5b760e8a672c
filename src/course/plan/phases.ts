/** The five phases of the plan and their days. */

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
