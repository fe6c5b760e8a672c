/** The embedded environments, by name, each with the module that it lives in. */

import { arithmetic } from "./arithmetic.ts";
import type { EnvironmentDefinition } from "./definition.ts";
import { emailSearch } from "./email-search/email-search.ts";
import { boatRace } from "./hackable/boat-race.ts";
import { headlines } from "./hackable/headlines.ts";
import { wordGroups } from "./hackable/word-groups.ts";
import { supportReplies } from "./support-replies/support-replies.ts";
import { toolCalls } from "./tool-calls/tool-calls.ts";
import { twenty48 } from "./twenty48/twenty48.ts";

/** The state of each is its own affair: whoever plays it only hands it back. */
// biome-ignore lint/suspicious/noExplicitAny: a definition both takes and gives its state.
export type AnyDefinition = EnvironmentDefinition<any>;

interface Embedded {
  readonly definition: AnyDefinition;
  /** Beside this file, without its extension. */
  readonly module: string;
}

const MODULES: Readonly<Record<string, readonly AnyDefinition[]>> = {
  arithmetic: [arithmetic],
  "twenty48/twenty48": [twenty48],
  "tool-calls/tool-calls": [toolCalls],
  "email-search/email-search": [emailSearch],
  "support-replies/support-replies": [supportReplies],
  "hackable/word-groups": wordGroups,
  "hackable/headlines": headlines,
  "hackable/boat-race": boatRace,
};

export const EMBEDDED: ReadonlyMap<string, Embedded> = new Map(
  Object.entries(MODULES).flatMap(([module, definitions]) =>
    definitions.map((definition) => [definition.name, { definition, module }] as const),
  ),
);
