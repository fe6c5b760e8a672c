/** Escaping of text for HTML. */

import { escapeMarkup as escapeHtml } from "../../core/index.ts";

export { escapeHtml };

/** For Markdown text, which may contain entities such as `&nbsp;`. */
export function escapeKeepingEntities(text: string): string {
  const entities = /&(?:[a-z][a-z0-9]*|#[0-9]{1,7}|#x[0-9a-f]{1,6});/gi;
  return escapeExcept(text, entities, ([entity]) => entity);
}

/** Tags without attributes are allowed, comments are dropped, everything else is escaped. */
const ALLOWED = /<!--[\s\S]*?-->|<(\/?)(br|details|summary|kbd|sub|sup)\s*\/?>/gi;

export function harmlessHtml(text: string): string {
  return escapeExcept(text, ALLOWED, ([, slash, name]) =>
    name === undefined ? "" : `<${slash}${name.toLowerCase()}>`,
  );
}

/** Escapes everything but the matches, which `keep` replaces. */
function escapeExcept(text: string, pattern: RegExp, keep: (match: RegExpMatchArray) => string) {
  let html = "";
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    html += escapeHtml(text.slice(done, match.index)) + keep(match);
    done = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(done));
}

/** Unique heading ids like those of GitHub, so that links work in both places. */
export function slugger(): (text: string) => string {
  const given = new Map<string, number>();
  return (text) => {
    const words = text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "");
    const slug = words.trim().replaceAll(" ", "-") || "section";
    const times = given.get(slug) ?? 0;
    given.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
