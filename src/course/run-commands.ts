/** The commands that make the runs of the levels. */

import { type BanditSettings, DEV, FROZEN, PACK } from "./evidence.ts";

export const TAMPERED = "data/datasets/math_dev_TAMPERED.jsonl";
export const TWO_STEP = "assignments/two_step_mdp_demo.ts";

export const evalCommand = (dataset: string, run: string) =>
  `./lockedroom eval \\\n  --dataset ${dataset} \\\n  --completions ${FROZEN} \\\n  --outdir runs/${run}`;

export const selectCommand = (n: number, run: string, indent = "") =>
  [
    "./lockedroom selection-demo \\",
    ...[`  --dataset ${DEV} \\`, `  --samples ${PACK} \\`, `  --n ${n} --outdir runs/${run}`],
  ]
    .map((line) => indent + line)
    .join("\n");

export function banditCommand({ steps, seed, lr }: BanditSettings, run: string): string {
  const rate = Number.isInteger(lr) ? lr.toFixed(1) : String(lr);
  const slow = run.includes("slow") ? " --slow" : "";
  return `./lockedroom bandit-train --steps ${steps} --seed ${seed} --lr ${rate} \\\n  --baseline${slow} --outdir runs/${run}`;
}

export const twoStepCommand = (run: string) =>
  `./lockedroom run ${TWO_STEP} \\\n  --steps 200 --seed 0 --baseline --outdir runs/${run}`;

export const KL_DEMO = "./lockedroom kl-tradeoff-demo --plot --outdir runs/l3_build_kl_demo";
export const GOODHART_DEMO = "./lockedroom goodhart-demo --outdir runs/l5_goodhart";

/** The bandit runs of levels 1 and 6. */
export const BANDIT_RUNS = {
  l1_build_bandit: { steps: 200, seed: 0, lr: 0.5 },
  l1_sabotage_lr2: { steps: 200, seed: 0, lr: 2 },
  l1_sabotage_lrneg: { steps: 200, seed: 0, lr: -0.5 },
  l1_build_slow: { steps: 30, seed: 0, lr: 0.5 },
  l1_sabotage_slow_lrneg: { steps: 30, seed: 0, lr: -0.5 },
  l6_trap_untrained: { steps: 0, seed: 1, lr: 0.5 },
  l6_trap_learning: { steps: 200, seed: 1, lr: 0.5 },
} satisfies Record<string, BanditSettings>;

/** By the prefix of the run's name, with what to edit before the command. */
const COMMANDS: readonly (readonly [
  prefix: string,
  command: (run: string) => string,
  edit?: string,
])[] = [
  ["l0_build", (run) => evalCommand(DEV, run)],
  [
    "l0_sabotage",
    (run) => evalCommand(TAMPERED, run),
    "Copy the data set, change one expected answer in the copy, then:",
  ],
  ["l0_5_build", (run) => selectCommand(4, run)],
  [
    "l0_5_sabotage",
    (run) => selectCommand(4, run),
    "Make tieBreakKey random in assignments/selection_policy.ts, then:",
  ],
  ["l0_5_fixed", (run) => selectCommand(4, run), "Make tieBreakKey deterministic again, then:"],
  ["l2_sabotage", twoStepCommand, "Remove the update of the first decision, then:"],
  ["l2_fixed", twoStepCommand, "Restore the update of the first decision, then:"],
  ["l3_build_kl_demo", () => KL_DEMO],
  ["l5_goodhart", () => GOODHART_DEMO],
  ["l6_trap_sel_n1", (run) => selectCommand(1, run)],
  ["l6_trap_sel_n4", (run) => selectCommand(4, run)],
  ...Object.entries(BANDIT_RUNS).map(
    ([name, settings]) => [name, (run: string) => banditCommand(settings, run)] as const,
  ),
];

/** How to make a run that a quiz asks about. */
export function howToMake(run: string): string {
  const [, command, edit] = COMMANDS.find(([prefix]) => run.startsWith(prefix)) ?? [];
  const line = command?.(run) ?? `the command of runs/${run}: see ./lockedroom level`;
  return `${edit ?? "Run:"}\n${line}`;
}
