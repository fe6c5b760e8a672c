/** Checks of the git history: a level's steps in order, its evidence committed, its knob budget. */

import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { type CheckContext, ensure } from "./check-context.ts";
import { type Commit, TRACK_BRANCH } from "./git.ts";
import {
  type Budget,
  type Check,
  commitCommand,
  EXTRA_IDS,
  LEVEL_IDS,
  type Level,
  type LevelDefinition,
  type LevelId,
  type Step,
  TRACK_IDS,
} from "./level.ts";

/** Evidence and prose may always change. */
const ALWAYS = ["runs/", "notes/", "posts/", "portfolio/", "scoreboard/", "plan.json", "README.md"];

type LevelSteps = Pick<Level, "id" | "commits">;

interface Labelled extends Commit {
  readonly level: LevelId;
  /** "build", "sabotage", …; empty where the message names none. */
  readonly step: string;
}

const IDS = LEVEL_IDS.toSorted((a, b) => b.length - a.length).map((id) => id.replace(".", "\\."));
const LABEL = new RegExp(`^L(${IDS.join("|")})\\b[\\s:.-]*([A-Za-z]*)`, "i");

const isExtra = (id: LevelId) => (EXTRA_IDS as readonly LevelId[]).includes(id);

/**
 * Each commit after the first with its level: from its own label, or from the last label of the track
 * before it. An extra level has only what is labelled as its own, so that the track stays as it is.
 */
export function labelled(commits: readonly Commit[]): Labelled[] {
  let last: LevelId = "0";
  return commits.slice(1).map((commit) => {
    const [, id, step = ""] = LABEL.exec(commit.subject) ?? [];
    const level = (id as LevelId | undefined) ?? last;
    if (!isExtra(level)) last = level;
    return { ...commit, level, step: step.toLowerCase() };
  });
}

const commitsOf = (context: CheckContext, id: LevelId) =>
  labelled(context.commits).filter(({ level }) => level === id);

/** The name of the level's first step that is not committed yet, or of its last. */
export function currentStep(context: CheckContext, { id, commits }: LevelSteps): string {
  const made = commitsOf(context, id);
  const missing = commits.find(({ name }) => !made.some(({ step }) => step === name));
  return (missing ?? commits.at(-1))?.name ?? "";
}

/** A level with the checks of its history: its steps, its evidence and its budget. */
export function withGitChecks(level: LevelDefinition): Level {
  const checks = level.checks.map((check) =>
    typeof check === "string" ? commitCheck(level, check) : check,
  );
  return { ...level, checks: [...checks, ...historyChecks(level)] };
}

const COMMIT = "commit-";

/** Whether a check is that of a step's commit, which ends the step. */
export const isCommitCheck = ({ id }: Pick<Check, "id">): boolean => id.startsWith(COMMIT);

/** A step is committed under its name, with its file, after the step before. */
function commitCheck({ id, commits }: LevelSteps, step: string): Check {
  const { file, first } = commits.find(({ name }) => name === step) as Step;
  const command = commitCommand(id, step);
  return {
    id: `${COMMIT}${step}`,
    title: `committed as "L${id} ${step}", with ${file}`,
    next: first === undefined ? command : `${first} Then:\n${command}`,
    run: async (context) => checkStep(context, { id, commits }, step),
  };
}

/** The checks that end every level: its branch, the evidence is committed, the budget is kept. */
function historyChecks(level: LevelDefinition): Check[] {
  return [
    {
      id: "branch",
      title: `its commits are on the branch ${TRACK_BRANCH}`,
      next: `Start the branch here; your commits and files stay as they are:\ngit checkout -b ${TRACK_BRANCH}`,
      run: (context) => checkBranch(context, level.id),
    },
    {
      id: "evidence",
      title: "the evidence is in the latest commit",
      next: commitCommand(level.id, level.commits.at(-1)?.name ?? ""),
      run: (context) => checkCommitted(context, level),
    },
    {
      id: "budget",
      title: `knob budget: ${describeBudget(level.budget)}`,
      next: "Revert the change in a commit of the same level, or make it in a level that allows it.",
      run: (context) => checkBudget(context, level),
    },
  ];
}

export function describeBudget({ change, add }: Budget): string {
  const parts = [...change, ...add.map((folder) => `new files under ${folder}`)];
  return [...parts, "notes/", "runs/"].join(", ");
}

function checkStep(context: CheckContext, { id, commits }: LevelSteps, step: string): string {
  const made = commitsOf(context, id);
  let from = 0;
  for (const { name, file } of commits) {
    const at = made.findIndex(
      (commit, i) => i >= from && commit.step === name && commit.files.includes(file),
    );
    // Where several steps change one file, a commit of another step has it rightly.
    const owners = commits.filter((step) => step.file === file).map((step) => step.name);
    const elsewhere = made.findLast(
      (commit) => commit.files.includes(file) && !owners.includes(commit.step),
    );
    ensure(at >= 0, {
      expected: `a commit "L${id} ${name}" that has ${file}`,
      found: elsewhere
        ? `${file} in "${elsewhere.subject}" (${elsewhere.hash.slice(0, 7)})`
        : made.some((commit) => commit.step === name)
          ? `"L${id} ${name}" without it`
          : `no such commit among ${made.length} of level ${id}`,
      where: "git log --oneline --stat",
      next: elsewhere && recovery(context, elsewhere, { id, commits }, { name, file }),
    });
    if (name === step) return `commit ${made[at]?.hash.slice(0, 7)}`;
    from = at + 1;
  }
  return "";
}

/**
 * The file of a step is in a commit with another name. The latest commit can be renamed or split; an
 * older one stays, and the step is committed again on top of it.
 */
function recovery(
  context: CheckContext,
  elsewhere: Labelled,
  { id, commits }: LevelSteps,
  { name, file }: Step,
): string {
  const latest = elsewhere.hash === context.head;
  if (latest && elsewhere.step === "") {
    return `Rename the latest commit after its step:\ngit commit --amend -m "L${id} ${name}"`;
  }
  const separable = new Set(commits.map((step) => step.file)).size === commits.length;
  if (latest && separable) return splitCommit(id, commits, elsewhere.files);
  const again = /\.(?:ts|md)$/.test(file)
    ? `Change ${file} again, as this step asks, then:`
    : "Make the files of this step again, with --force, then:";
  return `${again}\n${commitCommand(id, name)}`;
}

/** Commands that make one commit for each step whose file the latest commit has. */
function splitCommit(id: LevelId, commits: readonly Step[], files: readonly string[]): string {
  const held = commits.filter(({ file }) => files.includes(file));
  const steps = held.flatMap(({ name, file }, i) => [
    i === held.length - 1 ? "git add -A" : `git add ${file.replace(/manifest\.json$/, "")}`,
    `git commit -m "L${id} ${name}"`,
  ]);
  const why = "The latest commit holds several steps. Split it; your files stay as they are:";
  return [why, "git reset HEAD~1", ...steps].join("\n");
}

async function checkBranch(context: CheckContext, id: LevelId): Promise<string> {
  const latest = commitsOf(context, id).at(-1)?.hash ?? context.head;
  const branches = await context.git.branchesWith(latest);
  const [elsewhere] = branches;
  const begun = await context.git.has(TRACK_BRANCH);
  ensure(branches.includes(TRACK_BRANCH), {
    expected: `the branch ${TRACK_BRANCH} with commit ${latest.slice(0, 7)}`,
    found: elsewhere === undefined ? "no branch that has it" : `it on ${elsewhere}`,
    where: "git branch --all --contains",
    next: begun
      ? `Bring the commits to the branch of the track:\ngit checkout ${TRACK_BRANCH} && git merge ${elsewhere ?? latest}`
      : undefined,
  });
  return `up to commit ${latest.slice(0, 7)}`;
}

async function checkCommitted(context: CheckContext, { evidence }: LevelDefinition) {
  const committed = await context.committed();
  const names = new Set<string>();
  for (const place of evidence) {
    for (const file of filesAt(context, place)) names.add(file);
    for (const file of committed.keys()) if (within(file, [place])) names.add(file);
  }
  for (const file of names) {
    ensure(await context.isCommitted(file), {
      expected: `${file} in the latest commit, with its current content`,
      found: committed.has(file) ? "other content" : "nothing: it was never added, or is ignored",
      where: committed.has(file) ? `git diff HEAD -- ${file}` : `git check-ignore -v ${file}`,
    });
  }
  return `${names.size} files`;
}

/** The files of a folder, or the file itself; none where it is missing, which other checks report. */
function filesAt(context: CheckContext, place: string): string[] {
  if (!context.has(place)) return [];
  if (!statSync(context.file(place)).isDirectory()) return [place];
  return readdirSync(context.file(place), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(context.dir, path.join(entry.parentPath, entry.name)));
}

async function checkBudget(context: CheckContext, level: LevelDefinition): Promise<string> {
  const shipped = new Set(context.commits[0]?.files);
  const ownWork = newAfterTheTrack(context, level);
  const allowed = (file: string) =>
    within(file, [...ALWAYS, ...level.budget.change]) ||
    (!shipped.has(file) && within(file, level.budget.add)) ||
    ownWork(file);
  const outside = await changedOutside(context, level, allowed);
  const current = labelled(context.commits).at(-1)?.level ?? "0";
  const concerned = current === level.id || (isExtra(current) && level.id === TRACK_IDS.at(-1));
  const uncommitted = concerned ? await context.git.uncommitted() : [];
  const loose = uncommitted.filter((file) => !allowed(file));
  const found = [...outside, ...loose.map((file) => `${file} (not committed)`)];
  ensure(found.length === 0, {
    expected: `changes in ${describeBudget(level.budget)} only`,
    found: found.join(", "),
    where: outside.length > 0 ? "git log --stat" : "git status",
  });
  return "kept";
}

/**
 * Once the last step of the last level, or of an extra one, is committed, new files belong to no level
 * of the track, unless their commit says that they do.
 */
function newAfterTheTrack(context: CheckContext, { id, commits }: LevelDefinition) {
  const last = commits.at(-1)?.name;
  const end = labelled(context.commits).findIndex(
    ({ level, step }) => level === id && step === last,
  );
  if (!(id === TRACK_IDS.at(-1) || isExtra(id)) || end < 0) return () => false;
  const isOfLevel = (subject: string) => {
    const own = LABEL.exec(subject)?.[1] as LevelId | undefined;
    return own !== undefined && (own === id || !isExtra(own));
  };
  // labelled() leaves out the first commit.
  const ofTheTrack = context.commits.filter(
    ({ subject }, place) => place < end + 2 || isOfLevel(subject),
  );
  const known = new Set(ofTheTrack.flatMap(({ files }) => files));
  return (file: string) => !known.has(file);
}

/** The files that a level left changed outside its budget, each with the commit that changed it. */
async function changedOutside(
  context: CheckContext,
  { id }: LevelDefinition,
  allowed: (file: string) => boolean,
): Promise<string[]> {
  const all = labelled(context.commits);
  const own = all.filter(({ level }) => level === id);
  const before = context.commits[all.findIndex(({ level }) => level === id)]?.hash;
  const suspects = new Map<string, string>();
  for (const { hash, files } of own) {
    for (const file of files) {
      if (!allowed(file) && !suspects.has(file)) suspects.set(file, hash);
    }
  }
  const names = [...suspects.keys()];
  const [was, is] = await Promise.all(
    [before, own.at(-1)?.hash].map((commit) =>
      context.git.contents(names.map((file) => `${commit}:${file}`)),
    ),
  );
  return names.flatMap((file, i) => {
    const [a, b] = [was?.[i], is?.[i]];
    // Reverted within the level: the budget is kept.
    const reverted = a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
    return reverted ? [] : [`${file} (commit ${suspects.get(file)?.slice(0, 7)})`];
  });
}

function within(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => (path.endsWith("/") ? file.startsWith(path) : file === path));
}
