import type { Command } from "commander";
import { visible, visibleShort } from "../../core/visible.ts";
import { experimentSource } from "../../learn/tabular/registry.ts";
import { conversationOf } from "../../report/conversation.ts";
import {
  findRows,
  type InspectOptions,
  inspectRun,
  type OutcomeGroup,
} from "../../report/inspect.ts";
import { reasonOf } from "../../report/reason.ts";
import { sliceRates } from "../../report/scored/row-slices.ts";
import { instrumentWord, MEASURED_BY } from "../../runs/instrument-word.ts";
import { openRun, type Run } from "../../runs/reader.ts";
import { hasTrajectories } from "../../runs/recorded-episodes.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { warnings } from "../../runs/summary-text.ts";
import { readVerification, verificationLine } from "../../runs/verification.ts";
import { codeOf, currentCode } from "../../scorers/load.ts";
import { axisTable } from "../axis-text.ts";
import { printEpisodeTable } from "../episode-text.ts";
import { failureLines } from "../failure-text.ts";
import { inspectRollout, printConversations, printListed } from "../inspect-episodes.ts";
import { wholeNumber } from "../options.ts";
import { promptShortener } from "../prompt-text.ts";
import { sliceTable } from "../slice-text.ts";
import { bar, counted, out, paint, percent, print, warning, wrap } from "../terminal.ts";

const warn = (text: string) => out(warning(text, ""));

interface Flags extends InspectOptions {
  readonly run: string;
  readonly id?: string;
  readonly slice?: string;
  readonly failures?: boolean;
}

export const help = `--slice takes a field of the data set, such as metadata.topic. A field that the
run was not evaluated with is read from the data set, which must be unchanged.

Of episodes the conversations are shown, shortened; --id shows those of a task
as a whole. The folder of rollout --env can be inspected before it is evaluated.

Examples:
  lockedroom inspect-run --run runs/first --only-fails --top-k 5 --show 2
  lockedroom inspect-run --run runs/first --slice metadata.topic --show 0
  lockedroom inspect-run --run runs/first --id dev-0003
  lockedroom inspect-run --run runs/games --id 2048-dev-0`;

export function define(command: Command): void {
  command
    .description(
      "Shows the rows of a run by outcome code, with examples and reasons. Invisible and lookalike characters are shown as ⟨U+…⟩.",
    )
    .requiredOption("--run <folder>", "run folder")
    .option("--only-fails", "leave out rows that pass")
    .option("--top-k <k>", "show the k most common outcome codes", wholeNumber(1))
    .option("--show <n>", "examples per code", wholeNumber(0), 3)
    .option("--slice <field>", "also show the rates of each value of this field")
    .option("--failures", "also show the table of five failure modes")
    .option("--id <id>", "show the complete row of an example, or all of its samples")
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (hasTrajectories(flags.run)) return inspectRollout(flags);
  const opened = await openRun(flags.run);
  await warnOfChangedCode(opened);
  if (flags.id !== undefined) return showRows(await findRows(opened, flags.id));
  const { groups, hidden, total, intact } = await inspectRun(opened, flags);
  if (!intact)
    warn("The run was edited after it was written: its files do not match their recorded hashes.");
  const { scorer, examples } = opened.manifest;
  const repeats = Number(opened.manifest.settings.repeats) || 1;
  const rows =
    repeats > 1 ? `${examples.count} examples, ${repeats} samples of each` : `${total} rows`;
  const word = instrumentWord(opened.manifest);
  const how = `${word === "scorer" ? "" : "episodes "}${MEASURED_BY[word]}`;
  const head = `${flags.run}: ${rows}, ${how} ${scorer.name} ${scorer.version}`;
  out(word === "judge" ? wrap(head) : head);
  const verified = await readVerification(flags.run);
  if (verified) print(verificationLine(verified));
  if (total !== examples.count * repeats) warn(`The manifest states ${examples.count} examples.`);
  if (flags.slice !== undefined) {
    const rates = await sliceRates(opened, flags.slice);
    for (const line of sliceTable({ [flags.slice]: rates }, { repeats })) out(line);
  }
  if (opened.manifest.environment) printRates(opened);
  for (const line of axisTable(opened.summary)) out(line);
  if (flags.failures) for (const line of await failureLines(opened)) out(line);
  if (groups.length === 0) out(flags.onlyFails ? "\nNo failed rows." : "\nNo rows.");
  const prompts = groups.flatMap((group) => group.rows.map(({ prompt }) => prompt));
  const shorten = promptShortener(prompts, 64);
  const n = Number(opened.manifest.selection?.n ?? Infinity);
  const judged = word === "judge" && opened.manifest.selection === null;
  for (const group of groups)
    showGroup(group, total, classOf(scorer, group.code), { shorten, n, judged });
  if (hidden > 0) out(`\n${hidden} less common codes not shown; use a larger --top-k.`);
}

/** Of episodes: rates as the run states them, and what the environment measured. */
function printRates({ summary }: Run): void {
  const { pass_rate: rate, mean_reward: mean, n_pass: passed, n_scored: scored } = summary.metrics;
  for (const text of warnings(summary)) warn(text);
  out();
  if (rate === null) out("  pass rate    undefined: nothing was scored");
  else {
    out(`  pass rate    ${rate.toFixed(4)}  ${passed} of ${scored}`);
    out(`  mean reward  ${mean?.toFixed(4)}`);
  }
  printEpisodeTable(summary);
}

async function warnOfChangedCode(run: Run): Promise<void> {
  if (!run.manifest.environment) return warnOfChangedScorer(run);
  const { otherEnvironment } = await import("../../gate/replay-rows.ts");
  for (const text of await otherEnvironment(run.manifest)) warn(text);
}

/** Scores of another version of the scorer do not compare with new ones. */
async function warnOfChangedScorer({ manifest: { scorer } }: Run): Promise<void> {
  if (scorer.source === "function_text") return; // An object: there is no file to compare with.
  const current = currentCode(scorer) ?? experimentSource(scorer.name);
  if (current === codeOf(scorer)) return;
  const name = `${scorer.name} ${scorer.version}`;
  warn(
    current === undefined
      ? `This run was scored by ${name} (${scorer.path ?? "built in"}), which no longer exists.`
      : `The code of ${scorer.path ?? scorer.name} changed since this run, so its numbers are not comparable with new ones. Evaluate again.`,
  );
}

/** The kind of failure, where the scorer declared one; runs of earlier releases have none. */
function classOf({ classes = {} }: Run["manifest"]["scorer"], code: string): string {
  return Object.hasOwn(classes, code) ? `  ${visible(classes[code] ?? "")}` : "";
}

interface Shown {
  readonly shorten: (prompt: string) => string;
  /** Samples that were selected from. */
  readonly n: number;
  /** A judge explains each score. */
  readonly judged: boolean;
}

function showGroup(
  { code, count, rows }: OutcomeGroup,
  total: number,
  kind: string,
  { shorten, n, judged }: Shown,
): void {
  out();
  out(
    `${paint("bold", visible(code))}  ${counted(count, "row")}, ${percent(count / total)}  ${bar(count / total)}${kind}`,
  );
  for (const row of rows) {
    const conversation = conversationOf(row);
    if (conversation) {
      printListed(conversation);
      if (judged) print(`judge> ${reasonOf(row, 200)}`, "    ");
      continue;
    }
    out(
      `  ${paint("cyan", visible(row.id))}${row.sample === undefined ? "" : ` sample ${row.sample + 1}`}  reward ${row.reward ?? "none"}, expected ${visibleShort(JSON.stringify(row.expected_answer), 48)}`,
    );
    out(`    prompt      ${shorten(row.prompt)}`);
    out(`    completion  ${shownCompletion(row)}`);
    const selected = selectedText(row, n);
    if (selected) out(`    selected    ${selected}`);
    const reason = reasonOf(row, 200);
    if (reason) print(`reason      ${reason}`, "    ");
  }
}

/** Which of the first n samples was selected; a pack may hold more than n, which were not looked at. */
function selectedText({ selected, baseline, samples }: ResultRow, n: number) {
  if (!selected || !baseline) return undefined;
  const of = `of ${Math.min(n, samples?.length ?? n)}`;
  if (selected.index === 0) return `sample 1 ${of}, the first`;
  return `sample ${selected.index + 1} ${of}; the first was ${baseline.outcome_code}`;
}

/** The rows of one example; the prompt is the same in all. */
function showRows(rows: readonly ResultRow[]): void {
  const conversations = rows.map(conversationOf);
  if (conversations.every((one) => one !== undefined)) {
    printConversations(conversations);
    return;
  }
  for (const [i, { id, prompt, completion, sample, ...rest }] of rows.entries()) {
    const which = sample === undefined ? "" : `sample ${sample + 1} of ${rows.length}  `;
    if (i > 0) out();
    out(
      `${paint("bold", visible(id))}  ${which}${visible(rest.outcome_code)}, reward ${rest.reward ?? "none"}`,
    );
    if (i === 0) out(`\nprompt\n${block(prompt)}`);
    out(`\ncompletion\n${completion === null ? "  (none)" : block(completion)}`);
    out(`\nother fields\n${block(JSON.stringify(rest, null, 2))}`);
  }
}

/** Text with its line breaks, and all other invisible characters made visible. */
function block(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${visible(line)}`)
    .join("\n");
}

function shownCompletion({ completion }: ResultRow): string {
  if (completion === null) return "(none)";
  return completion === "" ? "(empty)" : visibleShort(completion, 64);
}
