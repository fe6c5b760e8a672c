/**
 * Capstone: the case study can be reproduced. `plan reproduce` runs its documented steps in a clean
 * folder, from the latest commit without runs/, and compares the figures.
 */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { canonicalJson, dataError, type Json, sha256 } from "../../core/index.ts";
import { runNode } from "../child.ts";
import { parseJson } from "../evidence.ts";
import { Git } from "../git.ts";
import { sections } from "../notes.ts";
import { insidePath, linkPackage } from "../workspace.ts";
import { filesBelow, parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import { CASE, linked } from "./case-study.ts";
import { type Criterion, met, missing } from "./criterion.ts";

export const REPRODUCTION = "portfolio/reproduction.json";
const REPRODUCE = "./lockedroom plan reproduce";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const recordSchema = z.strictObject({
  schema: z.literal("lockedroom.reproduction@1"),
  /** Of the steps that were run. */
  steps_sha256: hash,
  runs: z.array(z.strictObject({ path: insidePath, figures_sha256: hash })),
});

type Record = z.infer<typeof recordSchema>;

const STEPS = `a heading in ${CASE} with "Reproduce" in it, and below it the lockedroom commands in a code block`;

/** The commands below the heading "Reproduce", as lists of arguments; throws for anything else. */
export function documentedSteps(text: string): string[][] {
  // A comment in a code block is no heading.
  const plain = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/^#.*$/gm, ""));
  const section = sections(plain).find(({ heading }) => /reprod/i.test(heading));
  const blocks = [...(section?.body ?? "").matchAll(/^```\w*\r?\n([\s\S]*?)^```/gm)];
  const lines = blocks
    .flatMap(([, block = ""]) => block.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/))
    .map((line) => line.trim().replace(/^\$ /, ""))
    .filter((line) => line !== "");
  return lines.map((line) => {
    const command = /^(?:npx |\.\/)?lockedroom\s+(.*)$/.exec(line)?.[1];
    if (command !== undefined && !/[|;&<>$`]/.test(command)) return argumentsOf(command);
    throw dataError(
      `${CASE}: the step "${line}" is not a lockedroom command`,
      "Write each step as one command on a line; files that it needs are committed.",
    );
  });
}

/** Words, with quotes around those that have spaces. */
function argumentsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

export interface Reproduction {
  readonly steps: number;
  readonly runs: readonly string[];
  /** What came out otherwise; the record is written only without any. */
  readonly problems: readonly string[];
}

interface ReproduceOptions {
  readonly dir: string;
  /** The built command. */
  readonly cli: string;
  readonly onStep?: ((step: readonly string[]) => void) | undefined;
}

/** The verdicts of the gate have exit codes of their own. */
const ACCEPTED: Readonly<{ [command: string]: readonly number[] }> = { gate: [0, 1, 2, 3] };
const LIMITS = { seconds: 3600, megabytes: 8192 };

export async function reproduce({ dir, cli, onStep }: ReproduceOptions): Promise<Reproduction> {
  const clean = realpathSync(mkdtempSync(path.join(tmpdir(), "lockedroom-reproduce-")));
  try {
    const git = await Git.open(dir);
    await git.extract("HEAD", clean, (file) => !file.startsWith("runs/"));
    linkPackage(clean);
    const steps = documentedSteps(textOf(clean, CASE) ?? "");
    if (steps.length === 0)
      throw dataError(
        `${CASE}, as committed, documents no steps`,
        `Write ${STEPS}, and commit it.`,
      );
    for (const step of steps) {
      onStep?.(step);
      const { code, stderr, stopped } = await runNode([cli, ...step], clean, LIMITS);
      if (stopped === undefined && (ACCEPTED[step[0] ?? ""] ?? [0]).includes(code ?? -1)) continue;
      const why = stopped ?? stderr.trim().split("\n")[0];
      const problem = `lockedroom ${step.join(" ")} ended with ${code} in a clean folder: ${why}`;
      return { steps: steps.length, runs: [], problems: [problem] };
    }
    return await compareRuns(dir, clean, steps);
  } finally {
    rmSync(clean, { recursive: true, force: true });
  }
}

async function compareRuns(dir: string, clean: string, steps: readonly string[][]) {
  const made = (await filesBelow(clean, "runs"))
    .filter((file) => file.endsWith("/summary.json"))
    .map((file) => path.posix.dirname(file));
  const runs: Record["runs"] = [];
  const problems: string[] = [];
  for (const run of made) {
    const [now, before] = [figuresOf(clean, run), figuresOf(dir, run)];
    if (before === undefined) problems.push(`${run} is not in the workspace`);
    else if (now !== before) problems.push(`${run} has other figures in a clean folder`);
    else runs.push({ path: run, figures_sha256: sha256(now) });
  }
  if (made.length === 0) problems.push("the steps make no run");
  if (problems.length === 0) {
    const record: Record = {
      ...{ schema: "lockedroom.reproduction@1", steps_sha256: hashOfSteps(steps), runs },
    };
    const text = `${JSON.stringify(record, null, 2)}\n`;
    await writeAtomically(path.join(dir, REPRODUCTION), text, { replace: true });
  }
  return { steps: steps.length, runs: runs.map((run) => run.path), problems };
}

const hashOfSteps = (steps: readonly string[][]) => sha256(canonicalJson(steps as Json));

/** Fields that differ between folders; all others must be equal. */
const VOLATILE = ["files", "manifest_sha256"];

/** The figures of a finished run of any kind, as text; undefined where there is none. */
function figuresOf(dir: string, run: string): string | undefined {
  const summary = parseJson(textOf(dir, `${run}/summary.json`));
  if (typeof summary !== "object" || summary === null) return undefined;
  const figures = Object.entries(summary).filter(([name]) => !VOLATILE.includes(name));
  return canonicalJson(Object.fromEntries(figures));
}

export const reproduction: Criterion = {
  id: "capstone_reproduction",
  title: "Capstone: the documented steps give the same figures in a clean folder",
  async check(context) {
    const { dir } = context;
    const text = textOf(dir, CASE) ?? "";
    const steps = documentedSteps(text);
    if (steps.length === 0) return missing(STEPS, "no such steps", `Add them to ${CASE}.`);
    const expected = `${REPRODUCTION}, which \`plan reproduce\` writes when the steps of ${CASE} give the figures of every run that it links to`;
    const lacking = (found: string) =>
      missing(expected, found, "Commit, then run the steps in a clean folder:", REPRODUCE);
    const content = textOf(dir, REPRODUCTION);
    if (content === undefined) return lacking("the steps were not run in a clean folder");
    const hints = { conflict: REPRODUCE, damaged: `Make it again: ${REPRODUCE}` };
    const record = parseFile(path.join(dir, REPRODUCTION), content, recordSchema, hints);
    if (record.steps_sha256 !== hashOfSteps(steps)) return lacking("the steps have changed since");
    const { runs, trained } = await linked(context, CASE, text);
    if (runs.length + trained.length === 0) return lacking(`${CASE} links to no run that holds`);
    for (const { path: run } of [...runs, ...trained]) {
      const made = record.runs.find((one) => one.path === run);
      if (!made) return lacking(`the steps do not make ${run}, which the case study links to`);
      if (made.figures_sha256 !== sha256(figuresOf(dir, run) ?? ""))
        return lacking(`${run} has other figures than the steps gave`);
    }
    const figure = `${steps.length} steps made ${record.runs.length} runs again with the same figures`;
    return met({ path: REPRODUCTION, figure }, { path: CASE, figure: "the steps" });
  },
};
