import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { dataError, ioError } from "../../core/errors.ts";
import { visible, visibleShort } from "../../core/visible.ts";
import {
  PARTS,
  type PartName,
  RESULT_WORDS,
  type Verification,
  type VerificationPart,
  type WrittenVerification,
  writeVerification,
} from "../../runs/verification.ts";
import { verify } from "../../verify/verify.ts";
import { JUDGE_CACHE } from "../open-judge.ts";
import { FORMAT, type Format, wholeNumber } from "../options.ts";
import { stagedProgress } from "../progress.ts";
import { err, hanging, out, paint, print, printableJson, program, wrap } from "../terminal.ts";

interface Flags {
  readonly only?: PartName[];
  readonly sample?: number;
  readonly draw?: string;
  readonly train?: number | true;
  readonly checkpoint?: string;
  readonly init?: string;
  readonly system?: string;
  readonly selectionPolicy?: string;
  readonly from?: string;
  readonly judgeCache: string;
  readonly threads: number;
  readonly write: boolean;
  readonly quiet?: boolean;
  readonly format: Format;
}

export const help = `Parts:
  files      hashes of the run's files, and counts of its rows
  data       ids, prompts and expected answers against the data set
  answers    completions against the file that they came from, if it is there
  score      every row scored again with the recorded scorer; episodes replayed
  sample     completions sampled again from the recorded checkpoint
  exposure   examples that the checkpoint had met in its training
  tries      seeds tried before, against the ledger of the checkpoint
  train      steps trained again from the recorded start (only with --train)

Exit codes:
  0  everything that was asked for was made again and is the same
  1  something differs   2  something could not be made again
  64 wrong usage   65 bad or unfinished run   70 internal error   74 disk error

Examples:
  lockedroom verify runs/first
  lockedroom verify runs/first --sample 50
  lockedroom verify runs/first --only score
  lockedroom verify runs/grpo --train 5
  lockedroom verify runs/judged --train --judge-cache .lockedroom/judge-cache`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Makes a finished run again and compares it byte for byte: an evaluation, a selection, a rollout or a training run. Writes verification.json into the run's folder, unless a fuller one is there.",
    )
    .argument("<run>", "run folder")
    .addOption(new Option("--only <parts...>", "only these parts").choices(PARTS))
    .option("--sample <n>", "sample only n rows again, drawn at random", wholeNumber(1))
    .option("--draw <seed>", "repeat an earlier draw of --sample", drawText)
    .option("--train [k]", "train again: all steps, or the first k", wholeNumber(1))
    .option("--checkpoint <folder>", "the policy's checkpoint, if it was moved")
    .option("--init <folder>", "the initial policy of a training run")
    .option("--system <file>", "file with the system prompt of the run")
    .option("--selection-policy <file>", "the selection policy of the run, if it is a file")
    .option("--from <folder>", "also look below this folder, by content")
    .option("--judge-cache <folder>", "answers of the judge that rewarded a training", JUDGE_CACHE)
    .option("--threads <n>", "engine threads; they do not change the result", wholeNumber(1, 64), 1)
    .option("--no-write", "do not write verification.json")
    .option("--quiet", "print only errors")
    .addOption(FORMAT)
    .action(async (run: string, flags: Flags) => exit(await verifyRun(run, flags)));
}

function drawText(text: string): string {
  if (/^[0-9A-Za-z-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be 1 to 64 letters, digits or hyphens.");
}

export const VERIFY_EXIT = {
  verified: 0,
  partly_verified: 0,
  differs: 1,
  not_verified: 2,
} as const;

async function verifyRun(run: string, { system, ...flags }: Flags): Promise<number> {
  const progress = stagedProgress(flags.quiet || flags.format === "json");
  try {
    const text = system === undefined ? undefined : await readSystem(system);
    const found = await verify({
      ...{ ...flags, run, system: text },
      onProgress: progress.show,
      openJudge: async (identity) => {
        const { openRecordedJudge } = await import("../recorded-judge.ts");
        return openRecordedJudge(identity, flags.judgeCache);
      },
    });
    progress.stop();
    const written = flags.write ? await writeVerification(run, found) : undefined;
    if (flags.format === "json") out(printableJson(found, 2));
    else if (!flags.quiet) printVerification(run, found);
    if (written && !flags.quiet) sayWritten(written, flags.format === "json" ? err : out);
    return VERIFY_EXIT[found.result];
  } finally {
    progress.stop();
  }
}

async function readSystem(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error) => {
    throw ioError(`read ${file}`, error, "data");
  });
  if (!isUtf8(bytes)) throw dataError(`${file}: not valid UTF-8`, "Save the file as UTF-8.");
  return new TextDecoder().decode(bytes);
}

/** A file that was not written is said even where only JSON is printed. */
function sayWritten({ file, written }: WrittenVerification, say: (line: string) => void): void {
  if (!written)
    say(
      wrap(
        `${file} holds a fuller verification of this run, and was kept. Delete it first to replace it.`,
      ),
    );
  else if (say === out) say(wrap(`Written to ${file}`));
}

const COLOUR = {
  verified: "green",
  partly_verified: "yellow",
  differs: "red",
  not_verified: "yellow",
} as const;

function printVerification(run: string, found: Verification): void {
  const word = RESULT_WORDS[found.result];
  const parts = found.parts.map(({ part }) => part).join(", ");
  const which = found.result === "partly_verified" ? `: ${parts}` : "";
  out(`${paint(["bold", COLOUR[found.result]], word)}${which}  ${visible(run)}`);
  out();
  for (const part of found.parts) printPart(part);
  if (found.draw) {
    out();
    const again = `--sample ${found.draw.rows} --draw ${found.draw.seed}`;
    print(`Others repeat this draw with ${again}.`);
  }
  out();
  if (found.result === "not_verified") printRest(found);
  if (found.result === "differs") out(`Next: ${program()} inspect-run --run ${run} --id ID`);
}

/** What can be verified without what could not be made again. */
function printRest({ parts }: Verification): void {
  const rest = parts.filter(({ status }) => status === "equal").map(({ part }) => part);
  if (rest.length > 0) print(`Use --only ${rest.join(" ")} to verify the rest.`);
}

const STATUS = {
  equal: "the same",
  differs: "DIFFERS",
  impossible: "not possible",
  skipped: "not compared",
} as const;

function printPart(found: VerificationPart): void {
  const { part, status, repeated, of, message, differences, first } = found;
  const label = `  ${part.padEnd(9)} ${STATUS[status].padEnd(13)} `;
  const counts = status === "impossible" || status === "skipped" ? "" : `${repeated} of ${of}; `;
  const other = differences === 0 ? "" : `${differences} different; `;
  out(hanging(label, visible(`${counts}${other}${message}`)));
  for (const { id, what, expected, found: is } of first) {
    out(`    ${paint("cyan", visible(id))}  ${visible(what)}`);
    out(`      expected  ${visibleShort(expected, 62)}`);
    out(`      found     ${visibleShort(is, 62)}`);
  }
}
