/** Why a training run ended, as its summary says it; every other reason is an alarm. */

export const ALL_STEPS_DONE = "all steps done";

/** Conditions of the settings `stop`, in the order in which they are checked. */
export const STOP_CONDITIONS = [
  "target",
  "margin",
  "plateau",
  "reward_plateau",
  "tokens",
  "money",
  "seconds",
] as const;

export type StopCondition = (typeof STOP_CONDITIONS)[number];

export function isStopCondition(reason: string): reason is StopCondition {
  return (STOP_CONDITIONS as readonly string[]).includes(reason);
}

/** Conditions that end a run at any step, so that the policy is validated once more. */
export const BUDGETS = [
  "reward_plateau",
  "tokens",
  "money",
  "seconds",
] as const satisfies readonly StopCondition[];

export function isBudget(reason: string): boolean {
  return (BUDGETS as readonly string[]).includes(reason);
}
