/** Level 2: credit assignment, tokens and text. */

import { rngAt } from "../../core/index.ts";
import {
  TWO_STEP_UPDATES,
  type TwoStepEpisode,
  type TwoStepPolicy,
  type Vector,
} from "../../learn/index.ts";
import type { Run } from "../../runs/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import { checkOrder, committedSource, replay } from "../evidence.ts";
import { committedFile, hiddenSeed, type LearnerFile } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { checkSections, runNoteCheck } from "../notes.ts";
import { TWO_STEP, twoStepCommand } from "../run-commands.ts";

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
    {
      name: "build",
      file: DEMO,
      first: "Write update in assignments/two_step_mdp_demo.ts for both decisions.",
    },
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
      text: "Compare tokens and text. Then write update() so that both decisions are credited, commit, and run.",
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
    `${DEMO}: update(policy, episode), one REINFORCE step for both decisions with the same advantage.`,
    `${NOTE}: what failed in the sabotage and why, and one diagram tokens → detokenize → text → parse → reward.`,
    `runs/${NAMES.broken}/README.md: what you expected, and the repair plan.`,
  ],
  checklist: [
    "Why does the first decision matter although the reward comes at the end?",
    "What are a macro-action and a micro-action of a language model?",
    "Why are parsing and formatting part of the environment?",
  ],
  checks: [
    "build",
    {
      id: "build",
      title: `runs/${NAMES.built}: the first decision learned`,
      next: `With the update of both decisions committed:\n${twoStepCommand(NAMES.built)}`,
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
      id: "update",
      title: "the committed update is REINFORCE on hidden episodes",
      next: `Correct update in ${DEMO} and commit it.`,
      run: async (context) => checkUpdate(context, await committedFile(context, DEMO), "both"),
    },
    {
      id: "note",
      title: `${NOTE} explains the failure and has a diagram from tokens to reward`,
      next: `Write ${NOTE}.`,
      run: checkNote,
    },
    runNoteCheck(NAMES.broken),
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

async function checkUpdate(context: CheckContext, file: LearnerFile, credit: "both" | "last") {
  const rng = rngAt(hiddenSeed(context, "2"));
  const pair = (): Vector => [2 * rng.next() - 1, 2 * rng.next() - 1];
  const cases = Array.from({ length: 40 }, (): [TwoStepPolicy, TwoStepEpisode] => [
    { first: pair(), second: [pair(), pair()] },
    { first: rng.below(2), second: rng.below(2), advantage: 2 * rng.next() - 1, lr: rng.next() },
  ]);
  const given = (await file.call("update", cases)) as (TwoStepPolicy | undefined)[];
  for (const [i, [policy, episode]] of cases.entries()) {
    const wanted = TWO_STEP_UPDATES[credit](policy, episode);
    const [a, b] = [numbers(given[i]), numbers(wanted)];
    const off = b.findIndex(
      (value, k) => !(Math.abs(Number(value) - Number(a[k] ?? Number.NaN)) < 1e-9),
    );
    ensure(off < 0, () => ({
      expected: `${off < 2 ? "first" : "second"} logits ${JSON.stringify(off < 2 ? wanted.first : wanted.second)} for ${JSON.stringify(episode)}`,
      found: JSON.stringify(off < 2 ? given[i]?.first : given[i]?.second) ?? "nothing",
      where: DEMO,
    }));
  }
  return `${cases.length} hidden episodes`;
}

/** The six logits; the learner's code may return anything. */
function numbers(policy: unknown): unknown[] {
  const { first, second } = (policy ?? {}) as Partial<TwoStepPolicy>;
  return [first, second].flat(2);
}

async function checkNote(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, {
    "What failed in the sabotage, and why": 40,
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
