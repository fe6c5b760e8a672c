/** Checks a training or validation file by every rule, in one pass and in little memory. */

import { dataError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import type { ReadOptions } from "../runs/jsonl.ts";
import { RawLines } from "../runs/raw-lines.ts";
import { rowCheck } from "./checks/row.ts";
import { contentHash } from "./content-hash.ts";
import { type Finding, Findings } from "./findings.ts";
import { kindOfRow, LIMITS, type TuneKind, type TuneRole } from "./kinds.ts";
import { identityOf, promptOf, sameOutputs } from "./row-identity.ts";
import { RowIndex } from "./row-index.ts";
import type { RuleName } from "./rules.ts";
import { type CountTokens, rowTokens } from "./token-count.ts";

export interface ValidateOptions extends Pick<ReadOptions, "onBytes"> {
  /** Found from the rows where it is not given. */
  readonly kind?: TuneKind | undefined;
  /** The training file that belongs to this validation file. */
  readonly against?: string | undefined;
  readonly tokens?:
    | { readonly encoding: string; readonly count: CountTokens; readonly most?: number | undefined }
    | undefined;
}

export interface TokenFigures {
  readonly encoding: string;
  readonly total: number;
  readonly least: number;
  readonly most: number;
  readonly mean: number;
}

export interface Validation {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly rows: number;
  /** Null where no row has the shape of one. */
  readonly kind: TuneKind | null;
  readonly role: TuneRole;
  readonly byte_order_mark: boolean;
  readonly tokens: TokenFigures | null;
  readonly valid: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly findings: readonly Finding[];
}

type Fields = Record<string, unknown>;

export async function validateFile(
  file: string,
  options: ValidateOptions = {},
): Promise<Validation> {
  const { against, onBytes, tokens } = options;
  const known = against === undefined ? undefined : await promptsIn(against, options);
  const findings = new Findings();
  const lines = new RawLines(file, { onBytes });
  const role: TuneRole = against === undefined ? "training" : "validation";
  const rows = new RowChecks(options, known, findings);
  await eachLine(
    lines,
    (fields, line) => rows.check(fields, line),
    (rule, line, reason) => findings.add(rule, line, reason),
  );
  checkFile(lines, rows, role, findings);
  const errors = findings.count("error");
  return {
    ...{ file, sha256: lines.sha256, bytes: lines.bytes, rows: rows.count },
    ...{ kind: rows.kind ?? null, role, byte_order_mark: lines.byteOrderMark },
    tokens: tokens ? { encoding: tokens.encoding, ...rows.tokens() } : null,
    ...{ valid: errors === 0, errors, warnings: findings.count("warning") },
    findings: findings.list(),
  };
}

type Fault = (rule: RuleName, line: number, reason: string) => void;

/** The objects of a file with their lines; whatever else is on a line is a fault of it. */
async function eachLine(
  lines: RawLines,
  take: (fields: Fields, line: number) => void,
  fault: Fault,
): Promise<void> {
  for await (const pieces of lines.pieces()) {
    for (const piece of pieces) {
      if ("fault" in piece) {
        fault(piece.fault, piece.line, FAULTS[piece.fault]);
        continue;
      }
      const { text } = piece;
      let { line } = piece;
      for (let start = 0; start < text.length; line++) {
        const end = text.indexOf("\n", start);
        readLine(text.slice(start, end), line, take, fault);
        start = end + 1;
      }
    }
  }
}

const FAULTS = {
  not_utf8: "the bytes are not UTF-8; save the file as UTF-8",
  line_too_long: "the line was not read; is it one JSON object a line?",
} as const;

const CARRIAGE_RETURN = 13;

function readLine(
  raw: string,
  line: number,
  take: (fields: Fields, line: number) => void,
  fault: Fault,
): void {
  if (raw.charCodeAt(raw.length - 1) === CARRIAGE_RETURN)
    fault("line_ending", line, "the line ends with CR LF");
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    if (raw.trim() === "") fault("blank_line", line, "the line is blank");
    else fault("not_json", line, problemOf(error));
    return;
  }
  if (isFields(value)) take(value, line);
  else fault("not_object", line, `the line is ${Array.isArray(value) ? "a list" : typeof value}`);
}

/** V8 quotes the whole text; its first words say what is wrong. */
function problemOf(error: unknown): string {
  return messageOf(error)
    .replace(/, ?"?[\s\S]*$/, "")
    .replace(/ \(line.*$/, "");
}

class RowChecks {
  readonly #options: ValidateOptions;
  readonly #known: Known | undefined;
  readonly #findings: Findings;
  readonly #index = new RowIndex();
  readonly #tokens = { total: 0, least: Number.POSITIVE_INFINITY, most: 0 };
  #check: ((fields: Fields) => void) | undefined;
  #line = 0;
  kind: TuneKind | undefined;
  count = 0;

  constructor(options: ValidateOptions, known: Known | undefined, findings: Findings) {
    this.#options = options;
    this.#known = known;
    this.#findings = findings;
    this.#begin(options.kind);
  }

  #begin(kind: TuneKind | undefined): void {
    this.kind = kind;
    if (kind)
      this.#check = rowCheck(kind, (rule, reason) => this.#findings.add(rule, this.#line, reason));
  }

  check(fields: Fields, line: number): void {
    this.count++;
    this.#line = line;
    if (!this.#check) this.#begin(kindOfRow(fields));
    const { kind } = this;
    if (!kind || !this.#check) {
      this.#findings.add("unknown_shape", line, unknownShape(fields));
      return;
    }
    this.#check(fields);
    this.#compare(kind, fields, line);
    if (this.#known) this.#compareWithTraining(this.#known, kind, fields, line);
    const { tokens } = this.#options;
    if (tokens) this.#countTokens(rowTokens(kind, fields, tokens.count), tokens.most, line);
  }

  /** With the rows before it. */
  #compare(kind: TuneKind, fields: Fields, line: number): void {
    const identity = identityOf(kind, fields);
    if (!identity) return;
    const { input, answer } = identity;
    if (kind === "dpo" && sameOutputs(fields)) {
      this.#findings.add("same_outputs", line, "preferred and non-preferred output are the same");
      return;
    }
    const met = this.#index.add(input, answer, line);
    if (!met) return;
    if (met.answer === answer.low)
      this.#findings.add("duplicate_row", line, `the same row as line ${met.line}`);
    else this.#findings.add("contradictory_row", line, CONTRADICTION[kind](met.line));
  }

  #compareWithTraining(known: Known, kind: TuneKind, fields: Fields, line: number): void {
    const prompt = promptOf(kind, fields);
    const same = prompt === undefined ? undefined : known.prompts.lineOf(contentHash(prompt));
    if (same) this.#findings.add("leak", line, `the prompt of line ${same} of ${known.file}`);
    const id = kind === "rft" ? idOf(fields) : undefined;
    const named = id === undefined ? undefined : known.ids.lineOf(contentHash(id));
    if (named && !same)
      this.#findings.add("leak", line, `the id of line ${named} of ${known.file}`);
  }

  #countTokens(count: number, most: number | undefined, line: number): void {
    const figures = this.#tokens;
    figures.total += count;
    figures.least = Math.min(figures.least, count);
    figures.most = Math.max(figures.most, count);
    if (most !== undefined && count > most)
      this.#findings.add("too_many_tokens", line, `the row has ${count} tokens`);
  }

  tokens(): Omit<TokenFigures, "encoding"> {
    const { total, least, most } = this.#tokens;
    return { total, least: most === 0 ? 0 : least, most, mean: total / Math.max(1, this.count) };
  }
}

const CONTRADICTION: Readonly<Record<TuneKind, (line: number) => string>> = {
  sft: (line) => `another answer to the input of line ${line}`,
  dpo: (line) => `the pair of line ${line} with its sides changed`,
  rft: (line) => `other fields for the messages of line ${line}`,
};

function idOf({ id }: Fields): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}

function unknownShape(fields: Fields): string {
  if ("chosen" in fields || "rejected" in fields)
    return "a pair of this program; tune data dpo writes it as input and two outputs";
  if ("prompt" in fields) return "prompt without messages; write a list of messages";
  return "neither messages nor input with two outputs";
}

interface Known {
  readonly file: string;
  readonly prompts: RowIndex;
  readonly ids: RowIndex;
}

/** The prompts and ids of the training file, as far as it can be read. */
async function promptsIn(file: string, { kind }: ValidateOptions): Promise<Known> {
  const [prompts, ids] = [new RowIndex(), new RowIndex()];
  let known = kind;
  let rows = 0;
  const take = (fields: Fields, line: number) => {
    rows++;
    known ??= kindOfRow(fields);
    const prompt = known && promptOf(known, fields);
    if (prompt !== undefined) prompts.add(contentHash(prompt), undefined, line);
    const id = idOf(fields);
    if (id !== undefined) ids.add(contentHash(id), undefined, line);
  };
  await eachLine(new RawLines(file), take, () => {});
  if (rows > 0) return { file, prompts, ids };
  throw dataError(`${file} has no rows to compare with`, "Give the training file as --against.");
}

function checkFile(lines: RawLines, rows: RowChecks, role: TuneRole, findings: Findings): void {
  const { kind, count } = rows;
  const about = (rule: RuleName, reason: string) => findings.add(rule, null, reason);
  if (count === 0) about("no_rows", lines.bytes === 0 ? "the file is empty" : "no line has a row");
  const least = kind && LIMITS.leastRows[kind]?.[role];
  if (least !== undefined && count > 0 && count < least)
    about("too_few_rows", `the file has ${count}, which a job refuses as invalid_n_examples`);
  const most = kind && LIMITS.mostRows[kind]?.[role];
  if (most !== undefined && count > most) about("too_many_rows", `the ${role} file has ${count}`);
  if (lines.bytes > LIMITS.fileBytes) about("file_too_large", `the file has ${lines.bytes} bytes`);
  else if (lines.bytes > LIMITS.portalBytes)
    about("portal_size", `the file has ${lines.bytes} bytes; upload it by the API`);
  const { total } = rows.tokens();
  if (total > LIMITS.jobTokens) about("job_tokens", `one epoch has ${total}`);
}
