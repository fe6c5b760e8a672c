/** The files of the site, from its sources. */

import { createHash } from "node:crypto";
import { type Chapter, imageOf, renderChapter } from "./chapter.ts";
import { pageHtml } from "./page.ts";

export interface Sources {
  /** Markdown by file name. */
  readonly chapters: ReadonlyMap<string, string>;
  /** Images by path from the manual's folder; only those that a chapter shows are used. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  readonly style: string;
  readonly script: string;
  readonly version: string;
}

export interface Site {
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** Equal for equal files. */
  readonly fingerprint: string;
  readonly chapters: readonly Chapter[];
  /** Broken links: `01-three-loops.html: 99-none.html`. */
  readonly deadLinks: readonly string[];
}

export function buildSite(sources: Sources): Site {
  const chapters = renderAll(sources);
  const files = new Map<string, string | Uint8Array>();
  for (const chapter of chapters) {
    files.set(chapter.file, pageHtml(chapter, chapters, sources.version));
  }
  for (const image of new Set(chapters.flatMap(({ images }) => images))) {
    files.set(imageOf(image), sources.images.get(image) as Uint8Array);
  }
  files.set("manual.css", sources.style);
  files.set("manual.js", sources.script);
  files.set("search-index.js", indexScript(indexRows(chapters)));
  return { files, fingerprint: fingerprint(files), chapters, deadLinks: findDeadLinks(chapters) };
}

/** In the order of their names, after the contents page, which is generated if there is none. */
function renderAll({ chapters, images }: Sources): Chapter[] {
  const names = [...chapters.keys()].filter((name) => name !== "README.md").sort(byNumber.compare);
  const pages = new Set(["README.md", ...names]);
  const site = { pages, images: new Set(images.keys()) };
  const render = (name: string, text: string) => renderChapter(name, text, site);
  const rest = names.map((name) => render(name, chapters.get(name) ?? ""));
  const written = chapters.get("README.md")?.trim() ?? "";
  const list = rest.map(({ title }, i) => `- [${bare(title)}](${names[i]})`).join("\n");
  const isStub = !/\]\([^)]+\.md/.test(written);
  const first = render("README.md", isStub ? `${written || "# Manual"}\n\n${list}\n` : written);
  return [first, ...rest];
}

const byNumber = new Intl.Collator("en", { numeric: true });

const bare = (title: string) => title.replace(/[\\[\]`*_<>]/g, "\\$&");

function findDeadLinks(chapters: readonly Chapter[]): string[] {
  const places = new Set(
    chapters.flatMap(({ file, headings }) => [file, ...headings.map(({ id }) => `${file}#${id}`)]),
  );
  return chapters.flatMap(({ file, links }) =>
    links.filter((link) => !places.has(decoded(link))).map((link) => `${file}: ${link}`),
  );
}

function decoded(link: string): string {
  try {
    return decodeURI(link);
  } catch {
    return link;
  }
}

function fingerprint(files: ReadonlyMap<string, string | Uint8Array>): string {
  const hash = createHash("sha256");
  for (const [name, content] of files) {
    hash.update(`${name}\n${Buffer.byteLength(content)}\n`).update(content);
  }
  return hash.digest("hex");
}

/** `[file and anchor, chapter, heading, text]` for each section. */
type IndexRow = readonly [to: string, chapter: string, heading: string, text: string];

function indexRows(chapters: readonly Chapter[]): IndexRow[] {
  return chapters.flatMap(({ file, title, sections }) =>
    sections.map(({ heading, text }): IndexRow => {
      const anchor = heading.depth === 1 || heading.id === "" ? "" : `#${heading.id}`;
      return [file + anchor, title, heading.text, text.normalize("NFC")];
    }),
  );
}

/** A script, because a page opened from a folder cannot fetch other files. */
export function indexScript(rows: readonly IndexRow[]): string {
  const json = JSON.stringify(rows).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `globalThis.manualIndex = ${json};\n`;
}
