/** `lockedroom token-inspect` */

import { type Command, Option } from "commander";
import { dataError, ioError, LockedRoomError, usageError } from "../../core/errors.ts";
import { codePoint, columns, visible, visibleShort } from "../../core/visible.ts";
import { DEFAULT_ENCODING, ENCODINGS, loadTokenizer } from "../../policy/encodings.ts";
import { type TokenRow, tokenRows } from "../../policy/inspect-tokens.ts";
import type { Tokenizer } from "../../policy/tokenizer.ts";
import {
  classify,
  type FailureClass,
  SCORER_NAME,
  SCORER_VERSION,
  score,
} from "../../scorers/math-final-line.ts";
import { out, paint, program, WIDTH, wrap } from "../terminal.ts";

interface Flags {
  readonly encoding: string;
  readonly expect?: string;
  readonly escapes?: boolean;
  readonly all?: boolean;
  readonly format: "text" | "json";
}

export function define(command: Command): Command {
  return command
    .description(
      "Shows a text as the policy and as the verifier see it: the policy acts on\ntokens, the verifier judges text.",
    )
    .argument("[text]", "the text; without it, standard input as it is")
    .option("--encoding <name>", "the tokenizer", DEFAULT_ENCODING)
    .option("--expect <integer>", "the expected answer; the verdict then has a reward")
    .option("--escapes", "read \\n \\t \\r \\\\ \\xHH \\uXXXX \\u{X} as characters")
    .option("--all", "show every token and the whole text")
    .addOption(
      new Option("--format <format>", "how to print").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      `
Encodings, and models that use them:
${Object.entries(ENCODINGS)
  .map(([name, { models }]) => `  ${name.padEnd(13)}  ${models.join(", ")}`)
  .join("\n")}

Examples:
  lockedroom token-inspect "Final: 323"
  lockedroom token-inspect "Final:  323"
  lockedroom token-inspect --escapes "Final:\\n323"
  lockedroom token-inspect "Final: 0323" --expect 323
  printf 'Final: 323' | lockedroom token-inspect --encoding cl100k_base
  lockedroom token-inspect -- "-n"        a text that begins with a dash`,
    )
    .action(run);
}

async function run(argument: string | undefined, flags: Flags): Promise<void> {
  const expected = flags.expect === undefined ? undefined : checkedInteger(flags.expect);
  const tokenizer = await loadTokenizer(flags.encoding);
  const given = argument ?? (await readText(process.stdin));
  const text = flags.escapes ? unescaped(given) : given;
  if (Buffer.byteLength(text) > LIMIT_BYTES) throw tooLong();
  const inspection: Inspection = {
    text,
    tokenizer,
    ids: tokenizer.encode(text),
    verdict: judge(text, expected),
    notes: notes(text, { piped: argument === undefined, escapes: flags.escapes === true }),
  };
  printLines(
    flags.format === "json" ? jsonLines(inspection) : textLines(inspection, flags.all === true),
  );
}

interface Inspection {
  readonly text: string;
  readonly tokenizer: Tokenizer;
  readonly ids: readonly number[];
  readonly verdict: Verdict;
  readonly notes: readonly string[];
}

// --- the text -------------------------------------------------------------------------------------

/** About a second of work for prose, ten for the worst of texts: one word without an end. */
const LIMIT_BYTES = 8 * 1024 * 1024;

export interface TextSource extends AsyncIterable<Uint8Array> {
  readonly isTTY?: boolean;
}

export async function readText(source: TextSource): Promise<string> {
  if (source.isTTY) {
    throw usageError(
      "no text was given, and standard input is a terminal",
      `Give the text, as in: ${program()} token-inspect "Final: 323"; or pipe it in.`,
    );
  }
  const bytes = await readBytes(source);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw dataError(
      "standard input is not valid UTF-8",
      "Tokens are made from text; convert the input to UTF-8 first, for example with iconv.",
    );
  }
}

async function readBytes(source: TextSource): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > LIMIT_BYTES) throw tooLong();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof LockedRoomError ? error : ioError("read standard input", error, "data");
  }
  return Buffer.concat(chunks);
}

function tooLong(): LockedRoomError {
  return dataError(
    `the text is longer than ${LIMIT_BYTES / 1024 / 1024} MiB`,
    "This command is a microscope: give it the part that you want to look at.",
  );
}

/** What is no escape matches too, up to where it stops being one. */
const ESCAPE =
  /\\(?:([nrt\\])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\}|u\{[^}]{0,8}\}?|.?)/gsu;
const PLAIN: Record<string, string> = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

export function unescaped(text: string): string {
  return text.replace(ESCAPE, (whole, plain, byte, unit, point, at: number) => {
    const known = PLAIN[plain];
    if (known !== undefined) return known;
    const code = Number.parseInt(byte ?? unit ?? point, 16);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    throw usageError(
      `"${visibleShort(whole, 20)}" at character ${at} is not an escape`,
      "With --escapes these are read: \\n \\t \\r \\\\ \\xHH \\uXXXX \\u{X} up to \\u{10FFFF}. Write \\\\ for a backslash.",
    );
  });
}

const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

function notes(text: string, how: { piped: boolean; escapes: boolean }): string[] {
  const found: string[] = [];
  const letter = how.escapes ? undefined : /\\([nrt])/.exec(text)?.[1];
  if (letter !== undefined) {
    const meant = { n: "line feed", r: "carriage return", t: "tab" }[letter];
    found.push(
      how.piped
        ? `The input has a backslash and "${letter}", two characters, not a ${meant}. If a ${meant} was meant, add --escapes.`
        : `The shell passed a backslash and "${letter}", two characters, not a ${meant}. If a ${meant} was meant, add --escapes or write $'…' in place of "…".`,
    );
  }
  if (how.piped && /[\n\r]$/.test(text)) {
    found.push("Standard input ended with a line break, as from echo; it is part of the text.");
  }
  const lone = LONE_SURROGATE.exec(text);
  if (lone) {
    found.push(
      `${codePoint(lone[0])} at character ${lone.index} is half of a pair and has no UTF-8 form; the tokens are those of U+FFFD in its place. The verifier sees it as it is.`,
    );
  }
  return found;
}

// --- the verdict ----------------------------------------------------------------------------------

interface Verdict {
  readonly scorer: { readonly name: string; readonly version: string };
  readonly in_spec: boolean;
  /** Without an expected answer: as if the answer that was read were it. */
  readonly code: string;
  readonly reason: string;
  /** Null when nothing is wrong. */
  readonly class: FailureClass | null;
  readonly parsed: string | null;
  readonly expected: string | null;
  readonly reward: number | null;
}

function judge(text: string, expected: string | undefined): Verdict {
  const about = (answer: string) => score({ id: "", prompt: "", expected_answer: answer }, text);
  const first = about(expected ?? "0");
  const { parsed, message } = first.details as { parsed?: string; message?: string };
  const { code, reward } = expected === undefined && parsed !== undefined ? about(parsed) : first;
  return {
    scorer: { name: SCORER_NAME, version: SCORER_VERSION },
    in_spec: parsed !== undefined,
    code,
    reason: message ?? reasonFor(parsed ?? "", expected),
    class: code === "ok" ? null : classify(code),
    parsed: parsed ?? null,
    expected: expected ?? null,
    reward: expected === undefined ? null : reward,
  };
}

function reasonFor(parsed: string, expected: string | undefined): string {
  if (expected !== undefined && parsed !== expected) {
    return `${visibleShort(parsed, 40)} was read, ${visibleShort(expected, 40)} is expected`;
  }
  return 'one line, "Final: " and an integer, and nothing else';
}

/** The verifier itself says what an expected answer may be. */
function checkedInteger(text: string): string {
  if (score({ id: "", prompt: "", expected_answer: text }, "").code !== "invalid_example") {
    return text;
  }
  throw usageError(
    `--expect "${visibleShort(text, 30)}" is not a plain integer`,
    "Write it as 323, -7 or 0: digits, no plus sign, no leading zeros, no spaces.",
  );
}

// --- on the screen --------------------------------------------------------------------------------

/** With the text, the verdict and a note, this many tokens fit on a screen of 24 lines. */
const SHOWN_TOKENS = 8;
const SHOWN_LINES = 2;
const BYTES_WIDTH = 35;
const TEXT_WIDTH = WIDTH - 7 - 2 - 6 - 2 - BYTES_WIDTH - 2;

function* textLines({ text, tokenizer, ids, verdict, notes }: Inspection, all: boolean) {
  yield* shownText(text, all);
  for (const note of notes) yield paint("yellow", wrap(`! ${note}`));
  yield "";
  yield paint("bold", tableLine("#", "id", "bytes", "text"));
  const shown = all ? ids : ids.slice(0, SHOWN_TOKENS);
  for (const row of tokenRows(shown, tokenizer)) yield tokenLine(row);
  const hidden = ids.length - shown.length;
  if (hidden > 0) yield `  … ${count(hidden, "more token")}; --all shows every one`;
  yield `${paint("bold", count(ids.length, "token"))} in ${tokenizer.name}: the policy acts on these.`;
  yield "";
  yield* verdictLines(verdict);
}

function* shownText(text: string, all: boolean) {
  // Every column takes at most two units of text, so the part that is looked at is always enough.
  const part = all ? text : text.slice(0, 2 * (SHOWN_LINES + 1) * WIDTH);
  const lines = part === "" ? ["(empty)"] : fold(visibleSpaces(part), WIDTH - 6);
  const kept = all ? lines : lines.slice(0, SHOWN_LINES);
  for (const [index, line] of kept.entries()) yield `${index === 0 ? "text" : "    "}  ${line}`;
  const cut = kept.length < lines.length ? "the text goes on; " : "";
  const size = `${count(codePoints(text), "character")}, ${count(Buffer.byteLength(text), "byte")}`;
  yield `      (${cut}${size}${text.includes(" ") ? "; · is a space" : ""})`;
}

function tokenLine({ position, id, bytes, text }: TokenRow): string {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const fits = hex.length <= BYTES_WIDTH;
  const note = ` … (${bytes.length})`;
  const room = BYTES_WIDTH - note.length;
  return tableLine(
    String(position),
    String(id),
    fits ? hex : hex.slice(0, room - ((room + 1) % 3)) + note,
    text === null ? "(part of a character)" : shortened(visibleSpaces(text), TEXT_WIDTH),
  );
}

function tableLine(position: string, id: string, bytes: string, text: string): string {
  return `${position.padStart(7)}  ${id.padStart(6)}  ${bytes.padEnd(BYTES_WIDTH)}  ${text}`;
}

function* verdictLines({ scorer, code, reason, parsed, expected, reward, ...rest }: Verdict) {
  const open = expected === null && parsed !== null;
  const colour = rest.in_spec && reward !== 0 ? "green" : "red";
  yield `${paint("bold", `${scorer.name} ${scorer.version}`)} judges the text:`;
  yield `  outcome  ${paint(colour, code)}${open ? ", taking the parsed integer as the expected one (--expect)" : ""}`;
  yield* field("reason", reason);
  yield `  class    ${rest.class ?? "none, nothing failed"}`;
  yield `  parsed   ${parsed === null ? "no integer" : visibleShort(parsed, 60)}`;
  yield `  reward   ${reward === null ? "none without --expect" : `${reward}, expected ${visibleShort(expected ?? "", 50)}`}`;
}

function* field(name: string, value: string) {
  const lines = wrap(value, "", WIDTH - 11).split("\n");
  for (const [index, line] of lines.entries()) {
    yield `  ${(index === 0 ? name : "").padEnd(7)}  ${line}`;
  }
}

const MARKS = new Map([
  [" ", "·"],
  ["\\", "\\\\"],
  ["·", "⟨U+00B7⟩"],
  ["⟨", "⟨U+27E8⟩"],
]);

/** `visible`, with spaces too, and with no two texts that look the same. */
function visibleSpaces(text: string): string {
  return text.replace(/[ \\·⟨]|[^ \\·⟨]+/g, (part) => MARKS.get(part) ?? visible(part));
}

/** What must stay in one piece: a name of a character, an escape, a character. */
const UNIT = /⟨U\+[0-9A-F]+⟩|\\.|./gsu;

function fold(shown: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const [unit] of shown.matchAll(UNIT)) {
    const size = columns(unit);
    if (used + size > width) {
      lines.push(line);
      [line, used] = ["", 0];
    }
    line += unit;
    used += size;
  }
  return [...lines, line];
}

function shortened(shown: string, width: number): string {
  const [whole = "", more] = fold(shown, width);
  return more === undefined ? whole : `${fold(shown, width - 1)[0]}…`;
}

function codePoints(text: string): number {
  let total = 0;
  for (const _ of text) total++;
  return total;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// --- for programs ---------------------------------------------------------------------------------

/** One token a line, so that a long text needs no long string. */
function* jsonLines({ text, tokenizer, ids, verdict, notes }: Inspection) {
  yield `{"text":${json(text)},"encoding":${json(tokenizer.name)},`;
  yield `"verdict":${json(verdict)},"notes":${json(notes)},`;
  yield `"n_bytes":${Buffer.byteLength(text)},"n_tokens":${ids.length},"tokens":[`;
  for (const { position, id, bytes, text } of tokenRows(ids, tokenizer)) {
    const row = { position, id, bytes: Buffer.from(bytes).toString("hex"), text };
    yield `${json(row)}${position + 1 < ids.length ? "," : ""}`;
  }
  yield "]}";
}

/** JSON in which what a terminal would obey is escaped. */
function json(value: unknown): string {
  return JSON.stringify(value).replace(/\p{C}/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

const LINES_AT_ONCE = 4096;

function printLines(lines: Iterable<string>): void {
  let batch: string[] = [];
  for (const line of lines) {
    if (batch.push(line) < LINES_AT_ONCE) continue;
    out(batch.join("\n"));
    batch = [];
  }
  if (batch.length > 0) out(batch.join("\n"));
}
