/** Text inside XML and HTML. */

/** What XML 1.0 does not allow at all, controls, and the marks that turn text round. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const CHARACTERS = new Map(Object.entries(ENTITIES).map(([one, entity]) => [entity, one]));

/** Safe as content and inside quoted attributes. */
export function escapeMarkup(text: string): string {
  return text
    .replace(FORBIDDEN, "\ufffd")
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Reads what `escapeMarkup` wrote. */
export function unescapeMarkup(text: string): string {
  return text.replace(/&[#\w]+;/g, (entity) => CHARACTERS.get(entity) ?? entity);
}
