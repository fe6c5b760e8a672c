/** Reading what a learner wrote: sections, tables and blanks. Form is judged here, never opinion. */

import { demand } from "./gap.ts";
import type { Room } from "./room.ts";
import { words, wordsOf } from "./words.ts";

/** Stands in templates and run notes where a person has to write. */
const BLANK = /_yours to write/;

/** The text under each `## ` heading, by heading in lower case. */
function sections(markdown: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of markdown.split(/^## /m).slice(1)) {
    const [heading = "", ...lines] = part.split("\n");
    found.set(heading.trim().toLowerCase(), lines.join("\n").trim());
  }
  return found;
}

/** A note without blanks whose sections say something; gives what the person wrote in each. */
export async function demandSections(
  room: Room,
  file: string,
  least: Readonly<Record<string, number>>,
): Promise<Map<string, string>> {
  const text = await room.read(file);
  const template = (await room.firstVersion(file)) ?? "";
  const given = new Set(template.split("\n").map((line) => line.trim()));
  const lines = text.split("\n");
  const blank = lines.findIndex((line) => BLANK.test(line) && !/Replace every/.test(line));
  demand(blank < 0, {
    expected: "every blank filled in",
    found: `"_yours to write_" in line ${blank + 1}`,
    look: `${file}:${blank + 1}`,
  });
  const isOwn = (line: string) => line.startsWith("## ") || !given.has(line.trim());
  const own = sections(lines.filter(isOwn).join("\n"));
  const texts = new Map<string, string>();
  for (const [heading, count] of Object.entries(least)) {
    const written = own.get(heading.toLowerCase());
    demand(words(written ?? "") >= count, {
      expected: `at least ${count} words of your own under "## ${heading}"`,
      found: written === undefined ? "no such section" : `${words(written)}`,
      look: file,
      next: `Write ${file}, under "## ${heading}".`,
    });
    const twin = texts.get(written ?? "");
    demand(twin === undefined && variety(written ?? "") >= Math.min(count, 60) / 2, {
      expected: `an explanation under "## ${heading}"`,
      found: twin === undefined ? "the same few words again and again" : `the text of "## ${twin}"`,
      look: file,
    });
    texts.set(written ?? "", heading);
  }
  return own;
}

/** How many different words a text has. */
function variety(text: string): number {
  return new Set(wordsOf(text.toLowerCase())).size;
}

/** The rows of the first table, without its head, cells trimmed. */
export function tableRows(markdown: string): string[][] {
  const lines = markdown.split("\n").map((line) => line.trim());
  const head = lines.findIndex((line) => /^\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/.test(line));
  if (head < 0) return [];
  const rows: string[][] = [];
  for (const line of lines.slice(head + 1)) {
    if (!line.includes("|")) break;
    rows.push(cells(line));
  }
  return rows;
}

function cells(line: string): string[] {
  return line
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const LEAST_IN_RUN_NOTE = 4;

/** The note of a run, which the person completes: expectation and repair plan. */
export async function demandRunNote(room: Room, run: string): Promise<string> {
  const file = `runs/${run}/README.md`;
  const lines = (await room.read(file)).split("\n");
  for (const label of ["What I expected", "Repair plan"]) {
    const at = lines.findIndex((line) => line.includes(`**${label}:**`));
    const written = (lines[at] ?? "").split(`**${label}:**`)[1] ?? "";
    const blank = BLANK.test(written);
    demand(at >= 0 && !blank && words(written) >= LEAST_IN_RUN_NOTE, {
      expected: `"${label}" in your words, at least ${LEAST_IN_RUN_NOTE}`,
      found: at < 0 ? "no such line" : blank ? "the blank" : written.trim() || "nothing",
      look: `${file}:${at + 1}`,
    });
  }
  return file;
}
