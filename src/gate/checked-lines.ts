/** What `--verified` and `--require-seal` found, each a line for every format. */

import { visible } from "../core/visible.ts";
import type { GateReport } from "../runs/gate-report.ts";
import { madeAgainLine } from "../runs/verification.ts";

export function checkedLines({ verified, seals }: GateReport): string[] {
  return [
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
