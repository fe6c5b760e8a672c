import type { Command } from "commander";
import { dataError } from "../../core/errors.ts";
import { columns, visibleShort } from "../../core/visible.ts";
import { boundaryText, goldenText, summaryText, survivorsText } from "../../harden/files.ts";
import { DEFAULT_INPUTS, harden } from "../../harden/harden.ts";
import { prepareHardenFolder, writeHardenFolder } from "../../runs/harden-folder.ts";
import type { HardenFind, HardenReport } from "../../runs/harden-report.ts";
import { readGiven } from "../../runs/whole-file.ts";
import { EXAMPLES, numberIn, type RunFlags, repeated, SEED, wholeNumber } from "../options.ts";
import { stagedProgress } from "../progress.ts";
import { addScorerOptions, type ScorerFlags, scorerHere } from "../scoring.ts";
import { counted, out, paint, percent, print, printableJson, warning } from "../terminal.ts";

interface Flags extends ScorerFlags, RunFlags {
  readonly dataset: string;
  readonly scorer?: string;
  readonly golden?: readonly string[];
  readonly seed: number;
  readonly inputs: number;
  readonly seconds?: number;
  readonly strict?: boolean;
  readonly skip?: readonly string[];
  readonly form?: readonly string[];
  readonly relations?: string;
  readonly accept?: string;
}

export const help = `Finds are wrong answers that pass, completions that pass for several answers,
right answers that do not pass, and inputs on which the scorer fails, hangs or
is not deterministic. golden.jsonl has them as golden rows: add the ones that
you accept to your own rows, delete the others. Files in --outdir:
  golden.jsonl     the finds, as small as possible
  boundary.jsonl   edited golden rows whose reward changed, with the new reward
  survivors.jsonl  rows that would notice mutants which no golden row noticed
  summary.md, report.json

With --golden each rule of the scorer is changed, one at a time; the mutation
score is the share of these mutants that the golden rows notice. No mutant may
write a file, use the network or start a program. A comment
"harden: accept" on a line accepts its mutants as equivalent; --accept names a
file with one mutant on each line.

Exit codes:
  0  no finds    1  finds    64 wrong usage    65 bad data

Examples:
  lockedroom harden --dataset data/datasets/math_dev.jsonl \\
    --golden data/golden/golden_correct.jsonl \\
    --golden data/golden/golden_exploits.jsonl --outdir runs/harden
  lockedroom harden --scorer mine.ts --dataset d.jsonl --form 'Answer: {}' \\
    --relations relations.ts --inputs 1000000 --outdir runs/harden`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Attacks a scorer: known tricks, edits of golden rows, a search guided by the coverage of the scorer's code, and mutants of the scorer. The same command gives the same files.",
    )
    .requiredOption(...EXAMPLES)
    .option("--golden <file>", "golden rows, JSONL; can be repeated", repeated)
    .option(
      "--inputs <n>",
      "completions to score, besides coverage, relations, minimising and mutants",
      wholeNumber(100, 1_000_000_000),
      DEFAULT_INPUTS,
    )
    .option(
      "--seconds <s>",
      "stop after so long; the results then depend on the machine",
      numberIn(0.001, 1e6, "a number of seconds"),
    )
    .option("--strict", "right answers in other forms that pass are finds too")
    .option("--skip <class>", "leave an attack class out; can be repeated", repeated)
    .option("--form <text>", "form of an answer, {} in its place; can be repeated", repeated)
    .option("--relations <file>", "file that exports relations: name, transform, expect")
    .option("--accept <file>", "mutants that are equivalent, one on each line")
    .option(...SEED)
    .requiredOption("--outdir <folder>", "output folder; new or empty")
    .option("--force", "overwrite the report in --outdir")
    .option("--quiet", "print only errors")
    .action(async (flags: Flags) => {
      await prepareHardenFolder(flags.outdir, flags.force ?? false);
      const report = await attacked(flags);
      await writeHardenFolder(
        flags.outdir,
        {
          "golden.jsonl": goldenText(report),
          "boundary.jsonl": boundaryText(report),
          "survivors.jsonl": survivorsText(report),
          "summary.md": summaryText(report),
        },
        `${printableJson(report, 2)}\n`,
      );
      if (!flags.quiet) printReport(report, flags.outdir);
      exit(report.finds.length > 0 ? 1 : 0);
    });
  addScorerOptions(command);
}

async function attacked(flags: Flags): Promise<HardenReport> {
  const progress = stagedProgress(flags.quiet);
  try {
    return await harden({
      ...flags,
      scorer: await scorerHere(flags.scorer),
      forms: flags.form,
      timeoutMs: flags.scorerTimeout,
      accept: flags.accept === undefined ? [] : await acceptedIn(flags.accept),
      onProgress: progress.show,
    });
  } finally {
    progress.stop();
  }
}

/** One mutant on each line; what follows it is a note. */
async function acceptedIn(file: string): Promise<string[]> {
  const lines = (await readGiven(file)).split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [mutant = ""] = line.split(/\s/);
      if (/^[0-9a-f]{10}$/.test(mutant)) return mutant;
      throw dataError(
        `${file}: "${visibleShort(mutant, 30)}" is no mutant`,
        "Each line begins with the ten characters by which report.json names a mutant.",
      );
    });
}

const PROBLEMS: Record<HardenFind["problem"], string> = {
  wrong_passes: "a wrong answer passes",
  several_pass: "one completion passes for several answers",
  right_refused: "a right answer does not pass",
  lenient_form: "an undeclared form passes",
  relation_broken: "a declared relation does not hold",
  scorer_error: "the scorer fails",
  timeout: "the scorer runs over its time limit",
  not_deterministic: "the scorer is not deterministic",
};

const SHOWN = 12;

function printReport(report: HardenReport, outdir: string): void {
  const { scorer, inputs, finds, mutation } = report;
  print(
    `Attacked ${scorer.name} ${scorer.version} with ${inputs.counted} inputs, seed ${report.settings.seed}.`,
  );
  printForms(report);
  if (report.stopped === "time")
    out(warning("Stopped by --seconds: another machine may find other things."));
  if (report.stopped === "scorer_hangs")
    out(warning("Stopped early: the scorer ran over its time limit three times."));
  out();
  printStages(report);
  out();
  printFinds(finds);
  printSurvivors(report);
  const lenient = report.classes.filter((one) => one.lenient > 0).map(({ name }) => name);
  if (lenient.length > 0)
    print(`Right answers pass in other forms as well: ${lenient.join(", ")}. See summary.md.`);
  if (report.finds_left_out > 0)
    print(
      `${counted(report.finds_left_out, "kind")} of attack showed more of the same and ${report.finds_left_out === 1 ? "is" : "are"} not listed.`,
    );
  print(`Written to ${outdir}: golden.jsonl, summary.md, report.json and others.`);
  if (!mutation)
    print("The mutation score was not measured: it needs golden rows, given with --golden.");
  out(ending(finds.length, mutation?.survived ?? 0));
}

function ending(finds: number, survived: number): string {
  const survivors = `${counted(survived, "mutant")} ${survived === 1 ? "survives" : "survive"}.`;
  if (finds > 0) {
    const rows = `${counted(finds, "find")}: accept or reject the rows of golden.jsonl.`;
    return paint("red", survived > 0 ? `${rows} ${survivors}` : rows);
  }
  return survived > 0 ? paint("yellow", `No finds; ${survivors}`) : paint("green", "No finds.");
}

function printForms({ forms: [form], forms_not_used }: HardenReport): void {
  if (form) out(`Accepted form: ${visibleShort(`${form.before}{}${form.after}`, 60)}`);
  else
    out(
      warning(
        "No right answer passed in any form that was tried, so little can be found. Name the form with --form or give --golden.",
      ),
    );
  for (const { form, tried } of forms_not_used)
    out(
      warning(
        `Right answers did not pass in --form ${visibleShort(form, 60)}, so it is not used. {} stands for the answer: ${visibleShort(tried, 60)} was tried.`,
      ),
    );
}

const line = (label: string, text: string) => out(`  ${label.padEnd(14)} ${text}`);

/** The lines of both parts add up to the calls of the scorer. */
function printStages({ inputs, classes, edits, edits_left_out, search, ...report }: HardenReport) {
  line("forms", `${inputs.forms}`);
  line("right answers", `${inputs.right_answers}`);
  line("attacks", `${inputs.attacks} in ${classes.length} classes`);
  if (inputs.golden_edits > 0)
    line(
      "golden edits",
      `${inputs.golden_edits}; ${counted(edits.length + edits_left_out, "kind")} changed a reward`,
    );
  const { code_reached: code } = search;
  const reached = code === null ? "no coverage" : `${percent(code)} of the code reached`;
  line("search", `${inputs.search}; ${reached}, ${search.kept} kept`);
  if (inputs.all === inputs.counted) return;
  out("Not counted as inputs:");
  if (inputs.coverage > 0) line("coverage", `${inputs.coverage}`);
  if (inputs.relations > 0) line("relations", `${inputs.relations}`);
  for (const one of report.relations)
    out(`    ${visibleShort(one.name, 40)}: ${one.checked} checked, ${one.broken} broken`);
  if (inputs.minimising > 0) line("minimising", `${inputs.minimising}`);
  if (report.mutation) line("mutants", `${inputs.mutants}; ${noticed(report.mutation)}`);
}

function noticed(mutation: NonNullable<HardenReport["mutation"]>): string {
  const { killed, survived, code_only, silent, refused, score } = mutation;
  const share = score === null ? "" : ` (${percent(score)})`;
  const parts = [
    `${killed} of ${killed + survived} noticed${share}`,
    `${code_only + silent} change no reward`,
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return parts.join(", ");
}

/** The first find of each class and problem. */
function printFinds(finds: readonly HardenFind[]): void {
  const groups = new Map<string, HardenFind[]>();
  for (const find of finds) {
    const key = `${find.attack_class} ${find.problem}`;
    groups.set(key, [...(groups.get(key) ?? []), find]);
  }
  const listed = [...groups.values()].slice(0, SHOWN);
  for (const [first, ...more] of listed) {
    if (!first) continue;
    const others = more.length > 0 ? `, and ${more.length} more` : "";
    out(`${paint("red", first.attack_class)}: ${PROBLEMS[first.problem]}${others}`);
    const id = visibleShort(first.id, 20);
    out(`    ${id}  ${visibleShort(first.completion, 70 - columns(id))}`);
    print(visibleShort(`${first.why} Found by: ${first.attack}.`, 220), "    ");
  }
  if (groups.size > SHOWN) out(`… and ${groups.size - SHOWN} more classes; see summary.md`);
  if (finds.length > 0) out();
}

function printSurvivors({ mutation }: HardenReport): void {
  const open = (mutation?.mutants ?? []).filter(({ outcome }) => outcome === "survived");
  if (open.length === 0) return;
  out("Mutants that no golden row notices:");
  for (const { file, line, operator, before, after, witness } of open.slice(0, SHOWN)) {
    out(`  ${visibleShort(`${file}:${line}`, 50)}  ${operator}`);
    out(`    - ${visibleShort(before, 72)}`);
    out(`    + ${visibleShort(after, 72)}`);
    if (witness) out(`    differs on ${visibleShort(JSON.stringify(witness.completion), 60)}`);
  }
  if (open.length > SHOWN) out(`  … and ${open.length - SHOWN} more`);
  out();
}
