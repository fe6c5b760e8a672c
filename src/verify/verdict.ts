/** A verdict of the gate made again: from a file, which anyone can edit, to what the runs show now. */

import { dataError, LockedRoomError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import { checkedLines } from "../gate/checked-lines.ts";
import { gate } from "../gate/gate.ts";
import { HISTORY_UNKNOWN, ON_VALIDATION_DATA } from "../gate/history.ts";
import { type GateReport, gateReportSchema } from "../runs/gate-report.ts";
import { openRun } from "../runs/reader.ts";
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

/** Words may change with a version; what further checks found depends on more than the two runs. */
const NOT_COMPARED: ReadonlySet<string> = new Set(["notes", "reasons", "verified", "seals"]);

/**
 * What the gate finds in the runs now, with the settings of the verdict; an error where the file says
 * something else. Results of `--verified` and `--require-seal` are not found again: they are left out,
 * and a note says what the file states. Reasons of theirs stay, because they can only refuse.
 */
export async function repeatVerdict({ file, report }: ReadVerdict): Promise<GateReport> {
  const stated = report.reasons.filter(({ code }) => OF_FURTHER_CHECKS.has(code));
  const further = async () => ({ reasons: stated });
  const now = await gate({ ...settingsOf(report), further });
  const differs = differing(report, now);
  if (differs.length > 0) {
    throw dataError(
      `${file} is not what the gate finds in these runs: it decides ${now.decision}; what differs: ${differs.join(", ")}`,
      "The file or a run was edited, or made again. Run gate --report again.",
    );
  }
  return { ...now, notes: [...now.notes, ...statedNotes(report)] };
}

/** The verdict for a page: what the runs give; where they cannot be read, the file, marked as such. */
export async function verdictToShow(file: string): Promise<GateReport> {
  const verdict = await readVerdict(file);
  const { verified: _, seals: __, ...report } = verdict.report;
  try {
    await openRun(report.baseline.run);
    await openRun(report.candidate.run);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    const unchecked = `Nothing of this verdict was checked, it is what ${file} states: ${error.message}.`;
    return { ...report, notes: [unchecked, ...report.notes, ...statedNotes(verdict.report)] };
  }
  return repeatVerdict(verdict);
}

const OF_FURTHER_CHECKS: ReadonlySet<string> = new Set([
  ...["verification_failed", "verification_impossible"],
  ...["seal_missing", "seal_invalid", "seal_by_another_key"],
]);

function statedNotes(report: GateReport): string[] {
  // The audit of a judge is read again, as the runs are.
  const { judge: _, ...further } = report;
  return checkedLines(further).map((line) => `Stated in the file, not checked again: ${line}.`);
}

function differing(report: GateReport, now: GateReport): string[] {
  const one: Record<string, unknown> = report;
  const other: Record<string, unknown> = now;
  const keys = [...new Set([...Object.keys(report), ...Object.keys(now)])];
  const codes = [report, now].map(({ reasons }) => reasons.map(({ code }) => code));
  return [
    ...keys.filter((key) => !NOT_COMPARED.has(key) && !isSame(one[key], other[key])),
    ...(isSame(codes[0], codes[1]) ? [] : ["reasons"]),
  ];
}

const isSame = (one: unknown, other: unknown) =>
  canonicalJson(one ?? null) === canonicalJson(other ?? null);

function settingsOf(report: GateReport): Parameters<typeof gate>[0] {
  const { baseline, candidate, allowed = [], slices, reward_range: range } = report;
  return {
    ...{ baseline: baseline.run, candidate: candidate.run, alpha: report.alpha },
    ...{ minDelta: report.min_delta, margin: report.margin, claim: report.claim ?? undefined },
    axisMargins: Object.fromEntries(
      report.axes?.values.map(({ name, margin }) => [name, margin]) ?? [],
    ),
    ...{ slice: slices?.field, sliceMargin: slices?.margin },
    judgeAudit: report.judge?.audit?.run,
    rewardRange: range?.source === "caller" ? [range.low, range.high] : undefined,
    allowDev: allowed.includes(ON_VALIDATION_DATA),
    allowUnknownHistory: allowed.includes(HISTORY_UNKNOWN),
  };
}
