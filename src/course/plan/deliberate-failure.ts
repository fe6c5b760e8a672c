/** Capstone: a failure on purpose. The failing run, the fix, and the ablation that shows why. */

import { sections } from "../notes.ts";
import { textOf } from "../workspace-files.ts";
import type { KnownReport } from "../workspace-runs.ts";
import { CASE, linked, measurement } from "./case-study.ts";
import {
  type Criterion,
  type Met,
  type Missing,
  met,
  missing,
  type PlanContext,
} from "./criterion.ts";
import { causes, isBetter, rises, shownBy } from "./effect.ts";
import { setting, type Training } from "./training.ts";
import { noStoppingAlarm, pageMissing } from "./training-criterion.ts";

const EXPECTED = `a heading in ${CASE} with "Failure" in it that links to three training runs (the failing one; the fix, whose validation is significantly better; the ablation, which differs from one of them in one thing that the fix changed, not the seed, and whose validation shows its effect), or to three evaluations with a gate report that promotes the fix and one of the ablation`;

export const deliberateFailure: Criterion = {
  id: "capstone_failure",
  title: "Capstone: a deliberate failure, shown, fixed and confirmed by an ablation",
  async check(context) {
    const text = textOf(context.dir, CASE) ?? "";
    const about = sections(text).filter(({ heading }) => /failure|sabotage/i.test(heading));
    let found = "no such heading";
    for (const { body } of about) {
      const { failing, reports } = await linked(context, CASE, body);
      const answer = (await trainedFix(context, failing)) ?? (await evaluatedFix(context, reports));
      if (typeof answer !== "string") return answer;
      found = answer;
    }
    const next = "Make the missing run and link all three below that heading.";
    return missing(EXPECTED, found, next);
  },
};

/** Undefined where no training run is linked. */
async function trainedFix(
  context: PlanContext,
  runs: readonly Training[],
): Promise<Met | Missing | string | undefined> {
  if (runs.length === 0) return undefined;
  const failures = runs.filter((run) => failureOf(run) !== undefined);
  if (failures.length === 0) return "no linked training run failed";
  let found = `no linked run fixes ${failures[0]?.path}`;
  for (const failure of failures) {
    for (const fix of runs) {
      if (fix === failure || !(await isFix(failure, fix))) continue;
      const changed = causes(failure, fix);
      const ablation = ablationOf(runs, failure, fix);
      found = `no linked run is the ablation of ${changed.join(", ")}, which ${fix.path} changed, with a significant effect`;
      if (!ablation) continue;
      const three = [failure, fix, ablation.run];
      const figure = `${failure.path} failed (${failureOf(failure)}), ${fix.path} fixes it (${changed.join(", ")}; reward ${last(failure)} → ${last(fix)}), ${ablation.run.path} is the ablation (${last(ablation.run)}: ${ablation.shown})`;
      return (
        (await pageMissing(context, three)) ??
        met(
          { path: CASE, figure },
          ...three.map((run) => ({ path: `${run.path}/summary.json`, figure: last(run) })),
        )
      );
    }
  }
  return found;
}

/** Alarms that do not stop a run and are failures all the same. */
const HARMFUL = ["length_drift", "entropy_collapse", "kl_over_limit", "repeated_outputs"];

/** How a run failed; undefined for one that did not. */
function failureOf({ manifest, records: { alarms = [], evaluations } }: Training) {
  const sabotage = setting(manifest, "sabotage") ?? null;
  if (sabotage !== null) return `sabotage ${sabotage}`;
  const alarm = alarms.find((one) => one.stops || HARMFUL.includes(one.alarm));
  if (alarm) return alarm.alarm;
  return rises(evaluations.at(-1), evaluations[0]) ? "validation fell" : undefined;
}

async function isFix(failure: Training, fix: Training): Promise<boolean> {
  const sabotaged = (setting(fix.manifest, "sabotage") ?? null) !== null;
  if (sabotaged || measurement(failure) !== measurement(fix)) return false;
  if ((await noStoppingAlarm(fix)) !== undefined) return false;
  return causes(failure, fix).length > 0 && isBetter(fix, failure);
}

function ablationOf(runs: readonly Training[], failure: Training, fix: Training) {
  for (const run of runs) {
    if (run === failure || run === fix || measurement(run) !== measurement(fix)) continue;
    const shown = shownBy(run, failure, fix);
    if (shown !== undefined) return { run, shown };
  }
  return undefined;
}

const reward = ({ records }: Training) => records.evaluations.at(-1)?.reward_mean ?? Number.NaN;
const last = (run: Training) => reward(run).toFixed(4);

/** Evaluations: the gate promotes the fix, and another report turns one knob of either run. */
async function evaluatedFix(
  { runs }: PlanContext,
  reports: readonly KnownReport[],
): Promise<Met | string> {
  const sides = (one: KnownReport) => [one.report.baseline.run, one.report.candidate.run];
  const promoted = reports.filter(({ report }) => report.decision === "PROMOTE");
  if (promoted.length === 0) return "it links to no training run and to no report that promotes";
  for (const fix of promoted) {
    for (const ablation of reports) {
      const { knobs, comparable } = ablation.report;
      const others = sides(ablation).filter((run) => !sides(fix).includes(run));
      if (!comparable || knobs.length !== 1 || knobs[0] === "unknown" || others.length !== 1)
        continue;
      if (typeof (await runs.compared(ablation)) === "string") continue;
      const figure = `${fix.path} promotes the fix, ${ablation.path} is the ablation`;
      return met({ path: CASE, figure }, { path: fix.path, figure: "PROMOTE" });
    }
  }
  return `no linked gate report of a third run with one knob turned, besides ${promoted[0]?.path}`;
}
