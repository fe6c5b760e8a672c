/** The inspected text: reading it, its escapes, and warnings about it. */

import { isUtf8 } from "node:buffer";
import { dataError, ioError, LockedRoomError, usageError } from "../../core/errors.ts";
import { codePoint, visibleShort } from "../../core/visible.ts";
import { program } from "../terminal.ts";

/** About a second of work for prose, ten seconds for a single long word. */
export const LIMIT_BYTES = 8 * 1024 * 1024;

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
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw dataError(
    "standard input is not valid UTF-8",
    "Convert the input to UTF-8 first, for example with iconv.",
  );
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

export function tooLong(): LockedRoomError {
  return dataError(
    `the text is longer than ${LIMIT_BYTES / 1024 / 1024} MiB`,
    "Give only the part that you want to inspect.",
  );
}

/** Also matches invalid escapes, to report them. */
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
      "Valid escapes: \\n \\t \\r \\\\ \\xHH \\uXXXX \\u{X} up to \\u{10FFFF}. Write \\\\ for a backslash.",
    );
  });
}

const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

export function notes(text: string, how: { piped: boolean; escapes: boolean }): string[] {
  const found: string[] = [];
  const letter = how.escapes ? undefined : /\\([nrt])/.exec(text)?.[1];
  if (letter !== undefined) {
    const meant = { n: "line feed", r: "carriage return", t: "tab" }[letter];
    found.push(
      how.piped
        ? `The input has a backslash and "${letter}", two characters, not a ${meant}. If a ${meant} was meant, add --escapes.`
        : `The shell passed a backslash and "${letter}", two characters, not a ${meant}. If a ${meant} was meant, add --escapes or write $'…' instead of "…".`,
    );
  }
  if (how.piped && /[\n\r]$/.test(text)) {
    found.push("Standard input ends with a line break, as from echo; it is part of the text.");
  }
  const lone = LONE_SURROGATE.exec(text);
  if (lone) {
    found.push(
      `${codePoint(lone[0])} at character ${lone.index} is half of a surrogate pair and has no UTF-8 form; it is tokenized as U+FFFD. The scorer gets it unchanged.`,
    );
  }
  return found;
}
