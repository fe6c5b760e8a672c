/** Prints tokens and score as text or JSON. */

import { columns, visible, visibleShort } from "../../core/visible.ts";
import { type InspectedToken, tokenRows } from "../../policy/inspect-tokens.ts";
import type { Tokenizer } from "../../policy/tokenizer.ts";
import { counted, hanging, out, paint, printableJson, WIDTH, warning } from "../terminal.ts";
import type { TextScore } from "./score-text.ts";

export interface Inspection {
  readonly text: string;
  readonly tokenizer: Tokenizer;
  readonly ids: readonly number[];
  readonly score: TextScore;
  readonly notes: readonly string[];
}

/** With the text, the score and a note, this fits on a screen of 24 lines. */
const SHOWN_TOKENS = 8;
const SHOWN_LINES = 2;
const BYTES_WIDTH = 35;
const TEXT_WIDTH = WIDTH - 7 - 2 - 6 - 2 - BYTES_WIDTH - 2;

export function* textLines({ text, tokenizer, ids, score, notes }: Inspection, all: boolean) {
  yield* textPreview(text, all);
  for (const note of notes) yield warning(note, "");
  yield "";
  yield paint("bold", tableLine("#", "id", "bytes", "text"));
  const shown = all ? ids : ids.slice(0, SHOWN_TOKENS);
  for (const row of tokenRows(shown, tokenizer)) yield tokenLine(row);
  const hidden = ids.length - shown.length;
  if (hidden > 0) yield `  … ${counted(hidden, "more token")}; use --all to show them`;
  yield `${paint("bold", counted(ids.length, "token"))} in ${tokenizer.name}`;
  yield "";
  yield* scoreLines(score);
}

function* textPreview(text: string, all: boolean) {
  // A column takes at most two UTF-16 units, so this part is always enough.
  const part = all ? text : text.slice(0, 2 * (SHOWN_LINES + 1) * WIDTH);
  const lines = part === "" ? ["(empty)"] : fold(visibleSpaces(part), WIDTH - 6);
  const kept = all ? lines : lines.slice(0, SHOWN_LINES);
  for (const [index, line] of kept.entries()) yield `${index === 0 ? "text" : "    "}  ${line}`;
  const cut = kept.length < lines.length ? "truncated; " : "";
  const size = `${counted(codePoints(text), "character")}, ${counted(Buffer.byteLength(text), "byte")}`;
  yield `      (${cut}${size}${text.includes(" ") ? "; · is a space" : ""})`;
}

function tokenLine({ position, id, bytes, text }: InspectedToken): string {
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

function* scoreLines({ scorer, code, reason, parsed, expected, reward, ...rest }: TextScore) {
  const open = expected === null && parsed !== null;
  const colour = rest.in_spec && reward !== 0 ? "green" : "red";
  yield `${paint("bold", `${scorer.name} ${scorer.version}`)}`;
  yield `  outcome  ${paint(colour, code)}${open ? ", with the parsed integer as the expected one (set --expect)" : ""}`;
  yield hanging("  reason   ", reason);
  yield `  class    ${rest.class ?? "none"}`;
  yield `  parsed   ${parsed === null ? "no integer" : visibleShort(parsed, 60)}`;
  yield `  reward   ${reward === null ? "none without --expect" : `${reward}, expected ${visibleShort(expected ?? "", 50)}`}`;
}

const MARKS = new Map([
  [" ", "·"],
  ["\\", "\\\\"],
  ["·", "⟨U+00B7⟩"],
  ["⟨", "⟨U+27E8⟩"],
]);

/** Like `visible`, and also shows spaces; different texts always look different. */
function visibleSpaces(text: string): string {
  return text.replace(/[ \\·⟨]|[^ \\·⟨]+/g, (part) => MARKS.get(part) ?? visible(part));
}

/** Units that are not split across lines: a character name, an escape, a character. */
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

/** JSON with one token per line. */
export function* jsonLines({ text, tokenizer, ids, score, notes }: Inspection) {
  yield `{"text":${printableJson(text)},"encoding":${printableJson(tokenizer.name)},`;
  yield `"score":${printableJson(score)},"notes":${printableJson(notes)},`;
  yield `"n_bytes":${Buffer.byteLength(text)},"n_tokens":${ids.length},"tokens":[`;
  for (const { position, id, bytes, text } of tokenRows(ids, tokenizer)) {
    const row = { position, id, bytes: Buffer.from(bytes).toString("hex"), text };
    yield `${printableJson(row)}${position + 1 < ids.length ? "," : ""}`;
  }
  yield "]}";
}

const LINES_AT_ONCE = 4096;

export function printLines(lines: Iterable<string>): void {
  let batch: string[] = [];
  for (const line of lines) {
    if (batch.push(line) < LINES_AT_ONCE) continue;
    out(batch.join("\n"));
    batch = [];
  }
  if (batch.length > 0) out(batch.join("\n"));
}
