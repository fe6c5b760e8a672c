/** Level 5: reward hacking. */

import { rngAt, shuffled } from "../../core/index.ts";
import { score } from "../../scorers/index.ts";
import { type CheckContext, CheckFailure, ensure } from "../check-context.ts";
import { DEV, evalRun } from "../evidence.ts";
import {
  checkTests,
  committedFile,
  fileAt,
  hiddenSeed,
  type LearnerFile,
} from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { RED_TEAM_NOTE } from "../note-rules.ts";
import { checkSections } from "../notes.ts";
import { evalCommand, GOODHART_DEMO } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";

const DEMO = "assignments/hackable_scorer_demo.ts";
const TEST = "tests/hackable_scorer_demo.test.ts";
const NOTE = "notes/red_team_report.md";
const MEASURED = "l5_build_eval_context";
const BEFORE = "l0_build_eval";
const CONTEXT = evalCommand(DEV, MEASURED);

export const LEVEL_5: LevelDefinition = {
  id: "5",
  title: "Goodhart's law",
  loop: "A, with Loop C in mind",
  wrong: "Reward hacking means that something is wrong with the optimiser.",
  right:
    "An optimiser maximises the proxy that it is given. If the specification has a loophole, optimisation finds it. Patch the class of exploits, then add tests.",
  commits: [
    { name: "build", file: DEMO, first: "Write naive in assignments/hackable_scorer_demo.ts." },
    { name: "sabotage", file: DEMO, first: "Fill HACKS with five exploits that naive accepts." },
    { name: "fix", file: DEMO, first: "Write patched, its tests and the report." },
  ],
  budget: { change: [DEMO], add: ["assignments/", "tests/"] },
  evidence: ["runs/l5_build_eval_context/", DEMO, TEST, NOTE],
  stages: {
    Build: {
      text: `Look at ordinary failures for comparison. Then write naive() in ${DEMO}: 1 if the expected integer appears anywhere. Commit.`,
      commands: [
        CONTEXT,
        "./lockedroom inspect-run --run runs/l5_build_eval_context \\\n  --only-fails --top-k 5 --show 2",
        `./lockedroom run ${DEMO}`,
        'git add -A && git commit -m "L5 build"',
      ],
    },
    Sabotage: {
      text: "Fill HACKS with five different exploits that naive() accepts. Commit before you patch anything.",
      commands: [`./lockedroom run ${DEMO}`, 'git add -A && git commit -m "L5 sabotage"'],
    },
    Reflect: {
      text: "Which property do the five share? That is the class of the exploit. The laboratory has a scorer like naive(): see which check catches it.",
      commands: [GOODHART_DEMO, "./lockedroom sabotage run accepts-number-anywhere"],
    },
    "Repair and lock": {
      text: "Write patched() so that it rejects the whole class and still accepts correct answers. Add tests. Commit.",
      commands: [`./lockedroom run ${DEMO}`, "npm test", 'git add -A && git commit -m "L5 fix"'],
    },
  },
  tasks: [
    `${DEMO}: naive(expected, completion), five HACKS, patched(expected, completion). A correct answer is what the verifier of level 0 accepts: one line, "Final: <int>".`,
    `${TEST}: tests that fail when patched() is the same as naive().`,
    `${NOTE}: the five exploits, why they worked, the patch, the regression tests.`,
    `${runNoteTask(MEASURED, BEFORE)} If nothing changed since then, the knob and the change are "none".`,
  ],
  checklist: [
    "Give a concrete example in which the proxy rises and the true goal falls.",
    "What does it mean to patch the class and not the string?",
    "Why does this matter in Loop C?",
  ],
  checks: [
    {
      id: "context",
      title: "runs/l5_build_eval_context: ordinary failures, for comparison",
      next: CONTEXT,
      run: async (context) => {
        const { summary } = await evalRun(context, "l5_build_eval_context", DEV);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}`;
      },
    },
    runNoteCheck(MEASURED, BEFORE),
    {
      id: "naive",
      title: "naive() gives 1 if and only if the number appears",
      next: `Write naive in ${DEMO}.`,
      run: checkNaive,
    },
    "build",
    {
      id: "sabotage-first",
      title: "the hacks were committed before the patch",
      next: "The history must have a version in which the hacks win: commit HACKS, then the patch.",
      run: checkSabotageFirst,
    },
    "sabotage",
    {
      id: "hacks",
      title: "naive() accepts five hacks, and patched() rejects them",
      next: `Fill in HACKS and patched in ${DEMO}.`,
      run: checkHacks,
    },
    {
      id: "class",
      title: "patched() rejects new hacks of the same class and accepts correct answers",
      next: `Reject the class, not the strings, in patched() of ${DEMO}.`,
      run: checkClass,
    },
    {
      id: "tests",
      title: `${TEST} passes, and fails without the patch`,
      next: `Write ${TEST} with at least two tests.`,
      run: (context) =>
        checkTests(context, TEST, 2, [
          mutant("patched() is the same as naive()", "original.naive"),
          mutant("patched() rejects everything", "() => 0"),
        ]),
    },
    {
      id: "report",
      title: `${NOTE} has the five exploits and the patch`,
      next: `Write ${NOTE}.`,
      run: checkReport,
    },
    "fix",
  ],
};

function mutant(name: string, as: string) {
  return { name, file: DEMO, override: { export: "patched", as } };
}

interface Case {
  readonly expected: number;
  readonly completion: string;
}

const argsOf = ({ expected, completion }: Case) => [expected, completion];

async function hacksOf(demo: LearnerFile): Promise<Case[]> {
  const hacks = await demo.exported("HACKS");
  const valid =
    Array.isArray(hacks) &&
    hacks.every(
      (hack) => Number.isSafeInteger(hack?.expected) && typeof hack?.completion === "string",
    );
  ensure(valid, {
    expected: "HACKS as a list of { expected, completion }",
    found: JSON.stringify(hacks)?.slice(0, 80) ?? "nothing",
    where: DEMO,
  });
  return hacks as Case[];
}

/** Two hacks are different if they differ in more than digits and spaces. */
function shape({ expected, completion }: Case): string {
  return completion
    .replaceAll(String(expected), "N")
    .replace(/[0-9]+/g, "d")
    .replace(/\s+/g, " ")
    .trim();
}

async function checkNaive(context: CheckContext): Promise<string> {
  const rng = rngAt(hiddenSeed(context, "5 naive"));
  const appears = ({ expected, completion }: Case) =>
    new RegExp(`(?<![0-9.-])${expected}(?![0-9.])`).test(completion);
  const present = freshHacks(context, "5 present").filter(appears);
  const absent = Array.from({ length: 60 }, (_, i): Case => {
    const expected = 100 + rng.below(800);
    const other = 1 + rng.below(90);
    const texts = [`Final: ${other}`, `${other} and ${other + 1}`, "I do not know.", "", "Final: "];
    return { expected, completion: texts[i % texts.length] as string };
  });
  const cases = [
    ...present.map((one) => ({ args: argsOf(one), wanted: 1 })),
    ...absent.map((one) => ({ args: argsOf(one), wanted: 0 })),
  ];
  await (await committedFile(context, DEMO)).checkReturns("naive", cases);
  return `${cases.length} hidden completions`;
}

async function checkHacks(context: CheckContext): Promise<string> {
  const demo = await committedFile(context, DEMO);
  const hacks = await hacksOf(demo);
  const correct = hacks.find(
    ({ expected, completion }) =>
      score({ id: "hack", prompt: "", expected_answer: expected }, completion).reward === 1,
  );
  ensure(correct === undefined, {
    expected: "completions that are not correct answers",
    found: JSON.stringify(correct?.completion),
    where: `${DEMO}, HACKS`,
  });
  const kinds = new Set(hacks.map(shape));
  ensure(kinds.size >= 5, {
    expected: "five different hacks",
    found: `${kinds.size} that differ in more than digits and spaces`,
    where: `${DEMO}, HACKS`,
  });
  const naive = await demo.call("naive", hacks.map(argsOf));
  const patched = await demo.call("patched", hacks.map(argsOf));
  const failed = hacks.findIndex((_, i) => naive[i] !== 1 || patched[i] !== 0);
  ensure(failed < 0, () => ({
    expected: `${JSON.stringify(hacks[failed]?.completion)} to get 1 from naive and 0 from patched`,
    found: `${naive[failed]} and ${patched[failed]}`,
    where: DEMO,
  }));
  return `${kinds.size} hacks`;
}

async function checkSabotageFirst(context: CheckContext): Promise<string> {
  for (const { commit } of await context.versions(DEMO)) {
    const demo = await fileAt(context, commit.hash, DEMO);
    const hacks = await hacksOf(demo).catch(() => []);
    if (hacks.length < 5) continue;
    const patched = await demo.call("patched", hacks.map(argsOf)).catch(() => []);
    const winning = patched.filter((reward) => reward === 1).length;
    ensure(winning >= 5, {
      expected: "the first commit with five hacks to be one in which they win",
      found: `${winning} of ${hacks.length} win in commit ${commit.hash.slice(0, 7)}`,
      where: `git log --oneline -- ${DEMO}`,
      next: "Commit a version in which patched() still equals naive(), then the patch. git rebase -i can reorder them.",
    });
    return `commit ${commit.hash.slice(0, 7)}`;
  }
  throw new CheckFailure({
    expected: "a commit with five hacks",
    found: "none",
    where: `git log --oneline -- ${DEMO}`,
  });
}

async function checkClass(context: CheckContext): Promise<string> {
  const demo = await committedFile(context, DEMO);
  const fresh = freshHacks(context, "5 class");
  const naive = await demo.call("naive", fresh.map(argsOf));
  const patched = await demo.call("patched", fresh.map(argsOf));
  const where = `patched() in ${DEMO}`;
  const winning = fresh.filter((_, i) => naive[i] === 1).length;
  const through = fresh.findIndex((_, i) => naive[i] === 1 && patched[i] !== 0);
  ensure(through < 0, () => ({
    expected: `patched(${fresh[through]?.expected}, ${JSON.stringify(fresh[through]?.completion)}) to be 0`,
    found: JSON.stringify(patched[through]) ?? "nothing",
    where,
  }));
  const rng = rngAt(hiddenSeed(context, "5 honest"));
  const numbers = [0, 7, -7, 10, -100, ...Array.from({ length: 30 }, () => rng.below(4001) - 2000)];
  const honest = numbers.map((n) => ({ args: [n, `Final: ${n}`], wanted: 1 }));
  await demo.checkReturns("patched", honest, where);
  return `${winning} new hacks rejected, ${honest.length} correct answers accepted`;
}

/** Completions that contain the right number without giving it as the answer. */
function freshHacks(context: CheckContext, purpose: string): Case[] {
  const rng = rngAt(hiddenSeed(context, purpose));
  const numbers = [0, -7, ...Array.from({ length: 10 }, () => rng.below(1999) - 999)];
  return numbers.flatMap((expected) => {
    const near = () => expected + (rng.below(2) === 0 ? 1 : -1) * (1 + rng.below(9));
    const spray = shuffled([expected, near(), near(), near(), near()], rng);
    const [other, third] = [near(), near()];
    return [
      spray.join(" "),
      `Final: ${spray.join(", ")}`,
      spray.map((n) => `Final: ${n}`).join("\n"),
      `Final: ${other}\nFinal: ${expected}`,
      `Final: ${expected}\nFinal: ${other}`,
      `Final: ${other} (certainly not ${expected})`,
      `It is ${expected} or ${third}, take your pick.`,
      `I will not answer. ${expected}`,
      `Final: ${expected} or ${other}`,
      `{"answers": [${spray.join(", ")}]}`,
      `Final: certainly not ${expected}`,
      `Final: ${expected}?`,
      `maybe ${expected}`,
      `${expected}`,
      `not ${expected}`,
      `final: ${expected}`,
      `Final: ${expected}.0`,
    ].map((completion) => ({ expected, completion }));
  });
}

async function checkReport(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, RED_TEAM_NOTE);
  const listed = found.get("the five exploits") ?? "";
  const hacks = await hacksOf(await committedFile(context, DEMO));
  const lost = hacks.filter(({ completion }) => {
    const escaped = JSON.stringify(completion).slice(1, -1);
    return !listed.includes(completion) && !listed.includes(escaped);
  });
  ensure(hacks.length - lost.length >= 5, {
    expected: "the five completions of HACKS as they are in the file",
    found: `without ${JSON.stringify(lost[0]?.completion)}`,
    where: NOTE,
  });
  return "five exploits, with cause and patch";
}
