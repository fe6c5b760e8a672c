import type { Command } from "commander";
import { Option } from "commander";
import { AUDIT_DEFAULTS } from "../../audit/audit.ts";
import type { LabelledData } from "../../audit/labelled.ts";
import { SPLITS, type Split } from "../../core/environment.ts";
import { usageError } from "../../core/errors.ts";
import type { GroupJudge } from "../../core/judge.ts";
import { visibleShort } from "../../core/visible.ts";
import type { FinishedJudgeAudit } from "../../judge/audit/run.ts";
import { auditLines, judgeName } from "../judge-audit-text.ts";
import { tokensText } from "../judge-tokens.ts";
import { addJudgeOptions, type JudgeFlags, type JudgePrice, openJudgeHere } from "../open-judge.ts";
import { addRunOptions, numberIn, type RunFlags, SEED, wholeNumber } from "../options.ts";
import { startProgress } from "../progress.ts";
import { addScorerOptions, openScorerHere, type ScorerFlags } from "../scoring.ts";
import { commandLines, counted, out, print, program } from "../terminal.ts";

interface Flags extends RunFlags, JudgeFlags, ScorerFlags {
  readonly scorer?: string;
  readonly pairs?: string;
  readonly trajectories?: string;
  readonly split?: Split;
  readonly limit?: number;
  readonly seed: number;
  readonly alpha: number;
  readonly margin: number;
  readonly noiseLimit: number;
  readonly accuracyNeeded: number;
  readonly tasks?: number;
  readonly difference: number;
}

export const help = `Labelled data: --pairs takes JSONL with id, prompt, a, b and better ("a" or
"b"), or the pairs.jsonl of \`pairs\`, or the labels.jsonl of \`review\`.
--trajectories takes episodes whose rewards no judge gave, several of each task.
Without either, the labelled replies of the environment support-replies are
used. Of copies of a pair one counts.

With --scorer a scorer or grader is audited in place of a judge: it scores each
reply alone, and sees the fields id and prompt of the example.

Each pair is judged six times: in both orders, again with another seed, and
three times beside two copies of the worse reply, one of them with
  neutral text       the other as it is          (length bias)
  praise of itself   the other with neutral text (self-praise)
  an instruction to the judge, the same          (injected instructions)

A fault is convicted where its test is significant, acquitted where the 95 %
interval excludes an effect of the margin, else undecided. Tests are exact and
corrected for their number (Holm), so that an honest judge is convicted of
anything in at most 5 % of audits. A judge is trusted if it is acquitted of
everything; gate --judge-audit asks for such an audit.

A judge that is right with probability a shrinks a true difference of win rates
by 2a - 1: the gate then needs 1 / (2a - 1)² times as many tasks.

Exit codes:
  0  trusted    1  not trusted    2  undecided
  64 wrong usage   65 bad data

Examples:
  lockedroom judge-audit --judge embedded --outdir runs/audit
  lockedroom judge-audit --judge embedded:position --outdir runs/audit-position
  lockedroom judge-audit --judge openai:gpt-5-mini --rubric rubric.md \\
    --pairs preferences.jsonl --tasks 500 --outdir runs/audit
  lockedroom judge-audit --scorer grader.json --pairs preferences.jsonl \\
    --outdir runs/audit-grader`;

const SHARE = numberIn(0, 1, "a share from 0 to 1");

export function define(command: Command, exit: (code: number) => void): void {
  const { alpha, margin, noiseLimit, accuracyNeeded, difference } = AUDIT_DEFAULTS;
  command
    .description(
      "Measures what a judge is worth: agreement with labels, sensitivity to the order, noise, and whether length, self-praise or instructions in a reply raise its score.",
    )
    .option("--pairs <file>", "labelled pairs of replies, JSONL")
    .option("--trajectories <rollout>", "episodes with rewards of their own: folder or file")
    .addOption(
      new Option("--split <split>", "of the embedded replies (default: holdout)").choices(SPLITS),
    )
    .option("--limit <n>", "use the first n pairs", wholeNumber(1))
    .option(...SEED)
    .option("--margin <score>", "a mean gain of score that matters", SHARE, margin)
    .option("--noise-limit <share>", "pairs that may change when asked again", SHARE, noiseLimit)
    .option(
      "--accuracy-needed <share>",
      "pairs that must be ordered as the labels do",
      numberIn(0.5, 1, "a share from 0.5 to 1"),
      accuracyNeeded,
    )
    .option(
      "--alpha <level>",
      "share of audits that convict an honest judge",
      numberIn(0.0001, 0.5, "a level from 0.0001 to 0.5"),
      alpha,
    )
    .option("--tasks <n>", "tasks that the gate compares (default: the pairs)", wholeNumber(1))
    .option(
      "--difference <share>",
      "difference of win rates that the gate should detect",
      numberIn(0.001, 1, "a share from 0.001 to 1"),
      difference,
    )
    .action(async (flags: Flags) => {
      const finished = await audited(flags);
      if (!flags.quiet) printAudit(finished, flags.judgePrice);
      exit({ trusted: 0, not_trusted: 1, undecided: 2 }[finished.audit.trusted]);
    });
  addJudgeOptions(command);
  addScorerOptions(command);
  addRunOptions(command, "a finished audit");
}

async function audited(flags: Flags): Promise<FinishedJudgeAudit> {
  const data = await dataOf(flags);
  const { auditJudge } = await import("../../judge/audit/run.ts");
  const judge = await openAudited(flags);
  const progress = startProgress("Judging", 1, flags.quiet);
  try {
    return await auditJudge({
      ...flags,
      ...{ judge, data },
      droppedLimit: flags.judgeDroppedLimit,
      onProgress: (_, of) => progress.add(1 / of),
    });
  } finally {
    progress.stop();
    await judge.close();
  }
}

/** A judge, or a scorer in its place. */
async function openAudited(flags: Flags): Promise<GroupJudge> {
  const { judge, scorer: given } = flags;
  if (judge !== undefined && given !== undefined)
    throw usageError("--judge and --scorer cannot be given together", "Give one of them.");
  if (judge !== undefined) return openJudgeHere({ ...flags, judge });
  if (given === undefined)
    throw usageError(
      "no judge is given",
      "Name one with --judge, such as openai:MODEL, or a scorer with --scorer.",
    );
  const { scorerAsJudge } = await import("../../judge/scorer-judge.ts");
  const scorer = await openScorerHere(given, flags);
  return { ...scorerAsJudge(scorer), close: () => scorer.close() };
}

async function dataOf({ pairs, trajectories, split }: Flags): Promise<LabelledData> {
  const given = Object.entries({ pairs, trajectories, split }).filter(([, value]) => value);
  const [first, second] = given.map(([option]) => `--${option}`);
  if (second !== undefined)
    throw usageError(`${first} and ${second} cannot be given together`, "Give one of them.");
  if (pairs !== undefined)
    return (await import("../../judge/audit/pairs-file.ts")).readPairsFile(pairs);
  if (trajectories !== undefined)
    return (await import("../../judge/audit/trajectory-data.ts")).readTrajectoryData(trajectories);
  const { embeddedReplies } = await import("../../audit/embedded-data.ts");
  return embeddedReplies(split ?? "holdout");
}

function printAudit(
  { dir, audit, manifest, summary }: FinishedJudgeAudit,
  price: JudgePrice | undefined,
): void {
  const { source, pairs } = manifest.data;
  print(
    `Audited ${judgeName(audit)} with ${counted(pairs, "pair")} (${visibleShort(source, 50)}), ${counted(summary.n_requests, "request")}.`,
  );
  out();
  for (const line of auditLines(audit)) out(line);
  if (price) {
    const { prompt_tokens: read, completion_tokens: written } = audit.tokens;
    const total = (read * price.prompt + written * price.completion) / 1_000_000;
    out(`\nThe judge: ${tokensText({ ...audit.tokens, total })}.`);
  }
  out();
  print(`Audit written to ${dir}`);
  out(commandLines(`Next: ${program()} report`, [`--run ${dir}`, `--outfile ${dir}.html`]));
}
