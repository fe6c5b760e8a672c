/** `lockedroom pairs` */

import { type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import { visibleShort } from "../../core/visible.ts";
import { PAIR_RULES, type PairRule } from "../../loops/preference-choice.ts";
import { type FinishedPairs, makePairs } from "../../loops/preference-pairs.ts";
import type { PairsSummary, WithoutPair } from "../../runs/preference-schemas.ts";
import { DEFAULT_TIMEOUT_MS } from "../../scorers/open.ts";
import { explained } from "../data-kind.ts";
import { CONCURRENCY, milliseconds, numberIn, SCORER_HELP, wholeNumber } from "../options.ts";
import { commandLines, out, paint, percent, program, wrap } from "../terminal.ts";
import { type ScoringFlags, withScoring } from "../with-scoring.ts";

interface Flags extends ScoringFlags {
  readonly dataset: string;
  readonly rollouts: string;
  readonly outdir: string;
  readonly by: PairRule;
  readonly margin: number;
  readonly lengthMatched?: number;
  readonly perPrompt?: number;
  readonly force?: boolean;
}

/** Of --by all, unless told: more of one prompt drown the others. */
const PER_PROMPT = 8;
/** Lengths further apart than this are said to be. */
const TOLERANCE = 0.2;

export function define(command: Command): Command {
  return command
    .description(
      "Scores a pack of samples and makes preference data of it: pairs of a better and\na worse completion for dpo, ipo and orpo, labels good and bad for kto.",
    )
    .requiredOption("--dataset <file>", "examples, JSONL: id, prompt, expected_answer")
    .requiredOption("--rollouts <file>", "packs of samples, JSONL: id, samples")
    .requiredOption("--outdir <folder>", "where the pairs are written; new or empty")
    .option("--scorer <name|file>", SCORER_HELP)
    .addOption(
      new Option("--by <rule>", "which pairs; see below").choices(PAIR_RULES).default("best-worst"),
    )
    .option(
      "--margin <x>",
      "least difference of rewards; 0 for any",
      numberIn(0, Number.MAX_VALUE, "a number from 0 up"),
      0,
    )
    .addOption(
      new Option("--length-matched [share]", "pair only lengths that differ by at most this\nshare")
        .preset(String(TOLERANCE))
        .argParser(numberIn(0, 1, "a share from 0 to 1")),
    )
    .option(
      "--per-prompt <n>",
      `with --by all: most pairs of a prompt (default: ${PER_PROMPT})`,
      wholeNumber(1, 1_000_000),
    )
    .option("--jobs <n>", "threads for scoring; the results are the same", wholeNumber(1, 64), 1)
    .addOption(CONCURRENCY)
    .option(
      "--scorer-timeout <ms>",
      "limit for scoring one sample",
      milliseconds,
      DEFAULT_TIMEOUT_MS,
    )
    .option("--force", "replace finished pairs in --outdir")
    .option("--quiet", "print nothing but errors")
    .addHelpText(
      "after",
      `
The pack is what \`rollout\` with --n 2 or more writes. Equal texts count once.
  best-worst   the best against the worst of a prompt
  all          every better one against every worse one, widest apart first
  first        the first two that differ, in the order of drawing
Of equal rewards the sample that was drawn first is taken. Lengths are tokens
where the pack says how many, otherwise characters.

Examples:
  lockedroom pairs --dataset data/datasets/math_train.jsonl \\
    --rollouts runs/samples/samples.jsonl --outdir runs/pairs
  lockedroom pairs --dataset d.jsonl --rollouts samples.jsonl --by all \\
    --per-prompt 4 --margin 0.5 --length-matched 0.1 --outdir runs/pairs`,
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { by, margin, lengthMatched, perPrompt, dataset, rollouts } = flags;
  if (perPrompt !== undefined && by !== "all") {
    throw usageError(`--by ${by} makes one pair of a prompt`, "Leave --per-prompt out.");
  }
  const made = await withScoring(flags, "Scoring", [dataset, rollouts], (scorer, onBytes) =>
    makePairs({
      ...{ dataset, rollouts, outdir: flags.outdir, force: flags.force },
      ...{ by, margin, scorer, onBytes },
      lengthTolerance: lengthMatched ?? null,
      perPrompt: perPrompt ?? PER_PROMPT,
    }),
  ).catch((error) => {
    const again = "Sample with rollout --n 2 or more.";
    throw explained(error, {
      ...{ file: rollouts, wanted: "packs", who: "pairs compares" },
      instead: { completions: again, texts: again },
    });
  });
  if (!flags.quiet) printPairs(made);
}

const WHY: Record<WithoutPair, string> = {
  no_samples: "there are no samples of it",
  scorer_error: "the scorer broke on a sample",
  invalid_example: "the example is invalid for the scorer",
  all_passed: "all rewards are equal: all passed",
  all_failed: "all rewards are equal: all failed",
  below_margin: "no difference reaches the margin",
  no_length_match: "no two lengths are alike",
};

function printPairs({ dir, pairs, manifest, summary }: FinishedPairs): void {
  const { n_prompts: prompts, n_pairs: count, n_eligible: eligible } = summary;
  const { name, version } = summary.scorer;
  out(wrap(`Scored ${summary.n_samples} samples of ${prompts} prompts with ${name} ${version}.`));
  for (const warning of warnings(summary)) out(paint("yellow", wrap(`! ${warning}`, "  ")));
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
  out(wrap(`Pairs written to ${dir}`));
  if (count === 0) {
    out("Next: sample again, with a larger --n of rollout or another temperature.");
    return;
  }
  const next = ["--init CHECKPOINT", "--steps 100", `--dataset ${pairs}`, `--outdir ${dir}-dpo`];
  out(commandLines(`Next: ${program()} train dpo`, next));
}

function printWithout({ n_prompts, n_without_pair, without_pair }: PairsSummary): void {
  if (n_without_pair === 0) {
    out("Every prompt gave a pair.\n");
    return;
  }
  out(`No pair came of ${n_without_pair} prompts, ${percent(n_without_pair / n_prompts)} of all:`);
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
      `The scorer broke on ${broken} samples. They are neither paired nor labelled: a broken scorer is never a zero. See why with selection-demo and inspect-run.`,
    );
  }
  if (without.no_samples > 0) lines.push(`Prompts without a sample: ${without.no_samples}.`);
  if (without.invalid_example > 0) {
    lines.push(
      `Examples that are invalid for the scorer: ${without.invalid_example}. It is a fault of the data or of the choice of scorer; their samples are neither paired nor labelled.`,
    );
  }
  if (unknown.count > 0) {
    const some = unknown.first_ids.map((id) => visibleShort(id, 40)).join(", ");
    lines.push(`Packs that name no example of the data set: ${unknown.count} (${some}).`);
  }
  const { chosen, rejected } = summary.mean_tokens ??
    summary.mean_characters ?? { chosen: 0, rejected: 0 };
  if (Math.abs(chosen - rejected) > TOLERANCE * Math.max(chosen, rejected)) {
    lines.push(
      `The chosen ones are ${chosen > rejected ? "longer" : "shorter"} by far, so that a policy may learn length. --length-matched pairs like with like.`,
    );
  }
  return lines;
}
