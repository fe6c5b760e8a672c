/** What git says of a level: its steps in order, its evidence, and what it changed outside its budget. */

import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { demand } from "./gap.ts";
import type { Commit } from "./git.ts";
import {
  type Budget,
  type Check,
  LEVEL_IDS,
  type Level,
  type LevelId,
  type Step,
} from "./level.ts";
import type { Room } from "./room.ts";

/** Evidence and writing are never a knob. */
const ALWAYS = ["runs/", "notes/", "posts/", "portfolio/", "scoreboard/", "plan.json", "README.md"];

interface Labelled extends Commit {
  readonly level: LevelId;
  /** "build", "sabotage", …; empty where the message names none. */
  readonly step: string;
}

const IDS = LEVEL_IDS.toSorted((a, b) => b.length - a.length).map((id) => id.replace(".", "\\."));
const LABEL = new RegExp(`^L(${IDS.join("|")})\\b[\\s:.-]*([A-Za-z]*)`, "i");

/** Each commit after the first with its level: its own label's, or that of the last label before. */
export function labelled(commits: readonly Commit[]): Labelled[] {
  let level: LevelId = "0";
  return commits.slice(1).map((commit) => {
    const [, id, step = ""] = LABEL.exec(commit.subject) ?? [];
    if (id !== undefined) level = id as LevelId;
    return { ...commit, level, step: step.toLowerCase() };
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
async function overspent(room: Room, { id, budget }: Facts): Promise<string[]> {
  const shipped = shippedWith(room);
  const all = labelled(room.commits);
  const own = all.filter(({ level }) => level === id);
  const before = room.commits[all.findIndex(({ level }) => level === id)]?.hash;
  const suspects = new Map<string, string>();
  for (const { hash, files } of own) {
    for (const file of files) {
      if (!allowed(budget, file, shipped(file)) && !suspects.has(file)) suspects.set(file, hash);
    }
  }
  const names = [...suspects.keys()];
  const [was, is] = await Promise.all(
    [before, own.at(-1)?.hash].map((commit) =>
      room.git.contents(names.map((file) => `${commit}:${file}`)),
    ),
  );
  return names.flatMap((file, i) => {
    const [a, b] = [was?.[i], is?.[i]];
    // Taken back within the level: the mistake was noticed, the knob was not turned.
    const restored = a !== undefined && b !== undefined && a.equals(b);
    return restored ? [] : [`${file} (commit ${suspects.get(file)?.slice(0, 7)})`];
  });
}

type Facts = Pick<Level, "id" | "commits" | "budget" | "evidence">;

/** That a step was committed under its name, with what belongs to it, after the step before. */
export function commitCheck({ id, commits }: Facts, step: string): Check {
  const { file, first } = commits.find(({ name }) => name === step) as Step;
  const command = commitCommand(id, step);
  return {
    id: `commit-${step}`,
    title: `committed as "L${id} ${step}", with ${file}`,
    next: first === undefined ? command : `${first} Then:\n${command}`,
    run: async (room) => demandStep(room, { id, commits }, step),
  };
}

/** The name of the first step of a level that is not committed yet, or of its last. */
export function currentStep(room: Room, { id, commits }: Pick<Facts, "id" | "commits">): string {
  const made = labelled(room.commits).filter(({ level }) => level === id);
  const missing = commits.find(({ name }) => !made.some(({ step }) => step === name));
  return (missing ?? commits.at(-1))?.name ?? "";
}

/** The checks that end every level: the evidence in the history, the budget kept. */
export function historyChecks(level: Facts): Check[] {
  const { id, commits } = level;
  return [
    {
      id: "evidence",
      title: "the evidence is in the latest commit",
      next: commitCommand(id, commits.at(-1)?.name ?? ""),
      run: (room) => demandCommitted(room, level),
    },
    {
      id: "budget",
      title: `knob budget: ${describeBudget(level.budget)}`,
      next: "Take the change back in a commit of the same level, or make it in the level that allows it.",
      run: (room) => demandBudget(room, level),
    },
  ];
}

function commitCommand(id: LevelId, step: string): string {
  return `git add -A && git commit -m "L${id} ${step}"`;
}

export function describeBudget({ change, add }: Budget): string {
  const parts = [...change, ...add.map((folder) => `new files under ${folder}`)];
  return [...parts, "notes/", "runs/"].join(", ");
}

function demandStep(
  room: Room,
  { id, commits }: Pick<Facts, "id" | "commits">,
  step: string,
): string {
  const made = labelled(room.commits).filter(({ level }) => level === id);
  let from = 0;
  for (const { name, file } of commits) {
    const at = made.findIndex(
      (commit, i) => i >= from && commit.step === name && commit.files.includes(file),
    );
    const elsewhere = made.findLast(
      (commit) => commit.files.includes(file) && commit.step !== name,
    );
    demand(at >= 0, {
      expected: `a commit "L${id} ${name}" that has ${file}`,
      found: elsewhere
        ? `${file} in "${elsewhere.subject}" (${elsewhere.hash.slice(0, 7)})`
        : made.some((commit) => commit.step === name)
          ? `"L${id} ${name}" without it`
          : `no such commit among ${made.length} of level ${id}`,
      look: "git log --oneline --stat",
      next: elsewhere && recovery(room, elsewhere, { id, commits }, { name, file }),
    });
    if (name === step) return `commit ${made[at]?.hash.slice(0, 7)}`;
    from = at + 1;
  }
  return "";
}

/**
 * What belongs to a step went into a commit of another name. The latest commit can be named anew or
 * taken apart; an older one is left alone, and the step is made once more on top of it.
 */
function recovery(
  room: Room,
  elsewhere: Labelled,
  { id, commits }: Pick<Facts, "id" | "commits">,
  { name, file }: Step,
): string {
  const latest = elsewhere.hash === room.head;
  if (latest && elsewhere.step === "") {
    return `Name the latest commit after its step:\ngit commit --amend -m "L${id} ${name}"`;
  }
  const separable = new Set(commits.map((step) => step.file)).size === commits.length;
  if (latest && separable) return takeApart(id, commits, elsewhere.files);
  const again = /\.(?:ts|md)$/.test(file)
    ? `Change ${file} once more, as this step asks, then:`
    : "Make what belongs to the step once more, with --force, then:";
  return `${again}\n${commitCommand(id, name)}`;
}

/** Commands that make one commit for each step whose file the latest commit holds. */
function takeApart(id: LevelId, commits: readonly Step[], files: readonly string[]): string {
  const held = commits.filter(({ file }) => files.includes(file));
  const steps = held.flatMap(({ name, file }, i) => [
    i === held.length - 1 ? "git add -A" : `git add ${file.replace(/manifest\.json$/, "")}`,
    `git commit -m "L${id} ${name}"`,
  ]);
  const why = "The latest commit holds several steps. Take it apart; your files stay as they are:";
  return [why, "git reset HEAD~1", ...steps].join("\n");
}

async function demandCommitted(room: Room, { evidence }: Facts): Promise<string> {
  const committed = await room.committed();
  const names = new Set<string>();
  for (const place of evidence) {
    for (const file of filesAt(room, place)) names.add(file);
    for (const file of committed.keys()) if (within(file, [place])) names.add(file);
  }
  for (const file of names) {
    demand(await room.isCommitted(file), {
      expected: `${file} in the latest commit, as it lies here`,
      found: committed.has(file) ? "another content" : "nothing: it was never added, or is ignored",
      look: committed.has(file) ? `git diff HEAD -- ${file}` : `git check-ignore -v ${file}`,
    });
  }
  return `${names.size} files`;
}

/** The files of a folder, or the file itself; none where it is missing, which other checks say. */
function filesAt(room: Room, place: string): string[] {
  if (!room.has(place)) return [];
  if (!statSync(room.file(place)).isDirectory()) return [place];
  return readdirSync(room.file(place), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(room.dir, path.join(entry.parentPath, entry.name)));
}

async function demandBudget(room: Room, level: Facts): Promise<string> {
  const shipped = shippedWith(room);
  const outside = await overspent(room, level);
  const current = labelled(room.commits).at(-1)?.level ?? "0";
  const waiting = current === level.id ? await room.git.uncommitted() : [];
  const loose = waiting.filter((file) => !allowed(level.budget, file, shipped(file)));
  const found = [...outside, ...loose.map((file) => `${file} (not committed)`)];
  demand(found.length === 0, {
    expected: `changes in ${describeBudget(level.budget)} only`,
    found: found.join(", "),
    look: outside.length > 0 ? "git log --stat" : "git status",
  });
  return "kept";
}
