/** `lockedroom diagnose`: what is wrong with a training run, from its curves alone. */

import type { Command } from "commander";
import { Option } from "commander";
import { usageError } from "../../core/errors.ts";
import {
  ABLATION_NAMES,
  answerFile,
  answerTo,
  CAUSE_NAMES,
  CAUSES,
  caseCount,
  curvesOf,
  curvesSvg,
  DIAGNOSES,
  type DiagnoseCase,
  keepAnswer,
  markDiagnosis,
  openCase,
  readAnswers,
} from "../../course/diagnose/index.ts";
import { findWorkspace } from "../../course/workspace.ts";
import { writeAtomically } from "../../course/workspace-files.ts";
import { showCases, showChoices, showCurves, showMark, showReveal } from "../diagnose-text.ts";
import { FORMAT, type Format, wholeNumber } from "../options.ts";
import { out, paint, print, printableJson, program } from "../terminal.ts";

interface Flags {
  readonly case?: number;
  readonly seed: number;
  readonly answer?: string;
  readonly ablation?: string;
  readonly reveal?: boolean;
  readonly outfile?: string;
  readonly format: Format;
}

const WRONG = 1;
const MAX_SEED = 1_000_000;

export const help = `Every case is a real training run of the embedded policy; some have a fault,
some have none. Its curves are shown without its name. Name the cause and the
ablation that would confirm it; then the run, its alarms and the result of that
ablation are revealed. In a workspace the first answer to each case is kept in
${DIAGNOSES}/, under the name of the run; a right answer after a wrong one is kept
beside it as its correction. A diagnosis counts as the review of a week in the
plan when it is right, or corrected. --seed gives the cases in another order.

Exit codes:
  0  shown, or cause and ablation are right    1  one of them is wrong
  64 wrong usage

Examples:
  lockedroom diagnose
  lockedroom diagnose --case 3
  lockedroom diagnose --case 3 --outfile curves.svg
  lockedroom diagnose --case 3 --answer wrong-sign --ablation sign
  lockedroom diagnose --case 3 --reveal`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Shows the curves of a training run without its name; you say what is wrong with it, if anything, and which ablation would confirm it.",
    )
    .option("--case <n>", "which run; without it, all are listed", wholeNumber(1, caseCount()))
    .option("--seed <n>", "the order of the cases", wholeNumber(0, MAX_SEED), 0)
    .addOption(new Option("--answer <cause>", "the cause").choices(CAUSE_NAMES))
    .addOption(
      new Option("--ablation <knob>", "the ablation that would confirm it").choices(ABLATION_NAMES),
    )
    .option("--reveal", "say what the run was")
    .option("--outfile <file>", "write the curves as SVG")
    .addOption(FORMAT)
    .action(async (flags: Flags) => {
      const workspace = findWorkspace(process.cwd());
      if (flags.case === undefined) list(flags, workspace);
      else exit(await diagnose(openCase(flags.case, flags.seed), flags.case, flags, workspace));
    });
}

function list(flags: Flags, workspace: string | undefined): void {
  const alone = ["answer", "ablation", "reveal", "outfile"] as const;
  const foreign = alone.find((name) => flags[name] !== undefined);
  if (foreign !== undefined)
    throw usageError(`--${foreign} needs --case`, "Add --case N; without it, all are listed.");
  const cases = Array.from({ length: caseCount() }, (_, i) => ({
    number: i + 1,
    one: openCase(i + 1, flags.seed),
  }));
  const answers = workspace === undefined ? [] : readAnswers(workspace);
  if (flags.format === "json") {
    const listed = cases.map(({ number, one }) => ({ number, algorithm: one.algorithm }));
    out(printableJson({ cases: listed, answers }, 2));
  } else {
    showCases(cases, answers);
    out(`Look at one: ${program()} diagnose --case 1${seedFlag(flags)}`);
  }
}

const seedFlag = ({ seed }: Flags) => (seed === 0 ? "" : ` --seed ${seed}`);

async function diagnose(
  one: DiagnoseCase,
  number: number,
  flags: Flags,
  workspace: string | undefined,
): Promise<number> {
  const { answer, ablation } = flags;
  if (answer === undefined && ablation !== undefined)
    throw usageError("--ablation needs --answer", "Name the cause that it would confirm.");
  if (answer !== undefined && ablation === undefined) {
    throw usageError(
      "--answer needs --ablation",
      `Name the ablation that would confirm it: ${ABLATION_NAMES.join(", ")}.`,
    );
  }
  if (flags.outfile !== undefined)
    await writeAtomically(flags.outfile, curvesSvg(`Case ${number}`, one.run), { replace: true });
  const given = { cause: answer ?? null, ablation: ablation ?? null };
  const done = answer !== undefined || flags.reveal === true;
  const marked = markDiagnosis(one, given);
  const kept =
    done && workspace !== undefined ? await keepAnswer(workspace, one, given) : undefined;
  const right = marked.cause_right && marked.ablation_right;
  if (flags.format === "json") out(printableJson(asJson(one, number, flags, done, marked), 2));
  else if (!done) showCase(one, number, flags, workspace);
  else {
    if (answer !== undefined) showMark(given, marked);
    showReveal(one);
    const file = answerFile(one);
    if (kept === "kept") print(`Kept in ${file}. Commit it: git add ${file}`);
    else if (kept === "corrected")
      print(`${file} has your first answer, and now its correction. Commit it: git add ${file}`);
    else if (kept !== undefined) print(`${file} has your first answer to this case.`);
    else print("Not kept: this folder is not in a workspace.");
  }
  return answer === undefined || right ? 0 : WRONG;
}

function showCase(
  one: DiagnoseCase,
  number: number,
  flags: Flags,
  workspace: string | undefined,
): void {
  out(paint("bold", `Case ${number}: ${one.algorithm}, ${one.run.steps.length} steps`));
  showCurves(one);
  showChoices();
  out();
  if (flags.outfile !== undefined) print(`Curves written to ${flags.outfile}`);
  const before = workspace && answerTo(readAnswers(workspace), one);
  if (before) print("You have answered this case; a later answer is kept only as a correction.");
  const start = `${program()} diagnose --case ${number}${seedFlag(flags)}`;
  out(`Next: ${start} --answer CAUSE --ablation KNOB`);
}

/** The name and the cause only once an answer was given or asked for. */
function asJson(
  one: DiagnoseCase,
  number: number,
  { seed }: Flags,
  done: boolean,
  marked: ReturnType<typeof markDiagnosis>,
) {
  const { name, cause, algorithm, run, settings, reward, ablation } = one;
  const { alarms, ...curves } = run;
  const shown = { case: number, seed, algorithm, run: curves, curves: curvesOf(run) };
  if (!done) return shown;
  const accepted = CAUSES[cause].ablation;
  return { ...shown, name, cause, accepted, ...marked, alarms, settings, reward, ablation };
}
