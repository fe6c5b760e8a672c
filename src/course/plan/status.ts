/** The status of a workspace in the plan (day, phases, evidence, week), and the step to the next phase. */

import { realpathSync } from "node:fs";
import path from "node:path";
import { dataError } from "../../core/index.ts";
import { Git } from "../git.ts";
import { readConfig } from "../workspace.ts";
import { fileSha256 } from "../workspace-files.ts";
import { WorkspaceRuns } from "../workspace-runs.ts";
import { activity, deliverables } from "./activity.ts";
import {
  type Day,
  DONE,
  daysBetween,
  daysOfWeek,
  PHASES,
  type Phase,
  phaseOfDay,
  weekOfDay,
} from "./calendar.ts";
import { type Criterion, evaluateCriterion, type Finding, type PlanContext } from "./criterion.ts";
import { type History, readHistory } from "./history.ts";
import { loopStatus, reviewed } from "./loop.ts";
import { Pages } from "./pages.ts";
import { PHASE_0 } from "./phase-0.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { PLAN_SCHEMA, type PlanRecord, readRecord, writeRecord } from "./record.ts";
import { Trainings } from "./trainings.ts";

const CRITERIA: readonly (readonly Criterion[])[] = [PHASE_0, PHASE_1, PHASE_2, PHASE_3, PHASE_4];

export type CriterionStatus = { readonly id: string; readonly title: string } & Finding;

export interface PhaseStatus extends Phase {
  readonly state: "passed" | "current" | "ahead";
  readonly criteria: readonly CriterionStatus[];
}

/** Evidence of a passed phase that has changed since. */
export interface ChangedEvidence {
  readonly phase: number;
  readonly criterion: string;
  readonly path: string;
  readonly problem: "missing" | "changed";
}

export type PlanStatus = Awaited<ReturnType<typeof planStatus>>;

export interface PlanOptions {
  readonly dir: string;
  readonly today: Day;
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
}

export async function planStatus(options: PlanOptions) {
  const dir = realpathSync(options.dir);
  const config = readConfig(dir);
  const record = readRecord(dir);
  const history = await readHistory(await Git.open(dir));
  const runs = await WorkspaceRuns.read(dir);
  const trainings = await Trainings.read(dir);
  const pages = new Pages(dir, trainings.files);
  const commands = new Set(options.commands);
  const context: PlanContext = { dir, config, runs, trainings, pages, commands };
  const day = Math.max(1, daysBetween(history.start, options.today) + 1);
  const current = PHASES[record.phase];
  const week = weekOfDay(day);
  const phases = await evaluatePhases(context, record);
  return {
    schema: "lockedroom.plan_status@1" as const,
    today: options.today,
    start: history.start,
    /** 1 on the day of the first commit. */
    day,
    /** The current phase; 5 when all are passed. */
    phase: record.phase,
    /** The phase by the calendar. */
    calendar_phase: phaseOfDay(day).phase,
    /** Days since the last day of the current phase. */
    days_late: current ? Math.max(0, day - current.last) : 0,
    phases,
    /** Commands that criteria need and this version lacks, by phase. */
    to_come: lackingCommands(phases),
    changed_evidence: await changedEvidence(dir, record),
    week: await weekStatus(context, history, week),
    activity: activity(history, options.today),
  };
}

function lackingCommands(phases: readonly PhaseStatus[]) {
  return phases.flatMap(({ phase, criteria }) => {
    const lacking = criteria.flatMap((one) => (one.status === "no_tool_yet" ? one.commands : []));
    return lacking.length === 0 ? [] : [{ phase, commands: [...new Set(lacking)] }];
  });
}

async function weekStatus(context: PlanContext, history: History, week: number) {
  const shipped = await deliverables(context, history, week);
  return {
    ...{ week, ...daysOfWeek(week), deliverables: shipped },
    loop: loopStatus(shipped, reviewed(context.dir, history, week)),
  };
}

async function evaluatePhases(context: PlanContext, record: PlanRecord): Promise<PhaseStatus[]> {
  const statuses: PhaseStatus[] = [];
  for (const phase of PHASES) {
    const criteria: CriterionStatus[] = [];
    for (const one of CRITERIA[phase.phase] ?? [])
      criteria.push({ id: one.id, title: one.title, ...(await evaluateCriterion(one, context)) });
    const state =
      phase.phase < record.phase ? "passed" : phase.phase === record.phase ? "current" : "ahead";
    statuses.push({ ...phase, state, criteria });
  }
  return statuses;
}

async function changedEvidence(dir: string, { advanced }: PlanRecord): Promise<ChangedEvidence[]> {
  const changed: ChangedEvidence[] = [];
  for (const { phase, evidence } of advanced) {
    for (const { criterion, path: name, sha256 } of evidence) {
      const now = await fileSha256(path.join(dir, name));
      const problem = now === undefined ? "missing" : "changed";
      if (now !== sha256) changed.push({ phase, criterion, path: name, problem });
    }
  }
  return changed;
}

/** The criteria that are not met, of the current phase and of earlier ones. */
function openCriteria(status: PlanStatus): { phase: number; criterion: CriterionStatus }[] {
  return status.phases
    .filter(({ phase }) => phase <= Math.min(status.phase, DONE - 1))
    .flatMap(({ phase, criteria }) =>
      criteria.filter((one) => one.status !== "met").map((criterion) => ({ phase, criterion })),
    );
}

export interface Advance {
  readonly status: PlanStatus;
  /** The phase that was passed; undefined when criteria are missing or all phases are passed. */
  readonly left: number | undefined;
  readonly missing: ReturnType<typeof openCriteria>;
}

/** Moves to the next phase if every criterion is met. */
export async function advancePlan(options: PlanOptions): Promise<Advance> {
  const status = await planStatus(options);
  if (status.phase === DONE) return { status, left: undefined, missing: [] };
  const missing = openCriteria(status);
  if (missing.length > 0) return { status, left: undefined, missing };
  const record = readRecord(options.dir);
  const evidence: PlanRecord["advanced"][number]["evidence"] = [];
  for (const criterion of status.phases[status.phase]?.criteria ?? []) {
    if (criterion.status !== "met") continue;
    for (const { path: name } of criterion.evidence) {
      const sha256 = await fileSha256(path.join(options.dir, name));
      if (sha256 === undefined)
        throw dataError(`${name} disappeared while the plan was checked`, "Try again.");
      evidence.push({ criterion: criterion.id, path: name, sha256 });
    }
  }
  await writeRecord(options.dir, {
    schema: PLAN_SCHEMA,
    phase: status.phase + 1,
    advanced: [...record.advanced, { phase: status.phase, on: options.today, evidence }],
  });
  return { status, left: status.phase, missing: [] };
}
