import { Argument, type Command } from "commander";
import { usageError } from "../../core/errors.ts";
import {
  CAUSE_NAMES,
  CAUSES,
  type Cause,
  isCause,
  type MarkedCase,
  markDrill,
  newDrill,
  type ShownCase,
} from "../../course/drill/index.ts";
import { SEED } from "../options.ts";
import { hanging, out, paint, print, program } from "../terminal.ts";

interface Flags {
  readonly outdir: string;
  readonly seed: number;
}

export const help = `new writes six to eight pairs of runs to --outdir, each with a claim about it.
The seed decides how many, with which causes, rows and claims; a cause can be
behind several pairs, or behind none. Read the manifests and the rows of each
pair, then name the cause of what you see:
${CAUSE_NAMES.map((name) => `  ${name.padEnd(11)} ${CAUSES[name].means}`).join("\n")}
mark tells which answers are right, and where the runs show it.

Exit codes of mark:
  0  every case is right    1  anything else    64 wrong usage    65 bad data

Examples:
  lockedroom drill new --outdir runs/cases
  lockedroom drill new --seed 1 --outdir runs/other-cases
  lockedroom drill mark 1=selection 2=scorer --outdir runs/cases`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description("Pairs of runs with a claim: name what is really behind the difference.")
    .addArgument(new Argument("<action>", "new or mark").choices(["new", "mark"]))
    .argument("[answers...]", "for mark: NUMBER=CAUSE for each case")
    .requiredOption("--outdir <folder>", "folder of the cases; a new one for new")
    .option(...SEED)
    .action(async (action: string, words: string[], { outdir, seed }: Flags) => {
      if (action === "new") return printCases(await newDrill(outdir, seed), outdir);
      const marks = await markDrill(outdir, new Map(words.map(answerOf)));
      printMarks(marks);
      exit(marks.every(({ right }) => right) ? 0 : 1);
    });
}

function answerOf(word: string): [number, Cause] {
  const [, number, cause = ""] = /^(\d+)=(.+)$/.exec(word) ?? [];
  if (number !== undefined && isCause(cause)) return [Number(number), cause];
  throw usageError(
    `cannot read the answer ${word}`,
    `Write NUMBER=CAUSE, such as 1=selection. Causes: ${CAUSE_NAMES.join(", ")}.`,
  );
}

function printCases(cases: readonly ShownCase[], outdir: string): void {
  const what = "each N/before and N/after, with pass rates and a claim";
  print(`${cases.length} pairs of runs in ${outdir}, ${what}.`);
  out();
  for (const { number, before, after, claim } of cases)
    out(hanging(`${number}  ${before.toFixed(4)} → ${after.toFixed(4)}  `, `"${claim}"`));
  out();
  out("What is behind each?");
  for (const name of CAUSE_NAMES) out(hanging(`  ${name.padEnd(11)} `, CAUSES[name].means));
  out();
  out(`Answer: ${program()} drill mark 1=… 2=… --outdir ${outdir}`);
}

function printMarks(marks: readonly MarkedCase[]): void {
  for (const { number, given, right, cause, say, evidence } of marks) {
    if (given === undefined) {
      out(`${number}  no answer`);
      continue;
    }
    const verdict = right ? paint("green", "right") : paint("red", "wrong");
    out(`${number}  ${verdict}  ${given}${right ? "" : `; it is ${cause}`}`);
    print(say, "   ");
    print(evidence, "   ");
  }
  out();
  out(`${marks.filter(({ right }) => right).length} of ${marks.length} right.`);
}
