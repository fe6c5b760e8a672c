/** An exit criterion of a phase, and its result for a workspace. */

import { LockedRoomError } from "../../core/index.ts";
import type { WorkspaceConfig } from "../workspace.ts";
import type { WorkspaceRuns } from "../workspace-runs.ts";
import type { Pages } from "./pages.ts";
import type { Trainings } from "./trainings.ts";

/** What criteria read. */
export interface PlanContext {
  readonly dir: string;
  readonly config: WorkspaceConfig;
  readonly runs: WorkspaceRuns;
  readonly trainings: Trainings;
  readonly pages: Pages;
  /** Names of the commands that this version has. */
  readonly commands: ReadonlySet<string>;
}

/** A file that shows something, and the figure to find in it. */
export interface Evidence {
  readonly path: string;
  readonly figure: string;
}

export interface Met {
  readonly status: "met";
  readonly evidence: readonly Evidence[];
}

export interface Missing {
  readonly status: "missing";
  readonly expected: string;
  readonly found: string;
  /** What to do now, in words. */
  readonly next: string;
  /** The command for it, where there is one. */
  readonly command?: string | undefined;
}

/** This version lacks commands that the criterion needs, or cannot check their output. */
interface NotYet {
  readonly status: "no_tool_yet" | "not_checked_yet";
  readonly commands: readonly string[];
}

export type Finding = Met | Missing | NotYet;

/** Either checked, or impossible to meet until these commands exist. */
export type Criterion = { readonly id: string; readonly title: string } & (
  | { readonly needs: readonly string[] }
  | { check(context: PlanContext): Promise<Met | Missing> }
);

export const met = (...evidence: readonly Evidence[]): Met => ({ status: "met", evidence });

export const missing = (
  expected: string,
  found: string,
  next: string,
  command?: string,
): Missing => ({ status: "missing", expected, found, next, ...(command ? { command } : {}) });

/** Damaged evidence counts as missing, with the reason, and does not stop the plan. */
export async function evaluateCriterion(
  criterion: Criterion,
  context: PlanContext,
): Promise<Finding> {
  if ("needs" in criterion) {
    const lacking = criterion.needs.filter((name) => !context.commands.has(name));
    return lacking.length > 0
      ? { status: "no_tool_yet", commands: lacking }
      : { status: "not_checked_yet", commands: criterion.needs };
  }
  try {
    return await criterion.check(context);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    return missing(criterion.title, error.message, error.hint ?? "Fix it and try again.");
  }
}
