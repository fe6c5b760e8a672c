/** The first step of the gate: what the two runs are, what their rows show, and what refuses to compare them. */

import type { GateReport, Reason } from "../runs/gate-report.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { Allowed } from "./allowed.ts";
import { otherAxes } from "./axes.ts";
import { AxesEvidence } from "./axis-evidence.ts";
import { changesOf, OF_THE_ANSWERS } from "./changes.ts";
import { type Comparability, compareManifests } from "./comparability.ts";
import { unknownAxes } from "./embedded-axes.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { withoutFollowOn } from "./follow-on.ts";
import { historyReason } from "./history.ts";
import { type JudgeTrust, judgeTrust } from "./judge-trust.ts";
import { claimedKnob, type FurtherChecks, type GateOptions, requireAxes } from "./options.ts";
import { outOfRange, type RewardRange, rewardRange } from "./reward-range.ts";
import { seedsDiffer } from "./seeds.ts";

export interface Collected {
  readonly baseline: Run;
  readonly candidate: Run;
  readonly comparability: Comparability;
  readonly evidence: Evidence;
  readonly onAxes: AxesEvidence;
  readonly range: RewardRange | undefined;
  /** Not empty where the seeds differ. */
  readonly otherSeeds: readonly Reason[];
  /** What refuses the comparison. */
  readonly violations: readonly Reason[];
  /** What speaks against a claim about the policy. */
  readonly history: readonly Reason[];
  /** Where no cause is claimed: all that changed in how the answers were made. */
  readonly changed: GateReport["changed"];
  readonly allowed: Allowed;
  readonly further: FurtherChecks | undefined;
  /** Of judged runs. */
  readonly trust: JudgeTrust | undefined;
}

export async function collect(options: GateOptions): Promise<Collected> {
  const [baseline, candidate] = [await openRun(options.baseline), await openRun(options.candidate)];
  const manifests = [baseline.manifest, candidate.manifest] as const;
  const comparability = compareManifests(...manifests);
  const trust = await judgeTrust(candidate.manifest, options.judgeAudit);
  const onAxes = new AxesEvidence(...manifests);
  requireAxes(options, onAxes);
  const evidence = await gatherEvidence(baseline, candidate, {
    slice: options.slice,
    onPair(before, after) {
      onAxes.add(before, after);
      options.onPair?.(before, after);
    },
  });
  const further = await options.further?.(baseline, candidate);
  const range = rewardRange(manifests, options.rewardRange);
  const otherSeeds = seedsDiffer(...manifests);
  const { knobs, violations: ofManifests } = comparability;
  const anyChange = allowsAnyChange(options);
  const found = [
    ...ofManifests,
    // Whatever changed, a seed may be chosen by its results; of policies it is known already.
    ...(anyChange && knobs.length > 0
      ? otherSeeds.filter(({ code }) => !ofManifests.some((one) => one.code === code))
      : []),
    ...withoutFollowOn(evidence.violations, [...ofManifests, ...otherSeeds]),
    ...outOfRange(range, evidence),
    ...otherAxes(...manifests),
    ...(await unknownAxes(...manifests)),
    ...onAxes.reasons(),
    ...(further?.reasons ?? []),
  ];
  const allowed = new Allowed(options);
  const violations = allowed
    .rest(found)
    .filter(({ code }) => !(anyChange && OF_THE_ANSWERS.has(code)));
  const aboutPolicy = claimedKnob(options) === "policy";
  return {
    ...{ baseline, candidate, comparability, evidence, onAxes, range, otherSeeds, violations },
    history: aboutPolicy ? allowed.rest(historyReason(candidate.manifest)) : [],
    changed: anyChange ? changesOf(knobs, found, OF_THE_ANSWERS) : undefined,
    ...{ allowed, further, trust },
  };
}

/** Without a claim of a knob, a margin allows several changes: no cause is claimed. */
const allowsAnyChange = (options: GateOptions): boolean =>
  options.margin !== undefined && claimedKnob(options) === undefined;
