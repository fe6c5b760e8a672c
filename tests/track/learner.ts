/** A learner at the keyboard: types commands in a workspace, edits files, commits. */

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import type * as Course from "../../src/course/index.ts";
import type { LevelId } from "../../src/course/index.ts";
import { BIN } from "../cli.ts";

/** As it is shipped. */
export const course = createRequire(import.meta.url)("../../dist/course/index.js") as typeof Course;

export interface CheckReport {
  readonly passed: boolean;
  /** Those of the track. */
  readonly levels: readonly CheckedLevel[];
  readonly extra: readonly CheckedLevel[];
}

interface CheckedLevel {
  readonly level: string;
  readonly started: boolean;
  readonly passed: boolean;
  readonly checks: readonly {
    readonly id: string;
    readonly passed: boolean;
    readonly evidence?: string;
    readonly next?: string;
    readonly failure?: { expected: string; found: string; where: string };
  }[];
}

export class Learner {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** A workspace made by `init`, in a folder of its own. */
  static begin(): Learner {
    const dir = path.join(mkdtempSync(path.join(tmpdir(), "lockedroom-track-")), "room");
    execFileSync(process.execPath, [BIN, "init", dir], { encoding: "utf8" });
    return new Learner(dir);
  }

  /** The workspace as it is now, moved to another folder. */
  copy(): Learner {
    const dir = path.join(mkdtempSync(path.join(tmpdir(), "lockedroom-track-")), "elsewhere");
    cpSync(this.dir, dir, { recursive: true, verbatimSymlinks: true });
    return new Learner(dir);
  }

  leave(): void {
    rmSync(path.dirname(this.dir), { recursive: true, force: true });
  }

  /** A command of Locked Room that must succeed. */
  do(line: string): string {
    const { status, stdout, stderr } = this.try(line);
    expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  try(line: string): { status: number | null; stdout: string; stderr: string } {
    const args = line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', "")) ?? [];
    return spawnSync(process.execPath, [BIN, ...args], { cwd: this.dir, encoding: "utf8" });
  }

  /** Any shell line, as it would be pasted. */
  shell(line: string): string {
    const { status, stdout, stderr } = spawnSync("bash", ["-ec", line], {
      cwd: this.dir,
      encoding: "utf8",
    });
    expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  file(name: string): string {
    return path.join(this.dir, name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), "utf8");
  }

  write(name: string, text: string): void {
    mkdirSync(path.dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** Changes a file; what is to be replaced must be there. */
  edit(name: string, from: string | RegExp, to: string): void {
    const text = this.read(name);
    const edited = text.replace(from, to);
    expect(edited, `${name} has no ${from}`).not.toBe(text);
    this.write(name, edited);
  }

  commit(message: string): void {
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    execFileSync("git", ["add", "-A"], { cwd: this.dir });
    execFileSync("git", [...identity, "commit", "-q", "--allow-empty", "-m", message], {
      cwd: this.dir,
    });
  }

  check(level?: string): CheckReport {
    const { stdout, stderr } = this.try(`check ${level ?? ""} --format json`);
    expect(stderr).toBe("");
    return JSON.parse(stdout) as CheckReport;
  }

  /** One check of a level, as `check` runs it: what it found, or why it fails. */
  async evidence(level: string, id: string): Promise<string> {
    const checks = course.levelOf(level as LevelId).checks;
    const check = checks.find((candidate) => candidate.id === id);
    if (!check) throw new Error(`level ${level} has no check ${id}`);
    return course.CheckContext.with(this.dir, BIN, async (context) => {
      try {
        return `passed: ${await check.run(context)}`;
      } catch (error) {
        const { failure } = error as { failure?: { expected: string; found: string } };
        return failure ? `expected ${failure.expected}; found ${failure.found}` : String(error);
      }
    });
  }

  /** The commands that a level shows for a stage, as they can be pasted. */
  commandsOf(level: string, stage: string): string {
    const shown = this.do(`level ${level}`);
    const [, after = ""] = shown.split(new RegExp(`^${stage}$`, "m"));
    const lines = after.split("\n").slice(1);
    const from = lines.indexOf("") + 1;
    const block = lines.slice(from);
    return block.slice(0, block.indexOf("")).join("\n");
  }
}
