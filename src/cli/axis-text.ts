/** Axes of commands: reading --axis, and the table of their means. */

import { InvalidArgumentError } from "commander";
import { visible } from "../core/visible.ts";
import type { AxisMargins } from "../gate/axes.ts";
import { pCell, SLICE_STATES, signed } from "../gate/words.ts";
import type { Axis } from "../loops/axes.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { Summary } from "../runs/schemas.ts";
import { AXIS_NAMES } from "../scorers/axes/index.ts";
import { fromZero } from "./options.ts";

/** For --axis, which can be repeated: NAME, NAME=SCORER or "all". */
export function axes(value: string, before: readonly Axis[] = []): Axis[] {
  if (value === "all") return [...before, ...AXIS_NAMES.map((name) => ({ name }))];
  const [name = "", ...rest] = value.split("=");
  if (rest.length === 0) return [...before, { name }];
  const scorer = rest.join("=");
  if (name === "" || scorer === "")
    throw new InvalidArgumentError("Give a name, or a name and a scorer: NAME=SCORER.");
  return [...before, { name, scorer }];
}

/** Of a list of such texts. */
export const axesOf = (values: readonly string[]): Axis[] =>
  values.reduce<Axis[]>((before, value) => axes(value, before), []);

/** What is left of 80 columns for the codes. */
const WIDTH = 30;

/** 80 columns wide; nothing where a run has no axes. */
export function axisTable({ axes: found = {} }: Summary): string[] {
  const names = Object.keys(found);
  if (names.length === 0) return [];
  return [
    "",
    "  axis              rows    mean  95 % interval   commonest codes",
    ...names.map((name) => {
      const { mean, ci95, scored, codes } = found[name] as NonNullable<Summary["axes"]>[string];
      const figures =
        mean === null
          ? "nothing measured      "
          : `${mean.toFixed(4)}  ${ci95 ? `${ci95[0].toFixed(3)} to ${ci95[1].toFixed(3)}` : "".padEnd(14)}`;
      return `  ${short(name, 15).padEnd(15)} ${String(scored).padStart(6)}  ${figures}  ${shownCodes(codes)}`.trimEnd();
    }),
  ];
}

function short(text: string, width: number): string {
  const shown = [...visible(text)];
  return shown.length <= width ? shown.join("") : `${shown.slice(0, width - 1).join("")}…`;
}

function shownCodes(codes: Readonly<Record<string, number>>): string {
  const list = Object.entries(codes).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const shown = list.map(([code, count]) => `${code} ${count}`);
  while (shown.length > 1 && shown.join(", ").length > WIDTH) shown.pop();
  return short(shown.join(", "), WIDTH);
}

/** For --axis-margin, which can be repeated: a number, or NAME=NUMBER. */
export function axisMargins(value: string, before: AxisMargins = {}): AxisMargins {
  const [name = "", ...rest] = value.split("=");
  if (rest.length === 0) return { ...before, axisMargin: fromZero(value) };
  if (name === "") throw new InvalidArgumentError("Give a number, or an axis and a number.");
  const margins = { ...before.axisMargins, [name]: fromZero(rest.join("=")) };
  return { ...before, axisMargins: margins };
}

/** The axes of a verdict, 80 columns wide. */
export function axisLines({ axes: found }: GateReport): string[] {
  if (!found) return [];
  return [
    "",
    "  axis            margin  before   after   change  p (Holm)",
    ...found.values.map((one) =>
      [
        `  ${short(one.name, 15).padEnd(15)} ${String(one.margin).padStart(6)}`,
        ...partCells(one),
      ].join(" "),
    ),
  ];
}

type AxisOfVerdict = NonNullable<GateReport["axes"]>["values"][number];
type SliceOfVerdict = NonNullable<GateReport["slices"]>["values"][number];

/** The columns that a slice and an axis of a verdict share, after its name. */
export const partCells = (one: AxisOfVerdict | SliceOfVerdict): string[] => [
  one.baseline.toFixed(4).padStart(7),
  one.candidate.toFixed(4).padStart(7),
  signed(one.delta ?? 0).padStart(8),
  pCell(one.p_holm).padStart(9),
  ` ${SLICE_STATES[one.state]}`,
];
