/** Level 3: the leash. */

import path from "node:path";
import { chooseWithKlPenalty, rngAt } from "../../index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { call, committedFile, exported, hiddenSeed } from "../evidence.ts";
import { demand, Gap } from "../gap.ts";
import type { Level } from "../level.ts";
import { demandSections } from "../notes.ts";
import { command, replay } from "../replay.ts";
import type { Room, Version } from "../room.ts";

const SCRIPT = "assignments/kl_regularized_choice.ts";
const NOTE = "notes/kl_tradeoff.md";
const LEASHED = "runs/l3_build_kl_choice.txt";
const LOOSE = "runs/l3_sabotage_no_kl.txt";
const DEMO = "./lockedroom kl-tradeoff-demo --plot --outdir runs/l3_build_kl_demo";
const print = (file: string) => `./lockedroom run ${SCRIPT} \\\n  > ${file}`;

const base = {
  id: "3" as const,
  commits: [
    {
      name: "build",
      file: SCRIPT,
      first: "Fill in six candidates and choose in assignments/kl_regularized_choice.ts.",
    },
    { name: "sabotage", file: SCRIPT, first: "Drop the leash: BETAS = [0]." },
    { name: "fix", file: SCRIPT, first: "Put BETAS = [0.1, 1.0] back and write the note." },
  ],
  budget: { change: [SCRIPT], add: ["tests/"] },
  evidence: ["runs/l3_build_kl_demo/", LEASHED, LOOSE, SCRIPT, NOTE],
};

export const LEVEL_3: Level = {
  ...base,
  title: "KL as a leash",
  loop: "C, in the small",
  wrong: "The KL term is decoration.",
  right:
    "It is a leash: earn reward, and pay for every step away from a reference that is known to be sane.",
  stages: [
    {
      name: "Build",
      text: "The trade-off first. Then fill in six candidates and choose(), commit, and print the choices at beta 0.1 and 1.0.",
      commands: [DEMO, 'git add -A && git commit -m "L3 build"', print(LEASHED)],
    },
    {
      name: "Sabotage",
      text: "Drop the leash: BETAS = [0]. Commit, and print again.",
      commands: ['git add -A && git commit -m "L3 sabotage"', print(LOOSE)],
    },
    {
      name: "Reflect",
      text: "Which candidate wins now, and how far from the reference is it?",
      commands: [`cat ${LEASHED} ${LOOSE}`],
    },
    {
      name: "Repair and lock",
      text: "Put BETAS = [0.1, 1.0] back, write the note, commit.",
      commands: ['git add -A && git commit -m "L3 fix"'],
    },
  ],
  tasks: [
    `${SCRIPT}: six candidates with reward and kl, such that beta 0.1, beta 1.0 and beta 0 choose three different ones, and choose(candidates, beta).`,
    `${NOTE}: why beta = 0 is an attractive disaster, and why optimisation without a constraint ends far away.`,
  ],
  checklist: [
    "What does KL hold back, in plain words?",
    "How can dropping it lead to reward hacking although the reward rises?",
    "What is the reference?",
  ],
  checks: [
    {
      id: "demo",
      title: "runs/l3_build_kl_demo: the trade-off, repeatable",
      next: DEMO,
      run: async (room) => {
        await replay(room, "l3_build_kl_demo", command(room, "kl-tradeoff-demo", "--plot"));
        return "the same when repeated";
      },
    },
    {
      id: "choose",
      title: "choose() maximises reward - beta * kl on hidden tables",
      next: `Write choose in ${SCRIPT} and commit it.`,
      run: demandChoose,
    },
    commitCheck(base, "build"),
    {
      id: "build",
      title: `${LEASHED}: what the program prints at beta 0.1 and 1.0`,
      next: `Fill in six candidates, commit, then:\n${print(LEASHED)}`,
      run: async (room) => {
        const { candidates } = await demandPrinted(room, LEASHED, [0.1, 1]);
        const names = [0.1, 1, 0].map((beta) => best(candidates, beta).name);
        demand(new Set(names).size === 3, {
          expected: "three different choices at beta 0.1, 1.0 and 0",
          found: names.join(", "),
          look: `${SCRIPT}, CANDIDATES`,
        });
        return names.slice(0, 2).join(" and ");
      },
    },
    commitCheck(base, "sabotage"),
    {
      id: "sabotage",
      title: `${LOOSE}: without a leash the furthest candidate wins`,
      next: `Set BETAS = [0], commit, then:\n${print(LOOSE)}`,
      run: demandLoose,
    },
    {
      id: "fixed",
      title: "the leash is back",
      next: `Set BETAS = [0.1, 1.0] in ${SCRIPT} and commit.`,
      run: async (room) => {
        const betas = await value<number[]>(room, await room.tree(room.head), "BETAS");
        demand(JSON.stringify(betas) === "[0.1,1]", {
          expected: "BETAS = [0.1, 1.0]",
          found: JSON.stringify(betas),
          look: SCRIPT,
        });
        return "BETAS = [0.1, 1.0]";
      },
    },
    {
      id: "note",
      title: `${NOTE} says why beta = 0 attracts and ruins`,
      next: `Write ${NOTE}.`,
      run: async (room) => {
        await demandSections(room, NOTE, {
          "Why beta = 0 is an attractive disaster": 40,
          "Why optimisation without a constraint ends far away": 40,
        });
        return "written";
      },
    },
    commitCheck(base, "fix"),
    ...historyChecks(base),
  ],
};

interface Candidate {
  readonly name: string;
  readonly reward: number;
  readonly kl: number;
}

const best = chooseWithKlPenalty as (candidates: readonly Candidate[], beta: number) => Candidate;

async function value<T>(room: Room, tree: string, name: string): Promise<T> {
  return (await exported(room, path.join(tree, SCRIPT), SCRIPT, name)) as T;
}

async function demandChoose(room: Room): Promise<string> {
  const rng = rngAt(hiddenSeed(room, "3"));
  const cases = Array.from({ length: 60 }, (_, i): [Candidate[], number] => [
    Array.from({ length: 2 + rng.below(6) }, (_, k) => ({
      name: `c${k}`,
      // Sixteenths are exact, so that ties are ties.
      reward: rng.below(17) / 16,
      kl: rng.below(33) / 16 + k / 1024,
    })),
    [0, 0.125, 1, 4][i % 4] as number,
  ]);
  const file = await committedFile(room, SCRIPT);
  const chosen = (await call(room, file, SCRIPT, "choose", cases)) as (Candidate | undefined)[];
  const wrong = cases.findIndex(([all, beta], i) => chosen[i]?.name !== best(all, beta).name);
  demand(wrong < 0, () => {
    const [all, beta] = cases[wrong] as [Candidate[], number];
    return {
      expected: `${JSON.stringify(best(all, beta))} at beta ${beta} of ${JSON.stringify(all)}`,
      found: JSON.stringify(chosen[wrong]) ?? "nothing",
      look: SCRIPT,
    };
  });
  return `${cases.length} hidden tables`;
}

/** The file is what some committed version of the program prints, and what it prints is right. */
async function demandPrinted(room: Room, file: string, betas: readonly number[]) {
  const text = await room.read(file);
  for (const version of await room.versions(SCRIPT)) {
    const tree = await room.tree(version.commit.hash);
    const [found, candidates] = await Promise.all([
      value<number[]>(room, tree, "BETAS").catch(() => []),
      value<Candidate[]>(room, tree, "CANDIDATES").catch(() => []),
    ]);
    if (JSON.stringify(found) !== JSON.stringify(betas)) continue;
    const { stdout, code } = await room.program(path.join(tree, SCRIPT), [], tree);
    if (code !== 0 || stdout !== text) continue;
    demandSix(candidates);
    demandLines(file, text, betas, candidates);
    return { version, candidates };
  }
  throw new Gap({
    expected: `the output of a committed ${SCRIPT} with BETAS = [${betas.join(", ")}]`,
    found: `${text.trim().split("\n")[0] || "an empty file"}, which no committed version prints`,
    look: file,
  });
}

/** One line for each beta, with the candidate that is best there. */
function demandLines(
  file: string,
  text: string,
  betas: readonly number[],
  candidates: readonly Candidate[],
): void {
  for (const beta of betas) {
    const { name, reward, kl } = best(candidates, beta);
    const line = `beta=${beta} choice=${name} reward=${reward} kl=${kl}`;
    demand(text.split("\n").includes(line), {
      expected: `the line "${line}"`,
      found: text.split("\n").find((l) => l.startsWith(`beta=${beta} `)) ?? "no line for this beta",
      look: file,
    });
  }
}

function demandSix(candidates: readonly Candidate[]): void {
  const sound =
    Array.isArray(candidates) &&
    candidates.every(
      ({ name, reward, kl }) =>
        typeof name === "string" && Number.isFinite(reward) && Number.isFinite(kl) && kl >= 0,
    );
  demand(sound && candidates.length === 6, {
    expected: "six candidates, each with a name, a reward and a kl from 0 up",
    found: `${candidates.length}`,
    look: `${SCRIPT}, CANDIDATES`,
  });
}

async function demandLoose(room: Room): Promise<string> {
  const { version, candidates } = await demandPrinted(room, LOOSE, [0]);
  const built: { version: Version } = await demandPrinted(room, LEASHED, [0.1, 1]);
  const order = [built.version, version].map(({ commit }) => room.commits.indexOf(commit));
  demand((order[0] ?? 0) < (order[1] ?? 0), {
    expected: "the sabotage committed after the build",
    found: "the other order",
    look: `git log --oneline -- ${SCRIPT}`,
  });
  const chosen = best(candidates, 0);
  const furthest = Math.max(...candidates.map(({ kl }) => kl));
  demand(chosen.kl === furthest, {
    expected: "a table in which the largest reward drifts furthest",
    found: `${chosen.name} has kl ${chosen.kl}, the furthest has ${furthest}`,
    look: `${SCRIPT}, CANDIDATES`,
  });
  return `${chosen.name}, kl ${chosen.kl}`;
}
