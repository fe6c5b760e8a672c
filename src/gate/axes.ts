/**
 * The comparison on each axis, so that a rise of the main reward cannot hide the fall of something else.
 * A loss of the axis's margin must be ruled out; one that is shown rejects.
 */

import { usageError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import type { AxisEvidence } from "./axis-evidence.ts";
import { type Decided, decided } from "./decide.ts";
import { type Measured, measure } from "./measured.ts";
import { decidedByPart, partFigures, standsAnyway } from "./parts.ts";
import { rewardScale } from "./reward-range.ts";
import { signed, sizeText, unitsText } from "./words.ts";

export type AxesReport = NonNullable<GateReport["axes"]>;
type AxisValue = AxesReport["values"][number];

/** The loss to be ruled out where the caller names none; less where the rewards span less than 1. */
export const DEFAULT_AXIS_MARGIN = 0.02;

export interface AxisMargins {
  /** The loss to be ruled out on every axis. */
  readonly axisMargin?: number | undefined;
  /** By axis, where it is another. */
  readonly axisMargins?: Readonly<Record<string, number>> | undefined;
}

type Axes = NonNullable<Manifest["axes"]>;

/** Axes that are in one run only, or that are not the same instrument in both. */
export function otherAxes(baseline: Manifest, candidate: Manifest): Reason[] {
  const sides = [baseline.axes ?? [], candidate.axes ?? []] as const;
  const names = sides.map((axes) => axes.map(({ name }) => name));
  if (canonicalJson(names[0]) !== canonicalJson(names[1]))
    return [
      {
        code: "axis_missing",
        message:
          "The runs were not measured on the same axes. Evaluate the one that lacks an axis again with it.",
        ...{ baseline: listOf(names[0]), candidate: listOf(names[1]) },
      },
    ];
  return sides[0].flatMap(({ name, scorer }, i) => {
    const [before, after] = [scorer, sides[1][i]?.scorer].map(instrumentOf);
    if (before === after) return [];
    return [
      {
        code: "axis_differs",
        message: `The axis ${name} was measured by different scorers, or by different code of one. Evaluate both runs again with one.`,
        ...{ baseline: before ?? null, candidate: after ?? null },
      },
    ];
  });
}

const listOf = (names: readonly string[] | undefined) =>
  names === undefined || names.length === 0 ? "none" : names.join(", ");

function instrumentOf(scorer: Axes[number]["scorer"] | undefined): string | undefined {
  if (scorer === undefined) return undefined;
  const { name, version, source_sha256: hash } = scorer;
  return `${name} ${version} ${hash.slice(0, 16)}`;
}

interface AxesQuestion extends AxisMargins {
  readonly axes: Axes;
  readonly evidence: ReadonlyMap<string, AxisEvidence>;
  /** Where prompts repeat. */
  readonly clusters: ReadonlyMap<string, ClusterCounts> | undefined;
  readonly level: number;
}

export function measureAxes(question: AxesQuestion): AxisValue[] {
  const { axes, evidence, clusters, level } = question;
  const parts = axes.flatMap(({ name, scorer: { range } }) => {
    const rows = evidence.get(name);
    if (rows === undefined || rows.differences.pairs === 0) return [];
    const span = range && range[1] - range[0];
    const scale = rewardScale(rows.binary, range && { low: range[0], high: range[1] });
    const { differences, flips } = rows;
    const of = { differences, flips, clusters: clusters?.get(name) };
    const found = measure({ ...of, ...scale }, level);
    const margin = marginOf(name, question, rows.binary ? Math.min(1, span ?? 1) : span);
    return [{ name, rows, prompts: of.clusters?.clusters, margin, found }];
  });
  const figures = partFigures(parts, level, ({ found, margin, rows }, p) =>
    stateOf(
      isRuledOut(found, margin, rows.flips.lost),
      p <= level && found.delta !== null && found.delta < 0,
    ),
  );
  return parts.map(({ name, margin }, i) => ({ name, margin, ...(figures[i] as Figures) }));
}

type Figures = Omit<AxisValue, "name" | "margin">;

function stateOf(ruledOut: boolean, isWorse: boolean): AxisValue["state"] {
  if (ruledOut) return isWorse ? "worse_within_margin" : "loss_ruled_out";
  return isWorse ? "worse" : "loss_not_ruled_out";
}

/**
 * Rewards that span less than 1 have a default that is smaller in proportion: otherwise it would allow
 * any loss. A declared range above 1 makes it no larger, because a scorer may declare any.
 */
function marginOf(
  name: string,
  { axisMargin, axisMargins = {} }: AxisMargins,
  span: number | undefined,
): number {
  const byDefault = Number((DEFAULT_AXIS_MARGIN * Math.min(1, span ?? 1)).toPrecision(6));
  const own = Object.hasOwn(axisMargins, name) ? axisMargins[name] : undefined;
  const margin = own ?? axisMargin ?? byDefault;
  if (span === undefined || margin < span) return margin;
  throw usageError(
    `the margin ${margin} of the axis ${name} allows any loss: its rewards span ${span}`,
    `Give a smaller one, such as --axis-margin ${name}=${byDefault}.`,
  );
}

/** No test rules out a loss of nothing: with a margin of 0 no row may lose. */
function isRuledOut({ lossRuledOut }: Measured, margin: number, lost: number): boolean {
  return margin === 0 ? lost === 0 : lossRuledOut(margin);
}

/** The verdict after the axes, and the record of what they changed. */
export function decideAxes(
  main: Decided,
  values: readonly AxisValue[],
): Decided & { readonly axes: AxesReport } {
  const worse = values.filter(({ state }) => state === "worse");
  const axes: AxesReport = {
    without_axes: main.decision,
    refused_by: worse.map(({ name }) => name),
    values: [...values],
  };
  if (standsAnyway(main)) return { ...main, axes: { ...axes, refused_by: [] } };
  const { decision, reasons } = decidedBy(main, values, worse);
  return { decision, reasons, axes };
}

function among(worse: readonly AxisValue[], { length }: readonly AxisValue[]): string {
  if (length === 1) return "the axis";
  return `${worse.length} of ${length} axes, with p-values corrected for ${length} axes (Holm)`;
}

function decidedBy(
  main: Decided,
  values: readonly AxisValue[],
  worse: readonly AxisValue[],
): Decided {
  const wouldPass = main.decision === "PROMOTE" || main.decision === "PASS";
  if (worse.length > 0) {
    const shown = `the candidate is worse on ${among(worse, values)}: ${listed(worse)}.`;
    const reason = wouldPass
      ? decided(
          "REJECT",
          "refused_by_axis",
          `By the main reward alone: ${main.decision}. But ${shown}`,
        )
      : decided("REJECT", "axis_worse", `${shown.charAt(0).toUpperCase()}${shown.slice(1)}`);
    return decidedByPart(main, reason);
  }
  const open = values.filter(({ state }) => state === "loss_not_ruled_out");
  if (open.length === 0 || !wouldPass) return main;
  const most = Math.max(0, ...open.map(({ needed }) => needed ?? 0));
  const size = most > 0 ? ` About ${most} ${unitsText(open)} would decide.` : "";
  const message = `By the main reward alone: ${main.decision}. But a loss of the margin or more is not ruled out on ${values.length === 1 ? "the axis" : `${open.length} of ${values.length} axes`}: ${listed(open)}.${size}`;
  return decidedByPart(main, decided("INCONCLUSIVE", "axis_loss_not_ruled_out", message));
}

function listed(values: readonly AxisValue[]): string {
  return values
    .map(
      ({ name, delta, margin, lost, ...size }) =>
        `${visibleShort(name, 40)} (${signed(delta ?? 0)}, ${sizeText(size)}, ${lost} lost, margin ${margin})`,
    )
    .join(", ");
}

/** What the reader of a verdict has to know about its axes. */
export function axisNotes(axes: Axes, values: readonly AxisValue[]): string[] {
  const once = axes.filter(({ scorer }) => scorer.deterministic === false);
  const open = new Set(
    values.flatMap(({ name, state }) => (state === "loss_not_ruled_out" ? [name] : [])),
  );
  const noRange = axes.filter(({ name, scorer }) => open.has(name) && scorer.range === undefined);
  return [
    ...once.map(
      ({ name }) => `The axis ${name} is declared non-deterministic: each row was scored once.`,
    ),
    ...noRange.map(
      ({ name }) =>
        `The scorer of the axis ${name} declares no \`range\`. With rewards other than 0 and 1 no loss can be ruled out without it.`,
    ),
  ];
}
