/** Level 1: REINFORCE, one update at a time. */

import { ARM_NAMES, type BanditStep, expectedDirection } from "../../index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { type BanditSettings, banditRun, jsonLines } from "../evidence.ts";
import { demand } from "../gap.ts";
import type { Check, Level } from "../level.ts";
import { demandRunNote, demandSections, tableRows } from "../notes.ts";
import { demandOrder } from "../replay.ts";
import type { Room } from "../room.ts";

const NOTE = "notes/reinforce_forensics.md";
const SLOW = ["l1_build_slow", "l1_sabotage_slow_lrneg"] as const;

/** The runs of the level and what each is made with. */
const RUNS = {
  l1_build_bandit: { steps: 200, seed: 0, lr: 0.5 },
  l1_sabotage_lr2: { steps: 200, seed: 0, lr: 2 },
  l1_sabotage_lrneg: { steps: 200, seed: 0, lr: -0.5 },
  l1_build_slow: { steps: 30, seed: 0, lr: 0.5 },
  l1_sabotage_slow_lrneg: { steps: 30, seed: 0, lr: -0.5 },
} satisfies Record<string, BanditSettings>;
type RunName = keyof typeof RUNS;

function train(name: RunName): string {
  const { steps, seed, lr } = RUNS[name];
  const rate = lr === 2 ? "2.0" : String(lr);
  const slow = name.includes("slow") ? " --slow" : "";
  return `./lockedroom bandit-train --steps ${steps} --seed ${seed} --lr ${rate} \\\n  --baseline${slow} --outdir runs/${name}`;
}

const base = {
  id: "1" as const,
  commits: [
    { name: "build", file: "runs/l1_build_bandit/manifest.json" },
    { name: "sabotage", file: "runs/l1_sabotage_lrneg/manifest.json" },
    { name: "fix", file: NOTE },
  ],
  budget: { change: [], add: ["assignments/"] },
  evidence: [...Object.keys(RUNS).map((name) => `runs/${name}/`), NOTE],
};

export const LEVEL_1: Level = {
  ...base,
  title: "REINFORCE under the microscope",
  loop: "C, in the small",
  wrong: "Reinforcement learning is supervised learning with extra steps.",
  right:
    "It nudges probabilities. The sign of advantage = reward − baseline decides the direction; a baseline takes noise away and leaves the goal where it is.",
  stages: [
    { name: "Build", text: "Learning that works.", commands: [train("l1_build_bandit")] },
    {
      name: "Sabotage",
      text: "The same luck with a rate that is too large, and with one that has the wrong sign.",
      commands: [train("l1_sabotage_lr2"), train("l1_sabotage_lrneg")],
    },
    {
      name: "Reflect",
      text: "Thirty updates, printed one by one.",
      commands: SLOW.map(train),
    },
    {
      name: "Repair and lock",
      text: "Annotate ten consecutive steps, and say why the sabotage runs differ.",
      commands: [],
    },
  ],
  tasks: [
    `${NOTE}: ten consecutive steps of one slow run as rows of the table (step, action, reward, baseline, advantage, its sign, and what must happen to the probability of that action). Name the run in the line "Run:".`,
    "In the same note, one paragraph: why do the sabotage runs behave differently?",
    "runs/l1_sabotage_lrneg/README.md: what you expected, and the repair plan.",
  ],
  checklist: [
    "The advantage is negative. What happens to the probability of the action that was sampled?",
    "Why does a baseline reduce noise without changing the direction of learning?",
    "What does a negative learning rate teach about nudging probabilities?",
  ],
  checks: [
    runCheck("l1_build_bandit"),
    commitCheck(base, "build"),
    ...(Object.keys(RUNS) as RunName[]).slice(1).map(runCheck),
    {
      id: "order",
      title: "built first, sabotaged afterwards",
      next: `${train("l1_sabotage_lr2")} --force`,
      run: async (room) => {
        await demandOrder(room, ["l1_build_bandit", "l1_sabotage_lr2", "l1_sabotage_lrneg"]);
        return "in order";
      },
    },
    {
      id: "run-note",
      title: "the run note of the sabotage is complete",
      next: "Fill in runs/l1_sabotage_lrneg/README.md.",
      run: (room) => demandRunNote(room, "l1_sabotage_lrneg"),
    },
    commitCheck(base, "sabotage"),
    {
      id: "ten-steps",
      title: "ten consecutive steps, annotated as the log has them",
      next: `Fill in the table of ${NOTE} from the output of the slow run.`,
      run: demandTenSteps,
    },
    {
      id: "paragraph",
      title: "why the sabotage runs behave differently",
      next: `Write the paragraph in ${NOTE}.`,
      run: async (room) => {
        await demandSections(room, NOTE, { "Why the sabotage runs behave differently": 40 });
        return "written";
      },
    },
    commitCheck(base, "fix"),
    ...historyChecks(base),
  ],
};

function runCheck(name: RunName): Check {
  return {
    id: name,
    title: `runs/${name}: lr ${RUNS[name].lr}, ${RUNS[name].steps} steps, repeatable`,
    next: train(name),
    run: async (room: Room) => {
      const { summary } = await banditRun(room, name, RUNS[name]);
      return String(summary.metrics.verdict);
    },
  };
}

async function demandTenSteps(room: Room): Promise<string> {
  const text = await room.read(NOTE);
  const name = SLOW.find((slow) => new RegExp(`^Run:\\s*\`?(runs/)?${slow}\\b`, "m").test(text));
  demand(name !== undefined, {
    expected: `a line "Run: runs/${SLOW[0]}" or "Run: runs/${SLOW[1]}"`,
    found: /^Run:.*$/m.exec(text)?.[0] ?? "no such line",
    look: NOTE,
  });
  await room.run(name);
  const log = await jsonLines<BanditStep>(room, `runs/${name}/log.jsonl`);
  const rows = tableRows(text);
  demand(rows.length >= 10, {
    expected: "ten rows in the table",
    found: `${rows.length}`,
    look: NOTE,
  });
  for (const [index, row] of rows.entries()) {
    const step = log[Number(row[0]) - 1];
    const first = Number(rows[0]?.[0]);
    demand(step !== undefined && Number(row[0]) === first + index, {
      expected: `step ${first + index} in row ${index + 1}: the steps are consecutive`,
      found: row[0] ?? "nothing",
      look: NOTE,
    });
    const wrong = annotation(step, RUNS[name].lr).find(
      ({ value, matches }, column) => !matches(plain(row[column + 1] ?? ""), value),
    );
    demand(wrong === undefined, () => ({
      expected: `${wrong?.name} ${wrong?.value} in step ${step.step}`,
      found: row[annotation(step, 0).findIndex((a) => a.name === wrong?.name) + 1] || "nothing",
      look: `runs/${name}/log.jsonl, line ${step.step}`,
      next: `Correct ${wrong?.name} of step ${step.step} in ${NOTE}.`,
    }));
  }
  return `steps ${rows[0]?.[0]} to ${rows.at(-1)?.[0]} of runs/${name}`;
}

interface Expected {
  readonly name: string;
  readonly value: string;
  readonly matches: (cell: string, value: string) => boolean;
}

/** A typographic minus and a plus sign are as good as none. */
function plain(cell: string): string {
  return cell.replaceAll("−", "-").replace(/^\+/, "").replaceAll("`", "").toLowerCase();
}

const same = (cell: string, value: string) => cell === value.toLowerCase();
/** Rounded as printed, or exact. */
const near = (cell: string, value: string) =>
  cell !== "" && Math.abs(Number(cell) - Number(value)) <= 0.00006;

function annotation(step: BanditStep, lr: number): Expected[] {
  const { action, reward, baseline, advantage } = step;
  return [
    { name: "action", value: ARM_NAMES[action] ?? "", matches: same },
    { name: "reward", value: String(reward), matches: near },
    { name: "baseline", value: baseline.toFixed(4), matches: near },
    { name: "advantage", value: advantage.toFixed(4), matches: near },
    {
      name: "sign",
      value: advantage > 0 ? "positive" : advantage < 0 ? "negative" : "zero",
      matches: same,
    },
    { name: "must", value: expectedDirection(advantage, lr), matches: same },
  ];
}
