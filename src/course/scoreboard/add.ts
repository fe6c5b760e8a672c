/** Adds a week to the scoreboard: figures from runs, links to existing files. */

import { realpathSync } from "node:fs";
import path from "node:path";
import { dataError, usageError } from "../../core/index.ts";
import { openRun } from "../../runs/index.ts";
import { daysOfWeek } from "../plan/calendar.ts";
import { RunVerifier, type Verification } from "../run-verifier.ts";
import { requireOwnWork } from "../shipped-files.ts";
import { insideWorkspace } from "../workspace-files.ts";
import type { KnownRun } from "../workspace-runs.ts";
import { type Part, Parts } from "./cost.ts";
import { conditionsOf, measureWeek } from "./measure.ts";
import { isSkill, MAX_SKILL, SKILLS } from "./skills.ts";
import { SCOREBOARD_SCHEMA, type UsedRun, type Week, writeWeek } from "./week.ts";

/** A week as a person enters it; paths are relative to `cwd`. */
export interface AddOptions {
  readonly dir: string;
  readonly cwd: string;
  readonly week: number;
  readonly run?: string | undefined;
  readonly baseline?: string | undefined;
  readonly trainings?: readonly string[] | undefined;
  readonly rollouts?: readonly string[] | undefined;
  /** Price of the machine that trained, in any currency. */
  readonly pricePerHour?: number | undefined;
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

export type Added = Awaited<ReturnType<typeof addWeek>>;

/** `notRescored` says why the rows of the run were not scored again, where they were not. */
export async function addWeek(options: AddOptions) {
  const dir = realpathSync(options.dir);
  const own = async (flag: string, given: string) => {
    const name = insideWorkspace(dir, options.cwd, given, flag);
    await requireOwnWork(dir, name, flag);
    return name;
  };
  const link = async (flag: string, given: string | undefined) =>
    given === undefined ? null : own(flag, given);
  if (options.baseline !== undefined && options.run === undefined) {
    throw usageError(
      "--baseline needs --run",
      "Add --run with the week's run, or remove --baseline.",
    );
  }
  const shipped = {
    build: await link("--build", options.build),
    theory: await link("--theory", options.theory),
    eval: await link("--eval", options.eval),
    blog: await link("--blog", options.blog),
  };
  const skills: Week["skills"] = {};
  for (const given of options.skills ?? []) {
    const { name, score, file } = parseSkill(given);
    if (skills[name]) throw usageError(`the skill ${name} is given twice`, "Give it once.");
    skills[name] = { score, path: await own(`--skill ${name}`, file) };
  }
  const place = { dir, cwd: options.cwd, verifier: new RunVerifier(dir) };
  const run = await verifiedRun(place, "--run", options.run);
  const baseline = await verifiedRun(place, "--baseline", options.baseline);
  const price = options.pricePerHour ?? null;
  const parts = await openParts(dir, options, price);
  const { first, last } = daysOfWeek(options.week);
  const week: Week = {
    schema: SCOREBOARD_SCHEMA,
    week: options.week,
    days: [first, last],
    run: run ? used(run) : null,
    baseline: baseline ? used(baseline) : null,
    parts: parts.map((part) => part.used),
    price_per_hour: price,
    shipped,
    metrics: await measureWeek(run?.run, baseline?.run, parts),
    failures: sentences("--failure", options.failures),
    fixes: sentences("--fix", options.fixes),
    skills,
  };
  const written = await writeWeek(dir, week, options.force ?? false);
  return { week, notRescored: run?.skipped, ...written };
}

/** The trainings and rollouts of the week, each once. */
async function openParts(
  dir: string,
  { cwd, trainings = [], rollouts = [] }: AddOptions,
  pricePerHour: number | null,
): Promise<Part[]> {
  if (pricePerHour !== null && trainings.length === 0)
    throw usageError("--price-per-hour needs --train", "Add --train with a training run.");
  const opened = new Parts(dir);
  const parts: Part[] = [];
  const names = (flag: string, given: readonly string[]) => [
    ...new Set(given.map((one) => insideWorkspace(dir, cwd, one, flag))),
  ];
  for (const name of names("--train", trainings))
    parts.push(await opened.training(name, pricePerHour));
  for (const name of names("--rollout", rollouts)) parts.push(await opened.rollout(name));
  return parts;
}

type VerifiedRun = KnownRun & Pick<Verification, "skipped">;

/** A run that counts as evidence. */
async function verifiedRun(
  { dir, cwd, verifier }: { dir: string; cwd: string; verifier: RunVerifier },
  flag: string,
  given: string | undefined,
): Promise<VerifiedRun | undefined> {
  if (given === undefined) return undefined;
  const name = insideWorkspace(dir, cwd, given, flag);
  const run = await openRun(path.join(dir, name));
  const { problem, skipped } = await verifier.verify(run);
  if (problem === undefined) return { path: name, run, skipped };
  throw dataError(
    `${flag} ${name} is not evidence: ${problem}`,
    "Run its command again, then add the week.",
  );
}

function used({ path: name, run, skipped }: VerifiedRun): UsedRun {
  const { results_sha256, manifest_sha256 } = run.summary;
  return {
    ...{ path: name, results_sha256, manifest_sha256, conditions_sha256: conditionsOf(run) },
    rescored: skipped === undefined,
  };
}

const MAX_CHARACTERS = 500;

function sentences(flag: string, given: readonly string[] = []): string[] {
  return given.map((text) => {
    const sentence = text.trim();
    if (sentence !== "" && sentence.length <= MAX_CHARACTERS) return sentence;
    throw usageError(
      `${flag} needs a sentence of 1 to ${MAX_CHARACTERS} characters`,
      "Write what happened and where, one sentence per flag.",
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
  if (!/^[0-9]$/.test(score) || Number(score) > MAX_SKILL) {
    throw usageError(
      `--skill ${given}: the score must be a whole number from 0 to ${MAX_SKILL}`,
      "See the meaning of each score: ./lockedroom scoreboard show --skills",
    );
  }
  if (file === "") {
    throw usageError(
      `--skill ${given}: a score needs a link to an artifact`,
      `Write --skill ${name}=${score}:PATH, with a file or folder of the workspace.`,
    );
  }
  return { name, score: Number(score), file };
}
