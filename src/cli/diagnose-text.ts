/** Prints a run to diagnose: its curves as blocks, the possible answers, and what it was. */

import type { Json } from "../core/json.ts";
import { leaves } from "../core/leaves.ts";
import {
  ABLATION_NAMES,
  ABLATIONS,
  answerTo,
  CAUSE_NAMES,
  CAUSES,
  type CurveRun,
  curvesOf,
  type DiagnoseCase,
  type DiagnosisAnswer,
  type ShownCurve,
} from "../course/diagnose/index.ts";
import { hanging, out, paint, print } from "./terminal.ts";

const GUTTER = 9;
const ROWS = 4;
const COLUMNS = 60;
const BLOCKS = " ▁▂▃▄▅▆▇█";

export function showCurves({ run }: DiagnoseCase): void {
  for (const curve of curvesOf(run)) for (const line of blockChart(curve, run)) out(line);
}

/** A filled curve over all steps of the run; the axis begins at 0. */
function blockChart(curve: ShownCurve, { steps }: CurveRun): string[] {
  const { name, unit, values } = curve;
  const last = steps.at(-1) ?? 1;
  const width = Math.min(COLUMNS, last);
  const most = Math.max(curve.most ?? 0, ...values);
  const columns = Array.from({ length: width }, (_, i) =>
    valueAt(curve, 1 + Math.floor((i * last) / width)),
  );
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const below = ROWS - 1 - row;
    const label = row === 0 ? compact(most) : row === ROWS - 1 ? "0" : "";
    return `${label.padStart(GUTTER)} │${columns.map((value) => block(value / (most || 1), below)).join("")}`;
  });
  const range = `${compact(values[0] ?? 0)} → ${compact(values.at(-1) ?? 0)}`;
  return [`${paint("bold", name)}, ${unit}: ${range}`, ...rows.map((row) => row.trimEnd())];
}

/** The latest value at or before a step. */
function valueAt({ steps, values }: ShownCurve, step: number): number {
  const at = steps.findLastIndex((one) => one <= step);
  return values[Math.max(0, at)] ?? 0;
}

/** The part of a column that lies in a row, in eighths; anything above 0 is seen. */
function block(share: number, rowsBelow: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(share * ROWS * 8));
  return BLOCKS[Math.min(8, Math.max(0, eighths - 8 * rowsBelow))] ?? " ";
}

const compact = (value: number) => String(Number(value.toPrecision(3)));

export function showChoices(): void {
  out();
  out(paint("bold", "Causes (--answer)"));
  for (const name of CAUSE_NAMES) out(hanging(`  ${name.padEnd(24)}`, CAUSES[name].title));
  out();
  out(paint("bold", "Ablations (--ablation)"));
  for (const name of ABLATION_NAMES) out(hanging(`  ${name.padEnd(24)}`, ABLATIONS[name]));
}

export function showMark(
  given: { readonly cause: string | null; readonly ablation: string | null },
  marked: { readonly cause_right: boolean; readonly ablation_right: boolean },
): void {
  const line = (what: string, answer: string | null, right: boolean) => {
    const mark = right ? paint("green", "✓") : paint("red", "✗");
    out(`${mark} ${what.padEnd(9)} ${answer ?? "not answered"}`);
  };
  line("cause", given.cause, marked.cause_right);
  line("ablation", given.ablation, marked.ablation_right);
}

export function showReveal(one: DiagnoseCase): void {
  const { title, shows, fix, ablation } = CAUSES[one.cause];
  const rows: [string, string][] = [
    ["run", `${one.name}: ${one.cause}, ${title}`],
    ["settings", settingsText(one)],
    ["shown by", shows],
    ["alarms", one.run.alarms.join(", ") || "none"],
    ["fix", fix],
    ["ablation", `${ablation}: ${ABLATIONS[ablation]}`],
    ["", `${changeText(one)}: ${outcome(one.ablation.run)}`],
    ["", `this run: ${outcome(one.run)}`],
  ];
  for (const [label, text] of rows) out(hanging(`${label.padEnd(10)}`, text));
}

/** What differs from the other runs, from the settings that the case was made with. */
function settingsText({ algorithm, reward, settings }: DiagnoseCase): string {
  return [
    algorithm,
    `reward ${reward}`,
    ...leaves(settings as Json).map(([name, value]) => `${name}=${value}`),
  ].join(", ");
}

function changeText({ ablation: { settings = {}, reward } }: DiagnoseCase): string {
  const changed = leaves(settings as Json).map(([name, value]) => `${name}=${value}`);
  return `with ${[...changed, ...(reward === undefined ? [] : [`reward ${reward}`])].join(", ")}`;
}

function outcome(run: CurveRun): string {
  const figures = curvesOf(run).map(
    ({ name, values }) => `${name} ${compact(values[0] ?? 0)} → ${compact(values.at(-1) ?? 0)}`,
  );
  return figures.join(", ");
}

export function showCases(
  cases: readonly { readonly number: number; readonly one: DiagnoseCase }[],
  answers: readonly DiagnosisAnswer[],
): void {
  for (const { number, one } of cases) {
    const answer = answerText(answerTo(answers, one));
    out(`  case ${String(number).padStart(2)}  ${one.algorithm.padEnd(5)}  ${answer}`);
  }
  if (answers.length > 0) {
    const right = answers.filter((one) => one.cause_right && one.ablation_right).length;
    print(`${right} of ${answers.length} right at the first answer.`);
  }
}

function answerText(answer: DiagnosisAnswer | undefined): string {
  if (!answer) return "";
  const later = answer.corrected ? ", corrected" : "";
  if (answer.cause === null) return `revealed without an answer${later}`;
  if (answer.cause_right && answer.ablation_right) return "right";
  return `${answer.cause_right ? "right cause, wrong ablation" : "wrong cause"}${later}`;
}
