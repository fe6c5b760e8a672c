/** What the checks object to in a pipeline, and how it ends. */

/** The commands that refuse something, and the alarms of a training run. */
export type Check =
  | "eval"
  | "rollout"
  | "selection-demo"
  | "train"
  | "gate"
  | "verify"
  | "promote"
  | "validate-scorer"
  | "harden"
  | "alarm";

/** One objection of a check. */
export interface Finding {
  readonly check: Check;
  /** A reason code of the gate, a part of a verification, an alarm, or the exit code of a refusal. */
  readonly code: string;
  readonly message: string;
}

/** What a pipeline came to: how it ended, and every objection on the way. */
export interface Outcome {
  readonly verdict: string;
  readonly findings: readonly Finding[];
}

/** Thrown by a pipeline's step that refuses its input. */
export class Refusal extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.message);
    this.finding = finding;
  }
}
