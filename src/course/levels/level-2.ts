/** Level 2: credit for early decisions, and the border between tokens and text. */

import { rngAt } from "../../core/index.ts";
import {
  TWO_STEP_UPDATES,
  type TwoStepEpisode,
  type TwoStepPolicy,
  type Vector,
} from "../../learn/index.ts";
import type { Run } from "../../runs/index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { call, committedFile, committedSource, hiddenSeed } from "../evidence.ts";
import { demand } from "../gap.ts";
import type { Level } from "../level.ts";
import { demandRunNote, demandSections } from "../notes.ts";
import { demandOrder, replay } from "../replay.ts";
import type { Room } from "../room.ts";

const DEMO = "assignments/two_step_mdp_demo.ts";
const NOTE = "notes/credit_assignment.md";
const FLAGS = ["--steps", "200", "--seed", "0", "--baseline"];
const NAMES = {
  built: "l2_build_two_step",
  broken: "l2_sabotage_no_credit_step1",
  fixed: "l2_fixed_two_step",
} as const;

const demo = (name: string) =>
  `./lockedroom run ${DEMO} \\\n  ${FLAGS.join(" ")} --outdir runs/${name}`;

const base = {
  id: "2" as const,
  commits: [
    {
      name: "build",
      file: DEMO,
      first: "Write update in assignments/two_step_mdp_demo.ts for both decisions.",
    },
    {
      name: "sabotage",
      file: DEMO,
      first: "Leave policy.first as it is: update only the second decision.",
    },
    { name: "fix", file: DEMO, first: "Restore the update of the first decision." },
  ],
  budget: { change: [DEMO], add: ["tests/"] },
  evidence: [...Object.values(NAMES).map((name) => `runs/${name}/`), DEMO, NOTE],
};

export const LEVEL_2: Level = {
  ...base,
  title: "Credit assignment, tokens and text",
  loop: "C, in the small",
  wrong: "The reward comes at the end, so only the last decision matters.",
  right:
    "Early decisions make the states in which later ones are taken. The reward at the end is a signal for every decision of the trajectory. And the policy acts on tokens, while the verifier judges text.",
  stages: [
    {
      name: "Build",
      text: "See the border between tokens and text. Then write update() so that both decisions are credited, commit, and run.",
      commands: [
        './lockedroom token-inspect "Final: 323"',
        './lockedroom token-inspect "Final:  323"',
        './lockedroom token-inspect --escapes "Final:\\n323"',
        './lockedroom token-inspect "Final: 0323"',
        'git add -A && git commit -m "L2 build"',
        demo(NAMES.built),
      ],
    },
    {
      name: "Sabotage",
      text: "Take the credit from the first decision: update only the second, leave policy.first as it is. Commit, and run.",
      commands: ['git add -A && git commit -m "L2 sabotage"', demo(NAMES.broken)],
    },
    {
      name: "Reflect",
      text: "Compare what became of the first decision.",
      commands: [
        `./lockedroom gate --baseline runs/${NAMES.broken} \\\n  --candidate runs/${NAMES.built}`,
      ],
    },
    {
      name: "Repair and lock",
      text: "Restore the update of the first decision. Commit, and run.",
      commands: [
        'git add -A && git commit -m "L2 fix"',
        demo(NAMES.fixed),
        'git add -A && git commit -m "L2 fix, with its run and note"',
      ],
    },
  ],
  tasks: [
    `${DEMO}: update(policy, episode), one REINFORCE step for both decisions with the same advantage.`,
    `${NOTE}: what failed in the sabotage and why, and one diagram tokens → detokenize → text → parse → reward.`,
    `runs/${NAMES.broken}/README.md: what you expected, and the repair plan.`,
  ],
  checklist: [
    "Why can the first decision matter although the reward arrives at the end?",
    "What is a macro-action, and what a micro-action, for a language model?",
    "Why do parsing and formatting belong to the environment?",
  ],
  checks: [
    commitCheck(base, "build"),
    {
      id: "build",
      title: `runs/${NAMES.built}: the first decision learned`,
      next: `Write update in ${DEMO}, commit, then:\n${demo(NAMES.built)}`,
      run: (room) => demandTwoStep(room, NAMES.built, "both"),
    },
    commitCheck(base, "sabotage"),
    {
      id: "sabotage",
      title: `runs/${NAMES.broken}: the first decision did not learn`,
      next: `Leave policy.first as it is, commit, then:\n${demo(NAMES.broken)}`,
      run: (room) => demandTwoStep(room, NAMES.broken, "last"),
    },
    commitCheck(base, "fix"),
    {
      id: "fixed",
      title: `runs/${NAMES.fixed}: the first decision learned again`,
      next: `Restore the update, commit, then:\n${demo(NAMES.fixed)}`,
      run: async (room) => {
        const seen = await demandTwoStep(room, NAMES.fixed, "both");
        await demandOrder(room, Object.values(NAMES));
        return seen;
      },
    },
    {
      id: "update",
      title: "the committed update is REINFORCE on hidden episodes",
      next: `Correct update in ${DEMO} and commit it.`,
      run: async (room) => demandUpdate(room, await committedFile(room, DEMO), "both"),
    },
    {
      id: "note",
      title: `${NOTE} explains the failure and draws the way from tokens to reward`,
      next: `Write ${NOTE}.`,
      run: demandNote,
    },
    {
      id: "run-note",
      title: "the run note of the sabotage is complete",
      next: `Fill in runs/${NAMES.broken}/README.md.`,
      run: (room) => demandRunNote(room, NAMES.broken),
    },
    ...historyChecks(base),
  ],
};

/** A run of the learner's program, made again from the commit that it was made from. */
async function demandTwoStep(room: Room, name: string, credit: "both" | "last"): Promise<string> {
  const run = await room.run(name);
  const source = run.manifest.learning?.source_sha256 ?? null;
  const { path } = await committedSource(room, DEMO, source, `runs/${name}`);
  await replay(room, name, (outdir) => room.driver("two-step-driver", path, outdir));
  await demandUpdate(room, path, credit);
  return demandLearning(run, name, credit);
}

function demandLearning(run: Run, name: string, credit: "both" | "last"): string {
  const { first_decision_learned: learned, first_probabilities: first } = run.summary.metrics;
  const toB = Number((first as number[] | undefined)?.[1]);
  const look = `runs/${name}/summary.json, metrics`;
  if (credit === "last") {
    demand(learned === false, {
      expected: "a first decision that still tosses a coin",
      found: `it chooses B with probability ${toB.toFixed(4)}`,
      look,
    });
    return "B with probability 0.5000: nothing was learned";
  }
  demand(learned === true && toB > 0.5, {
    expected: "a first decision that came to prefer B",
    found: `it chooses B with probability ${toB.toFixed(4)}`,
    look,
  });
  return `B with probability ${toB.toFixed(4)}`;
}

async function demandUpdate(room: Room, file: string, credit: "both" | "last"): Promise<string> {
  const rng = rngAt(hiddenSeed(room, "2"));
  const pair = (): Vector => [2 * rng.next() - 1, 2 * rng.next() - 1];
  const cases = Array.from({ length: 40 }, (): [TwoStepPolicy, TwoStepEpisode] => [
    { first: pair(), second: [pair(), pair()] },
    { first: rng.below(2), second: rng.below(2), advantage: 2 * rng.next() - 1, lr: rng.next() },
  ]);
  const given = (await call(room, file, DEMO, "update", cases)) as (TwoStepPolicy | undefined)[];
  for (const [i, [policy, episode]] of cases.entries()) {
    const wanted = TWO_STEP_UPDATES[credit](policy, episode);
    const [a, b] = [numbers(given[i]), numbers(wanted)];
    const off = b.findIndex(
      (value, k) => !(Math.abs(Number(value) - Number(a[k] ?? Number.NaN)) < 1e-9),
    );
    demand(off < 0, () => ({
      expected: `${off < 2 ? "first" : "second"} logits ${JSON.stringify(off < 2 ? wanted.first : wanted.second)} for ${JSON.stringify(episode)}`,
      found: JSON.stringify(off < 2 ? given[i]?.first : given[i]?.second) ?? "nothing",
      look: DEMO,
    }));
  }
  return `${cases.length} hidden episodes`;
}

/** The six logits, as far as there are any: a first draft may return anything. */
function numbers(policy: unknown): unknown[] {
  const { first, second } = (policy ?? {}) as Partial<TwoStepPolicy>;
  return [first, second].flat(2);
}

async function demandNote(room: Room): Promise<string> {
  const found = await demandSections(room, NOTE, {
    "What failed in the sabotage, and why": 40,
    "From tokens to reward": 5,
  });
  const drawn = /```[\s\S]*?```/.exec(found.get("from tokens to reward") ?? "")?.[0].toLowerCase();
  const way = ["token", "detoken", "text", "parse", "reward"];
  let at = -1;
  const lost = way.find((word) => {
    at = (drawn ?? "").indexOf(word, at + 1);
    return at < 0;
  });
  demand(drawn !== undefined && lost === undefined, {
    expected: "a code block with tokens, detokenize, text, parse, reward, in this order",
    found: drawn === undefined ? "no code block" : `no "${lost}" where it belongs`,
    look: NOTE,
  });
  return "written and drawn";
}
