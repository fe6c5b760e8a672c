/** Adds a week to the scoreboard: figures from runs, links to things that exist. */

import { realpathSync } from "node:fs";
import path from "node:path";
import { dataError, usageError } from "../../core/index.ts";
import { openRun } from "../../runs/index.ts";
import { daysOfWeek } from "../plan/phases.ts";
import type { KnownRun } from "../shelf.ts";
import { RunJudge } from "../sound-run.ts";
import { insideWorkspace } from "../workspace-files.ts";
import { measureRun, NOT_MEASURED, roomOf } from "./measure.ts";
import { isSkill, MOST_SKILL, SKILLS } from "./skills.ts";
import { SCOREBOARD_SCHEMA, type UsedRun, type Week, writeWeek } from "./week.ts";

/** What a person says of their week; paths are relative to where they are. */
export interface AddOptions {
  readonly dir: string;
  readonly cwd: string;
  readonly week: number;
  readonly run?: string | undefined;
  readonly baseline?: string | undefined;
  readonly build?: string | undefined;
  readonly theory?: string | undefined;
  readonly eval?: string | undefined;
  readonly blog?: string | undefined;
  readonly failures?: readonly string[] | undefined;
  readonly fixes?: readonly string[] | undefined;
  /** Each as NAME=SCORE:PATH. */
  readonly skills?: readonly string[] | undefined;
  readonly force?: boolean | undefined;
}

export interface Added {
  readonly week: Week;
  readonly file: string;
  /** Why the rows of its run were not scored again, where they were not. */
  readonly notRescored: string | undefined;
  /** Where the week that was there before is kept. */
  readonly kept: string | undefined;
}

export async function addWeek(options: AddOptions): Promise<Added> {
  const dir = realpathSync(options.dir);
  const link = (flag: string, given: string | undefined) =>
    given === undefined ? null : insideWorkspace(dir, options.cwd, given, flag);
  if (options.baseline !== undefined && options.run === undefined) {
    throw usageError(
      "--baseline says what to compare --run with, and --run is not given",
      "Add --run with the week's run, or leave --baseline out.",
    );
  }
  const shipped = {
    build: link("--build", options.build),
    theory: link("--theory", options.theory),
    eval: link("--eval", options.eval),
    blog: link("--blog", options.blog),
  };
  const skills: Week["skills"] = {};
  for (const given of options.skills ?? []) {
    const { name, score, file } = parseSkill(given);
    if (skills[name]) throw usageError(`the skill ${name} is given twice`, "Give it once.");
    skills[name] = { score, path: insideWorkspace(dir, options.cwd, file, `--skill ${name}`) };
  }
  const place = { dir, cwd: options.cwd, judge: new RunJudge(dir) };
  const run = await soundRun(place, "--run", options.run);
  const baseline = await soundRun(place, "--baseline", options.baseline);
  const { first, last } = daysOfWeek(options.week);
  const week: Week = {
    schema: SCOREBOARD_SCHEMA,
    week: options.week,
    days: [first, last],
    run: run ? used(run) : null,
    baseline: baseline ? used(baseline) : null,
    shipped,
    metrics: run ? await measureRun(run.run, baseline?.run) : NOT_MEASURED,
    failures: sentences("--failure", options.failures),
    fixes: sentences("--fix", options.fixes),
    skills,
  };
  const written = await writeWeek(dir, week, options.force ?? false);
  return { week, notRescored: run?.skipped, ...written };
}

interface QuotedRun extends KnownRun {
  /** Why its rows were not scored again, where they were not. */
  readonly skipped: string | undefined;
}

/** A run that may be quoted: finished, as it was written, every row judged. */
async function soundRun(
  { dir, cwd, judge }: { dir: string; cwd: string; judge: RunJudge },
  flag: string,
  given: string | undefined,
): Promise<QuotedRun | undefined> {
  if (given === undefined) return undefined;
  const name = insideWorkspace(dir, cwd, given, flag);
  const run = await openRun(path.join(dir, name));
  const { problem, skipped } = await judge.judge(run);
  if (problem === undefined) return { path: name, run, skipped };
  throw dataError(
    `${flag} ${name} is no evidence: ${problem}`,
    "Run its command again, then add the week.",
  );
}

function used({ path: name, run, skipped }: QuotedRun): UsedRun {
  const { results_sha256, manifest_sha256 } = run.summary;
  return {
    ...{ path: name, results_sha256, manifest_sha256, room_sha256: roomOf(run) },
    rescored: skipped === undefined,
  };
}

const MOST_CHARACTERS = 500;

function sentences(flag: string, given: readonly string[] = []): string[] {
  return given.map((text) => {
    const said = text.trim();
    if (said !== "" && said.length <= MOST_CHARACTERS) return said;
    throw usageError(
      `${flag} needs a sentence of 1 to ${MOST_CHARACTERS} characters`,
      "Say what happened and where, once per flag.",
    );
  });
}

function parseSkill(given: string) {
  const [, name = "", score = "", file = ""] = /^([^=]*)=([^:]*)(?::(.*))?$/s.exec(given) ?? [];
  if (!isSkill(name)) {
    throw usageError(
      `--skill ${given}: there is no skill ${JSON.stringify(name || given)}`,
      `Write NAME=SCORE:PATH with one of ${SKILLS.join(", ")}.`,
    );
  }
  if (!/^[0-9]$/.test(score) || Number(score) > MOST_SKILL) {
    throw usageError(
      `--skill ${given}: the score must be a whole number from 0 to ${MOST_SKILL}`,
      "See what each means: ./lockedroom scoreboard show --skills",
    );
  }
  if (file === "") {
    throw usageError(
      `--skill ${given}: a score needs a link to an artifact that shows it`,
      `Write --skill ${name}=${score}:PATH, with a file or folder of the workspace.`,
    );
  }
  return { name, score: Number(score), file };
}
