/** Text that goes into HTML. */

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe as content and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** For text of Markdown, in which `&nbsp;` is a way to write a character. */
export function escapeKeepingEntities(text: string): string {
  const written = /&(?:[a-z][a-z0-9]*|#[0-9]{1,7}|#x[0-9a-f]{1,6});/gi;
  let html = "";
  let done = 0;
  for (const { 0: entity, index } of text.matchAll(written)) {
    html += escapeHtml(text.slice(done, index)) + entity;
    done = index + entity.length;
  }
  return html + escapeHtml(text.slice(done));
}

/** Without attributes these cannot do anything; comments are for authors. Everything else is text. */
const HARMLESS = /<!--[\s\S]*?-->|<(\/?)(br|details|summary|kbd|sub|sup)\s*\/?>/gi;

export function harmlessHtml(text: string): string {
  let html = "";
  let done = 0;
  for (const { 0: found, 1: slash = "", 2: name, index } of text.matchAll(HARMLESS)) {
    html += escapeHtml(text.slice(done, index));
    if (name !== undefined) html += `<${slash}${name.toLowerCase()}>`;
    done = index + found.length;
  }
  return html + escapeHtml(text.slice(done));
}

/** Where GitHub puts a heading, so that one link works in both places; each is given out once. */
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
