/** The loop of every week: learn, build, evaluate, write, review. Each stage has its evidence. */

import path from "node:path";
import { LockedRoomError } from "../../core/index.ts";
import { DIAGNOSES, isDiagnosed } from "../diagnose/index.ts";
import { parseJson } from "../evidence.ts";
import { MIN_FAILURES, MIN_FIXES } from "../scoreboard/index.ts";
import { textOf } from "../workspace-files.ts";
import { type Deliverable, newFiles } from "./activity.ts";
import type { History } from "./history.ts";

export const STAGES = ["learn", "build", "evaluate", "write", "review"] as const;
export type Stage = (typeof STAGES)[number];

export interface StageStatus {
  readonly stage: Stage;
  /** What shows it, by path; empty when nothing does. */
  readonly evidence: readonly string[];
  readonly next: string;
  /** What counts and is not as the plan asks for it. */
  readonly remarks: readonly string[];
}

export interface LoopStatus {
  readonly stages: readonly StageStatus[];
  /** The first stage without evidence; null when the loop was closed this week. */
  readonly at: Stage | null;
}

const DELIVERED: Readonly<Record<Deliverable["id"], Stage>> = {
  theory: "learn",
  build: "build",
  evaluation: "evaluate",
  blog: "write",
};

/** Each stage with what the week shipped for it. */
export function loopStatus(
  deliverables: readonly Deliverable[],
  review: readonly string[],
): LoopStatus {
  const stages = STAGES.map((stage): StageStatus => {
    if (stage === "review") return { stage, evidence: review, next: REVIEW, remarks: [] };
    const one = deliverables.find(({ id }) => DELIVERED[id] === stage);
    return {
      ...{ stage, evidence: one?.shipped ?? [] },
      ...{ next: one?.next ?? "", remarks: one?.remarks ?? [] },
    };
  });
  return { stages, at: stages.find(({ evidence }) => evidence.length === 0)?.stage ?? null };
}

const REVIEW =
  "Add the week to the scoreboard with two failures and one fix, or diagnose a run (a wrong diagnosis counts once it is corrected), and commit it.";
const SCORED = /^scoreboard\/week-\d+\.json$/;

/** Scoreboard weeks with failures and a fix, and right diagnoses, that commits of this week changed. */
export function reviewed(dir: string, history: History, week: number): string[] {
  const { within } = newFiles(history, week);
  const changed = new Set(history.contributions.filter(within).flatMap(({ files }) => files));
  return [...changed].filter((file) => isReview(dir, file)).sort();
}

function isReview(dir: string, file: string): boolean {
  if (path.posix.dirname(file) === DIAGNOSES) return file.endsWith(".json") && diagnosed(dir, file);
  if (!SCORED.test(file)) return false;
  const { failures, fixes } = Object(parseJson(textOf(dir, file)));
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 0);
  return count(failures) >= MIN_FAILURES && count(fixes) >= MIN_FIXES;
}

/** A damaged file is no diagnosis; `diagnose` says what is wrong with it. */
function diagnosed(dir: string, file: string): boolean {
  try {
    return isDiagnosed(dir, file);
  } catch (error) {
    if (error instanceof LockedRoomError) return false;
    throw error;
  }
}
