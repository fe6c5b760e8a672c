/**
 * A workspace as the checks see it: its files, its history, its runs, and a scratch folder in which
 * commands are repeated. Nothing in the workspace is changed by us.
 */

import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { dataError, ioError, sha256 } from "../core/index.ts";
import { sourceFingerprint } from "../extensions/index.ts";
import { editedFiles } from "../gate/index.ts";
import { openRun, type Run } from "../runs/index.ts";
import { type Answer, type Call, callExports, type Finished, runNode } from "./child.ts";
import { demand, Gap } from "./gap.ts";
import { type Commit, Git } from "./git.ts";
import { linkPackage } from "./init.ts";
import { typescriptProgram } from "./typescript.ts";
import { MARKER, readConfig, type WorkspaceConfig } from "./workspace.ts";

/** A file as one commit has it. */
export interface Version {
  readonly commit: Commit;
  readonly text: string;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Larger than anything a person writes or a command reports here. */
const MOST_BYTES = 16 * 1024 * 1024;
/** What programs and tests may need; evidence and prose stay behind. */
const NEEDED = (file: string) =>
  !/^(?:runs|notes|posts|portfolio|scoreboard|node_modules)\//.test(file);

export class Room {
  readonly dir: string;
  readonly config: WorkspaceConfig;
  readonly git: Git;
  /** From the commit that made the workspace, oldest first. */
  readonly commits: readonly Commit[];
  /** The command itself, so that what is checked is what a learner types. */
  readonly #cli: string;
  readonly #scratch: string;
  readonly #once = new Map<string, Promise<unknown>>();
  #folders = 0;

  private constructor(
    dir: string,
    cli: string,
    git: Git,
    commits: readonly Commit[],
    scratch: string,
  ) {
    this.dir = dir;
    this.config = readConfig(dir);
    this.git = git;
    const start = commits.findIndex(({ files }) => files.includes(MARKER));
    this.commits = commits.slice(Math.max(0, start));
    this.#cli = cli;
    this.#scratch = scratch;
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
    const scratch = makeScratch();
    const sweep = () => rmSync(scratch, { recursive: true, force: true });
    const leave = (signal: NodeJS.Signals) => {
      sweep();
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.once(signal, leave);
    process.once("exit", sweep);
    try {
      return await work(new Room(dir, cli, git, await git.commits(), scratch));
    } finally {
      sweep();
      process.off("exit", sweep);
      for (const signal of SIGNALS) process.off(signal, leave);
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

  /** A plain file of reasonable size; whatever else has its name is described. */
  async bytes(name: string): Promise<Buffer> {
    const found = lstatSync(this.file(name), { throwIfNoEntry: false });
    const problem = !found
      ? "no such file"
      : found.isSymbolicLink()
        ? "a link; evidence has to lie in the workspace itself"
        : !found.isFile()
          ? "something that is not a plain file"
          : found.size > MOST_BYTES
            ? `${Math.round(found.size / 1e6)} MB`
            : undefined;
    if (problem === undefined) return readFile(this.file(name));
    throw new Gap({ expected: `the file ${name}`, found: problem, look: name });
  }

  async read(name: string): Promise<string> {
    return (await this.bytes(name))
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  }

  async sha256(name: string): Promise<string> {
    return sha256(await this.bytes(name));
  }

  /** A finished run under runs/ that nobody has edited, renamed or copied. */
  run(name: string): Promise<Run> {
    return this.once(`run ${name}`, () => this.#open(name));
  }

  async #open(name: string): Promise<Run> {
    const look = `runs/${name}`;
    const found = lstatSync(this.file(look), { throwIfNoEntry: false });
    demand(found !== undefined, { expected: `the run ${look}`, found: "no such folder", look });
    demand(found.isDirectory(), { expected: `the run ${look}`, found: "a link or a file", look });
    for (const file of readdirSync(this.file(look))) await this.bytes(`${look}/${file}`);
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

  /** The files of the latest commit, by name, each with the id of its content. */
  committed(): Promise<ReadonlyMap<string, string>> {
    return this.once("committed", async () => {
      const entries = await this.git.tree(this.head);
      return new Map(entries.map(({ file, blob }) => [file, blob]));
    });
  }

  /** Whether a file is in the latest commit as it lies here. */
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
        const text = contents[i]?.toString("utf8");
        return text === undefined ? [] : [{ commit, text }];
      });
    });
  }

  /** A file as the workspace began with it. */
  async firstVersion(file: string): Promise<string | undefined> {
    return this.git.show(this.commits[0]?.hash ?? "", file);
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

  /** A commit's files, without its runs and its prose, in a folder where programs can be started. */
  tree(commit: string): Promise<string> {
    return this.once(`tree ${commit}`, async () => {
      const to = this.scratch();
      await this.git.extract(commit, to, NEEDED);
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

  /** A path that nothing uses yet. */
  scratch(): string {
    return path.join(this.#scratch, String(++this.#folders));
  }

  /** A learner's program, with limits. */
  async program(file: string, args: readonly string[], cwd: string): Promise<Finished> {
    return runNode([...typescriptProgram(file, this.#cache), ...args], cwd);
  }

  /** A program of ours that loads a learner's file, with the same limits. */
  async driver(name: string, ...args: readonly string[]): Promise<Finished> {
    const program = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
    return runNode([program, this.#cache, ...args], this.#scratch);
  }

  /** A file of a learner's tests, with limits; how many there were and failed goes into `counts`. */
  async tests(file: string, cwd: string, counts: string): Promise<Finished> {
    const reporter = new URL("./count-tests.js", import.meta.url).href;
    const flags = [`--test-reporter=${reporter}`, `--test-reporter-destination=${counts}`];
    return runNode([...flags, ...typescriptProgram(file, this.#cache)], cwd);
  }

  /** The exports of a learner's file, in a process with limits; each call is answered. */
  async ask(file: string, calls: readonly Call[]): Promise<Answer[]> {
    return this.once(`ask ${file} ${JSON.stringify(calls)}`, () =>
      callExports(file, calls, this.#cache, this.#scratch),
    );
  }

  /** The command as a learner types it, in the workspace. */
  async command(...args: readonly string[]): Promise<Finished> {
    return runNode([this.#cli, ...args], this.dir, { seconds: 30, megabytes: 1024 });
  }

  /** What was made once is not made again while the room is open. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#once.get(key) ?? make();
    this.#once.set(key, known);
    return known as Promise<T>;
  }

  get #cache(): string {
    return path.join(this.#scratch, "cache");
  }
}

function makeScratch(): string {
  try {
    return mkdtempSync(path.join(tmpdir(), "lockedroom-check-"));
  } catch (error) {
    throw ioError(`make a folder in ${tmpdir()} to repeat commands in`, error);
  }
}
