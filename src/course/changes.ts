/** The changes that a person's text names, so that two are not passed off as one. */

import { wordCount } from "./notes.ts";

export const isNone = (text: string) => /^none\b/i.test(text);

/** An item of a list is always a change of its own. */
const ITEM = "\u0000";

/** Where one change may end and another begin. */
const APART = new RegExp(
  `(?=${ITEM})|;|[.!?]\\s+(?=\\S)|,\\s+(?=\\D)|\\s+(?:and|also|plus|as well as|then|&|\\+)\\s+`,
  "i",
);

/** How an instruction that changes something begins. */
const CHANGES =
  /^(?:add|adjust|change|clip|collect|correct|cut|decrease|delete|double|drop|edit|extend|filter|fix|freeze|generate|give|go back|halve|increase|label|learn|limit|loosen|lower|make|mask|move|normali[sz]e|patch|penali[sz]e|put|raise|reduce|remove|rename|repair|replace|resample|restore|retrain|revert|reward|rewrite|sample|set|shorten|shuffle|start|stop|swap|switch|teach|tighten|train|try|tune|turn|undo|update|use|write)\b/i;

/** What follows a change, to measure it or as its second half, is none of its own. */
const FOLLOWS = /^(?:compare|evaluate|measure|repeat|rerun|re-run|run|score|select)\b/i;

/** A thing that can be set, named without a verb: "the scorer and the prompt". */
const SETTING =
  /^(?:the|a|an|another|one|more|fewer|longer|lower|higher|larger|smaller|new)\s+(?:[\w-]+\s+)?(?:baseline|batch|beta|budget|checkpoint|data|dataset|kl|learning rate|lr|model|penalty|policy|prompts?|rule|samples|scorer|seeds?|steps|temperature|top-p|training|verifier)\b/i;

/** The changes that a text names: sentences, list items, and clauses that change something. */
export function changesIn(text: string): string[] {
  if (text === "" || isNone(text)) return [];
  const parts = text
    .replace(/\([^)]*\)/g, " ")
    .replace(/\b(?:e\.g|i\.e)\./gi, "")
    .replace(/(?:^|\n)\s*(?:[-*+]|\d+[.)])\s+|\s\d+\)\s+/g, ITEM)
    .split(APART)
    .map((part) => ({
      item: part.startsWith(ITEM),
      text: part
        .replaceAll(ITEM, "")
        .replace(/^[\s,]*(?:and|also|then|plus)\s+/i, "")
        .replace(/\s+/g, " ")
        .trim(),
    }))
    .filter((part) => wordCount(part.text) > 0);
  const named = parts.filter(
    ({ item, text: part }, i) =>
      item || CHANGES.test(part) || SETTING.test(part) || (i === 0 && FOLLOWS.test(part)),
  );
  if (named.length > 1) return named.map((part) => part.text);
  return parts.length === 0 ? [] : [text.replace(/\s+/g, " ").trim()];
}
