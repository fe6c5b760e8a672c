/** The head of a run: how it ended, reasons not to trust it, its key figures and what it was made of. */

import { type Fact, factList } from "./facts.ts";
import { type Figure, figureTiles } from "./figure-tiles.ts";
import { type Html, html } from "./html.ts";

export interface Head {
  /** Undefined with one run: the title of the page names it. */
  readonly name: string | undefined;
  /** In bold, such as "Finished." */
  readonly word: string;
  readonly sentence: string;
  readonly warnings: readonly string[];
  /** Neither good nor bad, such as a question that is not decided. */
  readonly isOpen?: boolean;
  /** What `verify` found. */
  readonly verification: string | undefined;
  readonly figures: readonly Figure[];
  readonly facts: readonly (Fact | undefined)[];
  /** In words, below the figures. */
  readonly remarks?: readonly string[];
}

export function headArticle(head: Head): Html {
  const { name, word, sentence, warnings, verification, figures, facts, remarks = [] } = head;
  const state = head.isOpen || warnings.length > 0 ? "alarmed" : "finished";
  return html`<article class="run">
${name !== undefined && html`<h2>${name}</h2>\n`}<p class="verdict ${state}"><strong>${word}.</strong> ${sentence}</p>
${warnings.map((text) => html`<p class="verdict alarm"><strong>Warning.</strong> ${text}</p>\n`)}${
  verification !== undefined && html`<p>${verification}</p>\n`
}<div class="body">
<div>${figureTiles(figures)}${remarks.map((text) => html`<p>${text}</p>\n`)}</div>
${factList(facts)}</div>
</article>
`;
}

/** The warning about files that are not what the run wrote. */
export function editedWarning(edited: readonly string[]): string[] {
  return edited.length === 0 ? [] : [`Edited after the run wrote it: ${edited.join(", ")}.`];
}
