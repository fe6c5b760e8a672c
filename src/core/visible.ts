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

/** `visible`, cut to at most `width` columns with the number of characters left out. */
export function visibleShort(text: string, width: number): string {
  if (text.length <= width && PLAIN.test(text)) return text;
  const head = text.length > width * 4 ? text.slice(0, width * 4) : text;
  const shown = visible(head);
  if (head === text && columns(shown) <= width) return shown;
  const note = `… (${text.length} characters)`;
  return cut(shown, Math.max(1, width - note.length)) + note;
}

function cut(text: string, width: number): string {
  let left = width;
  let kept = "";
  for (const character of text) {
    left -= columns(character);
    if (left < 0) break;
    kept += character;
  }
  return kept;
}

/** East Asian and emoji characters take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/gu;

/** How many columns of a terminal a text takes. */
export function columns(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return [...text].length + (text.match(WIDE)?.length ?? 0);
}

/** "U+00A0" for a character. */
export function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
