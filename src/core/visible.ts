/**
 * Text made safe and honest to look at: nothing invisible stays invisible, nothing reaches the
 * terminal as a control sequence, and letters that imitate ASCII are named.
 */

/** Controls, formats, unassigned, surrogates, marks, separators but the plain space, foreign digits. */
const HIDDEN = /[\p{C}\p{M}]|[^ \P{Z}]|(?![0-9])\p{N}/u;
/** A letter of another script beside an ASCII letter or digit, as in "Fіnal". */
const LOOKALIKE =
  /(?<=[A-Za-z0-9])(?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}(?=[A-Za-z0-9:])/u;
/** Compatibility forms of ASCII, such as full-width letters and the full-width colon. */
const FULL_WIDTH = /[\uFF01-\uFF5E\uFE55\uA789\u2236\u02D0]|[\u{1D400}-\u{1D7FF}]/u;

const REVEAL = new RegExp(`${HIDDEN.source}|${LOOKALIKE.source}|${FULL_WIDTH.source}`, "gu");
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Most text is plain, and looking is cheaper than replacing. */
const PLAIN = /^[\x20-\x7e]*$/;

export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(REVEAL, (character) => SHORT[character] ?? `⟨${codePoint(character)}⟩`);
}

/** `visible`, cut to at most `width` characters with the number of characters left out. */
export function visibleShort(text: string, width: number): string {
  if (text.length <= width && PLAIN.test(text)) return text;
  const shown = [...visible(text.length > width * 4 ? text.slice(0, width * 4) : text)];
  if (text.length <= width * 4 && shown.length <= width) return shown.join("");
  const note = `… (${text.length} characters)`;
  return shown.slice(0, Math.max(1, width - note.length)).join("") + note;
}

/** "U+00A0" for a character. */
export function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
