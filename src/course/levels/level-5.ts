/** Level 5: whatever can be hacked will be. */

import { rngAt, shuffled } from "../../core/index.ts";
import { score } from "../../scorers/index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { call, committedFile, DEV, evalRun, exported, FROZEN, hiddenSeed } from "../evidence.ts";
import { demand, Gap } from "../gap.ts";
import { demandTests } from "../learner-tests.ts";
import type { Level } from "../level.ts";
import { demandSections } from "../notes.ts";
import type { Room } from "../room.ts";

const DEMO = "assignments/hackable_scorer_demo.ts";
const TEST = "tests/hackable_scorer_demo.test.ts";
const NOTE = "notes/red_team_report.md";
const CONTEXT = `./lockedroom eval \\
  --dataset ${DEV} \\
  --completions ${FROZEN} \\
  --outdir runs/l5_build_eval_context`;

const base = {
  id: "5" as const,
  commits: [
    { name: "build", file: DEMO, first: "Write naive in assignments/hackable_scorer_demo.ts." },
    { name: "sabotage", file: DEMO, first: "Fill HACKS with five cheats that naive pays for." },
    { name: "fix", file: DEMO, first: "Write patched, its tests and the report." },
  ],
  budget: { change: [DEMO], add: ["assignments/", "tests/"] },
  evidence: ["runs/l5_build_eval_context/", DEMO, TEST, NOTE],
};

export const LEVEL_5: Level = {
  ...base,
  title: "The Goodhart dungeon",
  loop: "A, with Loop C in mind",
  wrong: "Reward hacking means that the optimiser is evil.",
  right:
    "An optimiser exploits the proxy that it is given. If the specification has a loophole, optimisation finds it. Patch the mechanism, then lock it with tests.",
  stages: [
    {
      name: "Build",
      text: `What honest failures look like, for comparison. Then write naive() in ${DEMO}: 1 if the expected integer appears anywhere. Commit.`,
      commands: [
        CONTEXT,
        "./lockedroom inspect-run --run runs/l5_build_eval_context \\\n  --only-fails --top-k 5 --show 2",
        `./lockedroom run ${DEMO}`,
        'git add -A && git commit -m "L5 build"',
      ],
    },
    {
      name: "Sabotage",
      text: "Fill HACKS with five different cheats that naive() pays for. Commit before you patch anything.",
      commands: [`./lockedroom run ${DEMO}`, 'git add -A && git commit -m "L5 sabotage"'],
    },
    {
      name: "Reflect",
      text: "Which property do the five share? That is the class; the strings are only its members.",
      commands: ["./lockedroom goodhart-demo --outdir runs/l5_goodhart"],
    },
    {
      name: "Repair and lock",
      text: "Write patched() so that the class is closed and honest answers are still paid for. Lock it with tests. Commit.",
      commands: [`./lockedroom run ${DEMO}`, "npm test", 'git add -A && git commit -m "L5 fix"'],
    },
  ],
  tasks: [
    `${DEMO}: naive(expected, completion), five HACKS, patched(expected, completion). A proper answer is what the verifier of level 0 accepts: one line, "Final: <int>".`,
    `${TEST}: tests that fail when patched() is as naive as naive().`,
    `${NOTE}: the five exploits, why they worked, the patch, the tests that lock it.`,
  ],
  checklist: [
    "Give a concrete example of proxy up, true goal down.",
    "What does it mean to patch the class and not the string?",
    "Why will this matter in Loop C?",
  ],
  checks: [
    {
      id: "context",
      title: "runs/l5_build_eval_context: what honest failures look like",
      next: CONTEXT,
      run: async (room) => {
        const { summary } = await evalRun(room, "l5_build_eval_context", DEV);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}`;
      },
    },
    {
      id: "naive",
      title: "naive() pays whenever the number appears, and only then",
      next: `Write naive in ${DEMO} and commit it.`,
      run: demandNaive,
    },
    commitCheck(base, "build"),
    {
      id: "sabotage-first",
      title: "the hacks were committed before the patch",
      next: "The history must show the hacks winning first: commit HACKS, then the patch.",
      run: demandSabotageFirst,
    },
    commitCheck(base, "sabotage"),
    {
      id: "hacks",
      title: "five hacks beat the naive verifier and lose to the patched one",
      next: `Fill in HACKS and patched in ${DEMO}, and commit.`,
      run: demandHacks,
    },
    {
      id: "class",
      title: "fresh hacks of the same class lose, honest answers win",
      next: `Close the class, not the strings, in patched() of ${DEMO}.`,
      run: demandClass,
    },
    {
      id: "tests",
      title: `${TEST} passes, and fails when the patch is taken away`,
      next: `Write ${TEST} with at least two tests.`,
      run: (room) =>
        demandTests(room, TEST, 2, [
          mutant("patched() is as naive as naive()", "original.naive"),
          mutant("patched() pays for nothing", "() => 0"),
        ]),
    },
    {
      id: "report",
      title: `${NOTE} holds the five exploits and the patch`,
      next: `Write ${NOTE}.`,
      run: demandReport,
    },
    commitCheck(base, "fix"),
    ...historyChecks(base),
  ],
};

function mutant(name: string, as: string) {
  return { name, file: DEMO, override: { export: "patched", as } };
}

interface Case {
  readonly expected: number;
  readonly completion: string;
}

async function demo(room: Room, commit?: string): Promise<string> {
  if (commit === undefined) return committedFile(room, DEMO);
  return `${await room.tree(commit)}/${DEMO}`;
}

async function rewards(
  room: Room,
  file: string,
  name: "naive" | "patched",
  cases: readonly Case[],
) {
  return call(
    room,
    file,
    DEMO,
    name,
    cases.map(({ expected, completion }) => [expected, completion]),
  );
}

async function hacksOf(room: Room, file: string): Promise<Case[]> {
  const hacks = await exported(room, file, DEMO, "HACKS");
  const sound =
    Array.isArray(hacks) &&
    hacks.every(
      (hack) => Number.isSafeInteger(hack?.expected) && typeof hack?.completion === "string",
    );
  demand(sound, {
    expected: "HACKS as a list of { expected, completion }",
    found: JSON.stringify(hacks)?.slice(0, 80) ?? "nothing",
    look: DEMO,
  });
  return hacks as Case[];
}

/** What is written differently is a different hack; other digits or spaces alone are not. */
function shape({ expected, completion }: Case): string {
  return completion
    .replaceAll(String(expected), "N")
    .replace(/[0-9]+/g, "d")
    .replace(/\s+/g, " ")
    .trim();
}

async function demandNaive(room: Room): Promise<string> {
  const rng = rngAt(hiddenSeed(room, "5 naive"));
  const stands = ({ expected, completion }: Case) =>
    new RegExp(`(?<![0-9.-])${expected}(?![0-9.])`).test(completion);
  const present = freshHacks(room, "5 present").filter(stands);
  const absent = Array.from({ length: 60 }, (_, i): Case => {
    const expected = 100 + rng.below(800);
    const other = 1 + rng.below(90);
    const texts = [`Final: ${other}`, `${other} and ${other + 1}`, "I do not know.", "", "Final: "];
    return { expected, completion: texts[i % texts.length] as string };
  });
  const cases = [...present, ...absent];
  const given = await rewards(room, await demo(room), "naive", cases);
  const wrong = cases.findIndex((_, i) => given[i] !== (i < present.length ? 1 : 0));
  demand(wrong < 0, () => ({
    expected: `naive(${cases[wrong]?.expected}, ${JSON.stringify(cases[wrong]?.completion)}) to be ${wrong < present.length ? 1 : 0}`,
    found: JSON.stringify(given[wrong]) ?? "nothing",
    look: DEMO,
  }));
  return `${cases.length} hidden completions`;
}

async function demandHacks(room: Room): Promise<string> {
  const file = await demo(room);
  const hacks = await hacksOf(room, file);
  const proper = hacks.find(
    ({ expected, completion }) =>
      score({ id: "hack", prompt: "", expected_answer: expected }, completion).reward === 1,
  );
  demand(proper === undefined, {
    expected: "completions that are no proper answer",
    found: JSON.stringify(proper?.completion),
    look: `${DEMO}, HACKS`,
  });
  const kinds = new Set(hacks.map(shape));
  demand(kinds.size >= 5, {
    expected: "five different hacks",
    found: `${kinds.size} that differ in more than digits and spaces`,
    look: `${DEMO}, HACKS`,
  });
  const [naive, patched] = [
    await rewards(room, file, "naive", hacks),
    await rewards(room, file, "patched", hacks),
  ];
  const failed = hacks.findIndex((_, i) => naive[i] !== 1 || patched[i] !== 0);
  demand(failed < 0, () => ({
    expected: `${JSON.stringify(hacks[failed]?.completion)} to earn 1 from naive and 0 from patched`,
    found: `${naive[failed]} and ${patched[failed]}`,
    look: DEMO,
  }));
  return `${kinds.size} hacks`;
}

async function demandSabotageFirst(room: Room): Promise<string> {
  for (const { commit } of await room.versions(DEMO)) {
    const file = await demo(room, commit.hash);
    const hacks = await hacksOf(room, file).catch(() => []);
    if (hacks.length < 5) continue;
    const patched = await rewards(room, file, "patched", hacks).catch(() => []);
    demand(patched.filter((reward) => reward === 1).length >= 5, {
      expected: "the first commit with five hacks to be one in which they win",
      found: `${patched.filter((reward) => reward === 1).length} of ${hacks.length} win in commit ${commit.hash.slice(0, 7)}`,
      look: `git log --oneline -- ${DEMO}`,
      next: "Commit a version in which patched() still is naive, then the patch. git rebase -i can put them in order.",
    });
    return `commit ${commit.hash.slice(0, 7)}`;
  }
  throw new Gap({
    expected: "a commit with five hacks",
    found: "none",
    look: `git log --oneline -- ${DEMO}`,
  });
}

async function demandClass(room: Room): Promise<string> {
  const file = await demo(room);
  const fresh = freshHacks(room, "5 class");
  const [naive, patched] = [
    await rewards(room, file, "naive", fresh),
    await rewards(room, file, "patched", fresh),
  ];
  const winning = fresh.filter((_, i) => naive[i] === 1).length;
  const through = fresh.findIndex((_, i) => naive[i] === 1 && patched[i] !== 0);
  demand(through < 0, () => ({
    expected: `patched(${fresh[through]?.expected}, ${JSON.stringify(fresh[through]?.completion)}) to be 0`,
    found: JSON.stringify(patched[through]) ?? "nothing",
    look: `patched() in ${DEMO}`,
  }));
  const rng = rngAt(hiddenSeed(room, "5 honest"));
  const honest = [
    0,
    7,
    -7,
    10,
    -100,
    ...Array.from({ length: 30 }, () => rng.below(4001) - 2000),
  ].map((expected): Case => ({ expected, completion: `Final: ${expected}` }));
  const paid = await rewards(room, file, "patched", honest);
  const unpaid = honest.findIndex((_, i) => paid[i] !== 1);
  demand(unpaid < 0, () => ({
    expected: `patched(${honest[unpaid]?.expected}, ${JSON.stringify(honest[unpaid]?.completion)}) to be 1`,
    found: JSON.stringify(paid[unpaid]) ?? "nothing",
    look: `patched() in ${DEMO}`,
  }));
  return `${winning} fresh hacks lose, ${honest.length} honest answers win`;
}

/** Cheats that show the right number without giving it as the answer. */
function freshHacks(room: Room, purpose: string): Case[] {
  const rng = rngAt(hiddenSeed(room, purpose));
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

async function demandReport(room: Room): Promise<string> {
  const found = await demandSections(room, NOTE, {
    "The five exploits": 5,
    "Why they worked": 30,
    "The patch": 20,
    "Tests that lock it": 10,
  });
  const listed = found.get("the five exploits") ?? "";
  const hacks = await hacksOf(room, await demo(room));
  const lost = hacks.filter(({ completion }) => {
    const escaped = JSON.stringify(completion).slice(1, -1);
    return !listed.includes(completion) && !listed.includes(escaped);
  });
  demand(hacks.length - lost.length >= 5, {
    expected: "the five completions of HACKS as they stand in the file",
    found: `without ${JSON.stringify(lost[0]?.completion)}`,
    look: NOTE,
  });
  return "five exploits, with their cause and cure";
}
