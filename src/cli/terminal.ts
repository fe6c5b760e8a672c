/** Terminal output: lines of at most 80 columns, colours where supported. */

import { existsSync } from "node:fs";
import { styleText } from "node:util";
import { codePoint, columns, visible } from "../core/visible.ts";

type Style = Parameters<typeof styleText>[0];

export const WIDTH = 80;

export function out(line = ""): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

export function err(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

/** Escapes control characters in all output, except the colours of this program. */
function escapeControls(text: string): string {
  return text.replace(CONTROL, (found) =>
    found.length > 1 && useColour() ? found : showControls(found),
  );
}

const CONTROL = /\x1b\[[0-9;]*m|[^\P{C}\n]/gu;

function showControls(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, (c) => `⟨${codePoint(c)}⟩`);
}

/** JSON with control characters escaped, safe to print on a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/[^\P{C}\n]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** How to run the command here: as a file in a clone, or with npx in a project. */
export function program(): string {
  if (existsSync("lockedroom")) return "./lockedroom";
  return existsSync("node_modules/.bin/lockedroom") ? "npx lockedroom" : "lockedroom";
}

/** The next step after an error. */
export function hint(text: string): void {
  err(wrap(text, "  "));
}

export function paint(style: Style, text: string): string {
  return useColour() ? styleText(style, text) : text;
}

function useColour(): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  return FORCE_COLOR ? FORCE_COLOR !== "0" : process.stdout.isTTY === true;
}

/** Wraps text at spaces, each line with the indent; a word that is longer than a line is broken. */
export function wrap(text: string, indent = "", width = WIDTH): string {
  const room = width - indent.length;
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ").flatMap((long) => broken(long, room))) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (columns(longer) <= room) line = longer;
      else {
        lines.push(line);
        line = word;
      }
    }
    lines.push(line);
  }
  return lines.map((line) => indent + line).join("\n");
}

/** A label and text with a hanging indent; `margin` is the label's width without colours. */
export function hanging(label: string, text: string, margin = label.length): string {
  return label + wrap(text, " ".repeat(margin)).slice(margin);
}

export function warning(text: string, indent = "  "): string {
  return paint("yellow", wrap(`! ${text}`, indent));
}

/** Prints text, wrapped. */
export function print(text: string, indent?: string): void {
  out(wrap(text, indent));
}

/**
 * A command to copy: as many parts on a line as fit, with a backslash at line ends. A part, such as
 * a flag with its value, is never broken.
 */
export function commandLines(start: string, parts: readonly string[], indent = ""): string {
  const lines = [indent + start];
  for (const part of parts) {
    const longer = `${lines.at(-1)} ${part}`;
    if (columns(longer) <= WIDTH - " \\".length) lines[lines.length - 1] = longer;
    else lines.push(`${indent}  ${part}`);
  }
  return lines.join(" \\\n");
}

function broken(word: string, room: number): string[] {
  if (columns(word) <= room) return [word];
  const parts = [""];
  for (const character of word) {
    const last = parts[parts.length - 1] as string;
    if (columns(last) + columns(character) <= room) parts[parts.length - 1] = last + character;
    else parts.push(character);
  }
  return parts;
}

/** The end of a name that is too long: folders differ at their ends. */
export function endOf(text: string, width: number): string {
  const shown = visible(text);
  return shown.length <= width ? shown : `…${shown.slice(1 - width)}`;
}

/** A horizontal bar of at most `width` blocks, at least one when there is anything to show. */
export function bar(share: number, width = 24): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8));
  return "█".repeat(eighths >> 3) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths & 7];
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** At most four decimals, and no zeros at the end. */
export function figure(value: number): string {
  return String(Number(value.toFixed(4)));
}

/** "1 row", "2 rows" */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The folder of a run, and its files besides the five that every run has. */
export function printWritten(dir: string, { files }: { readonly files: object }): void {
  const names = Object.keys(files).sort();
  out(wrap(`Run written to ${dir}${names.length > 0 ? ` (${names.join(", ")})` : ""}`));
}
