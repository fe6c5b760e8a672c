/**
 * What a check works with: the files, git history and runs of a workspace, and a scratch folder in
 * which commands are repeated. Checks change nothing in the workspace.
 */

import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { dataError, sha256 } from "../core/index.ts";
import { sourceFingerprint } from "../extensions/index.ts";
import { editedFiles } from "../gate/index.ts";
import { openRun, type Run } from "../runs/index.ts";
import {
  type Call,
  type CallResult,
  callExports,
  childProgram,
  type Finished,
  runNode,
} from "./child.ts";
import { type Commit, Git } from "./git.ts";
import { withScratch } from "./scratch.ts";
import { linkPackage, MARKER, readConfig, type WorkspaceConfig } from "./workspace.ts";

/** Why a check fails: what it expected, what it found, and where. */
export interface Failure {
  readonly expected: string;
  readonly found: string;
  /** A file, a command or a commit. */
  readonly where: string;
  /** What to do; the check's own `next` where this is not given. */
  readonly next?: string | undefined;
  /** The missing thing is a commit of the level's current step. */
  readonly commit?: true;
}

export class CheckFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`expected ${failure.expected}; found ${failure.found}`);
    this.name = "CheckFailure";
    this.failure = failure;
  }
}

/** Throws a CheckFailure unless the condition is true. */
export function ensure(condition: boolean, failure: Failure | (() => Failure)): asserts condition {
  if (!condition) throw new CheckFailure(typeof failure === "function" ? failure() : failure);
}

/** A file as one commit has it. */
export interface Version {
  readonly commit: Commit;
  readonly text: string;
}

interface Parts {
  readonly dir: string;
  readonly cli: string;
  readonly git: Git;
  readonly commits: readonly Commit[];
  readonly scratch: string;
}

/** Larger than anything a person writes or a command reports here. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Files that programs and tests may need: all but evidence and prose. */
const isSource = (file: string) =>
  !/^(?:runs|notes|posts|portfolio|scoreboard|node_modules)\//.test(file);

export class CheckContext {
  readonly dir: string;
  readonly config: WorkspaceConfig;
  readonly git: Git;
  /** From the commit that made the workspace, oldest first. */
  readonly commits: readonly Commit[];
  /** The built command, so that checks run what a learner types. */
  readonly #cli: string;
  readonly #scratch: string;
  readonly #once = new Map<string, Promise<unknown>>();
  #folders = 0;

  private constructor({ dir, cli, git, commits, scratch }: Parts) {
    this.#scratch = scratch;
    this.dir = dir;
    this.config = readConfig(dir);
    this.git = git;
    const start = commits.findIndex(({ files }) => files.includes(MARKER));
    this.commits = commits.slice(Math.max(0, start));
    this.#cli = cli;
  }

  /** Opens a workspace for `work` and removes the scratch folder afterwards. */
  static async with<T>(dir: string, cli: string, work: (context: CheckContext) => Promise<T>) {
    readConfig(dir);
    const git = await Git.open(dir);
    const conflicts = await git.conflicts();
    if (conflicts.length > 0) {
      throw dataError(
        `there are merge conflicts in ${conflicts.slice(0, 5).join(", ")}`,
        "Resolve them, git add the files, git commit, and check again. Nothing was changed.",
      );
    }
    const commits = await git.commits();
    return withScratch("lockedroom-check-", (scratch) =>
      work(new CheckContext({ dir, cli, git, commits, scratch })),
    );
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

  /** The names in runs/. */
  runNames(): string[] {
    const folder = this.file("runs");
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  /** The bytes of a plain file of reasonable size. */
  async bytes(name: string): Promise<Uint8Array> {
    const found = lstatSync(this.file(name), { throwIfNoEntry: false });
    const problem = !found
      ? "no such file"
      : found.isSymbolicLink()
        ? "a symbolic link; evidence must be in the workspace itself"
        : !found.isFile()
          ? "not a plain file"
          : found.size > MAX_BYTES
            ? `${Math.round(found.size / 1e6)} MB`
            : undefined;
    if (problem === undefined) return readFile(this.file(name));
    throw new CheckFailure({ expected: `the file ${name}`, found: problem, where: name });
  }

  async read(name: string): Promise<string> {
    return utf8(await this.bytes(name))
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  }

  async sha256(name: string): Promise<string> {
    return sha256(await this.bytes(name));
  }

  /** A finished run under runs/ that was not edited, renamed or copied. */
  run(name: string): Promise<Run> {
    return this.once(`run ${name}`, async () => {
      const where = `runs/${name}`;
      const found = lstatSync(this.file(where), { throwIfNoEntry: false });
      ensure(found !== undefined, { expected: `the run ${where}`, found: "no such folder", where });
      ensure(found.isDirectory(), {
        expected: `the run ${where}`,
        found: "a link or a file",
        where,
      });
      for (const file of readdirSync(this.file(where))) await this.bytes(`${where}/${file}`);
      const run = await openRun(this.file(where));
      const edited = await editedFiles(run);
      ensure(edited.length === 0, {
        expected: `${where} as the command wrote it`,
        found: `${edited.join(" and ")} changed afterwards`,
        where: `${where}/${edited[0]}`,
        next: `Run the command of ${where} again, with --force.`,
      });
      const { folder } = run.manifest.volatile;
      ensure(folder === name, {
        expected: `${where} written by its own command`,
        found: `a run written to runs/${folder}, then copied or renamed`,
        where: `${where}/manifest.json, volatile.folder`,
        next: `Remove ${where} and run its command.`,
      });
      return run;
    });
  }

  /** The files of the latest commit by name, each with its blob id. */
  committed(): Promise<ReadonlyMap<string, string>> {
    return this.once("committed", async () => {
      const entries = await this.git.tree(this.head);
      return new Map(entries.map(({ file, blob }) => [file, blob]));
    });
  }

  /** Whether the latest commit has a file with its current content. */
  async isCommitted(name: string): Promise<boolean> {
    const blob = (await this.committed()).get(name);
    if (blob === undefined) return false;
    const bytes = await this.bytes(name);
    const hash = createHash(blob.length === 64 ? "sha256" : "sha1");
    return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === blob;
  }

  /** Every version of a file in the history, oldest first. */
  versions(file: string): Promise<Version[]> {
    return this.once(`versions ${file}`, async () => {
      const touched = this.commits.filter(({ files }) => files.includes(file));
      const contents = await this.git.contents(touched.map(({ hash }) => `${hash}:${file}`));
      return touched.flatMap((commit, i) => {
        const content = contents[i];
        return content === undefined ? [] : [{ commit, text: utf8(content) }];
      });
    });
  }

  /** A file as the first commit has it. */
  async firstVersion(file: string): Promise<string | undefined> {
    const [content] = await this.git.contents([`${this.commits[0]?.hash ?? ""}:${file}`]);
    return content && utf8(content);
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

  /** A folder with a commit's files, without runs and prose, in which programs can be started. */
  tree(commit: string): Promise<string> {
    return this.once(`tree ${commit}`, async () => {
      const to = this.scratch();
      await this.git.extract(commit, to, isSource);
      linkPackage(to);
      return to;
    });
  }

  /** A copy of the latest commit's files with some of them replaced. */
  async variant(files: Readonly<Record<string, string>>): Promise<string> {
    const to = this.scratch();
    await cp(await this.tree(this.head), to, { recursive: true, verbatimSymlinks: true });
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(to, file)), { recursive: true });
      await writeFile(path.join(to, file), text);
    }
    return to;
  }

  /** An unused path in the scratch folder. */
  scratch(): string {
    return path.join(this.#scratch, String(++this.#folders));
  }

  /** Runs a learner's program, with limits. */
  async program(file: string, cwd: string): Promise<Finished> {
    return runNode(childProgram(file, this.#cache), cwd);
  }

  /** The two-step experiment with a learner's program, with limits. */
  async twoStep(file: string, outdir: string): Promise<Finished> {
    return runNode([...childProgram(file, this.#cache, "two-step"), outdir], this.#scratch);
  }

  /** Runs a learner's test file, with limits; `counts` receives how many tests ran and failed. */
  async tests(file: string, cwd: string, counts: string): Promise<Finished> {
    const reporter = new URL("./test-counter.js", import.meta.url).href;
    const flags = [`--test-reporter=${reporter}`, `--test-reporter-destination=${counts}`];
    return runNode([...flags, ...childProgram(file, this.#cache)], cwd);
  }

  /** Calls exports of a learner's file in a process with limits. */
  async callExports(file: string, calls: readonly Call[]): Promise<CallResult[]> {
    return this.once(`call ${file} ${JSON.stringify(calls)}`, () =>
      callExports(file, calls, this.#cache, this.#scratch),
    );
  }

  /** Runs the command in the workspace, as a learner does. */
  async command(...args: readonly string[]): Promise<Finished> {
    return runNode([this.#cli, ...args], this.dir, { seconds: 30, megabytes: 1024 });
  }

  /** Computes a value once per key. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#once.get(key) ?? make();
    this.#once.set(key, known);
    return known as Promise<T>;
  }

  get #cache(): string {
    return path.join(this.#scratch, "cache");
  }
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
