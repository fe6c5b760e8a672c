/** Reads what a learner wrote: words, sections, tables, links. Checks are about the form, not the opinion. */

import { type CheckContext, ensure } from "./check-context.ts";

const SEGMENTS = new Intl.Segmenter("en", { granularity: "word" });

/** Segmenting takes time and memory quadratic in the length, so a text is read in windows. */
const WINDOW = 256;

/** The words of a text in any script, with or without spaces between them. */
export function words(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + WINDOW);
    const segments = [...SEGMENTS.segment(window)];
    // The last segment may continue after the window: the next window starts with it.
    const cut =
      at + window.length < text.length && segments.length > 1 ? segments.pop() : undefined;
    for (const { segment, isWordLike } of segments) if (isWordLike) found.push(segment);
    at += cut?.index ?? window.length;
  }
  return found;
}

export const wordCount = (text: string): number => words(text).length;

/** Each heading with everything up to the next heading of the same or a higher rank. */
export function sections(text: string): { heading: string; body: string }[] {
  const lines = text.split(/\r?\n/);
  const headings = lines.flatMap((line, at) => {
    const found = /^(#{1,6})\s+(.*\S)/.exec(line);
    return found ? [{ at, rank: (found[1] as string).length, heading: found[2] as string }] : [];
  });
  return headings.map(({ at, rank, heading }, i) => {
    const next = headings.slice(i + 1).find((other) => other.rank <= rank);
    return { heading, body: lines.slice(at + 1, next?.at).join("\n") };
  });
}

/** The targets of links and images, and paths in backticks, without what follows a `#`. */
export function linkTargets(text: string): string[] {
  const linked = [...text.matchAll(/\]\(\s*<?([^()\s<>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)];
  return [...linked, ...quoted]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

/** The targets of images. */
export function images(text: string): string[] {
  return [...text.matchAll(/!\[[^\]]*\]\(\s*<?([^()\s<>]+)>?/g)].map(([, target = ""]) => target);
}

/** The command names after `lockedroom` in a text, each once. */
export function commandsNamed(text: string): string[] {
  const found = [...text.matchAll(/\blockedroom\s+([a-z][a-z_-]+)/g)];
  return [...new Set(found.map(([, name = ""]) => name.replaceAll("_", "-")))];
}

export function listItems(text: string): number {
  return text.match(/^\s*(?:[-*+]|\d+[.)])\s+\S/gm)?.length ?? 0;
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

/** The placeholder in templates and run notes where a person has to write. */
export const BLANK = /_yours to write/;

/** The text under each `## ` heading, by heading in lower case. */
function noteSections(markdown: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of markdown.split(/^## /m).slice(1)) {
    const [heading = "", ...lines] = part.split("\n");
    found.set(heading.trim().toLowerCase(), lines.join("\n").trim());
  }
  return found;
}

const MOST_SHARED = 0.6;

/** Whether two texts are one, but for a few words: by the pairs of words that they share. */
export function isSameText(one: string, other: string): boolean {
  const [a, b] = [pairs(one), pairs(other)];
  const shared = [...a].filter((pair) => b.has(pair)).length;
  return shared > MOST_SHARED * Math.min(a.size, b.size);
}

function pairs(text: string): Set<string> {
  const all = words(text.toLowerCase());
  return new Set(all.length < 2 ? all : all.slice(1).map((word, i) => `${all[i]} ${word}`));
}

/** Letters only, as in words of a language: no `w17`, no number. */
const isWord = (word: string) => /^\p{L}[\p{L}\p{M}'’-]*$/u.test(word);

/** How many words a section has at least, and the words of which it needs two, in any form. */
export interface SectionRule {
  readonly words: number;
  readonly keys?: readonly string[];
}

const MIN_KEYS = 2;
/** So many letters are the same in "verifier", "verified" and "verification". */
const STEM = 5;

/** Checks that a note has no blanks, and explains something in each section; returns the sections. */
export async function checkSections(
  context: CheckContext,
  file: string,
  rules: Readonly<Record<string, number | SectionRule>>,
): Promise<Map<string, string>> {
  const text = await context.read(file);
  const template = (await context.firstVersion(file)) ?? "";
  const given = new Set(template.split("\n").map((line) => line.trim()));
  const lines = text.split("\n");
  const blank = lines.findIndex((line) => BLANK.test(line) && !/Replace every/.test(line));
  ensure(blank < 0, {
    expected: "every placeholder replaced",
    found: `"_yours to write_" in line ${blank + 1}`,
    where: `${file}:${blank + 1}`,
  });
  const isOwn = (line: string) => line.startsWith("## ") || !given.has(line.trim());
  const own = noteSections(lines.filter(isOwn).join("\n"));
  const texts = new Map<string, string>();
  for (const [heading, rule] of Object.entries(rules)) {
    const { words: count, keys = [] } = typeof rule === "number" ? { words: rule } : rule;
    const written = own.get(heading.toLowerCase());
    ensure(wordCount(written ?? "") >= count, {
      expected: `at least ${count} words of your own under "## ${heading}"`,
      found: written === undefined ? "no such section" : `${wordCount(written)}`,
      where: file,
      next: `Write ${file}, under "## ${heading}".`,
    });
    const problem = textProblem(written ?? "", count, keys, texts);
    ensure(problem === undefined, {
      expected: `an explanation under "## ${heading}"`,
      found: problem ?? "",
      where: file,
    });
    texts.set(heading, written ?? "");
  }
  return own;
}

/** Why a text explains nothing, as far as that can be counted. */
export function textProblem(
  text: string,
  least: number,
  keys: readonly string[],
  others: ReadonlyMap<string, string>,
): string | undefined {
  const copied = [...others].find(([, other]) => isSameText(text, other));
  if (copied) return `the text of "## ${copied[0]}"`;
  const used = new Set(words(text.toLowerCase()).filter(isWord));
  if (used.size < Math.min(least, 60) / 2) return "the same few words repeated, or no words";
  const named = keys.filter((key) => [...used].some((word) => word.startsWith(key.slice(0, STEM))));
  if (named.length >= Math.min(MIN_KEYS, keys.length)) return undefined;
  const lacking = keys.filter((key) => !named.includes(key)).slice(0, 4);
  const has = named.length === 0 ? "" : `; it has ${named[0]}`;
  return `a text without ${MIN_KEYS} of the words that it needs, such as ${lacking.join(", ")}${has}`;
}

/** A drawing has a line for each thing, or a code block with an arrow. */
export function isDrawing(text: string, lines: number): boolean {
  const [block = ""] = /```[\s\S]*?```/.exec(text) ?? [];
  const drawn = text.split("\n").filter((line) => wordCount(line) > 0 && !/^\s*```/.test(line));
  return drawn.length >= lines || /->|=>|→|⟶/.test(block);
}
