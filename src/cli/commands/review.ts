/** `lockedroom review`: a person labels pairs without knowing whose answer is whose. */

import type { Command } from "commander";
import { dataError, usageError } from "../../core/errors.ts";
import { FINGERPRINT_VERSION } from "../../core/fingerprint.ts";
import { type Agreement, agreementOf } from "../../judge/review/agreement.ts";
import { reviewFigures } from "../../judge/review/figures.ts";
import { readJudgeLabels } from "../../judge/review/judge-labels.ts";
import { pairsSha256, shownOrder } from "../../judge/review/pair.ts";
import { labelPairs } from "../../judge/review/session.ts";
import { pairsOfFile, pairsOfRollouts, type ReviewSource } from "../../judge/review/sources.ts";
import { PAIRS, REVIEW_SCHEMA } from "../../runs/artifacts.ts";
import { observeOccasion } from "../../runs/manifest.ts";
import { editedReviewFiles, ReviewFolder, readReview } from "../../runs/review-folder.ts";
import type { ReviewFigures, ReviewLabel, ReviewManifest } from "../../runs/review-schemas.ts";
import { artifactJson } from "../../runs/run-folder.ts";
import { fileExists, writeWhole } from "../../runs/whole-file.ts";
import { SEED, wholeNumber } from "../options.ts";
import { keysFrom } from "../review-keys.ts";
import { ReviewScreen } from "../review-screen.ts";
import { printAgreement, printFigures } from "../review-text.ts";
import { commandLines, counted, out, print, program, warning } from "../terminal.ts";

interface Flags {
  readonly baseline?: string;
  readonly candidate?: string;
  readonly pairs?: string;
  readonly dataset?: string;
  readonly sample: number;
  readonly seed: number;
  readonly outdir: string;
  readonly summary?: boolean;
  readonly judgeLabels?: string;
  readonly report?: string;
}

export const help = `Each pair is shown as answer 1 and answer 2 in an order drawn with --seed, and
never whose answer is whose. Identical answers are not shown.
  1 2  this answer is better      =  tie     s  skip     u  undo
  q    quit; the same command continues where you stopped     ?  help
Every label is on the disk before the next pair is shown. Without a terminal the
keys are read from standard input.

--pairs takes lines with id, prompt, a (the baseline's answer) and b (the
candidate's), or the pairs.jsonl of \`pairs\`, whose chosen text then counts as
the candidate's. When every answer is a single turn, the review also writes a
pairs.jsonl with the chosen and the rejected ones, for train dpo and for
judge-audit --pairs.
--judge-labels takes the folder of judge score --against or of judge-audit, or a
file of id and better (a, b or tie).

Examples:
  lockedroom review --baseline runs/before --candidate runs/after \\
    --outdir runs/review
  lockedroom review --pairs pairs.jsonl --seed 7 --outdir runs/review
  lockedroom review --summary --outdir runs/review --judge-labels runs/judged
  printf '1=2s' | lockedroom review --pairs pairs.jsonl --outdir runs/review`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Shows pairs of answers without saying whose they are, and keeps which one you prefer.",
    )
    .option("--baseline <rollout>", "rollout to compare with: a folder, or its file of answers")
    .option("--candidate <rollout>", "rollout of the same tasks")
    .option("--pairs <file>", "instead of rollouts: pairs, JSONL: id, prompt, a, b")
    .option("--dataset <file>", "prompts of completions (default: that of the rollouts)")
    .option("--sample <n>", "which sample of each task, from 1", wholeNumber(1), 1)
    .option(...SEED)
    .requiredOption("--outdir <folder>", "output folder: a new one, or a review to continue")
    .option("--summary", "label nothing; print what the labels so far say")
    .option("--judge-labels <path>", "verdicts of a judge, to compare with yours")
    .option("--report <file>", "also write the summary as JSON to this file")
    .action((flags: Flags) => run(flags, exit));
}

async function run(flags: Flags, exit: (code: number) => void): Promise<void> {
  const { outdir } = flags;
  if (!flags.summary && !(await label(flags))) return exit(INTERRUPTED);
  const { manifest, labels, summary } = await readReview(outdir);
  const figures = reviewFigures(labels, manifest.pairs.count);
  const edited = summary ? await editedReviewFiles(outdir, { manifest, summary }) : [];
  if (edited.length > 0) out(warning(`Edited after the review: ${edited.join(", ")}.`, ""));
  printFigures(figures);
  const agreement = await agreementWith(flags, labels, manifest.settings.sample);
  if (agreement) printAgreement(agreement);
  if (flags.report !== undefined)
    await writeWhole(flags.report, artifactJson({ ...figures, agreement: agreement ?? null }));
  out();
  if (summary) printNext(outdir, figures, manifest);
  else print(`Unfinished: the same command continues. Labels so far: ${outdir}/labels.jsonl`);
}

const INTERRUPTED = 130;

async function agreementWith(
  { judgeLabels }: Flags,
  labels: readonly ReviewLabel[],
  sample: number,
): Promise<Agreement | undefined> {
  if (judgeLabels === undefined) return undefined;
  return agreementOf(labels, await readJudgeLabels(judgeLabels, labels, sample));
}

/** False after Ctrl-C. */
async function label(flags: Flags): Promise<boolean> {
  const occasion = observeOccasion();
  const source = await readSource(flags);
  if (source.pairs.length === 0)
    throw dataError("there is nothing to label: both answers of every pair are the same");
  const manifest = await manifestOf(source, flags, occasion);
  const pairs = shownOrder(source.pairs, flags.seed);
  const folder = await ReviewFolder.open(flags.outdir, manifest);
  try {
    if (folder.finished) return true;
    printSource(source, folder.labels.length);
    const screen = new ReviewScreen(process.stdout);
    const redraw = () => screen.again();
    process.stdout.on("resize", redraw);
    const ending = await labelPairs(pairs, folder, keysFrom(process.stdin), screen).finally(() =>
      process.stdout.off("resize", redraw),
    );
    out();
    if (ending === "done")
      await folder.finish(
        { ...manifest, volatile: await occasion() },
        reviewFigures(folder.labels, pairs.length),
      );
    if (ending !== "interrupted") return true;
    print(
      `Interrupted: ${counted(folder.labels.length, "label")} kept. The same command continues.`,
    );
    return false;
  } finally {
    await folder.leave();
  }
}

function readSource({ baseline, candidate, pairs, sample, dataset }: Flags): Promise<ReviewSource> {
  if (pairs !== undefined && (baseline ?? candidate ?? dataset) !== undefined)
    throw usageError(
      "--pairs and rollouts cannot be reviewed together",
      "Give --pairs alone, or --baseline and --candidate.",
    );
  if (pairs !== undefined) return pairsOfFile(pairs);
  if (baseline !== undefined && candidate !== undefined)
    return pairsOfRollouts({ baseline, candidate, sample, dataset });
  throw usageError(
    "there is nothing to compare",
    "Give --baseline and --candidate, two rollouts of the same tasks, or --pairs.",
  );
}

async function manifestOf(
  source: ReviewSource,
  { seed, sample }: Flags,
  occasion: () => Promise<ReviewManifest["volatile"]>,
): Promise<ReviewManifest> {
  return {
    ...{ schema: REVIEW_SCHEMA, fingerprint_version: FINGERPRINT_VERSION, command: "review" },
    inputs: [...source.inputs],
    pairs: {
      count: source.pairs.length,
      sha256: pairsSha256(source.pairs),
      ...{ identical: source.identical, unpaired: source.unpaired },
      single_turn: source.singleTurn,
    },
    ...{ baseline: source.baseline, candidate: source.candidate },
    ...{ settings: { seed, sample }, volatile: await occasion() },
  };
}

function printSource({ identical, unpaired }: ReviewSource, labelled: number): void {
  if (identical > 0)
    print(`${counted(identical, "pair")} with two identical answers: not shown, not counted.`);
  if (unpaired > 0) out(warning(`Tasks that only one rollout has answered: ${unpaired}.`, ""));
  if (labelled > 0) print(`Continuing after ${counted(labelled, "label")}.`);
}

function printNext(dir: string, { wins, losses }: ReviewFigures, manifest: ReviewManifest): void {
  print(`Review written to ${dir}`);
  const file = `${dir}/${PAIRS}`;
  if (!manifest.pairs.single_turn || wins + losses === 0 || !fileExists(file)) return;
  out(
    commandLines(`Next: ${program()} train dpo`, [
      ...["--init CHECKPOINT", "--steps 100", `--dataset ${file}`, `--outdir ${dir}-dpo`],
    ]),
  );
}
