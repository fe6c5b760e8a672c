/** Renders a chapter from Markdown: HTML, headings, and sections for the search. */

import path from "node:path";
import { Marked, type RendererObject, type Token, type Tokens } from "marked";
import { codeBlock } from "./code.ts";
import { escapeHtml, escapeKeepingEntities, harmlessHtml, slugger } from "./html.ts";

export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

/** The plain text between two headings. */
export interface Section {
  readonly heading: Heading;
  readonly text: string;
}

export interface Chapter {
  /** The page: `04-tokens.html`. */
  readonly file: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  /** Its images, as paths from the manual's folder. */
  readonly images: readonly string[];
  /** Links to other pages, `04-tokens.html#drill`. */
  readonly links: readonly string[];
}

/** What a chapter can link to; other files are not part of the site. */
export interface SiteFiles {
  /** The Markdown files that become pages. */
  readonly pages: ReadonlySet<string>;
  readonly images: ReadonlySet<string>;
}

export function renderChapter(name: string, markdown: string, site: SiteFiles): Chapter {
  const marked = new Marked({ gfm: true });
  const tokens = withoutBackLink(marked.lexer(markdown.replace(/^\ufeff/, "")));
  const headings = findHeadings(tokens);
  const used = { images: [] as string[], links: [] as string[] };
  marked.use({ renderer: rendererFor(name, site, headings, used) });
  const html = marked
    .parser(tokens)
    .replaceAll("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
  const list = [...headings.values()];
  const title = list.find(({ depth }) => depth === 1)?.text ?? titleFromName(name);
  const sections = findSections(tokens, headings, title);
  return { file: pageOf(name), title, html, headings: list, sections, ...used };
}

/** Overrides of the default renderer; raw HTML is escaped. */
function rendererFor(
  name: string,
  { pages, images }: SiteFiles,
  headings: ReadonlyMap<Token, Heading>,
  used: { images: string[]; links: string[] },
): RendererObject {
  return {
    heading(token) {
      const { id, text, depth } = headings.get(token) as Heading;
      const label = `Link to: ${escapeHtml(text)}`;
      const anchor = `<a class="anchor" href="#${id}" aria-label="${label}">#</a>`;
      const content = this.parser.parseInline(token.tokens);
      return `<h${depth} id="${id}">${content}${depth > 1 ? anchor : ""}</h${depth}>\n`;
    },
    code: ({ text, lang = "" }) => codeBlock(text, lang.split(/\s/)[0] as string),
    codespan: ({ text }) => `<code>${breakable(escapeHtml(text))}</code>`,
    html: ({ text }) => harmlessHtml(text),
    text(token) {
      const inner = "tokens" in token ? token.tokens : undefined;
      return inner ? this.parser.parseInline(inner) : escapeKeepingEntities(token.text);
    },
    link({ href, tokens: inline }) {
      const target = linkTarget(href, pages);
      if (target.kind === "page")
        used.links.push(target.to.startsWith("#") ? pageOf(name) + target.to : target.to);
      return linkHtml(this.parser.parseInline(inline), target);
    },
    image({ href, text }) {
      const file = path.posix.normalize(href);
      if (!images.has(file)) return escapeHtml(text);
      used.images.push(file);
      return picture(imageOf(file), text);
    },
    paragraph({ tokens: inline }) {
      const content = this.parser.parseInline(inline);
      const isFigure = inline.length === 1 && content.startsWith(PICTURE);
      return isFigure ? `<figure>${content}</figure>\n` : `<p>${content}</p>\n`;
    },
  };
}

/** `04-tokens.md` is the page `04-tokens.html`; the README is the first page. */
export function pageOf(name: string): string {
  if (name === "README.md") return "index.html";
  return name.replace(/\.md$/, ".html").replace(/[^\w.-]/g, "-");
}

/** Images from other folders of docs/ are copied beside the pages. */
export function imageOf(file: string): string {
  return file.replace(/^(\.\.\/)+/, "");
}

/** Removes the last line if it links to the contents: pages have their own navigation. */
function withoutBackLink(tokens: readonly Token[]): Token[] {
  const kept = tokens.filter(({ type }) => type !== "space");
  const last = kept.at(-1);
  const first = last?.type === "paragraph" ? last.tokens?.[0] : undefined;
  return first?.type === "link" && first.href === "README.md" ? kept.slice(0, -1) : kept;
}

// --- links and pictures ---------------------------------------------------------------------------

type Target =
  | { readonly kind: "page"; readonly to: string }
  | { readonly kind: "web"; readonly to: string }
  /** A file of the repository, which the site does not hold. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "none" };

export function linkTarget(href: string, pages: ReadonlySet<string>): Target {
  if (/^(https?|mailto):/i.test(href)) return { kind: "web", to: href };
  if (/^([a-z][a-z0-9+.-]*:|\/)/i.test(href)) return { kind: "none" };
  const [file = "", fragment] = href.split("#");
  const anchor = fragment === undefined ? "" : `#${fragment}`;
  if (file === "") return { kind: "page", to: anchor };
  const name = path.posix.normalize(file);
  if (pages.has(name)) return { kind: "page", to: pageOf(name) + anchor };
  return { kind: "file", path: imageOf(name) };
}

function linkHtml(content: string, target: Target): string {
  if (target.kind === "none") return content;
  if (target.kind === "file") {
    const named = content.includes("<code>");
    return named ? content : `${content} (<code>${escapeHtml(target.path)}</code>)`;
  }
  const rel = target.kind === "web" ? ' rel="noreferrer"' : "";
  return `<a href="${escapeHtml(target.to)}"${rel}>${content}</a>`;
}

const PICTURE = '<a class="picture"';

/** The image links to itself, so that it can be enlarged. */
function picture(source: string, words: string): string {
  const [src, alt] = [escapeHtml(source), escapeHtml(words)];
  return `${PICTURE} href="${src}"><img src="${src}" alt="${alt}"></a>`;
}

/** Lets a long path break after a slash. */
const breakable = (html: string) => html.replace(/(?<=\w)\/(?=\w)/g, "/<wbr>");

// --- text -----------------------------------------------------------------------------------------

/** All headings in order, each with a unique id. */
function findHeadings(tokens: readonly Token[]): Map<Token, Heading> {
  const slug = slugger();
  const headings = new Map<Token, Heading>();
  const visit = (token: Token): void => {
    if (token.type === "heading") {
      const text = plainText(token).trim();
      headings.set(token, { depth: token.depth, id: slug(text), text });
    } else for (const inner of innerTokens(token)) visit(inner);
  };
  for (const token of tokens) visit(token);
  return headings;
}

function findSections(
  tokens: readonly Token[],
  headings: ReadonlyMap<Token, Heading>,
  title: string,
): Section[] {
  const sections = [{ heading: { depth: 1, id: "", text: title }, text: "" }];
  for (const token of tokens) {
    const heading = headings.get(token);
    const section = sections.at(-1) as { text: string };
    if (heading) sections.push({ heading, text: "" });
    else section.text += `${plainText(token)} `;
  }
  return sections
    .map(({ heading, text }) => ({ heading, text: text.replace(/\s+/g, " ").trim() }))
    .filter(({ heading, text }) => heading.id !== "" || text !== "");
}

/** The visible text of a token. */
function plainText(token: Token): string {
  if (token.type === "html") return token.text.replace(/<!--[\s\S]*?-->|<[^>]*>/g, "");
  if (token.type === "br") return " ";
  const inner = innerTokens(token);
  if (inner.length === 0)
    return "text" in token && typeof token.text === "string" ? token.text : "";
  const separator = /^(list|list_item|table|blockquote)$/.test(token.type) ? " " : "";
  return inner.map(plainText).join(separator);
}

function innerTokens(token: Token): Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flat().flatMap((cell) => [...cell.tokens, SPACE]);
  }
  return ("tokens" in token && token.tokens) || [];
}

const SPACE: Token = { type: "text", raw: " ", text: " " };

function titleFromName(name: string): string {
  const words = name
    .replace(/\.md$/, "")
    .replace(/^[0-9]+-/, "")
    .replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
