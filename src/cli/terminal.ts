/** Everything that reaches a person: plain lines, colours where wanted, and nothing over 80 columns. */

import { existsSync } from "node:fs";
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

export const WIDTH = 80;

export function out(line = ""): void {
  process.stdout.write(`${line}\n`);
}

export function err(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** How to type the command here: in a clone it is the file beside you. */
export function program(): string {
  return existsSync("lockedroom") ? "./lockedroom" : "lockedroom";
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

/** Breaks text at spaces so that it fits, each line behind the indent. */
export function wrap(text: string, indent = "", width = WIDTH): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines.map((line) => indent + line).join("\n");
}

/** A horizontal bar of at most `width` blocks, at least one when there is anything to show. */
export function bar(share: number, width = 24): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8));
  return "█".repeat(eighths >> 3) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths & 7];
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
