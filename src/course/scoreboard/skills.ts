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

/** What somebody with this score can do; 0 is nothing of it yet, for every skill. */
export const SKILL_MATRIX: Readonly<Record<Skill, readonly string[]>> = {
  math: [
    "nothing yet",
    "follows a derivation that somebody else wrote",
    "derives REINFORCE unaided",
    "derives PPO and DPO, the KL term included",
    "sets up a constrained objective and its Lagrangian",
    "argues bias against variance when the data shifts",
  ],
  algorithms: [
    "nothing yet",
    "runs scripts that exist",
    "has written one method from its paper",
    "has written two or three, and ablated them",
    "picks the method that suits data, reward and budget",
    "combines or invents methods, with diagnostics that keep them safe",
  ],
  systems: [
    "nothing yet",
    "works on one machine only",
    "runs can be repeated by somebody else",
    "jobs run in the cloud and are tracked",
    "costs are capped and runs are watched",
    "guardrails and rollback fit for production",
  ],
  debugging: [
    "nothing yet",
    "tries things at random",
    "mends what is plainly broken",
    "reads the cause from the curves",
    "designs a probe that decides between causes",
    "sees failure modes coming and closes them beforehand",
  ],
  evaluation: [
    "nothing yet",
    "looks at one number",
    "has a simple harness",
    "measures along several axes",
    "attacks its own system with adversarial suites",
    "the evals foretell what users and the product will see",
  ],
  research_taste: [
    "nothing yet",
    "copies what others did",
    "varies it a little",
    "runs ablations that settle something",
    "asks the questions with the most leverage",
    "finds signal again and again, and leaves dead ends early",
  ],
};

export function isSkill(name: string): name is Skill {
  return (SKILLS as readonly string[]).includes(name);
}
