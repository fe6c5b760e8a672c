/** Capstone: a failure on purpose. The failing run, the fix, and the ablation that shows why. */

import path from "node:path";
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
import { causes, shownBy } from "./effect.ts";
import { type Failed, failuresOf, stillFails } from "./failed-figure.ts";
import type { Training } from "./training.ts";
import { pageMissing, trainCommand } from "./training-criterion.ts";

const EXPECTED = `a heading in ${CASE} with "Failure" in it that links to three training runs: the failing one; the fix, which does not fail and makes the figure that failed better by more than chance; and the ablation, which shows which change of the fix did it: of several changes it has one, or of a changed number a value between. Or to two gate reports: one promotes the fix, the other has one knob of the fix turned and a significant difference the same way`;

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
    return missing(EXPECTED, found, ...nextRun(context));
  },
};

/** Undefined where no training run is linked. */
async function trainedFix(
  context: PlanContext,
  runs: readonly Training[],
): Promise<Met | Missing | string | undefined> {
  if (runs.length === 0) return undefined;
  const failures = runs.flatMap((run) =>
    failuresOf(run).map((failed) => ({ failure: run, failed })),
  );
  const [first] = failures;
  if (!first) return "no linked training run failed";
  let found = `no linked run fixes ${first.failure.path} (${first.failed.how}): its ${first.failed.figure} must get better by more than chance`;
  for (const { failure, failed } of failures) {
    for (const fix of runs) {
      if (fix === failure || !isFix(failure, fix, failed)) continue;
      const changed = causes(failure, fix);
      const ablation = ablationOf(runs, failure, fix, failed);
      found = `no linked run is the ablation of ${changed.join(", ")}, which ${fix.path} changed, with a significant effect`;
      if (!ablation) continue;
      const three = [failure, fix, ablation.run];
      const figure = `${failure.path} failed (${failed.how}), ${fix.path} fixes it (${changed.join(", ")}; reward ${last(failure)} → ${last(fix)}), ${ablation.run.path} is the ablation (${last(ablation.run)}: ${ablation.shown})`;
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

function isFix(failure: Training, fix: Training, failed: Failed): boolean {
  if (measurement(failure) !== measurement(fix) || stillFails(fix, failed)) return false;
  return causes(failure, fix).length > 0 && failed.better(fix, failure);
}

function ablationOf(runs: readonly Training[], failure: Training, fix: Training, failed: Failed) {
  for (const run of runs) {
    if (run === failure || run === fix || measurement(run) !== measurement(fix)) continue;
    const shown = shownBy(run, failure, fix, failed.better);
    if (shown !== undefined) return { run, shown };
  }
  return undefined;
}

/** A failure that can be had with the embedded policy: a learning rate that is far too high. */
const STEPS = 30;
const EXAMPLES = [
  [
    "runs/failure",
    "A run that fails, such as one with a learning rate that is far too high:",
    "--lr 0.01",
  ],
  ["runs/fix", "Its fix; here it changes two things:", "--set kl.mode=fixed"],
  ["runs/ablation", "The ablation, with one change of the fix, to see which of them did it:", ""],
] as const;

function nextRun(context: PlanContext): [next: string, command?: string] {
  const lacking = EXAMPLES.find(
    ([name]) => !context.trainings.known.some((known) => known.path === name),
  );
  if (!lacking) {
    const links = EXAMPLES.map(([name]) => `[${path.basename(name)}](../../${name})`);
    return [`Link all three below that heading, as in: ${links.join(", ")}.`];
  }
  const [name, next, flags] = lacking;
  return [next, `${trainCommand(context, "train grpo", name, STEPS)}${flags && ` ${flags}`}`];
}

const reward = ({ records }: Training) => records.evaluations.at(-1)?.reward_mean ?? Number.NaN;
const last = (run: Training) => reward(run).toFixed(4);

/** Evaluations: the gate promotes the fix, and a third run turns one of its knobs. */
async function evaluatedFix(
  { runs }: PlanContext,
  reports: readonly KnownReport[],
): Promise<Met | string> {
  const promoted = reports.filter(({ report }) => report.decision === "PROMOTE");
  let found = "it links to no training run and to no report that promotes";
  for (const fix of promoted) {
    const fixed = await runs.compared(fix);
    if (typeof fixed === "string") continue;
    if (fixed.report.knobs.includes("unknown")) {
      found = `${fix.path}: what the fix changed is not known`;
      continue;
    }
    found = `no linked gate report compares a third run with one of ${fix.path}, one knob turned`;
    for (const one of reports) {
      const ablation = await runs.compared(one);
      if (typeof ablation === "string") continue;
      const shown = shownByReport(ablation, fixed);
      if (shown === undefined) continue;
      if ("problem" in shown) {
        found = `${one.path}: ${shown.problem}`;
        continue;
      }
      const figure = `${fix.path} promotes the fix (${signed(fixed.report.delta)}), ${one.path} is the ablation (${shown.figure})`;
      return met(
        { path: CASE, figure },
        { path: fix.path, figure: "PROMOTE" },
        { path: one.path, figure: shown.figure },
      );
    }
  }
  return found;
}

type Compared = Exclude<Awaited<ReturnType<PlanContext["runs"]["compared"]>>, string>;

/** What a report of a third run shows about the fix; undefined where it is not its ablation. */
function shownByReport(
  { report, baseline, candidate }: Compared,
  fix: Compared,
): { readonly figure: string } | { readonly problem: string } | undefined {
  const [failing, fixed] = [fix.baseline.path, fix.candidate.path];
  const [knob, ...more] = report.knobs;
  const sides = [baseline.path, candidate.path];
  const third = sides.filter((side) => side !== failing && side !== fixed);
  if (!report.comparable || knob === undefined || more.length > 0 || third.length !== 1)
    return undefined;
  if (knob === "unknown") return { problem: "which knob was turned is not known" };
  // Better than the failure with the change alone, or worse than the fix without it.
  const known = sides.find((side) => side !== third[0]);
  const gain = known === candidate.path ? -(report.delta ?? 0) : (report.delta ?? 0);
  const along = known === failing ? gain > 0 : gain < 0;
  const significant = report.p_value !== null && report.p_value <= report.alpha;
  const figure = `${third[0]} against ${known}: ${signed(gain)}`;
  if (significant && along) return { figure };
  const why = significant ? "the wrong way" : "which is not significant";
  return { problem: `the ablation shows no effect of ${knob}: ${figure}, ${why}` };
}

const signed = (delta: number | null) =>
  delta === null ? "–" : `${delta < 0 ? "" : "+"}${delta.toFixed(4)}`;
