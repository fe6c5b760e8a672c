/** Level 3: the KL penalty. */

import { rngAt } from "../../core/index.ts";
import { chooseWithKlPenalty as best, type Candidate } from "../../learn/index.ts";
import { type CheckContext, CheckFailure, ensure, type Version } from "../check-context.ts";
import { command, replay } from "../evidence.ts";
import { committedFile, hiddenSeed, LearnerFile } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { KL_NOTE } from "../note-rules.ts";
import { checkSections } from "../notes.ts";
import { KL_DEMO } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";

const SCRIPT = "assignments/kl_regularized_choice.ts";
const NOTE = "notes/kl_tradeoff.md";
const PENALISED = "runs/l3_build_kl_choice.txt";
const UNPENALISED = "runs/l3_sabotage_no_kl.txt";
const print = (file: string) => `./lockedroom run ${SCRIPT} \\\n  > ${file}`;

export const LEVEL_3: LevelDefinition = {
  id: "3",
  title: "The KL penalty",
  loop: "C, tabular",
  wrong: "The KL term is decoration.",
  right:
    "It is a penalty: the policy gains reward and pays for the distance from a reference that is known to be good.",
  commits: [
    {
      name: "build",
      file: SCRIPT,
      first: "Fill in six candidates and choose in assignments/kl_regularized_choice.ts.",
    },
    { name: "sabotage", file: SCRIPT, first: "Remove the KL penalty: BETAS = [0]." },
    { name: "fix", file: SCRIPT, first: "Restore BETAS = [0.1, 1.0] and write the note." },
  ],
  budget: { change: [SCRIPT], add: ["tests/"] },
  evidence: ["runs/l3_build_kl_demo/", PENALISED, UNPENALISED, SCRIPT, NOTE],
  stages: {
    Build: {
      text: "Run the trade-off demo. Then fill in six candidates and choose(), commit, and print the choices at beta 0.1 and 1.0.",
      commands: [KL_DEMO, 'git add -A && git commit -m "L3 build"', print(PENALISED)],
    },
    Sabotage: {
      text: "Remove the KL penalty: BETAS = [0]. Commit, and print again.",
      commands: ['git add -A && git commit -m "L3 sabotage"', print(UNPENALISED)],
    },
    Reflect: {
      text: "Which candidate wins now, and what is its KL from the reference?",
      commands: [`cat ${PENALISED} ${UNPENALISED}`],
    },
    "Repair and lock": {
      text: "Restore BETAS = [0.1, 1.0], write the note, commit.",
      commands: ['git add -A && git commit -m "L3 fix"'],
    },
  },
  tasks: [
    `${SCRIPT}: six candidates with reward and kl, such that beta 0.1, beta 1.0 and beta 0 choose three different ones, and choose(candidates, beta).`,
    `${NOTE}: why beta = 0 is an attractive disaster, and why optimisation without a constraint drifts far from the reference.`,
    runNoteTask("l3_build_kl_demo"),
  ],
  checklist: [
    "What does the KL penalty prevent, in plain words?",
    "How can removing it lead to reward hacking although the reward rises?",
    "What is the reference?",
  ],
  checks: [
    {
      id: "demo",
      title: "runs/l3_build_kl_demo: a repeatable run of the trade-off demo",
      next: KL_DEMO,
      run: async (context) => {
        await replay(context, "l3_build_kl_demo", command(context, "kl-tradeoff-demo", "--plot"));
        return "the same when repeated";
      },
    },
    runNoteCheck("l3_build_kl_demo"),
    {
      id: "choose",
      title: "choose() maximises reward - beta * kl on hidden tables",
      next: `Write choose in ${SCRIPT}.`,
      run: checkChoose,
    },
    "build",
    {
      id: "build",
      title: `${PENALISED}: what the program prints at beta 0.1 and 1.0`,
      next: `With six candidates and BETAS = [0.1, 1.0] committed:\n${print(PENALISED)}`,
      run: async (context) => {
        const { candidates } = await checkPrinted(context, PENALISED, [0.1, 1]);
        const names = [0.1, 1, 0].map((beta) => best(candidates, beta).name);
        ensure(new Set(names).size === 3, {
          expected: "three different choices at beta 0.1, 1.0 and 0",
          found: names.join(", "),
          where: `${SCRIPT}, CANDIDATES`,
        });
        return names.slice(0, 2).join(" and ");
      },
    },
    "sabotage",
    {
      id: "sabotage",
      title: `${UNPENALISED}: without a penalty the candidate with the largest KL wins`,
      next: `With BETAS = [0] committed:\n${print(UNPENALISED)}`,
      run: checkUnpenalised,
    },
    {
      id: "fixed",
      title: "the KL penalty is restored",
      next: `Set BETAS = [0.1, 1.0] in ${SCRIPT}.`,
      run: async (context) => {
        const betas = await (await committedFile(context, SCRIPT)).exported("BETAS");
        ensure(JSON.stringify(betas) === "[0.1,1]", {
          expected: "BETAS = [0.1, 1.0]",
          found: JSON.stringify(betas),
          where: SCRIPT,
        });
        return "BETAS = [0.1, 1.0]";
      },
    },
    {
      id: "note",
      title: `${NOTE} explains the danger of beta = 0`,
      next: `Write ${NOTE}.`,
      run: async (context) => {
        await checkSections(context, NOTE, KL_NOTE);
        return "written";
      },
    },
    "fix",
  ],
};

async function checkChoose(context: CheckContext): Promise<string> {
  const rng = rngAt(hiddenSeed(context, "3"));
  const cases = Array.from({ length: 60 }, (_, i): [Candidate[], number] => [
    Array.from({ length: 2 + rng.below(6) }, (_, k) => ({
      name: `c${k}`,
      // Sixteenths are exact in binary, so that ties are exact.
      reward: rng.below(17) / 16,
      kl: rng.below(33) / 16 + k / 1024,
    })),
    [0, 0.125, 1, 4][i % 4] as number,
  ]);
  const file = await committedFile(context, SCRIPT);
  const chosen = (await file.call("choose", cases)) as (Candidate | undefined)[];
  const wrong = cases.findIndex(([all, beta], i) => chosen[i]?.name !== best(all, beta).name);
  ensure(wrong < 0, () => {
    const [all, beta] = cases[wrong] as [Candidate[], number];
    return {
      expected: `${JSON.stringify(best(all, beta))} at beta ${beta} of ${JSON.stringify(all)}`,
      found: JSON.stringify(chosen[wrong]) ?? "nothing",
      where: SCRIPT,
    };
  });
  return `${cases.length} hidden tables`;
}

/** The file is what a committed version of the program prints, and its choices are right. */
async function checkPrinted(context: CheckContext, file: string, betas: readonly number[]) {
  const text = await context.read(file);
  for (const version of await context.versions(SCRIPT)) {
    const tree = await context.tree(version.commit.hash);
    const program = new LearnerFile(context, tree, SCRIPT);
    const [found, candidates] = (await Promise.all(
      ["BETAS", "CANDIDATES"].map((name) => program.exported(name).catch(() => [])),
    )) as [unknown, Candidate[]];
    if (JSON.stringify(found) !== JSON.stringify(betas)) continue;
    const { stdout, code } = await context.program(program.path, tree);
    if (code !== 0 || stdout !== text) continue;
    checkSix(candidates);
    checkLines(file, text, betas, candidates);
    return { version, candidates };
  }
  throw new CheckFailure({
    expected: `the output of a committed ${SCRIPT} with BETAS = [${betas.join(", ")}]`,
    found: `${text.trim().split("\n")[0] || "an empty file"}, which no committed version prints`,
    where: file,
  });
}

/** One line for each beta, with the candidate that is best there. */
function checkLines(
  file: string,
  text: string,
  betas: readonly number[],
  candidates: readonly Candidate[],
): void {
  for (const beta of betas) {
    const { name, reward, kl } = best(candidates, beta);
    const line = `beta=${beta} choice=${name} reward=${reward} kl=${kl}`;
    ensure(text.split("\n").includes(line), {
      expected: `the line "${line}"`,
      found: text.split("\n").find((l) => l.startsWith(`beta=${beta} `)) ?? "no line for this beta",
      where: file,
    });
  }
}

function checkSix(candidates: readonly Candidate[]): void {
  const valid =
    Array.isArray(candidates) &&
    candidates.every(
      ({ name, reward, kl }) =>
        typeof name === "string" && Number.isFinite(reward) && Number.isFinite(kl) && kl >= 0,
    );
  ensure(valid && candidates.length === 6, {
    expected: "six candidates, each with a name, a reward and a kl from 0 up",
    found: `${candidates.length}`,
    where: `${SCRIPT}, CANDIDATES`,
  });
}

async function checkUnpenalised(context: CheckContext): Promise<string> {
  const { version, candidates } = await checkPrinted(context, UNPENALISED, [0]);
  const built: { version: Version } = await checkPrinted(context, PENALISED, [0.1, 1]);
  const order = [built.version, version].map(({ commit }) => context.commits.indexOf(commit));
  ensure((order[0] ?? 0) < (order[1] ?? 0), {
    expected: "the sabotage committed after the build",
    found: "the reverse order",
    where: `git log --oneline -- ${SCRIPT}`,
  });
  const chosen = best(candidates, 0);
  const largest = Math.max(...candidates.map(({ kl }) => kl));
  ensure(chosen.kl === largest, {
    expected: "a table in which the candidate with the largest reward has the largest kl",
    found: `${chosen.name} has kl ${chosen.kl}, the largest is ${largest}`,
    where: `${SCRIPT}, CANDIDATES`,
  });
  return `${chosen.name}, kl ${chosen.kl}`;
}
