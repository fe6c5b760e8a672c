/** The HTML page of a chapter. */

import type { Chapter } from "./chapter.ts";
import { escapeHtml } from "./html.ts";

/**
 * Allows only the site's own files. `file:` is for browsers that do not treat files of the same folder
 * as the same origin.
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src"].map((kind) => `${kind} 'self' file:`),
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export function pageHtml(chapter: Chapter, chapters: readonly Chapter[], version: string): string {
  const place = chapters.indexOf(chapter);
  const [before, after] = [chapters[place - 1], chapters[place + 1]];
  const isFirst = chapter.file === "index.html";
  const title = isFirst ? "Locked Room: the manual" : `${chapter.title} · Locked Room`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="manual.css">
${before ? `<link rel="prev" href="${before.file}">\n` : ""}${after ? `<link rel="next" href="${after.file}">\n` : ""}<script src="search-index.js" defer></script>
<script src="manual.js" defer></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header class="top">
<a class="brand" href="index.html">Locked Room</a>
<a class="menu" href="#contents">Contents</a>
<search class="search" hidden>
<label class="unseen" for="find">Search the manual</label>
<input id="find" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-describedby="found" aria-keyshortcuts="/">
<kbd class="key" aria-hidden="true">/</kbd>
<p id="found" class="unseen" role="status" aria-live="polite"></p>
<ul id="results" class="results" aria-label="Search results" hidden></ul>
</search>
</header>
<div class="columns">
<main id="text" tabindex="-1">
<article>
${chapter.html.trim()}
</article>
${turnPages(before, after)}
</main>
${contents(chapter, chapters)}
</div>
<footer>Locked Room ${escapeHtml(version)}</footer>
</body>
</html>
`;
}

function turnPages(before: Chapter | undefined, after: Chapter | undefined): string {
  const link = (chapter: Chapter | undefined, rel: "prev" | "next", word: string) =>
    chapter
      ? `<a rel="${rel}" href="${chapter.file}"><small>${word}</small>${escapeHtml(chapter.title)}</a>`
      : "<span></span>";
  return `<nav class="turn" aria-label="Pages">${link(before, "prev", "Previous")}${link(after, "next", "Next")}</nav>`;
}

/** All chapters; the current one with its sections. */
function contents(present: Chapter, chapters: readonly Chapter[]): string {
  const items = chapters.map((chapter) => {
    const current = chapter === present ? ' aria-current="page"' : "";
    const title = chapter.file === "index.html" ? "Contents" : chapter.title;
    const link = `<a href="${chapter.file}"${current}>${escapeHtml(title)}</a>`;
    return `<li>${link}${chapter === present && chapter.file !== "index.html" ? sectionList(chapter) : ""}</li>`;
  });
  return `<nav id="contents" class="contents" aria-label="Contents" tabindex="-1">
<ul>
${items.join("\n")}
</ul>
</nav>`;
}

function sectionList({ headings }: Chapter): string {
  const sections = headings.filter(({ depth }) => depth === 2);
  if (sections.length === 0) return "";
  const items = sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<ul>${items.join("")}</ul>`;
}
