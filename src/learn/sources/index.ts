/** Opens what an algorithm needs. */

import type { Need } from "../algorithm.ts";
import type { Source } from "../source.ts";
import type { SourceContext } from "./context.ts";
import { openPassing } from "./passing.ts";
import { openRollouts } from "./rollouts.ts";
import { openLabels, openPairs, openTexts } from "./written.ts";

const OPENERS: Record<Need, (context: SourceContext) => Promise<Source>> = {
  texts: openTexts,
  "passing samples": openPassing,
  pairs: openPairs,
  labels: openLabels,
  rollouts: openRollouts,
};

export function openSource(context: SourceContext): Promise<Source> {
  return OPENERS[context.algorithm.needs](context);
}

/** Whether rows are sampled from prompts with a scorer, rather than read. */
export function isSampled(need: Need): boolean {
  return need === "rollouts" || need === "passing samples";
}
