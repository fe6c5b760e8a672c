/** Format drift: completions that the scorer cannot parse become more common. */

import { isFields } from "../../../core/records.ts";
import { FORMAT_FAILURE } from "../../../core/score.ts";
import { visible } from "../../../core/visible.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { wilsonInterval } from "../../../stats/wilson.ts";
import { percent } from "../../page/numbers.ts";
import { outcomesOfEvaluations, outcomesOfSteps, sumCounts } from "../../training/outcomes.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { lastSamples } from "./stored-samples.ts";

/** Growth of the share; besides, the intervals of the two shares must not overlap. */
const MIN_GROWTH = 0.05;
export const formatDrift: FailureMode = {
  name: "Format drift",
  alarms: /format/i,
  look: grown,
};

function grown(run: TrainingRunRecords): Partial<Finding> {
  const ends = outcomeEnds(run);
  if (ends === undefined)
    return { numbers: ["Outcome codes were recorded at fewer than two steps."] };
  const format = formatCodes(run);
  if (format === undefined)
    return {
      numbers: ["The scorer does not declare which of its codes are about format (`classes`)."],
    };
  const [start, end] = ends;
  const rates = Object.keys(end.counts)
    .filter((code) => format.has(code))
    .map((code) => ({ code, before: rateOf(start, code), after: rateOf(end, code) }))
    .sort((a, b) => b.after.share - b.before.share - (a.after.share - a.before.share));
  const serious = rates.filter(
    ({ before, after }) => after.share - before.share >= MIN_GROWTH && after.low > before.high,
  );
  const most = rates.filter(({ before, after }) => after.share > before.share).slice(0, 1);
  const lead = serious.length > 0 ? "" : "Largest growth of a format outcome: ";
  const numbers = (serious.length > 0 ? serious : most).map(
    ({ code, before, after }) =>
      `${lead}${visible(code)} from ${percent(before.share)} to ${percent(after.share)} (${before.count} of ${start.total}, ${after.count} of ${end.total}).`,
  );
  const codes = new Set(serious.map(({ code }) => code));
  return {
    status: serious.length > 0 ? "seen" : "not seen",
    numbers: numbers.length > 0 ? numbers : ["No format outcome became more common."],
    evidence: lastSamples(run).filter(({ code }) => codes.has(code)),
  };
}

/** The codes that the run's scorers declare for completions without a readable answer. */
function formatCodes({ manifest }: TrainingRunRecords): ReadonlySet<string> | undefined {
  const declared = manifest.scorers.flatMap(({ identity: { classes } }) =>
    isFields(classes) ? [Object.entries(classes)] : [],
  );
  if (declared.length === 0) return undefined;
  return new Set(
    declared
      .flat()
      .filter(([, name]) => name === FORMAT_FAILURE)
      .map(([code]) => code),
  );
}

interface Counted {
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
}

/** Of the validation set, or else of the first and the last tenth of the steps. */
function outcomeEnds(run: TrainingRunRecords): [Counted, Counted] | undefined {
  const validation = outcomesOfEvaluations(run);
  const rows = validation.length > 1 ? validation : outcomesOfSteps(run);
  if (rows.length < 2) return undefined;
  const size = validation.length > 1 ? 1 : Math.ceil(rows.length / 10);
  const ends = [rows.slice(0, size), rows.slice(-size)].map((some): Counted => {
    const counts = sumCounts(some);
    return { counts, total: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  });
  return ends as [Counted, Counted];
}

function rateOf({ counts, total }: Counted, code: string) {
  const count = counts[code] ?? 0;
  const [low, high] = wilsonInterval(count, total) ?? [0, 1];
  return { count, share: total === 0 ? 0 : count / total, low, high };
}
