/** What `--judge-audit`, `--verified` and `--require-seal` found, each a line for every format. */

import { visible } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import { madeAgainLine } from "../runs/verification.ts";

export function checkedLines({ judge, verified, seals }: GateReport): string[] {
  return [
    ...(judge
      ? [`judge ${visible(judge.name)} ${visible(judge.version)}: ${auditText(judge.audit)}`]
      : []),
    ...(verified
      ? [
          ...(verified.caution === undefined ? [] : [visible(verified.caution)]),
          `baseline ${madeAgainLine(verified.baseline)}`,
          `candidate ${madeAgainLine(verified.candidate)}`,
        ]
      : []),
    ...(seals
      ? [
          `seals of key ${shortKey(seals.key)}: baseline ${STATES[seals.baseline]}, candidate ${STATES[seals.candidate]}`,
        ]
      : []),
  ];
}

function auditText(audit: NonNullable<GateReport["judge"]>["audit"]): string {
  if (!audit) return "no audit was given";
  const accuracy = audit.accuracy === null ? "" : `, accuracy ${audit.accuracy.toFixed(3)}`;
  return `${audit.trusted ? "trusted" : "not trusted"} by the audit in ${visible(audit.run)}${accuracy}`;
}

type State = NonNullable<GateReport["seals"]>["baseline"];

const STATES: Record<State, string> = {
  valid: "valid",
  seal_missing: "has none",
  seal_invalid: "does not fit its files",
  seal_by_another_key: "is of another key",
};

/** Enough of a fingerprint to tell keys apart. */
export function shortKey(fingerprint: string): string {
  return fingerprint.slice(0, 16);
}
