/** Where a workspace stands in the plan: the day, the phases, the evidence, the week. */

import { realpathSync } from "node:fs";
import path from "node:path";
import { Git } from "../git.ts";
import { Shelf } from "../shelf.ts";
import { readConfig } from "../workspace.ts";
import { fileSha256 } from "../workspace-files.ts";
import { type Deliverable, deliverables, type Rhythm, rhythm } from "./cadence.ts";
import { type Day, daysBetween } from "./calendar.ts";
import { type Criterion, type Finding, look, type Place } from "./criterion.ts";
import { readHistory } from "./history.ts";
import { PHASE_0 } from "./phase-0.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { DONE, daysOfWeek, PHASES, type Phase, phaseOfDay, weekOfDay } from "./phases.ts";
import { type PlanRecord, readRecord } from "./record.ts";
import { Trainings } from "./trainings.ts";

const STATUS_SCHEMA = "lockedroom.plan_status@1";

const CRITERIA: readonly (readonly Criterion[])[] = [PHASE_0, PHASE_1, PHASE_2, PHASE_3, PHASE_4];

export type LookedAt = { readonly id: string; readonly title: string } & Finding;

export interface PhaseStatus extends Phase {
  readonly state: "passed" | "current" | "ahead";
  readonly criteria: readonly LookedAt[];
}

/** Evidence of a phase that was left behind and is no longer what it was. */
export interface Drifted {
  readonly phase: number;
  readonly criterion: string;
  readonly path: string;
  readonly problem: "vanished" | "changed";
}

export interface PlanStatus {
  readonly schema: typeof STATUS_SCHEMA;
  readonly today: Day;
  readonly start: Day;
  /** 1 on the day of the first commit. */
  readonly day: number;
  /** The phase that is being worked on; 5 when all are behind. */
  readonly phase: number;
  /** The phase that the calendar asks for. */
  readonly calendar_phase: number;
  /** How far the day lies beyond the last one of the current phase. */
  readonly days_late: number;
  readonly phases: readonly PhaseStatus[];
  readonly drifted: readonly Drifted[];
  readonly week: {
    readonly week: number;
    readonly first: number;
    readonly last: number;
    readonly deliverables: readonly Deliverable[];
  };
  readonly rhythm: Rhythm;
}

export interface PlanOptions {
  readonly dir: string;
  readonly today: Day;
  /** Names of the commands that this version has; criteria that need others say so. */
  readonly commands: readonly string[];
}

export async function planStatus(options: PlanOptions): Promise<PlanStatus> {
  const dir = realpathSync(options.dir);
  const config = readConfig(dir);
  const record = readRecord(dir);
  const history = await readHistory(await Git.open(dir));
  const shelf = await Shelf.read(dir);
  const trainings = await Trainings.read(dir);
  const place: Place = { dir, config, shelf, trainings, commands: new Set(options.commands) };
  const day = Math.max(1, daysBetween(history.start, options.today) + 1);
  const current = PHASES[record.phase];
  const week = weekOfDay(day);
  return {
    schema: STATUS_SCHEMA,
    today: options.today,
    start: history.start,
    day,
    phase: record.phase,
    calendar_phase: phaseOfDay(day).phase,
    days_late: current ? Math.max(0, day - current.last) : 0,
    phases: await lookAtPhases(place, record),
    drifted: await findDrifted(dir, record),
    week: {
      week,
      ...daysOfWeek(week),
      deliverables: await deliverables(dir, shelf, history, week),
    },
    rhythm: rhythm(history, options.today),
  };
}

async function lookAtPhases(place: Place, record: PlanRecord): Promise<PhaseStatus[]> {
  const statuses: PhaseStatus[] = [];
  for (const phase of PHASES) {
    const criteria: LookedAt[] = [];
    for (const one of CRITERIA[phase.phase] ?? [])
      criteria.push({ id: one.id, title: one.title, ...(await look(one, place)) });
    const state =
      phase.phase < record.phase ? "passed" : phase.phase === record.phase ? "current" : "ahead";
    statuses.push({ ...phase, state, criteria });
  }
  return statuses;
}

async function findDrifted(dir: string, { advanced }: PlanRecord): Promise<Drifted[]> {
  const drifted: Drifted[] = [];
  for (const { phase, evidence } of advanced) {
    for (const { criterion, path: name, sha256 } of evidence) {
      const now = await fileSha256(path.join(dir, name));
      if (now === sha256) continue;
      drifted.push({
        phase,
        criterion,
        path: name,
        problem: now === undefined ? "vanished" : "changed",
      });
    }
  }
  return drifted;
}

/** What stands between a workspace and the next phase, earlier phases included. */
export function stillOpen(
  status: PlanStatus,
): { readonly phase: number; readonly criterion: LookedAt }[] {
  return status.phases
    .filter(({ phase }) => phase <= Math.min(status.phase, DONE - 1))
    .flatMap(({ phase, criteria }) =>
      criteria
        .filter(({ status: found }) => found !== "met")
        .map((criterion) => ({ phase, criterion })),
    );
}
