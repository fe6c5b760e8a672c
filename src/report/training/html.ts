/** HTML that is safe by construction: whatever a template is given is text, unless it is HTML. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Piece = Html | string | number | false | undefined | readonly Piece[];

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.map((text, i) => text + written(pieces[i])).join(""));
}

/** For what this program made itself, such as the SVG of a chart; never for data. */
export const trusted = (text: string): Html => new Html(text);

function written(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (piece === undefined || piece === false) return "";
  return typeof piece === "object" ? piece.map(written).join("") : escapeHtml(`${piece}`);
}

/** Controls, and the marks that turn text round: a page has no use for them. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe as content and inside quoted attributes. */
function escapeHtml(text: string): string {
  return text
    .replace(FORBIDDEN, "\ufffd")
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
