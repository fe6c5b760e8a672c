/** Parts of a comparison that are measured side by side, slices or axes: their figures, and how one decides. */

import { holmAdjusted } from "../stats/holm.ts";
import type { Decided } from "./decide.ts";
import type { Measured } from "./measured.ts";
import { decidingSize } from "./sample-size.ts";
import type { SliceEvidence } from "./slice-evidence.ts";

/** A slice or an axis, measured. */
export interface Part {
  readonly rows: SliceEvidence;
  /** Where prompts repeat, how many there are. */
  readonly prompts: number | undefined;
  readonly found: Measured;
  /** The loss to be ruled out, if one is. */
  readonly margin: number | undefined;
}

/** Figures of each part, with p-values corrected for all of them. */
export function partFigures<P extends Part, S extends string>(
  parts: readonly P[],
  level: number,
  stateOf: (part: P, p: number) => S,
) {
  const adjusted = holmAdjusted(parts.map(({ found }) => found.p_value ?? 1));
  return parts.map((part, i) => {
    const { rows, prompts, found, margin = 0 } = part;
    const { delta, ci, p_value } = found;
    const p_holm = adjusted[i] as number;
    const state = stateOf(part, p_holm);
    // Ruling a loss out in every part needs no correction; showing one in any part does.
    const showingLevel = level / parts.length;
    const needed =
      margin === 0 || state !== "loss_not_ruled_out"
        ? undefined
        : decidingSize(found, { margin, alpha: level, showingLevel });
    return {
      ...{ n: rows.differences.pairs, ...(prompts !== undefined && { prompts }) },
      ...{ ...rows.means, ...rows.flips },
      ...{ delta, ci, p_value, p_holm, state },
      ...(needed !== undefined && { needed }),
    };
  });
}

/** The reason of a part comes first, because it decides. */
export function decidedByPart(whole: Decided, { decision, reasons }: Decided): Decided {
  return { decision, reasons: [...reasons, ...whole.reasons] };
}

/** Without a change, a difference in a part is noise. */
const STANDS: ReadonlySet<string> = new Set(["nothing_changed", "only_seed_changed"]);

/** Whether no part can change the decision. */
export const standsAnyway = ({ reasons }: Decided): boolean =>
  reasons.some(({ code }) => STANDS.has(code));
