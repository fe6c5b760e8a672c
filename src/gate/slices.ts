/**
 * The comparison within each slice, so that a mean cannot hide a loss. A slice that is worse rejects;
 * with a margin a loss of it must be ruled out in every slice.
 */

import { visibleShort } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { holmAdjusted } from "../stats/holm.ts";
import { type Decided, decided, measure } from "./decide.ts";
import { decidingSize } from "./no-regression.ts";
import type { SliceEvidence } from "./slice-evidence.ts";

type SliceReport = NonNullable<GateReport["slices"]>;

interface SliceQuestion {
  readonly field: string;
  readonly slices: ReadonlyMap<string, SliceEvidence>;
  /** Where prompts repeat. */
  readonly clusters: ReadonlyMap<string, ClusterCounts> | undefined;
  readonly binary: boolean;
  readonly range: number;
  readonly level: number;
  readonly margin: number | undefined;
}

export function measureSlices(question: SliceQuestion): SliceReport {
  const { field, slices, level, margin, binary, range } = question;
  const measured = [...slices]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([value, evidence]) => {
      const clusters = question.clusters?.get(value);
      return {
        value,
        evidence,
        clusters,
        found: measure({ ...evidence, clusters, binary, range }, level),
      };
    });
  const adjusted = holmAdjusted(measured.map(({ found }) => found.p_value ?? 1));
  const values = measured.map(({ value, evidence, clusters, found }, i) => {
    const { delta, ci, p_value } = found;
    const p_holm = adjusted[i] as number;
    const ruledOut = margin !== undefined && found.lossRuledOut(margin);
    const isWorse = !ruledOut && p_holm <= level && delta !== null && delta < 0;
    const state = ruledOut ? "loss_ruled_out" : isWorse ? "worse" : "undecided";
    const { pairs } = evidence.differences;
    const needed =
      margin === undefined || state !== "undecided"
        ? undefined
        : decidingSize({
            ...{ measured: found, margin, alpha: level, n: clusters?.clusters ?? pairs },
            variance: (clusters?.influences() ?? evidence.differences).variance() ?? 0,
            spread: { variance: (clusters?.influences() ?? evidence.differences).variance() ?? 0 },
          });
    return {
      ...{ value, n: pairs, ...evidence.means, ...evidence.flips },
      ...({ delta, ci, p_value, p_holm, state } as const),
      ...(needed !== undefined && { needed }),
    };
  });
  return { field, ...(margin !== undefined && { margin }), values };
}

/** What the slices leave of a verdict on the whole. */
export function decideSlices(whole: Decided, { field, margin, values }: SliceReport): Decided {
  const worse = values.filter(({ state }) => state === "worse");
  if (worse.length > 0) {
    const message = `${named(field, worse)} worse after Holm's correction for ${values.length} slices, whatever the mean says.`;
    return added(whole, decided("REJECT", "slice_worse", message));
  }
  const open = values.filter(({ state }) => state === "undecided");
  const stands = whole.reasons.some(({ code }) => code === "nothing_changed");
  if (margin === undefined || open.length === 0 || stands) return whole;
  if (whole.decision !== "PROMOTE" && whole.decision !== "PASS") return whole;
  const most = Math.max(0, ...open.map(({ needed }) => needed ?? 0));
  const size = most > 0 ? ` About ${most} examples in each would decide.` : "";
  const message = `A loss of ${margin} or more is not ruled out: ${named(field, open)} undecided.${size}`;
  return added(whole, decided("INCONCLUSIVE", "slice_loss_not_ruled_out", message));
}

/** The slices' reason comes first, because it decides. */
function added(whole: Decided, { decision, reasons }: Decided): Decided {
  return { decision, reasons: [...reasons, ...whole.reasons] };
}

const MOST_NAMED = 5;

function named(field: string, values: SliceReport["values"]): string {
  const list = values
    .slice(0, MOST_NAMED)
    .map(({ value, delta, n }) => `${visibleShort(value, 24)} (${delta?.toFixed(4)} of ${n})`);
  const more = values.length > MOST_NAMED ? [`${values.length - MOST_NAMED} more`] : [];
  const verb = values.length === 1 ? "is" : "are";
  return `by ${visibleShort(field, 24)}, ${[...list, ...more].join(", ")} ${verb}`;
}
