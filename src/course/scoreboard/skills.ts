/** The six skills and what each score from 0 to 5 means. */

export const SKILLS = [
  "math",
  "algorithms",
  "systems",
  "debugging",
  "evaluation",
  "research_taste",
] as const;

export type Skill = (typeof SKILLS)[number];

export const MAX_SKILL = 5;

/** The meaning of each score. */
export const SKILL_MATRIX: Readonly<Record<Skill, readonly string[]>> = {
  math: [
    "nothing yet",
    "follows a derivation by somebody else",
    "derives REINFORCE unaided",
    "derives PPO and DPO, the KL term included",
    "sets up a constrained objective and its Lagrangian",
    "explains bias and variance under distribution shift",
  ],
  algorithms: [
    "nothing yet",
    "runs existing scripts",
    "has implemented one method from its paper",
    "has implemented two or three, with ablations",
    "picks the method that suits data, reward and budget",
    "combines or invents methods, with diagnostics",
  ],
  systems: [
    "nothing yet",
    "works on one machine only",
    "somebody else can reproduce the runs",
    "jobs run in the cloud with tracking",
    "costs are capped and runs are monitored",
    "guardrails and rollback fit for production",
  ],
  debugging: [
    "nothing yet",
    "tries things at random",
    "fixes obvious bugs",
    "finds the cause from the curves",
    "designs an experiment that separates causes",
    "predicts and prevents failure modes",
  ],
  evaluation: [
    "nothing yet",
    "uses one number",
    "has a simple harness",
    "measures along several axes",
    "tests the system with adversarial suites",
    "the evals predict what users see",
  ],
  research_taste: [
    "nothing yet",
    "copies others' experiments",
    "makes small variations",
    "runs conclusive ablations",
    "asks the questions with the most leverage",
    "finds signal repeatedly and stops dead ends early",
  ],
};

export function isSkill(name: string): name is Skill {
  return (SKILLS as readonly string[]).includes(name);
}
