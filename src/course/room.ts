/**
 * A workspace as the checks see it: its files, its history, its runs, and a scratch folder in which
 * commands are repeated. Nothing in the workspace is changed.
 */

import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { dataError, editedFiles, openRun, type Run, sha256, sourceFingerprint } from "../index.ts";
import {
  type Answer,
  type Call,
  CHECK_LIMITS,
  callExports,
  type Finished,
  runNode,
} from "./child.ts";
import { demand, Gap } from "./gap.ts";
import { type Commit, Git } from "./git.ts";
import { linkPackage } from "./init.ts";
import { typescriptProgram } from "./typescript.ts";
import { readConfig, type WorkspaceConfig } from "./workspace.ts";

/** A file as one commit has it. */
export interface Version {
  readonly commit: Commit;
  readonly text: string;
}

export class Room {
  readonly dir: string;
  readonly config: WorkspaceConfig;
  readonly git: Git;
  /** Oldest first. */
  readonly commits: readonly Commit[];
  /** The command itself, so that what is checked is what a learner types. */
  readonly #cli: string;
  readonly #scratch: string;
  readonly #runs = new Map<string, Promise<Run>>();
  readonly #trees = new Map<string, Promise<string>>();
  readonly #versions = new Map<string, Promise<Version[]>>();
  readonly #cache: string;
  #folders = 0;

  private constructor(dir: string, cli: string, git: Git, commits: readonly Commit[]) {
    this.dir = dir;
    this.config = readConfig(dir);
    this.git = git;
    this.commits = commits;
    this.#cli = cli;
    this.#scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-check-"));
    this.#cache = path.join(this.#scratch, "cache");
  }

  /** Opens a workspace for `work`, and leaves nothing behind. */
  static async with<T>(dir: string, cli: string, work: (room: Room) => Promise<T>): Promise<T> {
    readConfig(dir);
    const git = await Git.open(dir);
    const conflicts = await git.conflicts();
    if (conflicts.length > 0) {
      throw dataError(
        `a merge left conflicts in ${conflicts.slice(0, 5).join(", ")}`,
        "Resolve them, git add the files, git commit, and check again. Nothing was changed.",
      );
    }
    const room = new Room(dir, cli, git, await git.commits());
    try {
      return await work(room);
    } finally {
      rmSync(room.#scratch, { recursive: true, force: true });
    }
  }

  get head(): string {
    return this.commits.at(-1)?.hash ?? "";
  }

  file(name: string): string {
    return path.join(this.dir, name);
  }

  has(name: string): boolean {
    return existsSync(this.file(name));
  }

  /** Everything that lies in runs/. */
  runNames(): string[] {
    const folder = this.file("runs");
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  async read(name: string): Promise<string> {
    const text = await readFile(this.file(name), "utf8").catch(() => undefined);
    if (text !== undefined) return text;
    throw new Gap({ expected: `the file ${name}`, found: "no such file", look: name });
  }

  async sha256(name: string): Promise<string> {
    await this.read(name);
    return sha256(await readFile(this.file(name)));
  }

  /** A finished run under runs/ that nobody has edited, renamed or copied. */
  run(name: string): Promise<Run> {
    const known = this.#runs.get(name) ?? this.#open(name);
    this.#runs.set(name, known);
    return known;
  }

  async #open(name: string): Promise<Run> {
    const look = `runs/${name}`;
    demand(this.has(look), { expected: `the run ${look}`, found: "no such folder", look });
    const run = await openRun(this.file(look));
    const edited = await editedFiles(run);
    demand(edited.length === 0, {
      expected: `${look} as the command wrote it`,
      found: `${edited.join(" and ")} changed afterwards`,
      look: `${look}/${edited[0]}`,
      next: `Run the command of ${look} again, with --force.`,
    });
    const { folder } = run.manifest.volatile;
    demand(folder === name, {
      expected: `${look} made by its own command`,
      found: `a run that was made as runs/${folder}, then copied or renamed`,
      look: `${look}/manifest.json, volatile.folder`,
      next: `Remove ${look} and run its command.`,
    });
    return run;
  }

  /** Every version of a file in the history, oldest first. */
  versions(file: string): Promise<Version[]> {
    const known = this.#versions.get(file) ?? this.#history(file);
    this.#versions.set(file, known);
    return known;
  }

  async #history(file: string): Promise<Version[]> {
    const touched = this.commits.filter(({ files }) => files.includes(file));
    const found: Version[] = [];
    for (const commit of touched) {
      const text = await this.git.show(commit.hash, file);
      if (text !== undefined) found.push({ commit, text });
    }
    return found;
  }

  /** The committed version of a file whose code has this fingerprint. */
  async versionOf(file: string, source: string): Promise<Version | undefined> {
    const versions = await this.versions(file);
    const exact = versions.findLast(({ text }) => sha256(text) === source);
    if (exact) return exact;
    for (const version of versions.toReversed()) {
      const tree = await this.tree(version.commit.hash);
      if (sourceFingerprint(path.join(tree, file)) === source) return version;
    }
    return undefined;
  }

  /** A commit's files, without its runs, in a folder where programs can be started. */
  tree(commit: string): Promise<string> {
    const known = this.#trees.get(commit) ?? this.#checkOut(commit);
    this.#trees.set(commit, known);
    return known;
  }

  async #checkOut(commit: string): Promise<string> {
    const to = this.scratch();
    await this.git.extract(commit, to, (file) => !file.startsWith("runs/"));
    linkPackage(to);
    return to;
  }

  /** A copy of the latest commit's files with some of them replaced. */
  async variant(files: Readonly<Record<string, string>>): Promise<string> {
    const to = this.scratch();
    await cp(await this.tree(this.head), to, { recursive: true, verbatimSymlinks: true });
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(to, file), text);
    return to;
  }

  /** A path that nothing uses yet. */
  scratch(): string {
    return path.join(this.#scratch, String(++this.#folders));
  }

  /** A learner's program, with limits. */
  async program(file: string, args: readonly string[], cwd: string): Promise<Finished> {
    return runNode([...typescriptProgram(file, this.#cache), ...args], cwd);
  }

  /** A file of a learner's tests, with limits; the output is TAP. */
  async tests(file: string, cwd: string): Promise<Finished> {
    return runNode(["--test-reporter=tap", ...typescriptProgram(file, this.#cache)], cwd);
  }

  /** The exports of a learner's file, in a process with limits; each call is answered. */
  async ask(file: string, calls: readonly Call[]): Promise<Answer[]> {
    return callExports(file, calls, this.#cache);
  }

  /** The command as a learner types it, in the workspace. */
  async command(...args: readonly string[]): Promise<Finished> {
    return runNode([this.#cli, ...args], this.dir, { ...CHECK_LIMITS, megabytes: 512 });
  }
}
