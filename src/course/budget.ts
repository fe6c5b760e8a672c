/** The knob budget, read from git: which level a commit belongs to, and what it changed outside it. */

import { demand } from "./gap.ts";
import type { Commit } from "./git.ts";
import { type Budget, type Check, LEVEL_IDS, type Level, type LevelId } from "./level.ts";
import type { Room } from "./room.ts";

/** Evidence and writing are never a knob. */
const ALWAYS = ["runs/", "notes/", "posts/", "portfolio/", "scoreboard/", "plan.json", "README.md"];

export interface Labelled extends Commit {
  readonly level: LevelId;
  /** "build", "sabotage", …; empty where the message names none. */
  readonly step: string;
}

/** Each commit after the first with its level: its own label's, or that of the last label before. */
export function labelled(commits: readonly Commit[]): Labelled[] {
  let level: LevelId = "0";
  return commits.slice(1).map((commit) => {
    const [, id, step = ""] = /^L(0\.5|[0-6])\b[\s:.-]*([A-Za-z]*)/i.exec(commit.subject) ?? [];
    if (LEVEL_IDS.includes(id as LevelId)) level = id as LevelId;
    return { ...commit, level, step: id === undefined ? "" : step.toLowerCase() };
  });
}

function within(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => (path.endsWith("/") ? file.startsWith(path) : file === path));
}

function allowed(budget: Budget, file: string, shipped: boolean): boolean {
  if (within(file, ALWAYS) || within(file, budget.change)) return true;
  return !shipped && within(file, budget.add);
}

/** Whether `init` made a file: it then is not a learner's new one. */
function shippedWith(room: Room): (file: string) => boolean {
  const first = new Set(room.commits[0]?.files);
  return (file) => first.has(file);
}

/** The files that a level left changed outside of its budget, each with the commit that did it. */
async function overspent(room: Room, level: Level): Promise<string[]> {
  const shipped = shippedWith(room);
  const all = labelled(room.commits);
  const from = all.findIndex((commit) => commit.level === level.id);
  const to = all.findLastIndex((commit) => commit.level === level.id);
  const found: string[] = [];
  for (const { hash, files } of all.filter((commit) => commit.level === level.id)) {
    for (const file of files) {
      if (allowed(level.budget, file, shipped(file)) || found.some((f) => f.startsWith(file)))
        continue;
      const before = await room.git.show(room.commits[from]?.hash ?? "", file);
      const after = await room.git.show(all[to]?.hash ?? "", file);
      // Taken back within the level: the mistake was noticed, the knob was not turned.
      if (before !== after) found.push(`${file} (commit ${hash.slice(0, 7)})`);
    }
  }
  return found;
}

/** The checks that every level has: the steps are committed, nothing waits, the budget was kept. */
export function historyChecks(level: Pick<Level, "id" | "commits" | "budget">): Check[] {
  const names = level.commits.map((step) => `L${level.id} ${step}`);
  return [
    {
      id: "commits",
      title: `committed as ${names.join(", ")}, in this order`,
      next: `Commit each step under its name:\n  git add -A && git commit -m "${names.at(-1)}"`,
      run: async (room) => demandSteps(room, level),
    },
    {
      id: "budget",
      title: `knob budget: ${describeBudget(level.budget)}`,
      next: "Take the change back in a commit of the same level, or make it in the level that allows it.",
      run: async (room) => demandBudget(room, level as Level),
    },
  ];
}

export function describeBudget({ change, add }: Budget): string {
  const parts = [...change, ...add.map((folder) => `new files under ${folder}`)];
  return [...parts, "notes/", "runs/"].join(", ");
}

function demandSteps(room: Room, { id, commits: steps }: Pick<Level, "id" | "commits">): string {
  const made = labelled(room.commits).filter(({ level, step }) => level === id && step !== "");
  let from = 0;
  for (const step of steps) {
    const at = made.findIndex((commit, index) => index >= from && commit.step === step);
    demand(at >= 0, {
      expected: `a commit "L${id} ${step}"${from > 0 ? ` after "L${id} ${made[from - 1]?.step}"` : ""}`,
      found: made.length === 0 ? `no commit of level ${id}` : made.map((c) => c.subject).join("; "),
      look: "git log --oneline",
      next: `git add -A && git commit -m "L${id} ${step}"`,
    });
    from = at + 1;
  }
  return `${made.length} commits`;
}

async function demandBudget(room: Room, level: Level): Promise<string> {
  const shipped = shippedWith(room);
  const outside = await overspent(room, level);
  const current = labelled(room.commits).at(-1)?.level ?? "0";
  const waiting = current === level.id ? await room.git.uncommitted() : [];
  const loose = waiting.filter((file) => !allowed(level.budget, file, shipped(file)));
  const found = [...outside, ...loose.map((file) => `${file} (not committed)`)];
  demand(found.length === 0, {
    expected: `changes in ${describeBudget(level.budget)} only`,
    found: found.join(", "),
    look:
      outside.length > 0
        ? `git show --stat ${/commit (\w+)/.exec(outside[0] ?? "")?.[1]}`
        : "git status",
  });
  const open = waiting.filter((file) => !loose.includes(file));
  demand(open.length === 0, {
    expected: "everything committed: what is not in the history is not evidence",
    found: `${open.length} files that are not: ${open.slice(0, 3).join(", ")}${open.length > 3 ? ", …" : ""}`,
    look: "git status",
    next: `git add -A && git commit -m "L${level.id} ${level.commits.at(-1)}"`,
  });
  return "kept";
}
