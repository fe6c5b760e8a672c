/** An exit criterion, and what a look at the workspace can say of it. */

import { LockedRoomError } from "../../core/index.ts";
import type { Shelf } from "../shelf.ts";
import type { WorkspaceConfig } from "../workspace.ts";
import type { Trainings } from "./trainings.ts";

/** Where criteria are looked at. */
export interface Place {
  readonly dir: string;
  readonly config: WorkspaceConfig;
  readonly shelf: Shelf;
  readonly trainings: Trainings;
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
  /** The one thing to do now, in words. */
  readonly next: string;
  /** The command to do it with, where there is one. */
  readonly command?: string | undefined;
}

/** The commands it needs, of which this version lacks some or cannot judge the work. */
interface NotYet {
  readonly status: "no_tool_yet" | "not_judged_yet";
  readonly commands: readonly string[];
}

export type Finding = Met | Missing | NotYet;

/** Judged by its check; or one that nobody can meet yet, for want of these commands. */
export type Criterion = { readonly id: string; readonly title: string } & (
  | { readonly needs: readonly string[] }
  | { check(place: Place): Promise<Met | Missing> }
);

export const met = (...evidence: readonly Evidence[]): Met => ({ status: "met", evidence });

export const missing = (
  expected: string,
  found: string,
  next: string,
  command?: string,
): Missing => ({
  status: "missing",
  expected,
  found,
  next,
  ...(command === undefined ? {} : { command }),
});

/** Damaged evidence is missing evidence, with the reason; it never ends the whole plan. */
export async function look(criterion: Criterion, place: Place): Promise<Finding> {
  if ("needs" in criterion) {
    const lacking = criterion.needs.filter((name) => !place.commands.has(name));
    return lacking.length > 0
      ? { status: "no_tool_yet", commands: lacking }
      : { status: "not_judged_yet", commands: criterion.needs };
  }
  try {
    return await criterion.check(place);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    return missing(criterion.title, error.message, error.hint ?? "Mend it and look again.");
  }
}
