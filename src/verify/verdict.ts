/** A verdict of the gate made again: from a file, which anyone can edit, to what the runs show now. */

import { dataError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import { gate } from "../gate/gate.ts";
import { HISTORY_UNKNOWN, ON_VALIDATION_DATA } from "../gate/history.ts";
import { type GateReport, gateReportSchema } from "../runs/gate-report.ts";
import { readArtifact, sha256OfFile } from "../runs/whole-file.ts";

export interface ReadVerdict {
  readonly file: string;
  readonly sha256: string;
  readonly report: GateReport;
}

export async function readVerdict(file: string): Promise<ReadVerdict> {
  const report = await readArtifact(file, gateReportSchema, "Write it with gate --report.");
  return { file, sha256: await sha256OfFile(file), report };
}

/** What must be the same when the gate is asked again. Words and intervals may change with a version. */
const SAME = ["decision", "comparable", "knobs", "baseline", "candidate", "delta"] as const;

/**
 * Asks the gate again, with the settings of the verdict. What `--verified` and `--require-seal` found is
 * not repeated: without reasons of theirs, the decision does not depend on it.
 */
export async function requireRepeatable({ file, report }: ReadVerdict): Promise<void> {
  const now = await gate(settingsOf(report));
  const differs = SAME.filter((key) => canonicalJson(report[key]) !== canonicalJson(now[key]));
  if (differs.length === 0) return;
  throw dataError(
    `${file} is not what the gate finds in these runs: it decides ${now.decision}; what differs: ${differs.join(", ")}`,
    "The file or a run was edited, or made again. Run gate --report again.",
  );
}

function settingsOf(report: GateReport): Parameters<typeof gate>[0] {
  const { baseline, candidate, allowed = [], slices, reward_range: range } = report;
  return {
    ...{ baseline: baseline.run, candidate: candidate.run, alpha: report.alpha },
    ...{ minDelta: report.min_delta, margin: report.margin, claim: report.claim ?? undefined },
    axisMargins: Object.fromEntries(
      report.axes?.values.map(({ name, margin }) => [name, margin]) ?? [],
    ),
    ...{ slice: slices?.field, sliceMargin: slices?.margin },
    rewardRange: range?.source === "caller" ? [range.low, range.high] : undefined,
    allowDev: allowed.includes(ON_VALIDATION_DATA),
    allowUnknownHistory: allowed.includes(HISTORY_UNKNOWN),
  };
}
