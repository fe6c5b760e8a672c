/** Level 2: credit assignment, tokens and text. */

import type { Run } from "../../runs/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import { checkOrder, committedSource, replay } from "../evidence.ts";
import { labelled } from "../git-checks.ts";
import { committedFile, LearnerFile } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { checkSections } from "../notes.ts";
import { TWO_STEP, twoStepCommand } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";
import { checkProgram, checkSampling, checkUpdate, checkWorld } from "../two-step-checks.ts";

const DEMO = TWO_STEP;
const NOTE = "notes/credit_assignment.md";
const NAMES = {
  built: "l2_build_two_step",
  broken: "l2_sabotage_no_credit_step1",
  fixed: "l2_fixed_two_step",
} as const;

export const LEVEL_2: LevelDefinition = {
  id: "2",
  title: "Credit assignment, tokens and text",
  loop: "C, tabular",
  wrong: "The reward comes at the end, so only the last decision matters.",
  right:
    "Early decisions lead to the states of later ones, so the final reward is a signal for every decision of the trajectory. And the policy samples tokens, while the verifier reads text.",
  commits: [
    { name: "build", file: DEMO },
    {
      name: "sabotage",
      file: DEMO,
      first: "Update only the second decision: return policy.first unchanged.",
    },
    { name: "fix", file: DEMO, first: "Restore the update of the first decision." },
  ],
  budget: { change: [DEMO], add: ["tests/"] },
  evidence: [...Object.values(NAMES).map((name) => `runs/${name}/`), DEMO, NOTE],
  stages: {
    Build: {
      text: "Compare tokens and text. Then write the two-step program: first update(), so that both decisions are credited; then the world, the sampling and the loop with its log. Commit, and run.",
      commands: [
        './lockedroom token-inspect "Final: 323"',
        './lockedroom token-inspect "Final:  323"',
        './lockedroom token-inspect --escapes "Final:\\n323"',
        './lockedroom token-inspect "Final: 0323"',
        'git add -A && git commit -m "L2 build"',
        twoStepCommand(NAMES.built),
      ],
    },
    Sabotage: {
      text: "Remove the credit of the first decision: update only the second and return policy.first unchanged. Commit, and run.",
      commands: ['git add -A && git commit -m "L2 sabotage"', twoStepCommand(NAMES.broken)],
    },
    Reflect: {
      text: "Compare the first decision of the two runs.",
      commands: [
        `./lockedroom gate --baseline runs/${NAMES.broken} \\\n  --candidate runs/${NAMES.built}`,
      ],
    },
    "Repair and lock": {
      text: "Restore the update of the first decision. Commit, and run.",
      commands: [
        'git add -A && git commit -m "L2 fix"',
        twoStepCommand(NAMES.fixed),
        'git add -A && git commit -m "L2 fix, with its run and note"',
      ],
    },
  },
  tasks: [
    `${DEMO}, the whole program, in this order: update(), one REINFORCE step for both decisions with the same advantage; reward(), the world; sample(), the sampling; train(), the loop and its log. Each part is checked with hidden inputs; check 2 says which is next. Locked Room gives the random numbers, so that your program can be repeated and compared, and writes the run.`,
    `${NOTE}: what failed in the sabotage and why, and one diagram tokens → detokenize → text → parse → reward.`,
    runNoteTask(NAMES.broken, NAMES.built),
  ],
  checklist: [
    "Why does the first decision matter although the reward comes at the end?",
    "What are a macro-action and a micro-action of a language model?",
    "Why are parsing and formatting part of the environment?",
  ],
  checks: [
    {
      id: "update",
      title: "first step: update() is REINFORCE on hidden episodes",
      next: `Write update in ${DEMO}, for both decisions; its comment says what it gets.`,
      run: async (context) => checkUpdate(context, await builtFile(context), "both"),
    },
    {
      id: "world",
      title: "reward(): the world pays as it should",
      next: `Write reward in ${DEMO}: 1 if the draw is below the probability of the path, otherwise 0.`,
      run: async (context) => checkWorld(context, await builtFile(context)),
    },
    {
      id: "sampling",
      title: "sample(): each draw chooses the option that it belongs to",
      next: `Write sample in ${DEMO}: softmax, then the option whose part of the interval holds the draw.`,
      run: async (context) => checkSampling(context, await builtFile(context)),
    },
    {
      id: "program",
      title: "train(): the log of hidden trainings, line by line",
      next: `Write train in ${DEMO}: the loop, the baseline and the log.`,
      run: async (context) => checkProgram(context, await builtFile(context), "both"),
    },
    "build",
    {
      id: "build",
      title: `runs/${NAMES.built}: the first decision learned`,
      next: `With the program committed:\n${twoStepCommand(NAMES.built)}`,
      run: (context) => checkTwoStep(context, NAMES.built, "both"),
    },
    "sabotage",
    {
      id: "sabotage",
      title: `runs/${NAMES.broken}: the first decision did not learn`,
      next: `With policy.first returned unchanged, and committed:\n${twoStepCommand(NAMES.broken)}`,
      run: (context) => checkTwoStep(context, NAMES.broken, "last"),
    },
    "fix",
    {
      id: "fixed",
      title: `runs/${NAMES.fixed}: the first decision learned again`,
      next: `With the restored update committed:\n${twoStepCommand(NAMES.fixed)}`,
      run: async (context) => {
        const seen = await checkTwoStep(context, NAMES.fixed, "both");
        await checkOrder(context, Object.values(NAMES));
        return seen;
      },
    },
    {
      id: "restored",
      title: "the committed program is the whole one again, on hidden trainings",
      next: `Correct ${DEMO} and commit it.`,
      run: async (context) => checkProgram(context, await committedFile(context, DEMO), "both"),
    },
    {
      id: "note",
      title: `${NOTE} explains the failure and has a diagram from tokens to reward`,
      next: `Write ${NOTE}.`,
      run: checkNote,
    },
    runNoteCheck(NAMES.broken, NAMES.built),
  ],
};

/** A run of the learner's program, repeated from the commit that made it. */
async function checkTwoStep(context: CheckContext, name: string, credit: "both" | "last") {
  const run = await context.run(name);
  const source = run.manifest.learning?.source_sha256 ?? null;
  const { file } = await committedSource(context, DEMO, source, `runs/${name}`);
  await replay(context, name, (outdir) => context.twoStep(file.path, outdir));
  await checkUpdate(context, file, credit);
  return checkLearning(run, name, credit);
}

function checkLearning(run: Run, name: string, credit: "both" | "last"): string {
  const { first_decision_learned: learned, first_probabilities: first } = run.summary.metrics;
  const toB = Number((first as number[] | undefined)?.[1]);
  const where = `runs/${name}/summary.json, metrics`;
  if (credit === "last") {
    ensure(learned === false, {
      expected: "a first decision with its initial probabilities",
      found: `it chooses B with probability ${toB.toFixed(4)}`,
      where,
    });
    return "B with probability 0.5000: it did not learn";
  }
  ensure(learned === true && toB > 0.5, {
    expected: "a first decision that prefers B",
    found: `it chooses B with probability ${toB.toFixed(4)}`,
    where,
  });
  return `B with probability ${toB.toFixed(4)}`;
}

/**
 * The program of the build: as it is in the workspace, so that its parts can be written one by one
 * before the commit; once there is a sabotage, as the run of the build used it.
 */
async function builtFile(context: CheckContext): Promise<LearnerFile> {
  const steps = labelled(context.commits).filter(({ level }) => level === "2");
  const sabotaged = steps.some(({ step }) => step === "sabotage");
  if (!sabotaged || !context.has(`runs/${NAMES.built}`)) {
    const folder = await context.variant({ [DEMO]: await context.read(DEMO) });
    return new LearnerFile(context, folder, DEMO);
  }
  const { manifest } = await context.run(NAMES.built);
  const source = manifest.learning?.source_sha256 ?? null;
  return (await committedSource(context, DEMO, source, `runs/${NAMES.built}`)).file;
}

async function checkNote(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, {
    "What failed in the sabotage, and why": {
      words: 40,
      keys: [
        ...["credit", "decision", "reward", "advantage", "update", "gradient", "logits"],
        ...["probability", "policy"],
      ],
    },
    "From tokens to reward": 5,
  });
  const drawn = /```[\s\S]*?```/.exec(found.get("from tokens to reward") ?? "")?.[0].toLowerCase();
  const path = ["token", "detoken", "text", "parse", "reward"];
  let at = -1;
  const lost = path.find((word) => {
    at = (drawn ?? "").indexOf(word, at + 1);
    return at < 0;
  });
  ensure(drawn !== undefined && lost === undefined, {
    expected: "a code block with tokens, detokenize, text, parse, reward, in this order",
    found: drawn === undefined ? "no code block" : `no "${lost}" in its place`,
    where: NOTE,
  });
  return "explained and drawn";
}
