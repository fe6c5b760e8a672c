import { type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import { visibleShort } from "../../core/visible.ts";
import { PAIR_RULES, type PairRule } from "../../loops/preference-choice.ts";
import { type FinishedPairs, makePairs } from "../../loops/preference-pairs.ts";
import type { PairsSummary, WithoutPair } from "../../runs/preference-schemas.ts";
import { explained } from "../data-kind.ts";
import { addRunOptions, EXAMPLES, fromZero, numberIn, wholeNumber } from "../options.ts";
import { addScorerOptions, JOBS, type ScoringFlags, withScoring } from "../scoring.ts";
import { commandLines, out, paint, percent, print, program, warning } from "../terminal.ts";

interface Flags extends ScoringFlags {
  readonly rollouts: string;
  readonly by: PairRule;
  readonly margin: number;
  readonly lengthMatched?: number;
  readonly perPrompt?: number;
}

/** Default for --by all, so that single prompts do not dominate. */
const PER_PROMPT = 8;
/** Larger differences of the mean lengths cause a warning. */
const TOLERANCE = 0.2;

export const help = `--rollouts is the samples.jsonl of \`rollout\` with --n 2 or more. Identical texts
count once.
  best-worst   the best and the worst sample of a prompt
  all          all pairs with different rewards, largest difference first
  first        the first two samples with different rewards
Ties go to the earlier sample. Lengths are in tokens where the file states them,
otherwise in characters.

Examples:
  lockedroom pairs --dataset data/datasets/math_train.jsonl \\
    --rollouts runs/samples/samples.jsonl --outdir runs/pairs
  lockedroom pairs --dataset d.jsonl --rollouts samples.jsonl --by all \\
    --per-prompt 4 --margin 0.5 --length-matched 0.1 --outdir runs/pairs`;

export function define(command: Command): void {
  command
    .description(
      "Scores samples and makes preference data: pairs of a chosen and a rejected completion for dpo, ipo and orpo, good and bad labels for kto.",
    )
    .requiredOption(...EXAMPLES)
    .requiredOption("--rollouts <file>", "samples, JSONL: id, samples")
    .addOption(
      new Option("--by <rule>", "which samples to pair (see below)")
        .choices(PAIR_RULES)
        .default("best-worst"),
    )
    .option("--margin <x>", "minimum difference of rewards; 0: any", fromZero, 0)
    .addOption(
      new Option(
        "--length-matched [share]",
        "pair only completions whose lengths differ by at most this share",
      )
        .preset(String(TOLERANCE))
        .argParser(numberIn(0, 1, "a share from 0 to 1")),
    )
    .option(
      "--per-prompt <n>",
      `with --by all: maximum pairs per prompt (default: ${PER_PROMPT})`,
      wholeNumber(1, 1_000_000),
    )
    .addOption(JOBS)
    .action(run);
  addScorerOptions(command);
  addRunOptions(command, "finished pairs");
}

async function run(flags: Flags): Promise<void> {
  const { by, lengthMatched, perPrompt, rollouts } = flags;
  if (perPrompt !== undefined && by !== "all") {
    throw usageError(
      `--per-prompt has no effect with --by ${by}, which makes one pair per prompt`,
      "Leave --per-prompt out.",
    );
  }
  const made = await withScoring(flags, rollouts, (scorer, onBytes) =>
    makePairs({
      ...{ ...flags, scorer, onBytes },
      lengthTolerance: lengthMatched ?? null,
      perPrompt: perPrompt ?? PER_PROMPT,
    }),
  ).catch((error) => {
    const again = "Sample with rollout --n 2 or more.";
    throw explained(error, {
      ...{ file: rollouts, wanted: "packs", who: "pairs reads" },
      instead: { completions: again, texts: again },
    });
  });
  if (!flags.quiet) printPairs(made);
}

const WHY: Record<WithoutPair, string> = {
  no_samples: "no samples",
  scorer_error: "the scorer failed on a sample",
  invalid_example: "the example is invalid for the scorer",
  all_passed: "all rewards are equal: all passed",
  all_failed: "all rewards are equal: all failed",
  below_margin: "no difference reaches --margin",
  no_length_match: "no pair of similar lengths",
};

function printPairs({ dir, pairs, manifest, summary }: FinishedPairs): void {
  const { n_prompts: prompts, n_pairs: count, n_eligible: eligible } = summary;
  const { name, version } = summary.scorer;
  print(`Scored ${summary.n_samples} samples of ${prompts} prompts with ${name} ${version}.`);
  for (const text of warnings(summary)) out(warning(text));
  out();
  const { by } = manifest.settings;
  const some = by === "all" && eligible > count ? ` of ${eligible}` : "";
  out(
    `  pairs   ${paint("bold", `${count}`)}${some} from ${summary.n_with_pair} prompts, by ${by}`,
  );
  out(`  labels  ${summary.n_labels}: ${summary.n_good} good, ${summary.n_bad} bad`);
  const { mean_tokens: tokens, mean_characters: characters } = summary;
  const lengths = tokens ?? characters;
  if (lengths) {
    const [chosen, rejected] = [lengths.chosen.toFixed(1), lengths.rejected.toFixed(1)];
    out(
      `  length  ${chosen} chosen, ${rejected} rejected; mean ${tokens ? "tokens" : "characters"}`,
    );
  }
  out();
  printWithout(summary);
  print(`Preference pairs written to ${dir}`);
  if (count === 0) {
    out("Next: sample again with a larger rollout --n or another temperature.");
    return;
  }
  const next = ["--init CHECKPOINT", "--steps 100", `--dataset ${pairs}`, `--outdir ${dir}-dpo`];
  out(commandLines(`Next: ${program()} train dpo`, next));
}

function printWithout({ n_prompts, n_without_pair, without_pair }: PairsSummary): void {
  if (n_without_pair === 0) {
    out("Every prompt has a pair.\n");
    return;
  }
  out(`${n_without_pair} prompts (${percent(n_without_pair / n_prompts)}) have no pair:`);
  const reasons = Object.entries(without_pair).filter(([, count]) => count > 0);
  for (const [reason, count] of reasons.sort((a, b) => b[1] - a[1])) {
    const share = percent(count / n_prompts);
    out(`  ${WHY[reason as WithoutPair].padEnd(38)} ${String(count).padStart(8)}  ${share}`);
  }
  out();
}

function warnings(summary: PairsSummary): string[] {
  const { n_scorer_errors: broken, unknown_packs: unknown, without_pair: without } = summary;
  const lines: string[] = [];
  if (broken > 0) {
    lines.push(
      `The scorer failed on ${broken} samples, which are neither paired nor labelled. Find the cause with selection-demo and inspect-run.`,
    );
  }
  if (without.no_samples > 0) lines.push(`Prompts without a sample: ${without.no_samples}.`);
  if (without.invalid_example > 0) {
    lines.push(
      `Examples that are invalid for the scorer: ${without.invalid_example}. Fix the data or choose another scorer; their samples are neither paired nor labelled.`,
    );
  }
  if (unknown.count > 0) {
    const some = unknown.first_ids.map((id) => visibleShort(id, 40)).join(", ");
    lines.push(`Samples with an id that is not in the data set: ${unknown.count} (${some}).`);
  }
  const { chosen, rejected } = summary.mean_tokens ??
    summary.mean_characters ?? { chosen: 0, rejected: 0 };
  if (Math.abs(chosen - rejected) > TOLERANCE * Math.max(chosen, rejected)) {
    lines.push(
      `The chosen completions are much ${chosen > rejected ? "longer" : "shorter"} than the rejected ones, so a policy may learn length. Use --length-matched to pair similar lengths.`,
    );
  }
  return lines;
}
