/** How a run ended: a status and a sentence. */

import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { ALL_STEPS_DONE, isStopCondition } from "../../runs/stop-reasons.ts";
import { grouped, many } from "../page/numbers.ts";

export interface RunStatus {
  readonly state: "finished" | "early" | "alarm" | "unfinished";
  readonly word: string;
  readonly sentence: string;
  /** Reasons not to trust the numbers. */
  readonly warnings: readonly string[];
}

export function statusOf(run: TrainingRunRecords): RunStatus {
  const warnings = [
    run.edited.length === 0 || `Edited after the run wrote it: ${run.edited.join(", ")}.`,
    run.summary?.reference_frozen !== false ||
      "The reference policy changed during the run, so every KL value on this page is wrong.",
  ];
  return { ...endOf(run), warnings: warnings.filter((warning) => warning !== true) };
}

function endOf(run: TrainingRunRecords): Omit<RunStatus, "warnings"> {
  const { summary, alarms = [] } = run;
  const stop = summary?.stop;
  // Of an unfinished run it is not known whether it went on.
  const stopping = alarms.find(({ stops, alarm }) => stops && alarm === (stop?.reason ?? alarm));
  const [done, planned] = [stepsDone(run), plannedSteps(run)];
  const of = planned === undefined || planned === done ? "" : ` of ${grouped(planned)}`;
  if (summary === undefined) {
    const alarm = stopping ? `, after the alarm ${visible(stopping.alarm)}` : "";
    const where = done === 0 ? "it has no steps" : `it ends at step ${grouped(done)}${of}`;
    const sentence = `The run has no summary.json; ${where}${alarm}. The page shows what was recorded.`;
    return { state: "unfinished", word: "Unfinished", sentence };
  }
  const isOther = typeof stop?.kept === "number" && stop.kept !== done;
  const kept = isOther ? ` The policy at step ${grouped(stop.kept ?? 0)} was kept.` : "";
  if (stopping) {
    const sentence = `The alarm ${visible(stopping.alarm)} stopped the run at step ${grouped(stopping.step)}${of}.${kept}`;
    return { state: "alarm", word: "Stopped by an alarm", sentence };
  }
  if (stop && stop.reason !== ALL_STEPS_DONE) {
    const why = isStopCondition(stop.reason) ? `the condition stop.${stop.reason}` : stop.reason;
    const message = stop.message === undefined ? "" : ` ${visible(stop.message)}`;
    const sentence = `At step ${grouped(stop.step)}${of} by ${visible(why)}.${message}${kept}`;
    return { state: "early", word: "Stopped early", sentence };
  }
  const sentence = `All ${many(done, "step")} done.${kept}`;
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
  return alarms.length === 0 ? "no alarms" : many(alarms.length, "alarm");
}
