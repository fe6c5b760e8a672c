/** How each run that a quiz asks about is made. */

import { DEV, FROZEN, PACK } from "../evidence.ts";

const evaluate = (dataset: string, run: string) =>
  `./lockedroom eval --dataset ${dataset} \\
  --completions ${FROZEN} \\
  --outdir runs/${run}`;

const select = (n: number, run: string) =>
  `./lockedroom selection-demo --dataset ${DEV} \\
  --samples ${PACK} \\
  --n ${n} --outdir runs/${run}`;

const train = (flags: string, run: string) =>
  `./lockedroom bandit-train ${flags} --baseline \\
  --outdir runs/${run}`;

const twoStep = (run: string) =>
  `./lockedroom run assignments/two_step_mdp_demo.ts --steps 200 --seed 0 \\
  --baseline --outdir runs/${run}`;

const COMMANDS: Readonly<Record<string, (run: string) => string>> = {
  l0_build_eval: (run) => evaluate(DEV, run),
  l0_sabotage_eval_tampered: (run) => evaluate("data/datasets/math_dev_TAMPERED.jsonl", run),
  l0_5_build_sel_n4: (run) => select(4, run),
  l0_5_sabotage_sel_random_1: (run) => select(4, run),
  l0_5_sabotage_sel_random_2: (run) => select(4, run),
  l0_5_sabotage_sel_random_3: (run) => select(4, run),
  l0_5_sabotage_sel_random_4: (run) => select(4, run),
  l0_5_sabotage_sel_random_5: (run) => select(4, run),
  l0_5_fixed_sel_n4: (run) => select(4, run),
  l0_5_fixed_sel_n4_again: (run) => select(4, run),
  l1_build_bandit: (run) => train("--steps 200 --seed 0 --lr 0.5", run),
  l1_sabotage_lrneg: (run) => train("--steps 200 --seed 0 --lr -0.5", run),
  l1_build_slow: (run) => train("--steps 30 --seed 0 --lr 0.5 --slow", run),
  l2_sabotage_no_credit_step1: twoStep,
  l2_fixed_two_step: twoStep,
  l3_build_kl_demo: (run) => `./lockedroom kl-tradeoff-demo --plot --outdir runs/${run}`,
  l5_goodhart: (run) => `./lockedroom goodhart-demo --outdir runs/${run}`,
  l6_trap_sel_n1: (run) => select(1, run),
  l6_trap_sel_n4: (run) => select(4, run),
  l6_trap_untrained: (run) => train("--steps 0 --seed 1 --lr 0.5", run),
  l6_trap_learning: (run) => train("--steps 200 --seed 1 --lr 0.5", run),
};

/** Runs that need an edit of the learner's before their command means anything. */
const FIRST: readonly (readonly [prefix: string, edit: string])[] = [
  ["l0_sabotage", "Copy the data set, change one expected answer in the copy, then:"],
  ["l0_5_sabotage", "Make tieBreakKey random in assignments/selection_policy.ts, then:"],
  ["l0_5_fixed", "Make tieBreakKey deterministic again, then:"],
  ["l2_sabotage", "Take the update of the first decision out of the assignment, then:"],
  ["l2_fixed", "Put the update of the first decision back, then:"],
];

export function howToMake(run: string): string {
  const first = FIRST.find(([prefix]) => run.startsWith(prefix))?.[1] ?? "Make it with:";
  const command = COMMANDS[run]?.(run) ?? `the command of runs/${run}: see ./lockedroom level`;
  return `${first}\n${command}`;
}
