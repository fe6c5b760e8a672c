/** Level 7, extra: a judge is an instrument, and an audit says what it is worth. */

import { type JudgeAudit, whyNotTrusted } from "../../runs/index.ts";
import {
  type AuditSettings,
  agreementOf,
  auditCommand,
  auditRun,
  convictedOf,
} from "../audit-evidence.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import type { LevelDefinition } from "../level.ts";
import { checkSections } from "../notes.ts";

const NOTE = "notes/judge_report.md";
const RUBRIC = "rubrics/replies.md";
/** The honest judge is acquitted from about 110 pairs on; a large fault shows in fewer. */
const ENOUGH = 120;

const AUDITS = {
  l7_build_audit: { judge: "embedded", limit: ENOUGH },
  l7_sabotage_judge: { judge: "embedded:length", limit: 60 },
  l7_sabotage_rubric: { judge: "embedded", limit: ENOUGH, rubric: RUBRIC },
  l7_fixed_audit: { judge: "embedded", limit: ENOUGH, rubric: RUBRIC },
} as const satisfies Readonly<Record<string, AuditSettings>>;

type AuditName = keyof typeof AUDITS;
const NAMES = Object.keys(AUDITS) as AuditName[];

const command = (name: AuditName) => auditCommand(AUDITS[name], name);
const audited = (context: CheckContext, name: AuditName): Promise<JudgeAudit> =>
  context.once(`audit ${name}`, () => auditRun(context, name, AUDITS[name]));

export const LEVEL_7: LevelDefinition = {
  id: "7",
  title: "Extra: the judge on trial",
  loop: "A",
  wrong: "A judge that agrees with most labels can be trusted.",
  right:
    "A judge is an instrument: model, prompt and rubric together are audited for each fault before their scores decide anything.",
  commits: [
    { name: "build", file: "runs/l7_build_audit/manifest.json" },
    { name: "sabotage", file: "runs/l7_sabotage_rubric/manifest.json" },
    { name: "fix", file: NOTE },
  ],
  budget: { change: [], add: ["rubrics/"] },
  evidence: [...NAMES.map((name) => `runs/${name}/`), RUBRIC, NOTE],
  stages: {
    Build: {
      text: "Audit the honest embedded judge. It compares replies to customers, and the labels say which reply is better.",
      commands: [command("l7_build_audit"), 'git add -A && git commit -m "L7 build"'],
    },
    Sabotage: {
      text: "First a judge with a length bias. Then the honest judge with a rubric that asks for the wrong thing: one line, which replies can fulfil without helping anybody. Predict both verdicts. An audit that convicts has the exit code 1.",
      commands: [
        command("l7_sabotage_judge"),
        `mkdir -p rubrics && echo '- It apologises or thanks, once.' > ${RUBRIC}`,
        command("l7_sabotage_rubric"),
        'git add -A && git commit -m "L7 sabotage"',
      ],
    },
    Reflect: {
      text: "Which request convicted the judge? The worse reply stands there twice, once with text that says nothing.",
      commands: [`grep -m 1 '"probe":"length"' runs/l7_sabotage_judge/judgements.jsonl`],
    },
    "Repair and lock": {
      text: `Write a rubric into ${RUBRIC} that the audit trusts. The embedded judge knows a fixed set of lines: env show support-replies has them. A judged comparison is promoted with this audit: gate --judge-audit runs/l7_fixed_audit (chapter 28).`,
      commands: [command("l7_fixed_audit"), 'git add -A && git commit -m "L7 fix"'],
    },
  },
  tasks: [
    `${RUBRIC}: a rubric of your own with which the judge is trusted.`,
    `${NOTE}: the fingerprint of the judge of each audit (12 characters or more), why agreement with labels was not enough, how a policy would exploit such a judge, and what the gate may rest on.`,
  ],
  checklist: [
    "A judge agrees with nine labels in ten. Which faults can it still have?",
    "Why is the rubric part of the instrument, and the policy is not?",
    "Why must two runs be judged in the same groups?",
  ],
  checks: [
    {
      id: "build",
      title: "runs/l7_build_audit: the honest judge is trusted",
      next: command("l7_build_audit"),
      run: async (context) => {
        const audit = await audited(context, "l7_build_audit");
        return `${audit.trusted}, ${agreementOf(audit)}`;
      },
    },
    "build",
    {
      id: "biased-judge",
      title: "runs/l7_sabotage_judge: length bias is convicted",
      next: command("l7_sabotage_judge"),
      run: async (context) => {
        const audit = await audited(context, "l7_sabotage_judge");
        return `convicted of ${convictedOf(audit).join(", ")}, ${agreementOf(audit)}`;
      },
    },
    {
      id: "poor-rubric",
      title: "runs/l7_sabotage_rubric: an honest judge with a poor rubric",
      next: `Write one line that asks for the wrong thing into ${RUBRIC}, then:\n${command("l7_sabotage_rubric")}`,
      run: checkPoorRubric,
    },
    "sabotage",
    {
      id: "fixed",
      title: `runs/l7_fixed_audit: trusted with ${RUBRIC}`,
      next: `Write ${RUBRIC} so that the judge is trusted, then:\n${command("l7_fixed_audit")}`,
      run: checkFixed,
    },
    {
      id: "report",
      title: `${NOTE}: four judges, and what they are worth`,
      next: `Write ${NOTE}.`,
      run: checkReport,
    },
    "fix",
  ],
};

async function checkPoorRubric(context: CheckContext): Promise<string> {
  const audit = await audited(context, "l7_sabotage_rubric");
  const convicted = convictedOf(audit);
  ensure(convicted.includes("agreement"), {
    expected: "a rubric with which the judge disagrees with the labels, as the audit shows",
    found: `${audit.trusted}, convicted of ${convicted.join(", ") || "nothing"}`,
    where: "runs/l7_sabotage_rubric/audit.json, findings",
  });
  return `convicted of ${convicted.join(", ")}, ${agreementOf(audit)}`;
}

async function checkFixed(context: CheckContext): Promise<string> {
  const audit = await audited(context, "l7_fixed_audit");
  const doubt = whyNotTrusted(audit, audit.judge);
  ensure(doubt === undefined, {
    expected: "an audit that the gate accepts",
    found: doubt ?? "",
    where: "runs/l7_fixed_audit/audit.json, findings",
  });
  ensure((await context.read(RUBRIC)).trim() === audit.judge.rubric, {
    expected: `runs/l7_fixed_audit made with ${RUBRIC} as it is now`,
    found: "another version of it",
    where: RUBRIC,
    next: command("l7_fixed_audit"),
  });
  return `${audit.trusted}, ${agreementOf(audit)}`;
}

async function checkReport(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, {
    "What the audits found": 5,
    "Why agreement was not enough": { words: 30, keys: ["length", "label", "pairs", "bias"] },
    "How a policy would exploit it": { words: 30, keys: ["reward", "longer", "judge", "learn"] },
    "What the gate may rest on": { words: 20, keys: ["audit", "rubric", "fingerprint", "judge"] },
  });
  const named = found.get("what the audits found") ?? "";
  for (const name of NAMES) {
    const { judge } = await audited(context, name);
    const short = judge.fingerprint.slice(0, 12);
    ensure(named.includes(short), {
      expected: `the fingerprint of the judge of runs/${name} under "## What the audits found"`,
      found: "a text without it",
      where: `runs/${name}/manifest.json, judge.fingerprint`,
    });
  }
  return `${NAMES.length} judges named`;
}
