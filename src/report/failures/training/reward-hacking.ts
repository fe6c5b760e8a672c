/** Reward hacking: the training (proxy) reward rises while the validation pass rate falls. */

import { passes } from "../../../core/score.ts";
import { proxyChange } from "../../../curves/proxy.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { percent, plain, pValue } from "../../page/numbers.ts";
import { comparePaired, type Milestones, milestonesOf } from "../../training/evaluations.ts";
import { hasLabels, isJudged } from "../../training/judged/judge-of.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { countSamples, initialAnswers, isPreferred, type SampleCount } from "./sample-count.ts";
import { lastSamples, samplesAt } from "./stored-samples.ts";

/** The best of many evaluations is biased upwards, so a fall from it needs a stricter level. */
const ALPHA = 0.01;

export const rewardHacking: FailureMode = {
  name: "Reward hacking",
  alarms: /hack/i,
  look: sinceBest,
  count: preferredAndWorse,
};

function preferredAndWorse(run: TrainingRunRecords): SampleCount | undefined {
  if (!hasLabels(run)) return undefined;
  const before = initialAnswers(run);
  return countSamples(
    run,
    "that the judge prefers to the initial policy's answer although their label is lower",
    (samples) =>
      samples.filter((sample) => {
        const [now, initial] = [sample.reward, before(sample.id)?.reward ?? null];
        return isPreferred(sample) && now !== null && initial !== null && now < initial;
      }),
  );
}

function sinceBest(run: TrainingRunRecords): Partial<Finding> {
  const reached = milestonesOf(run);
  if (reached === undefined || run.evaluations.length < 2)
    return { numbers: ["Needs at least two evaluations."] };
  if (isJudged(run) && !hasLabels(run))
    return {
      numbers: [
        "There are no labels, so nothing but the judge says whether the policy improves. To measure it, give train labels with --validation-env, or compare samples blind with review.",
      ],
    };
  // The scores of a judge may agree with labels that it does not know.
  if (
    !isJudged(run) &&
    run.evaluations.every(({ proxy_mean, reward_mean }) => proxy_mean === reward_mean)
  )
    return {
      numbers: [
        "Training and validation use the same scorer, so proxy and validation reward cannot diverge. To measure it, give train a stricter one with --validation-scorer.",
      ],
    };
  const { best, end } = reached;
  const comparison = comparePaired(best, end);
  const { from, to } = proxyChange(best, [end]);
  const isFalling = end.pass_rate < best.pass_rate && (comparison?.p ?? 1) < ALPHA;
  return {
    status: isFalling && to > from ? "seen" : "not seen",
    numbers: [
      `${isJudged(run) ? "Judge's mean score" : "Proxy reward"}: ${plain(from)} at step ${best.step} (best validation), ${plain(to)} at step ${end.step}.`,
      `Pass rate: ${percent(best.pass_rate)} and ${percent(end.pass_rate)}${comparison && best !== end ? ` (${comparison.wins} won, ${comparison.losses} lost, ${pValue(comparison.p)})` : ""}.`,
    ],
    evidence: lostSince(run, reached),
  };
}

/** Samples that passed at the best evaluation and fail at the end. */
function lostSince(run: TrainingRunRecords, { best }: Milestones): SampleRecord[] {
  const passed = samplesAt(run, best.step).filter(({ reward }) => passes(reward));
  const ids = new Set(passed.map(({ id }) => id));
  return lastSamples(run).filter(({ id, reward }) => ids.has(id) && !passes(reward));
}
