/**
 * The promotion gate. Reads two run folders, and nothing else unless further checks do, and answers
 * three questions in order: are the runs comparable, which one thing changed, is the difference significant?
 */

import { usageError } from "../core/errors.ts";
import { type Change, KNOBS, type Knob } from "../core/knobs.ts";
import { type Decision, GATE_SCHEMA, type GateReport, type Reason } from "../runs/gate-report.ts";
import { openRun, type Run } from "../runs/reader.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { pairsForEffect } from "../stats/power.ts";
import { compareManifests } from "./comparability.ts";
import { claimReason, decide, type Measured, measure, UNMEASURED } from "./decide.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { datasetOf, HISTORY_UNKNOWN, historyReason, ON_VALIDATION_DATA } from "./history.ts";
import { clustersOf } from "./repeated-prompts.ts";
import { otherBuiltIn } from "./rescore.ts";
import { correctedLevel, seedsDiffer } from "./seeds.ts";

/** What `gate` is given. @see {@link gate} */
export interface GateOptions {
  readonly baseline: string;
  readonly candidate: string;
  /** The smallest improvement worth having. */
  readonly minDelta?: number | undefined;
  /** Significance level, at most 0.2; at most half of this is the false-promotion rate. */
  readonly alpha?: number | undefined;
  /** What the caller says has changed; anything else is rejected. */
  readonly claim?: Knob | undefined;
  /** Compare even if the data were validation data of a policy's training; the report records it. */
  readonly allowDev?: boolean | undefined;
  /** Take a claim of policy from a checkpoint of unknown history; the report records it. */
  readonly allowUnknownHistory?: boolean | undefined;
  /** Further checks of the two runs; each reason that they give refuses the comparison. */
  readonly further?: ((baseline: Run, candidate: Run) => Promise<FurtherChecks>) | undefined;
}

/** What further checks found. `verifyBoth` and `checkSeals` of `lockedroom/verify` are such checks. */
export interface FurtherChecks {
  readonly reasons: readonly Reason[];
  readonly verified?: GateReport["verified"];
  readonly seals?: GateReport["seals"];
}

/**
 * Exit codes of the gate; 64, 65, 70 and 74 belong to the command line.
 * @example
 * ```ts
 * import { GATE_EXIT, gate } from "lockedroom";
 * const { exit_code } = await gate({ baseline: "runs/baseline", candidate: "runs/candidate" });
 * if (exit_code === GATE_EXIT.PROMOTE) console.log("The candidate may replace the baseline.");
 * ```
 */
export const GATE_EXIT = { PROMOTE: 0, REJECT: 1, INCONCLUSIVE: 2, NOT_COMPARABLE: 3 } as const;

/** A higher level would promote one in ten candidates that are no better. */
export const LARGEST_ALPHA = 0.2;

/** The noise rule of the mastery track: small changes on small data sets need a replication. */
const NOISE = { examples: 1000, delta: 0.05 };

/**
 * Decides whether the candidate run may replace the baseline. Reads the two folders; only the checks
 * of `further` read anything else.
 * @example
 * ```ts
 * import { gate } from "lockedroom";
 * const { decision, reasons } = await gate({
 *   baseline: "runs/baseline",
 *   candidate: "runs/candidate",
 *   claim: "policy",
 * });
 * console.log(decision, reasons.map(({ code }) => code));
 * ```
 */
export async function gate(options: GateOptions): Promise<GateReport> {
  const { minDelta = 0, alpha = 0.05, claim } = options;
  requireOptions(minDelta, alpha, claim);
  const [baseline, candidate] = [await openRun(options.baseline), await openRun(options.candidate)];
  const comparability = compareManifests(baseline.manifest, candidate.manifest);
  const { knobs } = comparability;
  const evidence = await gatherEvidence(baseline, candidate);
  const further = await options.further?.(baseline, candidate);
  const allowed = new Allowed(options);
  // Scorers that are known to differ may give different scores; that is not a reason of its own.
  const declared = knobs.includes("measurement");
  const violations = allowed
    .rest([...comparability.violations, ...evidence.violations, ...(further?.reasons ?? [])])
    .filter(({ code }) => !(declared && code === "instrument_inconsistent"));
  const otherSeeds = seedsDiffer(baseline.manifest, candidate.manifest);
  const history = claim === "policy" ? allowed.rest(historyReason(candidate.manifest)) : [];
  const comparable = violations.length === 0;
  const seeds = correctedLevel(baseline.manifest, candidate.manifest, alpha);
  const level = seeds?.level ?? alpha;
  const clusters = comparable ? await repeats(baseline, candidate, evidence) : undefined;
  const measured = comparable ? measure({ ...evidence, clusters }, level) : UNMEASURED;
  const { ruledOut: _, metric: __, ...figures } = measured;
  const refused = [...violations, ...claimReason(knobs, claim), ...history];
  const { decision, reasons } =
    comparable && history.length === 0
      ? decide({ knobs, measured, minDelta, alpha, level, claim, seeds: otherSeeds })
      : { decision: "REJECT" as const, reasons: refused };
  return {
    schema: GATE_SCHEMA,
    decision,
    exit_code: comparable ? GATE_EXIT[decision] : GATE_EXIT.NOT_COMPARABLE,
    comparable,
    knobs,
    claim: claim ?? null,
    reasons: decision === "PROMOTE" ? reasons.map(onceScored(baseline, candidate)) : reasons,
    ...(allowed.codes.length > 0 && { allowed: allowed.codes }),
    notes: [
      ...allowed.notes(),
      ...comparability.notes,
      ...(await otherBuiltIn([baseline.manifest, candidate.manifest])),
      ...selectionNote(knobs, candidate.manifest.selection?.rule),
      ...noiseNote(measured, clusters?.effective ?? evidence.differences.pairs),
      ...fewChangesNote(evidence, clusters, comparable),
      // No number of examples makes the same thing better than itself.
      ...(knobs.length === 0 ? [] : sizeNote(decision, measured, evidence, clusters, level)),
    ],
    baseline: evidence.baseline,
    candidate: evidence.candidate,
    ...figures,
    flips: comparable ? evidence.flips : null,
    min_delta: minDelta,
    alpha,
    ...(seeds && { seeds_tried: seeds }),
    ...(clusters && {
      repeated_prompts: clusters.rows - clusters.clusters,
      effective_examples: clusters.effective,
    }),
    ...(further?.verified && { verified: further.verified }),
    ...(further?.seals && { seals: further.seals }),
  };
}

function requireOptions(minDelta: number, alpha: number, claim: Knob | undefined): void {
  if (!(minDelta >= 0 && minDelta < Number.POSITIVE_INFINITY))
    throw usageError("--min-delta must be 0 or more");
  if (!(alpha > 0 && alpha <= LARGEST_ALPHA)) {
    throw usageError(
      `--alpha must be above 0 and at most ${LARGEST_ALPHA}`,
      "Use 0.05, or less where a false promotion is expensive.",
    );
  }
  if (claim !== undefined && !Object.hasOwn(KNOBS, claim))
    throw usageError(`--claim must be one of ${Object.keys(KNOBS).join(", ")}`);
}

/** A promotion by a scorer that may answer otherwise next time says so where it cannot be missed. */
function onceScored(...runs: readonly Run[]): (reason: Reason) => Reason {
  if (runs.every(({ manifest }) => manifest.scorer.deterministic !== false)) return (it) => it;
  const caution = "The scorer is non-deterministic: score both again before you rely on this.";
  return (reason) => ({ ...reason, message: `${reason.message} ${caution}` });
}

/** Clusters of rows with one prompt; undefined where no prompt of a data set repeats. */
async function repeats(
  baseline: Run,
  candidate: Run,
  { repeated }: Evidence,
): Promise<ClusterCounts | undefined> {
  // Episodes of an experiment without a data set all begin with the same prompt.
  if (repeated.size === 0 || !datasetOf(baseline.manifest)) return undefined;
  const clusters = await clustersOf(baseline, candidate, repeated);
  return clusters.clusters < clusters.rows ? clusters : undefined;
}

/** What would refuse a comparison and was allowed by the caller. */
class Allowed {
  readonly #allowable: ReadonlyMap<string, string>;
  readonly codes: string[] = [];

  constructor({ allowDev = false, allowUnknownHistory = false }: GateOptions) {
    this.#allowable = new Map([
      ...(allowDev ? [[ON_VALIDATION_DATA, DEV_ALLOWED] as const] : []),
      ...(allowUnknownHistory ? [[HISTORY_UNKNOWN, HISTORY_ALLOWED] as const] : []),
    ]);
  }

  /** The reasons that are not allowed. */
  rest(reasons: readonly Reason[]): Reason[] {
    return reasons.filter(({ code }) => {
      if (this.#allowable.has(code)) this.codes.push(code);
      return !this.#allowable.has(code);
    });
  }

  notes(): string[] {
    return this.codes.flatMap((code) => this.#allowable.get(code) ?? []);
  }
}

const DEV_ALLOWED =
  "Allowed by --allow-dev: a policy is measured on validation data of its training, which its checkpoint may have been chosen by.";
const HISTORY_ALLOWED =
  "Allowed by --allow-unknown-history: the candidate does not say what it was trained on.";

/** The most common mistake: more selection compute reported as a better policy. */
function selectionNote(knobs: readonly Change[], rule: unknown): string[] {
  if (knobs.length !== 1 || knobs[0] !== "selection") return [];
  const words =
    "Selection changed: outputs were selected differently, the policy's distribution is unchanged.";
  if (rule !== "best" && rule !== "tieBreakKey") return [words];
  return [
    words,
    "Selection used the same scorer as the measurement, so the gain is an upper bound.",
  ];
}

/** The sample size for the measured effect, by the formula that gives the minimum detectable effect. */
function sizeNote(
  decision: Decision,
  { delta }: Measured,
  { differences, binary }: Evidence,
  clusters: ClusterCounts | undefined,
  alpha: number,
): string[] {
  if (decision !== "INCONCLUSIVE" || !delta) return [];
  const n = clusters?.clusters ?? differences.pairs;
  const spread =
    binary && !clusters
      ? { discordantShare: 1 - differences.count(0) / n }
      : { variance: (clusters?.influences() ?? differences).variance() ?? 0 };
  const enough = pairsForEffect({ effect: Math.abs(delta), alpha, ...spread });
  if (enough === undefined || enough <= n) return [];
  const units = clusters ? "different prompts" : "examples";
  const assumed =
    binary && !clusters ? "the same share of rows flips" : "rewards vary as much as here";
  return [
    `To detect this difference with 80 % power, use about ${enough} ${units} (if ${assumed}).`,
  ];
}

/** A bootstrap interval is too narrow when few rows, or few prompts, differ. */
function fewChangesNote(
  { binary, flips }: Evidence,
  clusters: ClusterCounts | undefined,
  comparable: boolean,
): string[] {
  if (!comparable) return [];
  if (clusters) {
    if (clusters.clusters - clusters.sums().count(0) >= 10) return [];
    return [
      "Fewer than 10 prompts changed, so the bootstrap interval is too narrow; the sign-flip test decides.",
    ];
  }
  if (!binary || flips.gained + flips.lost >= 10) return [];
  return [
    "Fewer than 10 rows flipped, so the bootstrap interval is too narrow; the exact test decides.",
  ];
}

function noiseNote({ delta }: Measured, n: number): string[] {
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${Math.round(n)} examples, repeat the experiment before you trust a change under 0.05.`,
  ];
}
