/** The gate's report as JUnit XML, for the test views of CI systems. */

import type { Decision, GateReport } from "../runs/gate-report.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { checkedLines } from "./checked-lines.ts";
import { bothValues, conditionLines } from "./render.ts";

interface ExampleCase {
  readonly id: string;
  readonly slices: ResultRow["slices"];
  /** One, or one for each sample. */
  readonly before: (number | null)[];
  readonly after: (number | null)[];
  readonly codes: string[];
}

/** Collects a case for each example while the gate reads the rows. */
export class ExampleCases {
  readonly #cases: ExampleCase[] = [];

  readonly add = (before: ResultRow, after: ResultRow): void => {
    let last = this.#cases.at(-1);
    if (!last || (after.sample ?? 0) === 0) {
      last = { id: after.id, slices: after.slices, before: [], after: [], codes: [] };
      this.#cases.push(last);
    }
    last.before.push(before.reward);
    last.after.push(after.reward);
    if (before.outcome_code !== after.outcome_code)
      last.codes.push(`${before.outcome_code} → ${after.outcome_code}`);
  };

  get all(): readonly ExampleCase[] {
    return this.#cases;
  }
}

/**
 * A test case for the verdict: passed on PROMOTE and PASS, else failed, as the exit code is. With
 * `cases` another for each example of comparable runs, skipped where it fails in both runs. An example
 * whose reward is lower than the baseline's passes, fails or, where the verdict is open, is skipped: the
 * gate decides by all examples, and a verdict that passes must not turn CI red.
 */
export function gateJunit(report: GateReport, cases?: ExampleCases): string {
  const lines = [
    verdictCase(report),
    ...(report.comparable
      ? (cases?.all ?? []).map((one) => exampleCase(one, report.decision))
      : []),
  ];
  const count = (kind: "failure" | "skipped") => lines.filter((one) => one.kind === kind).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="lockedroom gate" tests="${lines.length}" failures="${count("failure")}" skipped="${count("skipped")}">`,
    ...lines.flatMap(({ classname, name, inner }) => [
      `  <testcase classname="${xml(classname)}" name="${xml(name)}"${inner === "" ? "/>" : ">"}`,
      ...(inner === "" ? [] : [`    ${inner}`, "  </testcase>"]),
    ]),
    "</testsuite>",
    "",
  ].join("\n");
}

interface Case {
  readonly classname: string;
  readonly name: string;
  readonly kind: "passed" | "failure" | "skipped";
  readonly inner: string;
}

function verdictCase(report: GateReport): Case {
  const body = [
    ...report.reasons.map((r) => `${r.code}: ${r.message}${bothValues(r)}`),
    ...conditionLines(report),
    ...checkedLines(report),
  ].join("\n");
  const name = `${report.candidate.run} against ${report.baseline.run}`;
  const code = report.reasons[0]?.code ?? "rejected";
  // A job that does not pass must not look as if it did.
  const outcome = report.decision === "INCONCLUSIVE" ? "REJECT" : report.decision;
  return { classname: "gate", name, ...outcomeOf(outcome, code, body) };
}

function outcomeOf(decision: Decision, title: string, body: string): Pick<Case, "kind" | "inner"> {
  if (decision === "REJECT")
    return { kind: "failure", inner: `<failure message="${xml(title)}">${xml(body)}</failure>` };
  if (decision === "INCONCLUSIVE")
    return { kind: "skipped", inner: `<skipped message="${xml(body)}"/>` };
  return { kind: "passed", inner: `<system-out>${xml(body)}</system-out>` };
}

function exampleCase({ id, slices, before, after, codes }: ExampleCase, decision: Decision): Case {
  const where = Object.entries(slices ?? {}).map(([field, value]) => `${field}=${value}`);
  const named = { classname: ["examples", ...where].join(" "), name: id };
  const [was, is] = [meanOf(before), meanOf(after)];
  if (is < was) {
    const samples = after.length > 1 ? `, mean of ${after.length} samples` : "";
    const changed = codes.length > 0 ? `: ${[...new Set(codes)].join(", ")}` : "";
    const text = `lost: reward ${round(was)} → ${round(is)}${samples}${changed}`;
    return { ...named, ...outcomeOf(decision, "lost", text) };
  }
  // Of several samples, or of graded rewards, some reward is not a failure.
  if (is === 0 && was === 0)
    return { ...named, kind: "skipped", inner: '<skipped message="fails in both runs"/>' };
  return { ...named, kind: "passed", inner: "" };
}

function meanOf(rewards: readonly (number | null)[]): number {
  return rewards.reduce<number>((sum, reward) => sum + (reward ?? 0), 0) / rewards.length;
}

function round(value: number): number {
  return Number(value.toFixed(4));
}

/** Escaped, with U+FFFD for what XML 1.0 forbids: most control characters and lone surrogates. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replace(
      /[&<>"]/g,
      (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] as string,
    );
}
