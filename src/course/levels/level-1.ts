/** Level 1: REINFORCE, one update at a time. */

import { ARM_NAMES, type BanditStep, expectedDirection } from "../../learn/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import { banditRun, checkOrder, jsonLines } from "../evidence.ts";
import type { Check, LevelDefinition } from "../level.ts";
import { REINFORCE_NOTE } from "../note-rules.ts";
import { checkSections, tableRows } from "../notes.ts";
import { BANDIT_RUNS, banditCommand } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";

const NOTE = "notes/reinforce_forensics.md";
const SLOW = ["l1_build_slow", "l1_sabotage_slow_lrneg"] as const;

const RUNS = [
  ...(["l1_build_bandit", "l1_sabotage_lr2", "l1_sabotage_lrneg"] as const),
  ...SLOW,
] as const;
type RunName = (typeof RUNS)[number];

const train = (name: RunName) => banditCommand(BANDIT_RUNS[name], name);

const RATES = [0.5, 2];
export const SEEDS = 100;

/** One training for each seed; not evidence, so that no check repeats it. */
const overSeeds = (lr: number) =>
  `./lockedroom bandit-train --steps 200 --seed 0 --lr ${lr.toFixed(1)} --baseline \\\n  --seeds ${SEEDS} --outdir runs/l1_seeds_lr${lr}`;

/** level-1.test.ts measures these figures. */
export const LARGE_RATE = `On seed 0 the learning rate 2.0 ends with a slightly higher expected reward than 0.5: 0.7976 against 0.7941. One seed is one draw. With large steps the first few rewards decide: if they favour D, the policy is sure of D sooner; if they favour another arm, it is sure of that one, hardly samples D again and rarely recovers. Over ${SEEDS} seeds 2.0 ends lower, 0.7437 against 0.7775 on average, and favours D after 76 seeds against 94.`;

export const LEVEL_1: LevelDefinition = {
  id: "1",
  title: "REINFORCE, one update at a time",
  loop: "C, tabular",
  wrong: "Reinforcement learning is supervised learning with extra steps.",
  right:
    "It changes probabilities. The sign of advantage = reward − baseline gives the direction; a baseline reduces variance and does not change the objective.",
  commits: [
    { name: "build", file: "runs/l1_build_bandit/manifest.json" },
    { name: "sabotage", file: "runs/l1_sabotage_lrneg/manifest.json" },
    { name: "fix", file: NOTE },
  ],
  budget: { change: [], add: ["assignments/"] },
  evidence: [...RUNS.map((name) => `runs/${name}/`), NOTE],
  stages: {
    Build: { text: "A run that learns.", commands: [train("l1_build_bandit")] },
    Sabotage: {
      text: "The same random seed with a learning rate that is too large, and with a negative one. The large one may end higher than the build: Reflect says why.",
      commands: [train("l1_sabotage_lr2"), train("l1_sabotage_lrneg")],
    },
    Reflect: {
      text: `Go through thirty updates one by one. On a terminal --slow asks for the sign of each advantage and for what must happen to the probability, then answers; elsewhere it prints the steps without the answers. Fill in your table from it; --reveal, with --force, shows all answers at once, to compare afterwards. ${LARGE_RATE} Then repeat both rates with ${SEEDS} seeds.`,
      commands: [...SLOW.map(train), ...RATES.map(overSeeds)],
    },
    "Repair and lock": {
      text: "Annotate ten consecutive steps, and explain why the sabotage runs differ.",
      commands: [],
    },
  },
  tasks: [
    `${NOTE}: ten consecutive steps of one slow run as rows of the table (step, action, reward, baseline, advantage, its sign, and what must happen to the probability of that action). Name the run in the line "Run:".`,
    `In the same note, one paragraph: why do the sabotage runs behave differently? Also say why lr 2.0 ends higher on seed 0, and lower over ${SEEDS} seeds.`,
    runNoteTask("l1_sabotage_lrneg", "l1_build_bandit"),
  ],
  checklist: [
    "The advantage is negative. What happens to the probability of the action that was sampled?",
    "Why does a baseline reduce variance without changing the direction of learning?",
    "What does a negative learning rate show about the update of probabilities?",
  ],
  checks: [
    runCheck("l1_build_bandit"),
    "build",
    ...RUNS.slice(1).map(runCheck),
    {
      id: "order",
      title: "the build comes before the sabotage",
      next: `${train("l1_sabotage_lr2")} --force`,
      run: async (context) => {
        await checkOrder(context, ["l1_build_bandit", "l1_sabotage_lr2", "l1_sabotage_lrneg"]);
        return "in order";
      },
    },
    runNoteCheck("l1_sabotage_lrneg", "l1_build_bandit"),
    "sabotage",
    {
      id: "ten-steps",
      title: "ten consecutive steps, annotated in agreement with the log",
      next: `Fill in the table of ${NOTE} from the output of the slow run: advantage = reward - baseline; its sign, and the sign of the learning rate, say what must happen.`,
      run: checkTenSteps,
    },
    {
      id: "paragraph",
      title: "why the sabotage runs behave differently",
      next: `Write the paragraph in ${NOTE}. ${LARGE_RATE} To see it, compare the last lines of:\n${RATES.map(overSeeds).join("\n")}`,
      run: async (context) => {
        await checkSections(context, NOTE, REINFORCE_NOTE);
        return "written";
      },
    },
    "fix",
  ],
};

function runCheck(name: RunName): Check {
  return {
    id: name,
    title: `runs/${name}: lr ${BANDIT_RUNS[name].lr}, ${BANDIT_RUNS[name].steps} steps, repeatable`,
    next: train(name),
    run: async (context: CheckContext) => {
      const { summary } = await banditRun(context, name, BANDIT_RUNS[name]);
      return String(summary.metrics.verdict);
    },
  };
}

async function checkTenSteps(context: CheckContext): Promise<string> {
  const text = await context.read(NOTE);
  const name = SLOW.find((slow) => new RegExp(`^Run:\\s*\`?(runs/)?${slow}\\b`, "m").test(text));
  ensure(name !== undefined, {
    expected: `a line "Run: runs/${SLOW[0]}" or "Run: runs/${SLOW[1]}"`,
    found: /^Run:.*$/m.exec(text)?.[0] ?? "no such line",
    where: NOTE,
  });
  await context.run(name);
  const log = await jsonLines<BanditStep>(context, `runs/${name}/log.jsonl`);
  const rows = tableRows(text);
  ensure(rows.length >= 10, {
    expected: "ten rows in the table",
    found: `${rows.length}`,
    where: NOTE,
  });
  for (const [index, row] of rows.entries()) {
    const step = log[Number(row[0]) - 1];
    const first = Number(rows[0]?.[0]);
    ensure(step !== undefined && Number(row[0]) === first + index, {
      expected: `step ${first + index} in row ${index + 1}: the steps are consecutive`,
      found: row[0] ?? "nothing",
      where: NOTE,
    });
    const columns = annotation(step, BANDIT_RUNS[name].lr);
    const wrong = columns.findIndex(([, value], i) => !matches(row[i + 1] ?? "", value));
    const [column = ""] = columns[wrong] ?? [];
    ensure(wrong < 0, {
      expected: `${column} of step ${step.step} ${follows(column, step)}`,
      found: row[wrong + 1] || "nothing",
      where: `runs/${name}/log.jsonl, line ${step.step}`,
      next: `Correct ${column} of step ${step.step} in ${NOTE}.`,
    });
  }
  return `steps ${rows[0]?.[0]} to ${rows.at(-1)?.[0]} of runs/${name}`;
}

/** Where a column comes from, without its value: the answers are the learner's to find. */
function follows(column: string, { reward, baseline }: BanditStep): string {
  if (column === "action") return "as --slow prints it, a letter from A to D";
  return ["reward", "baseline"].includes(column)
    ? "as the log has it"
    : `that follows from reward ${reward} and baseline ${baseline.toFixed(4)}${column === "must" ? ", and from the sign of the learning rate" : ""}`;
}

/** A number is rounded as printed, or exact; a sign may be typographic, a plus and backticks are allowed. */
function matches(cell: string, value: string): boolean {
  const plain = cell.replaceAll("−", "-").replace(/^\+/, "").replaceAll("`", "").toLowerCase();
  if (Number.isNaN(Number(value))) return plain === value.toLowerCase();
  return plain !== "" && Math.abs(Number(plain) - Number(value)) <= 0.00006;
}

/** The columns of the table after the step. */
function annotation({ action, reward, baseline, advantage }: BanditStep, lr: number) {
  return Object.entries({
    action: ARM_NAMES[action] ?? "",
    reward: String(reward),
    baseline: baseline.toFixed(4),
    advantage: advantage.toFixed(4),
    sign: advantage > 0 ? "positive" : advantage < 0 ? "negative" : "zero",
    must: expectedDirection(advantage, lr),
  });
}
