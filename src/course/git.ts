/** What a workspace's git history says. Only reads, but for the first commit that `init` makes. */

import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { dataError, messageOf, usageError } from "../index.ts";

export interface Commit {
  readonly hash: string;
  /** Seconds since 1970, of the author. */
  readonly time: number;
  readonly subject: string;
  /** Files that were added, changed or removed. */
  readonly files: readonly string[];
  /** Of these, the ones that were not there before. */
  readonly added: readonly string[];
}

const execute = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;
const RECORD = "\x1e";
const FIELD = "\x1f";

/** The repository of one workspace; nothing outside of it is looked at. */
export class Git {
  readonly dir: string;
  readonly #flags: readonly string[];

  private constructor(dir: string) {
    this.dir = dir;
    // Named outright, so that neither the environment nor an outer repository decides.
    this.#flags = [
      ...[`--git-dir=${path.join(dir, ".git")}`, `--work-tree=${dir}`],
      ...["-c", "core.quotePath=false", "-c", "core.fsmonitor=false"],
    ];
  }

  /** Opens the workspace's own repository, or says why there is nothing to read. */
  static async open(dir: string): Promise<Git> {
    const git = new Git(realpathSync(dir));
    if (!existsSync(path.join(dir, ".git"))) {
      throw dataError(
        `the workspace ${dir} has no git repository, and the checks read its history`,
        'If .git was lost, clone or copy the workspace again with it. To start a new history: git init && git add -A && git commit -m "Start". Your files stay as they are.',
      );
    }
    try {
      await git.run("rev-parse", "--verify", "HEAD");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        throw usageError(
          "git was not found",
          "Install git: the checks read a workspace's history.",
        );
      }
      throw dataError(
        `git cannot read the history of ${dir}: ${lastLine(messageOf(error))}`,
        'See: git status. A repository without a commit needs one: git add -A && git commit -m "Start".',
      );
    }
    return git;
  }

  /** Makes a repository with one commit of everything that is there. */
  static async create(dir: string, message: string): Promise<void> {
    const git = new Git(realpathSync(dir));
    await execute("git", ["init", "--quiet", "--initial-branch=main", git.dir]);
    await git.run("add", "--all");
    const known = await git.run("config", "user.email").catch(() => "");
    const identity =
      known.trim() === ""
        ? ["-c", "user.name=Locked Room", "-c", "user.email=learner@localhost"]
        : [];
    await git.run(...identity, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message);
  }

  async run(...args: readonly string[]): Promise<string> {
    return (await this.#bytes(...args)).toString("utf8");
  }

  /** Every commit that HEAD has, oldest first. */
  async commits(): Promise<Commit[]> {
    const log = await this.run(
      ...[
        "log",
        "--reverse",
        "--topo-order",
        "--no-renames",
        "--name-status",
        "-m",
        "--first-parent",
      ],
      `--format=${RECORD}%H${FIELD}%at${FIELD}%s${FIELD}`,
    );
    return log
      .split(RECORD)
      .slice(1)
      .map((record) => {
        const [hash = "", time = "", subject = "", listed = ""] = record.split(FIELD);
        const changes = listed.split("\n").flatMap((line) => {
          const [status, file] = line.split("\t");
          return status && file ? [{ status, file }] : [];
        });
        return {
          hash,
          time: Number(time),
          subject,
          files: changes.map(({ file }) => file),
          added: changes.filter(({ status }) => status === "A").map(({ file }) => file),
        };
      });
  }

  /** Files that differ from HEAD, with untracked ones. */
  async uncommitted(): Promise<string[]> {
    const status = await this.run("status", "--porcelain", "--untracked-files=all", "--no-renames");
    return status
      .split("\n")
      .filter(Boolean)
      .map((line) => line.slice(3));
  }

  /** Files that a merge left in conflict. */
  async conflicts(): Promise<string[]> {
    const listed = await this.run("diff", "--name-only", "--diff-filter=U");
    return listed.split("\n").filter(Boolean);
  }

  /** The bytes of a file at a commit; undefined where it is not in the tree. */
  async show(commit: string, file: string): Promise<string | undefined> {
    return this.run("show", `${commit}:${file}`).catch(() => undefined);
  }

  /** Writes a commit's files into a folder, those that `wanted` lets through. */
  async extract(commit: string, to: string, wanted: (file: string) => boolean): Promise<void> {
    const listed = await this.run("ls-tree", "-r", "-z", "--name-only", commit);
    const files = listed.split("\0").filter((file) => file !== "" && wanted(file));
    for (const file of files) {
      const target = path.join(to, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, await this.#bytes("cat-file", "blob", `${commit}:${file}`));
    }
  }

  async #bytes(...args: readonly string[]): Promise<Buffer> {
    const options = { cwd: this.dir, maxBuffer: MAX_OUTPUT, encoding: "buffer" as const };
    return (await execute("git", [...this.#flags, ...args], options)).stdout;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
