/**
 * Capstone: the case study can be reproduced. `plan reproduce` runs its documented steps in a clean
 * folder, from the latest commit without runs/, and compares the figures.
 */

import path from "node:path";
import { z } from "zod";
import { canonicalJson, dataError, type Json, sha256 } from "../../core/index.ts";
import { runNode } from "../child.ts";
import { Git } from "../git.ts";
import { sections } from "../notes.ts";
import { withScratch } from "../scratch.ts";
import { insidePath, linkPackage } from "../workspace.ts";
import { parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import { CASE, linked } from "./case-study.ts";
import { type Criterion, met, missing } from "./criterion.ts";
import { figuresIn, figuresOf, MadeRuns } from "./made-runs.ts";

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
    if (command !== undefined && !/[|;&<>$`]/.test(command)) return safeStep(command);
    throw dataError(
      `${CASE}: the step "${line}" is not a lockedroom command`,
      "Write each step as one command on a line; files that it needs are committed.",
    );
  });
}

/** The arguments of a step that can change nothing outside of the clean folder by itself. */
function safeStep(command: string): string[] {
  const step = argumentsOf(command);
  if (step[0] === "run") {
    throw dataError(
      `${CASE}: the step "lockedroom ${command}" runs a program, which can copy the figures`,
      "Document the commands that make the runs, such as eval, train or sweep.",
    );
  }
  const outside = step.find(
    (argument) => !/^https?:\/\//.test(argument) && argument.split(/[=,:]/).some(isOutside),
  );
  if (outside === undefined) return step;
  throw dataError(
    `${CASE}: the step "lockedroom ${command}" names ${outside}, which is outside of the clean folder`,
    "Write paths relative to the workspace, without .. in them.",
  );
}

function isOutside(part: string): boolean {
  return path.win32.isAbsolute(part) || part.split(/[\\/]/).includes("..");
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
  return withScratch("lockedroom-reproduce-", async (clean) => {
    const git = await Git.open(dir);
    await git.extract("HEAD", clean, (file) => !file.startsWith("runs/"));
    linkPackage(clean);
    const steps = documentedSteps(textOf(clean, CASE) ?? "");
    if (steps.length === 0)
      throw dataError(
        `${CASE}, as committed, documents no steps`,
        `Write ${STEPS}, and commit it.`,
      );
    // Before the first step, so that no step can change what it is compared with.
    const before = await figuresIn(dir);
    const since = new Date();
    for (const step of steps) {
      onStep?.(step);
      const { code, stderr, stopped } = await runNode([cli, ...step], clean, LIMITS);
      if (stopped === undefined && (ACCEPTED[step[0] ?? ""] ?? [0]).includes(code ?? -1)) continue;
      const why = stopped ?? stderr.trim().split("\n")[0];
      const problem = `lockedroom ${step.join(" ")} ended with ${code} in a clean folder: ${why}`;
      return { steps: steps.length, runs: [], problems: [problem] };
    }
    return await compareRuns({ dir, clean, steps, before, since });
  });
}

interface Comparison {
  readonly dir: string;
  readonly clean: string;
  readonly steps: readonly string[][];
  /** The figures of the workspace's runs, and when the steps began. */
  readonly before: ReadonlyMap<string, string>;
  readonly since: Date;
}

async function compareRuns({ dir, clean, steps, before, since }: Comparison) {
  const figures = await figuresIn(clean);
  const made = await MadeRuns.read(clean, since);
  const originals = await MadeRuns.read(dir, new Date(0));
  const runs: Record["runs"] = [];
  const problems: string[] = [];
  for (const [run, now] of figures) {
    const problem = await made.problemOf(run);
    if (!before.has(run)) problems.push(`${run} is not in the workspace`);
    else if (now !== before.get(run)) problems.push(`${run} has other figures in a clean folder`);
    // A run that has the same problem in the workspace is evidence of nothing there.
    else if (problem !== undefined && problem !== (await originals.problemOf(run)))
      problems.push(`${run} was not made by the steps: ${problem}`);
    else runs.push({ path: run, figures_sha256: sha256(now) });
  }
  if (figures.size === 0) problems.push("the steps make no run");
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
