/** What the gate asks for with --verified and --require-seal: both runs made again, or signed. */

import { isCheckpoint } from "../core/policy.ts";
import { visible } from "../core/visible.ts";
import { shortKey } from "../gate/checked-lines.ts";
import type { FurtherChecks } from "../gate/gate.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import {
  type MadeAgain,
  type PartName,
  RESULT_WORDS,
  type Verification,
  type VerificationPart,
} from "../runs/verification.ts";
import type { OnProgress } from "./part.ts";
import type { OpenRecordedJudge } from "./recorded-judge.ts";
import { nameOf } from "./recorded-policy.ts";
import { keyFingerprint, type SealState, sealedBy, sealState } from "./seal.ts";
import { OF_SCORED, verify } from "./verify.ts";

/** What `verifyBoth` is given. @see {@link verifyBoth} */
export interface GateChecks {
  /** The scorer's file, in place of the one that the baseline names. */
  readonly scorer?: string | undefined;
  /** Absent: every part, whatever a run says of itself. What is left out is said in the report. */
  readonly only?: readonly PartName[] | undefined;
  /** Sample only so many rows again, drawn at random. */
  readonly sample?: number | undefined;
  /** A folder to look below for files that the runs name. */
  readonly from?: string | undefined;
  /** Opens the judge of judged runs. */
  readonly openJudge?: OpenRecordedJudge | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * The candidate is scored with the baseline's file, or with one that the caller names: the candidate
 * does not choose which code runs. Its own hash must fit either.
 */
export function scorerOf(
  { manifest }: Run,
  { scorer }: Pick<GateChecks, "scorer">,
): string | undefined {
  const { path, name } = (manifest.judge && manifest.environment) ?? manifest.scorer;
  return scorer ?? path ?? name;
}

/** The candidate does not choose the code of its axes either. */
function axesOf({ manifest }: Run): Record<string, string> {
  return Object.fromEntries(
    (manifest.axes ?? []).map(({ name, scorer }) => [name, scorer.path ?? scorer.name]),
  );
}

/**
 * Makes both runs again before the gate decides, as `gate --verified` does. A verification.json in the
 * folder is not read: whoever forges a run can write one.
 * @example
 * ```ts
 * import { gate } from "lockedroom/gate";
 * import { verifyBoth } from "lockedroom/verify";
 * const { decision, verified } = await gate({
 *   baseline: "runs/baseline",
 *   candidate: "runs/candidate",
 *   further: (before, after) => verifyBoth(before, after, { only: ["files", "score"] }),
 * });
 * console.log(decision, verified?.candidate.result);
 * ```
 */
export async function verifyBoth(
  baseline: Run,
  candidate: Run,
  { only, ...options }: GateChecks = {},
): Promise<FurtherChecks> {
  const again = (run: Run, scorer: string | undefined, axes?: Record<string, string>) =>
    verify({ ...options, run: run.dir, only: only ?? OF_SCORED, scorer, axes, forGate: true });
  const before = await again(baseline, options.scorer);
  const after = await again(candidate, scorerOf(baseline, options), axesOf(baseline));
  const reasons = (["differs", "not_verified"] as const).flatMap((result) =>
    before.result === result || after.result === result ? [reasonFor(result, before, after)] : [],
  );
  const sides = { baseline: madeAgain(before), candidate: madeAgain(after) };
  if (only === undefined) return { reasons, verified: sides };
  const caution = reasons.length === 0 ? { caution: leftOpen([baseline, candidate], only) } : {};
  return { reasons, verified: { ...sides, only: [...only], ...caution } };
}

const WORDS: Record<PartName, string> = {
  ...{ files: "files", data: "data", answers: "answers", score: "scores" },
  ...{ sample: "completions", exposure: "exposure", tries: "tries", train: "training" },
};

/** What a caller who asked for some parts only must know. */
function leftOpen(runs: readonly Run[], only: readonly PartName[]): string {
  const asked = OF_SCORED.filter((part) => only.includes(part)).map((part) => WORDS[part]);
  const verified = `${listed(asked)} verified`;
  if (only.includes("sample")) return `only ${verified}`;
  const policies = runs.map(({ manifest }) => manifest.policy);
  const names = policies.flatMap((policy) =>
    isCheckpoint(policy) ? [] : [policy === null ? "a policy that is not stated" : nameOf(policy)],
  );
  const why =
    names.length === 0
      ? "they were left out by the caller"
      : `${listed([...new Set(names)])} ${new Set(names).size > 1 ? "are not checkpoints" : "is not a checkpoint"}`;
  return `${verified}; completions not: ${why}`;
}

function reasonFor(
  result: "differs" | "not_verified",
  before: Verification,
  after: Verification,
): Reason {
  const status = result === "differs" ? "differs" : "impossible";
  const sides = Object.entries({ baseline: before, candidate: after });
  const who = sides.filter(([, found]) => found.result === result).map(([side]) => `the ${side}`);
  const told = sides.flatMap(([side, { parts }]) =>
    parts.filter((part) => part.status === status).map((part) => ` The ${side}, ${partText(part)}`),
  );
  const message =
    result === "differs"
      ? `Re-running ${listed(who)} gave different results. Either the run was edited, or its manifest does not describe how it was made.${told.join("")}`
      : `Not all of ${listed(who)} could be made again, so it is not verified.${told.join("")}${restHint(before, after)}`;
  const said = ({ result: is }: Verification) => RESULT_WORDS[is].toLowerCase();
  return {
    code: result === "differs" ? "verification_failed" : "verification_impossible",
    ...{ message, baseline: said(before), candidate: said(after) },
  };
}

/** Which parts can be asked for instead. */
function restHint(...found: readonly Verification[]): string {
  const rest = OF_SCORED.filter((name) =>
    found.every(({ parts }) =>
      parts.some(({ part, status }) => part === name && status === "equal"),
    ),
  );
  if (rest.length === 0) return "";
  return ` Use --verify-only ${rest.join(" ")} to verify the rest; the report then says so.`;
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

/**
 * Requires a valid seal of both runs by one public key, as `gate --require-seal` does.
 * @example
 * ```ts
 * import { gate } from "lockedroom/gate";
 * import { checkSeals, makeKeys, sealRun } from "lockedroom/verify";
 * const { privateKey, publicKey } = await makeKeys("ci");
 * for (const run of ["runs/baseline", "runs/candidate"]) await sealRun(run, privateKey);
 * const { decision, seals } = await gate({
 *   baseline: "runs/baseline",
 *   candidate: "runs/candidate",
 *   further: (before, after) => checkSeals(before, after, publicKey),
 * });
 * console.log(decision, seals?.candidate);
 * ```
 */
export async function checkSeals(
  baseline: Run,
  candidate: Run,
  publicKey: string,
): Promise<FurtherChecks> {
  const [before, after] = [
    await sealState(baseline.dir, publicKey),
    await sealState(candidate.dir, publicKey),
  ];
  const found = { baseline: before, candidate: after };
  const values = {
    baseline: await sealText(baseline.dir, before),
    candidate: await sealText(candidate.dir, after),
  };
  const wrong = [...new Set([before, after])].filter((state) => state !== "valid");
  const reasons = wrong.map((code) => {
    const who = Object.entries(found).filter(([, state]) => state === code);
    return {
      code,
      message: sealMessage(
        code,
        who.map(([side]) => `the ${side}`),
      ),
      ...values,
    };
  });
  return { reasons, seals: { key: await keyFingerprint(publicKey), ...found } };
}

/** What a person wants to know of a run's seal. */
export async function sealText(dir: string, state: SealState): Promise<string> {
  if (state === "valid") return "valid seal";
  if (state === "seal_missing") return "no seal";
  if (state === "seal_invalid") return "a seal that does not fit the run's files";
  const key = await sealedBy(dir);
  return `seal of another key${key === undefined ? "" : `, ${shortKey(key)}`}`;
}

function sealMessage(state: Exclude<SealState, "valid">, sides: readonly string[]): string {
  const several = sides.length > 1;
  const who = listed(sides).replace(/^t/, "T");
  const [has, it] = several ? ["have", "them"] : ["has", "it"];
  const sign = `Sign ${it} where the key is: lockedroom seal RUN --key KEY`;
  return {
    seal_missing: `${who} ${has} no seal. ${sign}`,
    seal_invalid: `${who} ${has} a seal that does not fit the files: they changed since, or the seal did. Make the run again, and seal that.`,
    seal_by_another_key: `${who} ${has} a seal of another key than the required one. ${sign}`,
  }[state];
}

function listed(words: readonly string[]): string {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
