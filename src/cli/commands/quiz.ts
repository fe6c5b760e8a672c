/** `lockedroom quiz`: asks on a terminal, marks a list of answers anywhere else. */

import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { dataError, ioError, LockedRoomError } from "../../core/errors.ts";
import { visibleShort } from "../../core/visible.ts";
import type { CheckContext } from "../../course/check-context.ts";
import type { LevelId } from "../../course/level.ts";
import { formHint, type Mark, mark, quizReport, scoreOf, solve } from "../../course/quiz.ts";
import { OPEN_QUESTIONS, QUESTIONS } from "../../course/quizzes/index.ts";
import { atTerminal, type NextLine, withPrompt } from "../line-prompt.ts";
import { FORMAT, type Format } from "../options.ts";
import { hanging, out, paint, print, printableJson, program, wrap } from "../terminal.ts";
import { following, levelArgument, withCheckContext } from "../track.ts";

interface Flags {
  readonly answers?: string;
  readonly format: Format;
}

const MAX_BYTES = 1024 * 1024;
const ONE_LINE = "Write one answer per line, in the order of the questions; - skips one.";

export const help = `On a terminal the questions are asked one by one. Otherwise answers are read
from --answers or standard input; without answers, the questions are printed.

Exit codes:
  0  every question answered correctly       1  anything else
  64 wrong usage    65 bad data

Examples:
  lockedroom quiz 0
  lockedroom quiz 0.5 --answers answers.txt
  lockedroom quiz 3 --format json < answers.txt`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Asks the checklist of a level as questions. Objective answers are marked against your runs and the library; the open questions are for you.",
    )
    .argument("<level>", "0, 0.5, 1, 2, 3, 4, 5 or 6; 7 is extra", levelArgument)
    .option("--answers <file>", "a file with one answer per line, in order; - skips a question")
    .addOption(FORMAT)
    .action(async (level: LevelId, flags: Flags) => {
      const marks = await withCheckContext((context) =>
        isAsked(flags) ? askAll(context, level) : markAll(context, level, flags),
      );
      const { right, questions } = scoreOf(marks);
      exit(right === questions ? 0 : 1);
    });
}

function isAsked({ answers, format }: Flags): boolean {
  return atTerminal() && answers === undefined && format === "text";
}

// --- a list of answers ----------------------------------------------------------------------------

async function markAll(
  context: CheckContext,
  level: LevelId,
  { answers, format }: Flags,
): Promise<Mark[]> {
  const lines = await givenLines(answers);
  const questions = QUESTIONS[level];
  if (lines.length > questions.length) {
    throw dataError(
      `there are ${lines.length} answers for the ${questions.length} questions of level ${level}`,
      ONE_LINE,
    );
  }
  const marks: Mark[] = [];
  for (const [i, question] of questions.entries()) {
    marks.push(mark(question, await solve(question, context), lines[i]));
  }
  if (format === "json") out(printableJson(quizReport(level, marks, OPEN_QUESTIONS[level]), 2));
  else if (lines.length === 0) printQuestions(level, marks);
  else {
    for (const [i, one] of marks.entries()) {
      printQuestion(i, one);
      if (one.given !== null) out(`   > ${visibleShort(one.given, 60)}`);
      printMark(one);
      out();
    }
    printScore(marks);
    out();
    printOpen(level);
    printAfterQuiz(level);
  }
  return marks;
}

async function givenLines(file: string | undefined): Promise<string[]> {
  if (file === undefined && process.stdin.isTTY) return [];
  const lines = (await readAnswers(file)).replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

async function readAnswers(file: string | undefined): Promise<string> {
  const name = file ?? "standard input";
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of file === undefined ? process.stdin : createReadStream(file)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        throw dataError(`${name} is larger than 1 MiB, too large for a list of answers`, ONE_LINE);
      }
    }
  } catch (error) {
    if (error instanceof LockedRoomError) throw error;
    throw ioError(`read the answers in ${name}`, error, "usage");
  }
  return Buffer.concat(chunks).toString("utf8");
}

function printQuestions(level: LevelId, marks: readonly Mark[]): void {
  for (const [i, one] of marks.entries()) {
    printQuestion(i, one);
    if (one.skipped?.code !== "not_answered") printMark(one);
    out();
  }
  printOpen(level);
  out();
  out("Answer them on a terminal, or write one answer per line (- skips):");
  out(`  ${program()} quiz ${level} --answers answers.txt`);
}

// --- at a terminal --------------------------------------------------------------------------------

async function askAll(context: CheckContext, level: LevelId): Promise<Mark[]> {
  print("One answer each; - skips a question, Ctrl-D ends.");
  return withPrompt("   > ", (nextLine) => askEach(context, level, nextLine));
}

async function askEach(context: CheckContext, level: LevelId, nextLine: NextLine): Promise<Mark[]> {
  const marks: Mark[] = [];
  let ended = false;
  for (const [i, question] of QUESTIONS[level].entries()) {
    const solution = await solve(question, context);
    const unanswered = mark(question, solution, undefined);
    let line: string | undefined;
    if (!ended) {
      out();
      printQuestion(i, unanswered);
      if ("answer" in solution) line = await nextLine();
      ended = line === undefined && "answer" in solution;
    }
    marks.push(mark(question, solution, line));
    if (!ended) printMark(marks.at(-1) as Mark);
  }
  out();
  printScore(marks);
  if (!ended) {
    out();
    printOpen(level);
    printAfterQuiz(level);
  }
  return marks;
}

// --- printing -------------------------------------------------------------------------------------

function printQuestion(index: number, { question: { id, ask, form } }: Mark): void {
  out(`${index + 1}. ${paint("bold", id)}`);
  print(ask, "   ");
  if (form.kind === "choice") {
    for (const [letter, text] of Object.entries(form.options))
      out(hanging(`     ${letter}) `, text));
  }
  out(paint("dim", `   (${formHint(form)})`));
}

function printMark({ question, right, answer, problem, skipped }: Mark): void {
  if (skipped) printSkip(skipped);
  else if (right) out(`   ${paint("green", "right")}`);
  else {
    out(`   ${paint("red", "wrong")}`);
    const why = [problem, `The answer is ${answer}.`, question.why].filter((part) => part !== null);
    print(why.join(" "), "   ");
    out(`   Read chapter ${question.chapter}: ${program()} manual`);
  }
}

function printSkip({ message, next }: NonNullable<Mark["skipped"]>): void {
  out(`   ${paint("yellow", "skipped")}`);
  print(message, "   ");
  for (const line of next?.split("\n") ?? []) {
    const command = /^(?:\.\/lockedroom| )/.test(line);
    out(command ? `     ${line}` : wrap(line, "   "));
  }
}

function printScore(marks: readonly Mark[]): void {
  const { questions, right } = scoreOf(marks);
  out(paint("bold", `${right} of ${questions} right.`));
  const named = (label: string, chosen: (one: Mark) => boolean) => {
    const names = marks.flatMap((one, i) => (chosen(one) ? [`${i + 1} ${one.question.id}`] : []));
    if (names.length > 0) print(`${label}: ${names.join(", ")}`);
  };
  named("Wrong", (one) => one.right === false);
  named("Skipped", (one) => one.right === null);
}

function printAfterQuiz(level: LevelId): void {
  out();
  out(`Next: ${program()} ${following(level)}`);
}

function printOpen(level: LevelId): void {
  out("Open questions. Answer them aloud, then read the chapter:");
  for (const { ask, chapter } of OPEN_QUESTIONS[level]) {
    out(hanging("- ", ask));
    out(`  chapter ${chapter}`);
  }
}
