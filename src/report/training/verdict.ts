/** How a run ended, in a word and a sentence. */

import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { grouped, many } from "./numbers.ts";

export interface Verdict {
  readonly state: "finished" | "early" | "alarm" | "unfinished";
  readonly word: string;
  readonly sentence: string;
  /** What makes the numbers untrustworthy. */
  readonly warnings: readonly string[];
}

export function verdictOf(run: TrainingRunRecords): Verdict {
  const warnings = [
    run.edited.length === 0 || `Edited since the run wrote it: ${run.edited.join(", ")}.`,
    run.summary?.reference_frozen !== false ||
      "The reference was not the same at the end as at the start, so every KL here is wrong.",
  ];
  return { ...endOf(run), warnings: warnings.filter((warning) => warning !== true) };
}

/** Reasons to end that somebody asked for, and that are no trouble. */
const CALM = new Set(["plateau", "converged"]);

function endOf(run: TrainingRunRecords): Omit<Verdict, "warnings"> {
  const { summary, alarms = [] } = run;
  const stop = summary?.stop;
  const stopping =
    alarms.find(({ stops, alarm }) => stops && alarm === stop?.reason) ??
    alarms.find(({ stops }) => stops);
  const [done, planned] = [stepsDone(run), plannedSteps(run)];
  const of = planned === undefined || planned === done ? "" : ` of ${grouped(planned)}`;
  if (summary === undefined) {
    const alarm = stopping ? `, after the alarm ${visible(stopping.alarm)}` : "";
    const where = done === 0 ? "no step was made" : `it ends at step ${grouped(done)}${of}`;
    const sentence = `The run has no summary.json; ${where}${alarm}. What follows is what there is.`;
    return { state: "unfinished", word: "Unfinished", sentence };
  }
  const isOther = typeof stop?.kept === "number" && stop.kept !== done;
  const kept = isOther ? ` The policy of step ${grouped(stop.kept ?? 0)} was kept.` : "";
  if (stopping && !CALM.has(stopping.alarm)) {
    const sentence = `${visible(stopping.alarm)} ended the run at step ${grouped(stopping.step)}${of}.${kept}`;
    return { state: "alarm", word: "Stopped by an alarm", sentence };
  }
  if (stop && of !== "") {
    const sentence = `At step ${grouped(stop.step ?? done)}${of}: ${visible(stop.reason)}.${kept}`;
    return { state: "early", word: "Stopped early", sentence };
  }
  const sentence = `It ran its ${many(done, "step")} to the end.${kept}`;
  return { state: "finished", word: "Finished", sentence };
}

export function stepsDone({ summary, steps }: TrainingRunRecords): number {
  return summary?.steps ?? steps.at(-1)?.step ?? 0;
}

export function plannedSteps({ manifest }: TrainingRunRecords): number | undefined {
  const { steps } = manifest.settings;
  return typeof steps === "number" ? steps : undefined;
}

export function alarmCount({ alarms = [] }: TrainingRunRecords): string {
  return alarms.length === 0 ? "no alarm" : many(alarms.length, "alarm");
}
