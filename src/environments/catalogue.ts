/** The embedded environments, by name, each with the module that it lives in. */

import { arithmetic } from "./arithmetic.ts";
import type { EnvironmentDefinition } from "./definition.ts";
import { emailSearch } from "./email-search/email-search.ts";
import { boatRace } from "./hackable/boat-race.ts";
import { headlines } from "./hackable/headlines.ts";
import { wordGroups } from "./hackable/word-groups.ts";
import { supportRepliesLabelled } from "./support-replies/labelled.ts";
import { supportReplies } from "./support-replies/support-replies.ts";
import { toolCalls } from "./tool-calls/tool-calls.ts";
import { twenty48Score } from "./twenty48/score.ts";
import { twenty48 } from "./twenty48/twenty48.ts";

/** The state of each is its own affair: whoever plays it only hands it back. */
// biome-ignore lint/suspicious/noExplicitAny: a definition both takes and gives its state.
export type AnyDefinition = EnvironmentDefinition<any>;

interface Embedded {
  readonly definition: AnyDefinition;
  /** Beside this file, without its extension. */
  readonly module: string;
  /** What is to be done, in a line of the list. */
  readonly summary: string;
}

const SUMMARIES: Readonly<Record<string, string>> = {
  arithmetic: "one arithmetic problem, answered in a fixed format",
  twenty48: "sliding game, won at 128; reward by largest tile",
  "twenty48-score": "the sliding game, won at 128; reward by points",
  "tool-calls": "the right tool with safe arguments, or none",
  "email-search": "a question about 5,000 mails: search, read, answer",
  "support-replies": "a reply to a customer; no reward of its own",
  "support-replies-labelled": "a reply to a customer; reward by its parts",
  "word-groups-naive": "eight words in two categories; reward can be tricked",
  "word-groups": "eight words in two categories",
  "headlines-naive": "a headline for an article; the reward can be tricked",
  headlines: "a headline for an article",
  "boat-race-naive": "reach the finish; circling pays more than finishing",
  "boat-race": "reach the finish; circling does not pay",
};

const MODULES: Readonly<Record<string, readonly AnyDefinition[]>> = {
  arithmetic: [arithmetic],
  "twenty48/twenty48": [twenty48],
  "twenty48/score": [twenty48Score],
  "tool-calls/tool-calls": [toolCalls],
  "email-search/email-search": [emailSearch],
  "support-replies/support-replies": [supportReplies],
  "support-replies/labelled": [supportRepliesLabelled],
  "hackable/word-groups": wordGroups,
  "hackable/headlines": headlines,
  "hackable/boat-race": boatRace,
};

export const EMBEDDED: ReadonlyMap<string, Embedded> = new Map(
  Object.entries(MODULES).flatMap(([module, definitions]) =>
    definitions.map((definition) => {
      const { name } = definition;
      return [name, { definition, module, summary: SUMMARIES[name] ?? "" }] as const;
    }),
  ),
);
