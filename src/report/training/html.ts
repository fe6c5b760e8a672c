/** Templates that escape every value except HTML. */

import { escapeMarkup } from "../../core/markup.ts";

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Piece = Html | string | number | false | undefined | readonly Piece[];

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.map((text, i) => text + render(pieces[i])).join(""));
}

/** For markup that this program made, such as the SVG of a chart; never for data. */
export const trusted = (text: string): Html => new Html(text);

function render(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (piece === undefined || piece === false) return "";
  return typeof piece === "object" ? piece.map(render).join("") : escapeMarkup(`${piece}`);
}
