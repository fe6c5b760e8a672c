/** The git history of a workspace. Read only, except for the first commit of `init`. */

import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { dataError, type LockedRoomError, usageError } from "../core/index.ts";

export interface Commit {
  readonly hash: string;
  /** The author's time in seconds since 1970. */
  readonly time: number;
  /** The author's local date, YYYY-MM-DD: the same on every machine. */
  readonly day: string;
  readonly subject: string;
  /** Files that were added, changed or removed; of a merge only those that the merge itself changed. */
  readonly files: readonly string[];
}

/** Overrides a person's git configuration. */
const SETTINGS = [
  "core.quotePath=false",
  "core.fsmonitor=false",
  "log.showRoot=true",
  "log.showSignature=false",
  "i18n.logOutputEncoding=UTF-8",
  "diff.orderFile=/dev/null",
  "status.showUntrackedFiles=all",
];

/** The branch of the track; the branch that it starts from keeps the workspace as it was made. */
export const TRACK_BRANCH = "mastery-track";

/** The repository of one workspace. */
export class Git {
  readonly dir: string;
  readonly #flags: readonly string[];

  private constructor(dir: string) {
    this.dir = dir;
    // Given explicitly, so that neither the environment nor an outer repository is used.
    this.#flags = [
      ...[`--git-dir=${path.join(dir, ".git")}`, `--work-tree=${dir}`, "--no-replace-objects"],
      ...SETTINGS.flatMap((setting) => ["-c", setting]),
    ];
  }

  /** Opens the workspace's own repository. */
  static async open(dir: string): Promise<Git> {
    if (!existsSync(path.join(dir, ".git"))) {
      throw dataError(
        `the workspace ${dir} has no git repository, which the checks read`,
        'If .git was lost, clone or copy the workspace again with it. To start a new history: git init && git add -A && git commit -m "Start". Your files stay as they are.',
      );
    }
    const git = new Git(realpathSync(dir));
    await git.run("rev-parse", "--verify", "HEAD").catch((error: LockedRoomError) => {
      if (error.kind === "usage") throw error;
      throw dataError(
        `git cannot read the history of ${dir}`,
        'See: git status. A repository without a commit needs one: git add -A && git commit -m "Start".',
      );
    });
    if ((await git.run("rev-parse", "--is-shallow-repository")).trim() === "true") {
      throw dataError(
        `${dir} is a shallow clone without its full history`,
        "Fetch the rest: git fetch --unshallow",
      );
    }
    return git;
  }

  /** Creates a repository if there is none, commits everything, and starts the branch of the track. */
  static async create(dir: string, message: string): Promise<void> {
    const git = new Git(realpathSync(dir));
    if (!existsSync(path.join(git.dir, ".git"))) {
      await execute(["init", "--quiet", "--initial-branch=main", git.dir], git.dir);
    }
    await git.run("add", "--all");
    const known = await git.run("config", "user.email").catch(() => "");
    const identity =
      known.trim() === ""
        ? ["-c", "user.name=Locked Room", "-c", "user.email=learner@localhost"]
        : [];
    await git.run(...identity, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message);
    if (!(await git.has(TRACK_BRANCH))) await git.run("checkout", "--quiet", "-b", TRACK_BRANCH);
  }

  /** Whether there is a local branch with this name. */
  async has(branch: string): Promise<boolean> {
    return (await this.run("branch", "--list", branch)).trim() !== "";
  }

  /** The branches that contain a commit, without the names of remotes. */
  async branchesWith(commit: string): Promise<string[]> {
    const refs = ["refs/heads", "refs/remotes"];
    const format = "--format=%(refname:lstrip=2)";
    const listed = await this.run("for-each-ref", "--contains", commit, format, ...refs);
    const names = listed.split("\n").filter((name) => name !== "");
    return names.flatMap((name) => [name, name.replace(/^[^/]+\//, "")]);
  }

  async run(...args: readonly string[]): Promise<string> {
    return (await execute([...this.#flags, ...args], this.dir)).toString("utf8");
  }

  /** Every ancestor of HEAD, oldest first. */
  async commits(): Promise<Commit[]> {
    const order = ["--reverse", "--topo-order"];
    const log = await this.run("log", ...order, "-z", "--format=%H%n%at%n%as%n%s");
    const heads = log
      .split("\0")
      .filter((record) => record !== "")
      .map((record) => {
        const [hash = "", time = "", day = "", subject = ""] = record.split("\n");
        return { hash, time: Number(time), day, subject };
      });
    const hashes = heads.map(({ hash }) => hash);
    const diff = [
      ...["diff-tree", "--stdin", "--always", "--root", "-r", "-z"],
      ...["--no-renames", "-c", "--name-only"],
    ];
    const listed = await execute([...this.#flags, ...diff], this.dir, `${hashes.join("\n")}\n`);
    const files = filesByCommit(listed.toString("utf8").split("\0"), hashes);
    return heads.map((head, i) => ({ ...head, files: files[i] ?? [] }));
  }

  /** Files that differ from HEAD, with untracked ones. */
  async uncommitted(): Promise<string[]> {
    const status = await this.run("status", "--porcelain", "-z", "--no-renames");
    return status
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => entry.slice(3));
  }

  /** Files with merge conflicts. */
  async conflicts(): Promise<string[]> {
    const listed = await this.run("diff", "--name-only", "-z", "--diff-filter=U");
    return listed.split("\0").filter((file) => file !== "");
  }

  /** The plain files of a commit with their blob ids; links and nested repositories are left out. */
  async tree(commit: string) {
    const listed = await this.run("ls-tree", "-r", "-z", "--full-tree", commit);
    return listed.split("\0").flatMap((entry) => {
      const [meta = "", file = ""] = entry.split("\t", 2);
      const [mode = "", type, blob = ""] = meta.split(" ");
      return type === "blob" && mode.startsWith("100") && isPlain(file) ? [{ file, blob }] : [];
    });
  }

  /** The content of each object or `commit:file`, in one git process; undefined where there is none. */
  async contents(names: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    const asked = names.filter((name) => !name.includes("\n"));
    const batch = await execute(
      [...this.#flags, "cat-file", "--batch"],
      this.dir,
      `${asked.join("\n")}\n`,
    );
    const found = new Map<string, Buffer | undefined>();
    let at = 0;
    for (const name of asked) {
      const end = batch.indexOf(10, at);
      const [, type, size] =
        /^\S+ (blob|tree|commit|tag) (\d+)$/.exec(batch.toString("utf8", at, end)) ?? [];
      at = end + 1;
      if (size === undefined) continue;
      if (type === "blob") found.set(name, batch.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
    return names.map((name) => found.get(name));
  }

  /** Writes the `wanted` files of a commit into a folder. */
  async extract(commit: string, to: string, wanted: (file: string) => boolean): Promise<void> {
    const entries = (await this.tree(commit)).filter(({ file }) => wanted(file));
    const contents = await this.contents(entries.map(({ blob }) => blob));
    await mkdir(to, { recursive: true });
    for (const [i, { file }] of entries.entries()) {
      const target = path.join(to, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, contents[i] ?? "");
    }
  }
}

/** Each commit's id is followed by its files. The next id is known, so no file name is taken for one. */
function filesByCommit(fields: readonly string[], hashes: readonly string[]): string[][] {
  const found: string[][] = [];
  for (const field of fields) {
    if (field === hashes[found.length]) found.push([]);
    else if (field !== "") found.at(-1)?.push(field);
  }
  return found;
}

/** A path inside the folder, decoded without loss. */
function isPlain(file: string): boolean {
  return (
    file !== "" &&
    !file.includes("\uFFFD") &&
    !file.split("/").some((part) => /^(?:\.{0,2}|\.git)$/i.test(part))
  );
}

async function execute(args: readonly string[], cwd: string, input = ""): Promise<Buffer> {
  const child = spawn("git", args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
  const output: Buffer[] = [];
  let problem = "";
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem += text;
  });
  child.stdin.on("error", () => {}); // git may end before it has read everything.
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw usageError(
      "git was not found",
      "Install git: the checks read the git history of a workspace.",
    );
  });
  if (code === 0) return Buffer.concat(output);
  const command = args.find((arg) => !arg.startsWith("-") && !arg.includes("=")) ?? "";
  throw dataError(
    `git ${command} failed in ${cwd}: ${problem.trim().split("\n").at(-1) || `exit code ${code}`}`,
    "See: git status, git fsck",
  );
}
