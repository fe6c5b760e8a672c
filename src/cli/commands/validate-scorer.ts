import type { Command } from "commander";
import type { ScorerIdentity } from "../../core/score.ts";
import { columns, visible, visibleShort } from "../../core/visible.ts";
import {
  type GoldenReport,
  type ProbeFailure,
  probeCounts,
  validateScorer,
  validationReport,
} from "../../loops/validate.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { addScorerOptions, openScorerHere, type ScorerFlags } from "../scoring.ts";
import { out, paint, print, printableJson, wrap } from "../terminal.ts";

interface Flags extends ScorerFlags {
  readonly dataset: string;
  readonly golden: string;
  readonly scorer?: string;
  readonly report?: string;
  readonly quiet?: boolean;
}

export const help = `Examples:
  lockedroom validate-scorer --dataset data/datasets/math_dev.jsonl \\
    --golden data/golden/golden_exploits.jsonl
  lockedroom validate-scorer --dataset d.jsonl --golden g.jsonl --scorer mine.ts`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Scores golden rows with known rewards, and checks that the scorer accepts any input and is deterministic. Exit code 1 if anything fails.",
    )
    .requiredOption("--dataset <file>", "examples of the golden rows, JSONL")
    .requiredOption("--golden <file>", "JSONL: id, completion, expected_reward, note")
    .option("--report <file>", "also write the report as JSON to this file")
    .option("--quiet", "print only failures")
    .action(async (flags: Flags) => {
      const scorer = await openScorerHere(flags.scorer, flags);
      try {
        const report = await validateScorer({ ...flags, scorer });
        if (flags.report !== undefined) {
          const found = validationReport(report, scorer.identity);
          await writeWhole(flags.report, `${printableJson(found, 2)}\n`);
        }
        printReport(report, scorer.identity, flags.quiet ?? false);
        exit(report.valid ? 0 : 1);
      } finally {
        await scorer.close();
      }
    });
  addScorerOptions(command);
}

type Row = GoldenReport["rows"][number];

function printReport(report: GoldenReport, scorer: ScorerIdentity, quiet: boolean): void {
  const longest = Math.max(8, ...report.rows.map(({ golden }) => columns(visible(golden.id))));
  const width = Math.min(24, longest);
  if (!quiet) out(`     ${"id".padEnd(width)} want  got  completion`);
  for (const row of report.rows) {
    if (!quiet || row.verdict !== "agrees") printRow(row, width);
  }
  for (const failures of alike(report.probeFailures)) printFailures(failures);
  for (const line of remedies(report.probeFailures)) out(line);
  const { counts } = report;
  out();
  out(
    `${scorer.name} ${scorer.version}: ${counts.agrees} of ${report.rows.length} golden rows agree`,
  );
  out(`  false positives (exploits)       ${counts.false_positive}`);
  out(`  false negatives                  ${counts.false_negative}`);
  out(`  scorer errors on golden rows     ${counts.scorer_error}`);
  printProbes("errors on odd completions       ", probeCounts(report, "completion"));
  printProbes("errors on odd example fields    ", probeCounts(report, "example_field"));
  printProbes("other answer on a second call   ", probeCounts(report, "determinism"));
  out(
    report.valid
      ? paint("green", "VALID")
      : paint("red", "NOT VALID: fix the scorer before you use its scores."),
  );
}

/** The code that is missing, to copy. */
export function remedies(failures: readonly ProbeFailure[]): string[] {
  const places = failures.filter(({ probe }) => probe !== "determinism");
  if (places.length === 0) return [];
  const field = places.find(({ probe }) => probe === "example_field")?.field;
  const lines = [
    "",
    wrap(
      "A scorer must return a result for every JSON value, as completion and in every field of the example, and must not throw. Begin score with checks such as these:",
    ),
  ];
  if (places.some(({ probe }) => probe === "completion"))
    lines.push(
      '  if (typeof completion !== "string")',
      '    return { reward: 0, code: "not_text", details: {} };',
    );
  if (field !== undefined)
    lines.push(
      `  if (typeof ${access(field)} !== "string") // or the type that you expect`,
      '    return { reward: 0, code: "invalid_example", details: {} };',
      wrap("A row with the code invalid_example has no reward, and the gate refuses the run."),
    );
  return lines;
}

/** The field in code; names are those of the data, so that any character may be in them. */
function access(field: string): string {
  const shown = visibleShort(field, 30);
  return /^[A-Za-z_$][\w$]*$/.test(shown)
    ? `example.${shown}`
    : `example[${JSON.stringify(shown)}]`;
}

type Tally = ReturnType<typeof probeCounts>;

const printProbes = (label: string, { tried, failed }: Tally) =>
  out(`  ${label} ${failed} of ${tried}`);

/** Failures of one kind in one place with one message, in the order in which they came. */
function alike(failures: readonly ProbeFailure[]): ProbeFailure[][] {
  const groups = new Map<string, ProbeFailure[]>();
  for (const failure of failures) {
    const key = JSON.stringify([failure.probe, failure.field, failure.message]);
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()];
}

const PLACES = {
  completion: "completion",
  example_field: "example field",
  determinism: "golden row",
} as const;
const SHOWN_VALUES = 4;

function printFailures(failures: readonly ProbeFailure[]): void {
  const [{ probe, field = "", message }] = failures as [ProbeFailure];
  const values = failures.slice(0, SHOWN_VALUES).map(({ value }) => visibleShort(value, 34));
  const rest = failures.length - values.length;
  const place = `${PLACES[probe]}${field === "" ? "" : ` ${visibleShort(field, 40)}`}`;
  out(paint("red", `ERR  ${place}`));
  print(`${values.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`, "     ");
  print(visibleShort(message, 200), "     ");
}

const MARKS = {
  agrees: "ok ",
  false_positive: "FP ",
  false_negative: "FN ",
  scorer_error: "ERR",
} as const;

function printRow({ golden, score, verdict }: Row, width: number): void {
  const agrees = verdict === "agrees";
  const mark = agrees ? MARKS[verdict] : paint("red", MARKS[verdict]);
  const rewards = [golden.expected_reward, score.reward ?? "–"]
    .map((reward) => String(reward).padStart(4))
    .join(" ");
  const id = visibleShort(golden.id, width);
  out(
    `${mark}  ${id}${" ".repeat(Math.max(0, width - columns(id)))} ${rewards}  ${visibleShort(golden.completion, 62 - width)}`,
  );
  if (agrees) return;
  const why = [score.code, golden.exploit_class, golden.note].filter(
    (text) => text !== undefined && text !== "",
  );
  print(visibleShort(why.join(": "), 300), "       ");
}
