/** `lockedroom validate-scorer` */

import type { Command } from "commander";
import { visibleShort } from "../../core/visible.ts";
import { type GoldenReport, validateScorer } from "../../loops/validate.ts";
import { DEFAULT_SCORER } from "../../scorers/load.ts";
import { DEFAULT_TIMEOUT_MS, openScoring } from "../../scorers/scoring.ts";
import { wholeNumber } from "../options.ts";
import { out, paint, wrap } from "../terminal.ts";

interface Flags {
  readonly dataset: string;
  readonly golden: string;
  readonly scorer: string;
  readonly scorerTimeout: number;
  readonly quiet?: boolean;
}

export function define(command: Command, exit: (code: number) => void): Command {
  return command
    .description(
      "Scores golden rows, whose reward is settled in advance, and probes the scorer\nfor totality and determinism. Exit code 1 if anything disagrees.",
    )
    .requiredOption("--dataset <file>", "the examples that golden rows name")
    .requiredOption("--golden <file>", "JSONL: id, completion, expected_reward, note")
    .option("--scorer <name|file>", "a built-in, or a .ts or .js file", DEFAULT_SCORER)
    .option(
      "--scorer-timeout <ms>",
      "limit for scoring one row",
      wholeNumber(1),
      DEFAULT_TIMEOUT_MS,
    )
    .option("--quiet", "print only what disagrees")
    .addHelpText(
      "after",
      `
Examples:
  lockedroom validate-scorer --dataset data/datasets/math_dev.jsonl \\
    --golden data/golden/golden_exploits.jsonl
  lockedroom validate-scorer --dataset d.jsonl --golden g.jsonl --scorer mine.ts`,
    )
    .action(async (flags: Flags) => {
      const scoring = await openScoring(flags.scorer, { timeoutMs: flags.scorerTimeout });
      try {
        const report = await validateScorer({ ...flags, scoring });
        printReport(
          report,
          `${scoring.identity.name} ${scoring.identity.version}`,
          flags.quiet ?? false,
        );
        exit(report.valid ? 0 : 1);
      } finally {
        await scoring.close();
      }
    });
}

function printReport(report: GoldenReport, scorer: string, quiet: boolean): void {
  const width = Math.max(8, ...report.rows.map(({ golden }) => golden.id.length));
  if (!quiet) out(`${"".padEnd(4)} ${"id".padEnd(width)} want  got  completion`);
  for (const { golden, judged, verdict } of report.rows) {
    if (quiet && verdict === "agrees") continue;
    const mark =
      verdict === "agrees"
        ? "ok  "
        : paint(
            "red",
            { false_positive: "FP  ", false_negative: "FN  ", scorer_error: "ERR " }[verdict],
          );
    const got = judged.reward === null ? "–" : String(judged.reward);
    out(
      `${mark} ${golden.id.padEnd(width)} ${String(golden.expected_reward).padStart(4)} ${got.padStart(4)}  ${visibleShort(golden.completion, 62 - width)}`,
    );
    if (verdict !== "agrees")
      out(
        wrap(
          [judged.code, golden.exploit_class, golden.note].filter(Boolean).join(": "),
          "       ",
        ),
      );
  }
  for (const { probe, input, message } of report.probeFailures) {
    out(paint("red", `${probe} probe failed`));
    out(
      wrap(
        `${visibleShort(input.completion, 40)} with expected ${visibleShort(JSON.stringify(input.example.expected_answer) ?? "nothing", 20)}: ${message}`,
        "  ",
      ),
    );
  }
  const { counts } = report;
  out();
  out(`${scorer}: ${counts.agrees} of ${report.rows.length} golden rows agree`);
  out(`  false positives (loopholes)      ${counts.false_positive}`);
  out(`  false negatives (unfair zeros)   ${counts.false_negative}`);
  out(`  scorer errors                    ${counts.scorer_error}`);
  out(`  probes failed                    ${report.probeFailures.length} of ${report.probes}`);
  out(
    report.valid
      ? paint("green", "VALID")
      : paint("red", "NOT VALID: do not trust this scorer's numbers yet."),
  );
}
