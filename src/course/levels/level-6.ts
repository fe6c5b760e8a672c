/** Level 6: three numbers that went up, and a committee that has to say which may be believed. */

import { readFile } from "node:fs/promises";
import { KNOBS, type Knob } from "../../core/index.ts";
import type { GateReport } from "../../runs/index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { banditRun, DEV, evalRun, PACK, repeatSelection, savedGate } from "../evidence.ts";
import { demand, Gap } from "../gap.ts";
import type { Level } from "../level.ts";
import { demandRunNote, demandSections } from "../notes.ts";
import type { Room } from "../room.ts";
import { words } from "../words.ts";

const NOTE = "notes/promotion_memo.md";
const MOST_WORDS = 600;

interface Trap {
  readonly baseline: string;
  readonly candidate: string;
  readonly claim?: Knob;
  readonly loop: "A" | "B" | "C";
  readonly report: string;
}

const TRAPS: readonly Trap[] = [
  {
    baseline: "l0_build_eval",
    candidate: "l0_sabotage_eval_tampered",
    loop: "A",
    report: "runs/l6_gate_trap1.json",
  },
  {
    baseline: "l6_trap_sel_n1",
    candidate: "l6_trap_sel_n4",
    claim: "policy",
    loop: "B",
    report: "runs/l6_gate_trap2.json",
  },
  {
    baseline: "l6_trap_untrained",
    candidate: "l6_trap_learning",
    claim: "policy",
    loop: "C",
    report: "runs/l6_gate_trap3.json",
  },
];

const judge = ({ baseline, candidate, claim, report }: Trap) =>
  `./lockedroom gate \\\n  --baseline runs/${baseline} \\\n  --candidate runs/${candidate} \\\n  --min-delta 0.00${claim ? ` --claim ${claim}` : ""} --report ${report}`;
const select = (n: number) =>
  `./lockedroom selection-demo \\\n  --dataset ${DEV} \\\n  --samples ${PACK} \\\n  --n ${n} --outdir runs/l6_trap_sel_n${n}`;
const train = (steps: number, name: string) =>
  `./lockedroom bandit-train --steps ${steps} --seed 1 --lr 0.5 --baseline \\\n  --outdir runs/${name}`;

const base = {
  id: "6" as const,
  commits: [
    { name: "traps", file: "runs/l6_trap_learning/manifest.json" },
    { name: "memo", file: NOTE },
  ],
  budget: { change: [], add: [] },
  evidence: [
    ...TRAPS.flatMap(({ baseline, candidate, report }) => [
      `runs/${baseline}/`,
      `runs/${candidate}/`,
      report,
    ]),
    NOTE,
  ],
};

export const LEVEL_6: Level = {
  ...base,
  title: "The promotion committee",
  loop: "A, B and C",
  wrong: "The higher number is the better model.",
  right:
    "An improvement may be promoted when the two runs are comparable and exactly one knob explains the difference.",
  stages: [
    {
      name: "Sabotage",
      text: "Trap 1: the tampered evaluation of level 0 asks for promotion. Trap 2: best of four against best of one, claimed to be a better policy. Trap 3: a policy that really was trained, against the same one untrained.",
      commands: [
        ...[select(1), select(4)],
        ...[train(0, "l6_trap_untrained"), train(200, "l6_trap_learning")],
        'git add -A && git commit -m "L6 traps"',
      ],
    },
    { name: "Reflect", text: "Ask the gate about each.", commands: TRAPS.map(judge) },
    {
      name: "Repair and lock",
      text: "Write the memo. The verdicts are the gate's; the reasons are yours.",
      commands: ['git add -A && git commit -m "L6 memo"'],
    },
  ],
  tasks: [
    `${NOTE}, at most one page: for each trap the loop, the knob, whether the comparison is valid, the verdict, and as evidence a quotation in backticks from one of the two manifests that the other does not have.`,
    "Its last paragraph: what you would promote and reject today, and why.",
    "runs/l6_trap_sel_n4/README.md: what you expected, and the repair plan.",
  ],
  checklist: [
    "The pass rate is higher. How do you prove that the room was locked?",
    "How do artifacts alone tell selection from learning?",
    "Why does Loop C always make new failures that frozen rollouts cannot show?",
  ],
  checks: [
    {
      id: "trap-2-runs",
      title: "trap 2: best of one and best of four, repeatable",
      next: `${select(1)}\n${select(4)}`,
      run: async (room) => {
        const rates: string[] = [];
        for (const n of [1, 4]) {
          const { run } = await repeatSelection(room, `l6_trap_sel_n${n}`, n);
          rates.push(run.summary.metrics.pass_rate?.toFixed(4) ?? "");
        }
        return rates.join(" → ");
      },
    },
    {
      id: "trap-3-runs",
      title: "trap 3: the policy untrained and trained, repeatable",
      next: `${train(0, "l6_trap_untrained")}\n${train(200, "l6_trap_learning")}`,
      run: async (room) => {
        await banditRun(room, "l6_trap_untrained", { steps: 0, seed: 1, lr: 0.5 });
        await banditRun(room, "l6_trap_learning", { steps: 200, seed: 1, lr: 0.5 });
        return "the same when repeated";
      },
    },
    commitCheck(base, "traps"),
    {
      id: "trap-1",
      title: "trap 1: the gate on the tampered evaluation",
      next: judge(TRAPS[0] as Trap),
      run: async (room) => {
        await evalRun(room, "l0_build_eval", DEV);
        return verdict(await judged(room, 0));
      },
    },
    {
      id: "trap-2",
      title: "trap 2: the gate on the claim that the policy improved",
      next: judge(TRAPS[1] as Trap),
      run: async (room) => verdict(await judged(room, 1)),
    },
    {
      id: "trap-3",
      title: "trap 3: the gate on the trained policy",
      next: judge(TRAPS[2] as Trap),
      run: async (room) => verdict(await judged(room, 2)),
    },
    {
      id: "memo",
      title: `${NOTE}: three verdicts that agree with the gate, with evidence`,
      next: `Write ${NOTE}.`,
      run: demandMemo,
    },
    {
      id: "run-note",
      title: "the run note of trap 2 is complete",
      next: "Fill in runs/l6_trap_sel_n4/README.md.",
      run: (room) => demandRunNote(room, "l6_trap_sel_n4"),
    },
    commitCheck(base, "memo"),
    ...historyChecks(base),
  ],
};

async function judged(room: Room, index: number): Promise<GateReport> {
  const { report, baseline, candidate, claim } = TRAPS[index] as Trap;
  return savedGate(room, report, [baseline, candidate], claim);
}

function verdict({ decision, reasons }: GateReport): string {
  return `${decision}: ${reasons.map(({ code }) => code).join(", ")}`;
}

async function demandMemo(room: Room): Promise<string> {
  const found = await demandSections(room, NOTE, {
    "Trap 1": 5,
    "Trap 2": 5,
    "Trap 3": 5,
    "What I would promote today": 30,
  });
  const length = words(await room.read(NOTE));
  demand(length <= MOST_WORDS, {
    expected: `one page: at most ${MOST_WORDS} words`,
    found: `${length}`,
    look: NOTE,
  });
  const verdicts: string[] = [];
  for (const [index, trap] of TRAPS.entries()) {
    const section = found.get(`trap ${index + 1}`) ?? "";
    const report = await judged(room, index);
    demandLines(section, index + 1, trap, report);
    await demandQuotation(room, section, index + 1, trap);
    verdicts.push(report.decision);
  }
  return verdicts.join(", ");
}

function demandLines(section: string, number: number, { loop }: Trap, report: GateReport): void {
  const knob = report.knobs[0] as Knob;
  const wanted: [string, string, RegExp][] = [
    ["Loop", loop, new RegExp(`^(?:loop )?${loop}\\b`, "i")],
    ["Knob", KNOBS[knob], new RegExp(`^(?:${knob}|${KNOBS[knob]})\\b`, "i")],
    [
      "Comparison valid",
      report.comparable ? "yes" : "no",
      report.comparable ? /^yes\b/i : /^no\b/i,
    ],
    ["Verdict", report.decision, new RegExp(`^${report.decision}\\b`, "i")],
  ];
  for (const [label, value, pattern] of wanted) {
    const line = lineOf(section, label);
    demand(pattern.test(line ?? ""), {
      expected: `"- ${label}: ${value}" in trap ${number}, as the gate has it`,
      found: line === undefined ? "no such line" : `"${line}"`,
      look: NOTE,
    });
  }
}

function lineOf(section: string, label: string): string | undefined {
  const line = new RegExp(`^[-*]\\s*\\**${label}\\**:\\**\\s*(.*)$`, "im").exec(section)?.[1];
  return line?.replace(/[*_`]/g, "").trim();
}

/** The evidence names something that is in one manifest and not in the other. */
async function demandQuotation(
  room: Room,
  section: string,
  number: number,
  { baseline, candidate }: Trap,
): Promise<void> {
  const line = /^[-*]\s*\**Evidence\**:(.*)$/im.exec(section)?.[1] ?? "";
  const quotations = [...line.matchAll(/`([^`]{6,})`/g)].map(([, text = ""]) => text);
  const manifests = await Promise.all(
    [baseline, candidate].map((name) => readFile(room.file(`runs/${name}/manifest.json`), "utf8")),
  );
  const [one = "", two = ""] = manifests.map(withoutVolatile);
  const telling = quotations.some((text) => one.includes(text) !== two.includes(text));
  if (telling) return;
  throw new Gap({
    expected: `evidence in trap ${number}: a quotation in backticks that stands in one manifest and not in the other`,
    found:
      quotations.length === 0 ? "no quotation" : quotations.map((text) => `\`${text}\``).join(", "),
    look: `diff runs/${baseline}/manifest.json runs/${candidate}/manifest.json`,
  });
}

/** Host and time differ anyway, and prove nothing. */
function withoutVolatile(manifest: string): string {
  const { volatile: _, ...fixed } = JSON.parse(manifest) as { volatile: unknown };
  return JSON.stringify(fixed, null, 2);
}
