/**
 * The comparison within each slice, so that a mean cannot hide a loss. A slice that is worse rejects;
 * with a margin a loss of it must be ruled out in every slice.
 */

import { visibleShort } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { type Decided, decided } from "./decide.ts";
import { type Measured, measure } from "./measured.ts";
import { decidedByPart, partFigures, standsAnyway } from "./parts.ts";
import type { SliceEvidence } from "./slice-evidence.ts";
import { signed, sizeText, unitsText } from "./words.ts";

type SliceReport = NonNullable<GateReport["slices"]>;

interface SliceQuestion {
  readonly field: string;
  readonly slices: ReadonlyMap<string, SliceEvidence>;
  /** Where prompts repeat. */
  readonly clusters: ReadonlyMap<string, ClusterCounts> | undefined;
  readonly binary: boolean;
  readonly range: number | undefined;
  readonly level: number;
  readonly margin: number | undefined;
  /** The answers are the same, so that there is nothing to find. */
  readonly unchanged: boolean;
}

export function measureSlices(question: SliceQuestion): SliceReport {
  const { field, slices, level, margin, binary, range } = question;
  const parts = [...slices]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([value, rows]) => {
      const clusters = question.clusters?.get(value);
      const { differences, flips } = rows;
      const found = measure({ differences, flips, clusters, binary, range }, level);
      return { value, rows, prompts: clusters?.clusters, found, margin };
    });
  const figures = partFigures(parts, level, ({ found }, p) =>
    question.unchanged ? "unchanged" : stateOf(found, p, level, margin),
  );
  const values = parts.map(({ value }, i) => ({ value, ...(figures[i] as Figures) }));
  return { field, ...(margin !== undefined && { margin }), values };
}

type Figures = Omit<SliceReport["values"][number], "value">;

function stateOf(
  { delta, lossRuledOut }: Measured,
  p: number,
  level: number,
  margin: number | undefined,
): SliceReport["values"][number]["state"] {
  const isSignificant = p <= level && delta !== null;
  const ruledOut = margin !== undefined && lossRuledOut(margin);
  if (isSignificant && delta > 0 && (margin === undefined || ruledOut)) return "better";
  if (ruledOut) return "loss_ruled_out";
  if (isSignificant && delta < 0) return "worse";
  return margin === undefined ? "not_significant" : "loss_not_ruled_out";
}

/** The verdict on the whole after the slices: a loss in one of them decides. */
export function decideSlices(whole: Decided, { field, margin, values }: SliceReport): Decided {
  if (standsAnyway(whole)) return whole;
  const worse = values.filter(({ state }) => state === "worse");
  if (worse.length > 0) {
    const verb = worse.length === 1 ? "is" : "are";
    const message = `${worse.length} of ${values.length} slices by ${nameOf(field)} ${verb} worse, with p-values corrected for ${values.length} slices (Holm): ${listed(worse)}. The mean over all examples can hide this.`;
    return decidedByPart(whole, decided("REJECT", "slice_worse", message));
  }
  const by = `by ${nameOf(field)}`;
  if (margin === undefined) {
    const message = `None of the ${values.length} slices ${by} is significantly worse, with p-values corrected for ${values.length} slices (Holm).`;
    return followed(whole, "no_slice_worse", message);
  }
  const open = values.filter(({ state }) => state === "loss_not_ruled_out");
  if (open.length === 0) {
    const message = `A loss of ${margin} or more is ruled out in each of the ${values.length} slices ${by}.`;
    return followed(whole, "slice_losses_ruled_out", message);
  }
  const most = Math.max(0, ...open.map(({ needed }) => needed ?? 0));
  const size = most > 0 ? ` About ${most} ${unitsText(open)} in each would decide.` : "";
  const message = `A loss of ${margin} or more is not ruled out in ${open.length} of ${values.length} slices ${by}: ${listed(open)}.${size}`;
  const code = "slice_loss_not_ruled_out";
  return whole.decision === "PROMOTE" || whole.decision === "PASS"
    ? decidedByPart(whole, decided("INCONCLUSIVE", code, message))
    : followed(whole, code, message);
}

/** A reason that does not decide comes last. */
function followed({ decision, reasons }: Decided, code: string, message: string): Decided {
  return { decision, reasons: [...reasons, ...decided(decision, code, message).reasons] };
}

const nameOf = (text: string) => visibleShort(text, 24);

const MOST_LISTED = 5;

function listed(values: SliceReport["values"]): string {
  const list = values
    .slice(0, MOST_LISTED)
    .map((one) => `${nameOf(one.value)} (${signed(one.delta ?? 0)}, ${sizeText(one)})`);
  const more = values.length > MOST_LISTED ? [`${values.length - MOST_LISTED} more`] : [];
  return [...list, ...more].join(", ");
}
