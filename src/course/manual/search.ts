/** The search index: a script, because a page opened from a folder cannot fetch other files. */

import type { Chapter } from "./chapter.ts";

/** `[file and anchor, chapter, heading, text]` for each section. */
export type IndexRow = readonly [to: string, chapter: string, heading: string, text: string];

export function indexRows(chapters: readonly Chapter[]): IndexRow[] {
  return chapters.flatMap(({ file, title, sections }) =>
    sections.map(({ heading, text }): IndexRow => {
      const anchor = heading.depth === 1 || heading.id === "" ? "" : `#${heading.id}`;
      return [file + anchor, title, heading.text, text.normalize("NFC")];
    }),
  );
}

export function indexScript(rows: readonly IndexRow[]): string {
  const json = JSON.stringify(rows).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `globalThis.manualIndex = ${json};\n`;
}
