/** Level 6: three higher numbers, and which of them is an improvement that may be promoted. */

import { readFile } from "node:fs/promises";
import { KNOBS, type Knob } from "../../core/index.ts";
import type { GateReport } from "../../runs/index.ts";
import { type CheckContext, CheckFailure, ensure } from "../check-context.ts";
import { banditRun, DEV, evalRun, repeatSelection, savedGate, verdictText } from "../evidence.ts";
import type { LevelDefinition } from "../level.ts";
import { checkSections, wordCount } from "../notes.ts";
import { BANDIT_RUNS, banditCommand, selectCommand } from "../run-commands.ts";
import { isRightKnob, knobHint, readKnob, runNoteCheck, runNoteTask } from "../run-note-check.ts";

const NOTE = "notes/promotion_memo.md";
const MAX_WORDS = 600;

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

const compare = ({ baseline, candidate, claim, report }: Trap) =>
  `./lockedroom gate \\\n  --baseline runs/${baseline} \\\n  --candidate runs/${candidate} \\\n  --min-delta 0.00${claim ? ` --claim ${claim}` : ""} --report ${report}`;
const select = (n: number) => selectCommand(n, `l6_trap_sel_n${n}`);
const LEARNING = ["l6_trap_untrained", "l6_trap_learning"] as const;
const train = (name: (typeof LEARNING)[number]) => banditCommand(BANDIT_RUNS[name], name);

export const LEVEL_6: LevelDefinition = {
  id: "6",
  title: "The promotion committee",
  loop: "A, B and C",
  wrong: "The higher number is the better model.",
  right:
    "An improvement may be promoted if the two runs are comparable and exactly one knob explains the difference.",
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
  stages: {
    Sabotage: {
      text: "Trap 1: the tampered evaluation of level 0. Trap 2: best of four against best of one, with the claim of a better policy. Trap 3: a trained policy against the same policy untrained.",
      commands: [
        ...[select(1), select(4)],
        ...LEARNING.map(train),
        'git add -A && git commit -m "L6 traps"',
      ],
    },
    Reflect: { text: "Run the gate on each.", commands: TRAPS.map(compare) },
    "Repair and lock": {
      text: "Write the memo, with the gate's verdicts and your reasons.",
      commands: ['git add -A && git commit -m "L6 memo"'],
    },
  },
  tasks: [
    `${NOTE}, at most one page: for each trap the loop, the knob, whether the comparison is valid, the verdict, and as evidence a quotation in backticks from one of the two manifests that is not in the other. For trap 1 the gate names the knob "environment": only the scorer is the measurement instrument, while data, prompts and sampling settings are what it is applied to. "measurement instrument" is accepted there too; the comparison is invalid either way.`,
    "Its last paragraph: what you would promote and reject today, and why.",
    runNoteTask("l6_trap_sel_n4", "l6_trap_sel_n1"),
  ],
  checklist: [
    "The pass rate is higher. How do you prove that nothing else changed?",
    "How can you distinguish selection from learning by the artifacts alone?",
    "Why does Loop C produce new failures that frozen rollouts cannot show?",
  ],
  checks: [
    {
      id: "trap-2-runs",
      title: "trap 2: best of one and best of four, repeatable",
      next: `${select(1)}\n${select(4)}`,
      run: async (context) => {
        const rates: string[] = [];
        for (const n of [1, 4]) {
          const { run } = await repeatSelection(context, `l6_trap_sel_n${n}`, n);
          rates.push(run.summary.metrics.pass_rate?.toFixed(4) ?? "");
        }
        return rates.join(" → ");
      },
    },
    {
      id: "trap-3-runs",
      title: "trap 3: the policy untrained and trained, repeatable",
      next: LEARNING.map(train).join("\n"),
      run: async (context) => {
        for (const name of LEARNING) await banditRun(context, name, BANDIT_RUNS[name]);
        return "the same when repeated";
      },
    },
    "traps",
    {
      id: "trap-1",
      title: "trap 1: the gate on the tampered evaluation",
      next: compare(TRAPS[0] as Trap),
      run: async (context) => {
        await evalRun(context, "l0_build_eval", DEV);
        return verdictText(await gateReport(context, 0));
      },
    },
    {
      id: "trap-2",
      title: "trap 2: the gate on the claim that the policy improved",
      next: compare(TRAPS[1] as Trap),
      run: async (context) => verdictText(await gateReport(context, 1)),
    },
    {
      id: "trap-3",
      title: "trap 3: the gate on the trained policy",
      next: compare(TRAPS[2] as Trap),
      run: async (context) => verdictText(await gateReport(context, 2)),
    },
    {
      id: "memo",
      title: `${NOTE}: three verdicts that agree with the gate, with evidence`,
      next: `Write ${NOTE}.`,
      run: checkMemo,
    },
    runNoteCheck("l6_trap_sel_n4", "l6_trap_sel_n1"),
    "memo",
  ],
};

async function gateReport(context: CheckContext, index: number): Promise<GateReport> {
  const { report, baseline, candidate, claim } = TRAPS[index] as Trap;
  return savedGate(context, report, [baseline, candidate], claim);
}

async function checkMemo(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, {
    "Trap 1": 5,
    "Trap 2": 5,
    "Trap 3": 5,
    "What I would promote today": 30,
  });
  const length = wordCount(await context.read(NOTE));
  ensure(length <= MAX_WORDS, {
    expected: `one page: at most ${MAX_WORDS} words`,
    found: `${length}`,
    where: NOTE,
  });
  const verdicts: string[] = [];
  const hints: string[] = [];
  for (const [index, trap] of TRAPS.entries()) {
    const section = found.get(`trap ${index + 1}`) ?? "";
    const report = await gateReport(context, index);
    checkLines(section, index + 1, trap, report);
    await checkEvidence(context, section, index + 1, trap);
    verdicts.push(report.decision);
    const hint = knobHint(readKnob(lineOf(section, "Knob") ?? ""), report.knobs);
    if (hint !== "") hints.push(`trap ${index + 1}: ${hint}`);
  }
  return [verdicts.join(", "), ...hints].join("\n");
}

function checkLines(section: string, number: number, { loop }: Trap, report: GateReport): void {
  const knob = report.knobs[0] as Knob;
  const pattern = (text: string, found: RegExp) =>
    [text, (line: string) => found.test(line)] as const;
  const wanted: Record<string, readonly [text: string, matches: (line: string) => boolean]> = {
    Loop: pattern(loop, new RegExp(`^(?:loop )?${loop}\\b`, "i")),
    Knob: [KNOBS[knob], (line) => isRightKnob(readKnob(line), report.knobs)],
    "Comparison valid": report.comparable ? pattern("yes", /^yes\b/i) : pattern("no", /^no\b/i),
    Verdict: pattern(report.decision, new RegExp(`^${report.decision}\\b`, "i")),
  };
  for (const [label, [value, matches]] of Object.entries(wanted)) {
    const line = lineOf(section, label);
    ensure(matches(line ?? ""), {
      expected: `"- ${label}: ${value}" in trap ${number}, as in the gate report`,
      found: line === undefined ? "no such line" : `"${line}"`,
      where: NOTE,
    });
  }
}

function lineOf(section: string, label: string): string | undefined {
  const line = new RegExp(`^[-*]\\s*\\**${label}\\**:\\**\\s*(.*)$`, "im").exec(section)?.[1];
  return line?.replace(/[*_`]/g, "").trim();
}

/** The evidence quotes something that is in one manifest and not in the other. */
async function checkEvidence(
  context: CheckContext,
  section: string,
  number: number,
  { baseline, candidate }: Trap,
): Promise<void> {
  const line = /^[-*]\s*\**Evidence\**:(.*)$/im.exec(section)?.[1] ?? "";
  const quotations = [...line.matchAll(/`([^`]{6,})`/g)].map(([, text = ""]) => text);
  const manifests = await Promise.all(
    [baseline, candidate].map((name) =>
      readFile(context.file(`runs/${name}/manifest.json`), "utf8"),
    ),
  );
  const [one = "", two = ""] = manifests.map(withoutVolatile);
  const differs = quotations.some((text) => one.includes(text) !== two.includes(text));
  if (differs) return;
  throw new CheckFailure({
    expected: `evidence in trap ${number}: a quotation in backticks that is in one manifest and not in the other`,
    found:
      quotations.length === 0 ? "no quotation" : quotations.map((text) => `\`${text}\``).join(", "),
    where: `diff runs/${baseline}/manifest.json runs/${candidate}/manifest.json`,
  });
}

/** Host and time always differ, so they are left out. */
function withoutVolatile(manifest: string): string {
  const { volatile: _, ...fixed } = JSON.parse(manifest) as { volatile: unknown };
  return JSON.stringify(fixed, null, 2);
}
