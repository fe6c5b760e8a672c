/** What the gate asks for with --verified and --require-seal: both runs made again, or signed. */

import { isCheckpoint } from "../core/policy.ts";
import { visible } from "../core/visible.ts";
import type { FurtherChecks } from "../gate/gate.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import type { MadeAgain, PartName, Verification, VerificationPart } from "../runs/verification.ts";
import type { OnProgress } from "./part.ts";
import { type SealState, sealState } from "./seal.ts";
import { verify } from "./verify.ts";

export interface GateChecks {
  /** The scorer's file, in place of the one that the baseline names. */
  readonly scorer?: string | undefined;
  readonly sample?: number | undefined;
  readonly from?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** What the gate has made again: scores, and what a checkpoint sampled. */
export function gateParts({ manifest }: Run): PartName[] {
  const scores: PartName[] = ["files", "data", "answers", "score"];
  return isCheckpoint(manifest.policy) ? [...scores, "sample", "exposure", "tries"] : scores;
}

/**
 * The candidate is scored with the baseline's file, or with one that the caller names: the candidate
 * does not choose which code runs. Its own hash must fit either.
 */
export function scorerOf({ manifest }: Run, { scorer }: GateChecks): string | undefined {
  return scorer ?? manifest.scorer.path ?? manifest.scorer.name;
}

/** A verification.json in the folder is not read: whoever forges a run can write one. */
export async function verifyBoth(
  baseline: Run,
  candidate: Run,
  options: GateChecks,
): Promise<FurtherChecks> {
  const again = (run: Run, scorer: string | undefined) =>
    verify({ ...options, run: run.dir, only: gateParts(run), scorer });
  const before = await again(baseline, options.scorer);
  const after = await again(candidate, scorerOf(baseline, options));
  const reasons = (["differs", "not_verified"] as const).flatMap((result) =>
    before.result === result || after.result === result ? [reasonFor(result, before, after)] : [],
  );
  return { reasons, verified: { baseline: madeAgain(before), candidate: madeAgain(after) } };
}

const REASONS = {
  differs: {
    code: "verification_failed",
    message:
      "A run is not what making it again gives. It was edited, or made otherwise than it says.",
    status: "differs",
  },
  not_verified: {
    code: "verification_impossible",
    message: "A run could not be made again as a whole, so it is not verified.",
    status: "impossible",
  },
} as const;

function reasonFor(
  result: keyof typeof REASONS,
  before: Verification,
  after: Verification,
): Reason {
  const { code, message, status } = REASONS[result];
  const told = Object.entries({ baseline: before, candidate: after }).flatMap(([side, { parts }]) =>
    parts.filter((part) => part.status === status).map((part) => ` The ${side}, ${partText(part)}`),
  );
  const said = ({ result: is }: Verification) => is.replace("_", " ");
  return {
    ...{ code, message: `${message}${told.join("")}` },
    ...{ baseline: said(before), candidate: said(after) },
  };
}

function partText({ part, status, message, differences, first }: VerificationPart): string {
  if (status === "impossible") return `${part}: ${message}`;
  const ids = first.map(({ id }) => visible(id)).join(", ");
  const [one] = first;
  const example = one ? `; ${one.what}: expected ${one.expected}, found ${one.found}` : "";
  return `${part}: ${differences} different (${ids}${example}).`;
}

function madeAgain({ lockedroom, result, parts, draw }: Verification): MadeAgain {
  return { lockedroom, result, parts, draw };
}

const SEALS: Record<Exclude<SealState, "valid">, string> = {
  seal_missing: "A run has no seal.",
  seal_invalid: "A run's seal does not fit its files.",
  seal_by_another_key: "A run was sealed with another key than the required one.",
};

export async function sealReasons(
  baseline: Run,
  candidate: Run,
  publicKey: string,
): Promise<Reason[]> {
  const before = await sealState(baseline.dir, publicKey);
  const after = await sealState(candidate.dir, publicKey);
  const states = [...new Set([before, after])].filter((state) => state !== "valid");
  return states.map((code) => ({
    ...{ code, message: SEALS[code], baseline: before, candidate: after },
  }));
}
