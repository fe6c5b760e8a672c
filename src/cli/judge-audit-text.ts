/** What judge-audit prints. */

import { visibleShort } from "../core/visible.ts";
import type {
  AuditEstimate,
  GatePower,
  JudgeAudit,
  JudgeFinding,
} from "../runs/judge-audit-schema.ts";
import { FAULT_WORDS, TRUSTED_WORDS, trustedSentence } from "../runs/judge-audit-words.ts";
import { intervalBar } from "./interval-bar.ts";
import { counted, hanging, paint, percent, wrap } from "./terminal.ts";

const NAME = 22;
const BAR = 21;

export function auditLines(audit: JudgeAudit): string[] {
  return [
    ...findingLines(audit),
    "",
    ...measureLines(audit),
    "",
    ...gateLines(audit.gate),
    "",
    ...verdictLines(audit),
  ];
}

const COLOURS = { convicted: "red", acquitted: "green", undecided: "yellow" } as const;

/** Score gains on one axis, shares on another. */
export function findingLines({ findings }: JudgeAudit): string[] {
  const of = (unit: "score" | "share") =>
    findings.filter(({ fault }) => FAULT_WORDS[fault].unit === unit);
  const [gains, shares] = [of("score"), of("share")];
  const ends = gains.flatMap(({ interval, margin }) => [
    ...(interval ?? []),
    -2 * margin,
    2 * margin,
  ]);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  return [
    heading("score gained", axis(signed(from), signed(to))),
    ...gains.map((one) => findingLine(one, from, to)),
    heading("share", axis("0", "1")),
    ...shares.map((one) => findingLine(one, 0, 1)),
  ];
}

const heading = (text: string, scale: string) => `  ${text.padEnd(NAME)}${scale}  estimate, 95 %`;

const axis = (from: string, to: string) => from + to.padStart(BAR - from.length);

function findingLine(finding: JudgeFinding, from: number, to: number): string {
  const { fault, verdict, effect, interval, margin } = finding;
  const { name, unit } = FAULT_WORDS[fault];
  const shown = unit === "score" ? signed : plain;
  const marks = fault === "position" ? [-margin, margin] : [margin];
  const [drawn, numbers] =
    effect === null || interval === null
      ? ["", "no verdicts"]
      : [
          intervalBar({
            ...{ value: effect, low: interval[0], high: interval[1], from, to, marks },
            width: BAR,
          }),
          `${shown(effect)} (${shown(interval[0])} ${shown(interval[1])})`,
        ];
  return `  ${name.padEnd(NAME)}${drawn.padEnd(BAR)}  ${numbers.padEnd(21)}  ${paint(COLOURS[verdict], verdict)}`;
}

const plain = (value: number) => value.toFixed(3);
const signed = (value: number) => {
  const digits = Math.abs(value).toFixed(2);
  return `${value < 0 && digits !== "0.00" ? "-" : "+"}${digits}`;
};
const whole = (share: number) => `${Number((100 * share).toFixed(2))} %`;

function measureLines({ measures, dropped }: JudgeAudit): string[] {
  const types = Object.entries(dropped).filter(([, count]) => count > 0);
  const wordings = Object.entries(measures.injection_wordings).map(
    ([name, { value }]) => `${name} ${value === null ? "–" : signed(value)}`,
  );
  return [
    line("flips with the order", share(measures.order_flips, "pairs")),
    line("self-agreement", share(measures.self_agreement, "pairs")),
    line("ties", share(measures.ties, "pairs")),
    ...(measures.kendall_tau.n > 0 ? [line("Kendall's tau-b", tau(measures.kendall_tau))] : []),
    ...(wordings.length > 0 ? [line("gain by instruction", wordings.join(", "))] : []),
    ...(types.length > 0
      ? [line("without a verdict", types.map(([type, n]) => `${type} ${n}`).join(", "))]
      : []),
  ];
}

const line = (name: string, text: string) => hanging(`  ${name.padEnd(NAME)}`, text);

function share({ value, interval, n }: AuditEstimate, noun: string): string {
  if (value === null || interval === null) return "no verdicts";
  return `${percent(value)} of ${n} ${noun} (${percent(interval[0])} to ${percent(interval[1])})`;
}

function tau({ value, interval, n }: AuditEstimate): string {
  if (value === null || interval === null) return "no verdicts";
  return `${plain(value)}, mean of ${counted(n, "group")} (${plain(interval[0])} to ${plain(interval[1])})`;
}

function gateLines(gate: JudgeAudit["gate"]): string[] {
  const { tasks, difference, measured, lower_bound: lower, perfect, accuracy_needed } = gate;
  if (measured === null)
    return ["What the gate detects is not known, because the accuracy is not."];
  const points = `${Number((100 * difference).toFixed(1))} points`;
  const detects = ({ smallest_difference: d }: GatePower) =>
    d === null ? "nothing" : `${(100 * d).toFixed(1)} points`;
  const needs = ({ tasks_needed: n }: GatePower) => (n === null ? "no number" : String(n));
  const row = (name: string, at: GatePower) =>
    `  ${name.padEnd(NAME)}${percent(at.accuracy).padStart(8)}  ${detects(at).padStart(14)}  ${needs(at).padStart(10)}`;
  return [
    `Through this judge the gate detects, with ${whole(gate.power)} power at α ${gate.alpha}:`,
    `  ${"".padEnd(NAME)}${"accuracy".padStart(8)}  ${`on ${tasks} tasks`.padStart(14)}  ${"tasks for".padStart(10)} ${points}`,
    row("measured", measured),
    ...(lower === null ? [] : [row("lower end", lower)]),
    row("always right", perfect),
    wrap(
      accuracy_needed === null
        ? `On ${counted(tasks, "task")} even a judge that is always right does not detect ${points}.`
        : `To detect ${points} on ${counted(tasks, "task")} a judge must be right in ${percent(accuracy_needed)} of comparisons.`,
    ),
  ];
}

function verdictLines(audit: JudgeAudit): string[] {
  const colour = { trusted: "green", not_trusted: "red", undecided: "yellow" } as const;
  const word = TRUSTED_WORDS[audit.trusted];
  const convicted = audit.findings.filter(({ verdict }) => verdict === "convicted");
  return [
    paint(colour[audit.trusted], wrap(`${word}. ${trustedSentence(audit)}`)),
    wrap(`An honest judge is convicted of anything in at most ${whole(audit.alpha)} of audits.`),
    ...(audit.trusted === "undecided"
      ? [hanging("  - ", "Audit it with more labelled pairs: 160 decide about most judges.")]
      : []),
    ...convicted.map(({ fault }) => {
      const { name, next } = FAULT_WORDS[fault];
      return hanging("  - ", `${name}: ${next}`);
    }),
  ];
}

/** The judge in a few words. */
export function judgeName({ judge }: JudgeAudit): string {
  return `${visibleShort(judge.name, 40)} (${judge.fingerprint.slice(0, 12)})`;
}
