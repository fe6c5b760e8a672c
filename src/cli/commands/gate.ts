import { appendFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ioError, usageError } from "../../core/errors.ts";
import { KNOBS, type Knob } from "../../core/knobs.ts";
import { visible, visibleShort } from "../../core/visible.ts";
import { type AxisMargins, DEFAULT_AXIS_MARGIN } from "../../gate/axes.ts";
import { checkedLines } from "../../gate/checked-lines.ts";
import { gate, LARGEST_ALPHA, NO_REGRESSION } from "../../gate/gate.ts";
import { ExampleCases, gateJunit } from "../../gate/junit.ts";
import {
  changedText,
  conditionLines,
  gateMarkdown,
  hasValues,
  isUnchanged,
  NO_EFFECT,
  showValue,
  sliceCaption,
} from "../../gate/render.ts";
import {
  effectText,
  intervalName,
  isGraded,
  pText,
  shownLevel,
  signed,
  TEST_NAMES,
} from "../../gate/words.ts";
import type { GateReport, Reason } from "../../runs/gate-report.ts";
import type { PartName } from "../../runs/verification.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { axisLines, axisMargins, partCells } from "../axis-text.ts";
import { furtherChecks, VERIFY_ONLY } from "../further-checks.ts";
import { finiteNumber, fromZero, numberIn, wholeNumber } from "../options.ts";
import { hanging, out, paint, printableJson, wrap } from "../terminal.ts";

type Format = "text" | "json" | "markdown" | "junit";

interface Flags {
  readonly baseline: string;
  readonly candidate: string;
  readonly minDelta: number;
  readonly alpha: number;
  readonly claim?: Knob | typeof NO_REGRESSION;
  readonly margin?: number;
  readonly slice?: string;
  readonly sliceMargin?: number;
  readonly rewardRange?: [number, number];
  readonly axisMargin?: AxisMargins;
  readonly cases?: true;
  readonly allowDev?: true;
  readonly allowUnknownHistory?: true;
  readonly format: Format;
  readonly report?: string;
  readonly verified?: true;
  readonly verifySample?: number;
  readonly verifyFrom?: string;
  readonly verifyOnly?: PartName[];
  readonly requireSeal?: string;
  readonly judgeAudit?: string;
}

export const help = `Exit codes:
  0  PROMOTE, PASS  1  REJECT        2  INCONCLUSIVE
  3  REJECT because the runs are not comparable
  64 wrong usage   65 bad or unfinished run   70 internal error   74 disk error
A GitHub workflow with this command: templates/ci/gate.yml in the package.

With --margin the question is not whether the candidate is better but whether
it is worse: PASS when a loss of the margin is ruled out, REJECT when a loss is
shown. --claim no-regression allows several changes, such as another policy,
prompt and sampling, and names them; examples and scorer must be the same.
--claim policy --margin 0.02 also asks that only the policy changed.

Error rates hold for pass or fail, and for other rewards and --repeats where the
range of rewards is known: \`range\` in the scorer, or --reward-range. Without it
no loss is ruled out, and improvements are tested as if changes up and down were
equally likely.

An improvement can be claimed of policy or selection only. Runs with another
prompt, other sampling settings, examples or another scorer are not comparable,
so --claim environment and --claim measurement never promote; they say what
differs. To compare prompts or settings: --claim no-regression, or compare.

Runs that were evaluated with --axis must have the same axes. A loss that is
shown on one of them rejects (refused_by_axis); on each a loss of its margin
must be ruled out. With a margin of 0 no row may lose.

Runs of judge score --against have a judge's scores. Both must have been judged
together by one judge; its scores are read again from its answers. Nothing is
promoted without --judge-audit, an audit that acquitted this judge.

Examples:
  lockedroom gate --baseline runs/old --candidate runs/new --min-delta 0.02
  lockedroom gate --baseline runs/old --candidate runs/new \\
    --claim no-regression --margin 0.02
  lockedroom gate --baseline runs/old --candidate runs/new \\
    --claim policy --format json
  lockedroom gate --baseline runs/judged/baseline \\
    --candidate runs/judged/candidate --judge-audit runs/audit
  lockedroom gate --baseline runs/old --candidate runs/new --verified`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Compares two runs of the same examples and scorer. Promotes an improvement: exactly one thing may have changed, and the difference must be significant. With --margin, passes what is not worse, whatever changed.",
    )
    .requiredOption("--baseline <run>", "run of the current policy")
    .requiredOption("--candidate <run>", "run to compare with it")
    .option("--min-delta <x>", "smallest improvement to promote", fromZero, 0)
    .option(
      "--alpha <a>",
      "two-sided significance level; at most half of this is the false-promotion rate",
      numberIn(1e-9, LARGEST_ALPHA, `above 0 and at most ${LARGEST_ALPHA}`),
      0.05,
    )
    .addOption(
      new Option(
        "--claim <claim>",
        "reject unless exactly this changed; no-regression: any change, named",
      ).choices([...Object.keys(KNOBS), NO_REGRESSION]),
    )
    .option("--margin <x>", "no regression: the loss to rule out", margin)
    .option("--slice <field>", "compare each value of this field apart; a worse one rejects")
    .option("--slice-margin <x>", "the loss to rule out in every slice", margin)
    .option(
      "--axis-margin <[axis=]x>",
      `the loss to rule out on every axis, or on one; repeatable (default: ${DEFAULT_AXIS_MARGIN}, or 2 % of a smaller range)`,
      axisMargins,
    )
    .option(
      "--reward-range <low,high>",
      "minimum and maximum reward, where the scorer exports no `range` or one too narrow",
      twoNumbers,
    )
    .option("--allow-dev", "compare on validation data of a training; the report says so")
    .option(
      "--allow-unknown-history",
      "take --claim policy from a checkpoint without history; the report says so",
    )
    .option(
      "--judge-audit <folder>",
      "of judged runs: an audit of their judge; without one nothing is promoted",
    )
    .option("--verified", "first make both runs again: data, scores and samples")
    .addOption(VERIFY_ONLY)
    .option("--verify-sample <n>", "of --verified: sample only n rows again", wholeNumber(1))
    .option("--verify-from <folder>", "of --verified: also look below this folder")
    .option("--require-seal <key>", "refuse runs without a seal of this public key")
    .option("--report <file>", "also write the report as JSON to this file")
    .addOption(
      new Option("--format <format>", "output format").choices(Object.keys(PRINT)).default("text"),
    )
    .option("--cases", "of --format junit: also a test case for each example")
    .action(async (flags: Flags) => {
      if (flags.cases && flags.format !== "junit")
        throw usageError("--cases is for --format junit", "Add --format junit, or leave it out.");
      const { axisMargin, ...rest } = flags;
      const cases = flags.cases && new ExampleCases();
      const further = furtherChecks(flags);
      const report = await gate({ ...rest, ...axisMargin, further, onPair: cases?.add });
      if (flags.report !== undefined) {
        await writeWhole(flags.report, `${printableJson(report, 2)}\n`);
      }
      out(PRINT[flags.format](report, cases).trimEnd());
      const summaryFile = process.env.GITHUB_STEP_SUMMARY;
      if (summaryFile) appendSummary(summaryFile, report);
      exit(report.exit_code);
    });
}

function twoNumbers(text: string): [number, number] {
  const [low, high, ...more] = text.split(",").map(finiteNumber);
  if (low !== undefined && high !== undefined && low < high && more.length === 0)
    return [low, high];
  throw new InvalidArgumentError("It must be two numbers, the lower first, such as 0,1.");
}

const margin = numberIn(Number.MIN_VALUE, Number.MAX_VALUE, "a number above 0");

const PRINT: Record<Format, (report: GateReport, cases?: ExampleCases) => string> = {
  text: (report) => gateText(report),
  json: (report) => printableJson(report, 2),
  markdown: (report) => gateMarkdown(report),
  junit: gateJunit,
};

function appendSummary(file: string, report: GateReport): void {
  try {
    appendFileSync(file, `${gateMarkdown(report)}\n`);
  } catch (error) {
    throw ioError(`append to GITHUB_STEP_SUMMARY (${file})`, error);
  }
}

const COLOUR = { PROMOTE: "green", PASS: "green", REJECT: "red", INCONCLUSIVE: "yellow" } as const;

export function gateText(report: GateReport): string {
  const verdict = paint(["bold", COLOUR[report.decision]], report.decision);
  return [
    `${verdict}${report.comparable ? "" : "  the runs are not comparable"}`,
    "",
    side("baseline ", report.baseline, isGraded(report)),
    side("candidate", report.candidate, isGraded(report)),
    ...measurement(report),
    ...conditionLines(report).map((line) => wrap(line, "  ")),
    ...checkedLines(report).map((line) => hanging("  ", line)),
    ...sliceLines(report),
    ...axisLines(report),
    "",
    `${report.changed ? "Changed" : "Knob changed"}: ${changedText(report)}`,
    "",
    ...report.reasons.flatMap(reasonLines),
    ...report.notes.map((note) => wrap(`Note: ${note}`)),
    ...flipLines(report),
  ].join("\n");
}

function side(
  label: string,
  { run, pass_rate: rate, mean_reward: mean, n_scored: scored }: GateReport["baseline"],
  graded: boolean,
): string {
  const shown = graded ? `mean reward ${mean?.toFixed(4)}` : `pass rate ${rate?.toFixed(4)}`;
  const figure = rate === null ? "nothing scored" : `${shown} of ${scored}`;
  return `  ${label}  ${figure}  ${visible(run)}`;
}

/** A table of the slices, 80 columns wide. */
function sliceLines({ slices }: GateReport): string[] {
  if (!slices) return [];
  const unit = slices.values.some(({ prompts }) => prompts !== undefined) ? "prompts" : "rows";
  return [
    "",
    wrap(sliceCaption(slices), "  "),
    `  ${visibleShort(slices.field, 15).padEnd(16)}${unit.padStart(7)}  before   after   change  p (Holm)`,
    ...slices.values.map((one) =>
      [
        `  ${visibleShort(one.value, 16).padEnd(16)} ${String(one.prompts ?? one.n).padStart(6)}`,
        ...partCells(one),
      ].join(" "),
    ),
  ];
}

function measurement(report: GateReport): string[] {
  const { delta, ci, p_value: p, test, alpha, seeds_tried: seeds } = report;
  const mde = report.minimum_detectable_effect;
  if (delta === null || ci === null || p === null || test === null || isUnchanged(report))
    return [];
  // With a margin there are two tests.
  const asks = report.margin === undefined ? "" : " for no difference";
  return [
    `  difference ${signed(delta)}  ${intervalName(ci.confidence)} ${signed(ci.low)} to ${signed(ci.high)}`,
    `  ${pText(p, 3)}${asks} (${TEST_NAMES[test]})`,
    `  minimum detectable effect: ${mde === null ? NO_EFFECT : `${effectText(mde)} (80 % power, α ${seeds ? shownLevel(seeds.level) : alpha})`}`,
  ];
}

function reasonLines(reason: Reason): string[] {
  const { code, message, baseline, candidate } = reason;
  const values = hasValues(reason)
    ? [
        wrap(`baseline   ${showValue(baseline)}`, "    "),
        wrap(`candidate  ${showValue(candidate)}`, "    "),
      ]
    : [];
  return [paint("bold", code), wrap(message, "    "), ...values, ""];
}

function flipLines({ flips }: GateReport): string[] {
  if (!flips || flips.gained + flips.lost === 0) return [];
  const shown = flips.first.slice(0, 6);
  const more = flips.gained + flips.lost - shown.length;
  return [
    `Flips: ${flips.gained} gained, ${flips.lost} lost`,
    ...shown.map(
      (f) =>
        `  ${f.change > 0 ? "+" : "-"} ${visible(f.id)}  ${visible(f.baseline)} → ${visible(f.candidate)}`,
    ),
    ...(more > 0
      ? [`  … ${more} more: add --report verdict.json, then report --verdict verdict.json`]
      : []),
  ];
}
