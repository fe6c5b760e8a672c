/** What a level of the track consists of. */

import type { CheckContext } from "./check-context.ts";

/** The track is these; an extra level may follow it, and the track is whole without. */
export const TRACK_IDS = ["0", "0.5", "1", "2", "3", "4", "5", "6"] as const;
export const EXTRA_IDS = ["7"] as const;
export const LEVEL_IDS = [...TRACK_IDS, ...EXTRA_IDS] as const;
export type LevelId = (typeof LEVEL_IDS)[number];

/** One piece of evidence. `run` returns what it found, or throws a CheckFailure. */
export interface Check {
  readonly id: string;
  readonly title: string;
  /** What to do when the evidence is missing; commands are on lines of their own. */
  readonly next: string;
  run(context: CheckContext): Promise<string>;
}

type StageName = "Build" | "Sabotage" | "Reflect" | "Repair and lock";

/** A stage of the level, with commands to copy. */
interface Stage {
  readonly text: string;
  readonly commands: readonly string[];
}

export interface Level {
  readonly id: LevelId;
  readonly title: string;
  readonly loop: string;
  /** The wrong intuition that the level corrects, and the right one. */
  readonly wrong: string;
  readonly right: string;
  readonly stages: Partial<Record<StageName, Stage>>;
  readonly tasks: readonly string[];
  readonly budget: Budget;
  /** Files and folders (ending in /) that prove the level; all must be committed. */
  readonly evidence: readonly string[];
  /** What is committed under which name, in this order. */
  readonly commits: readonly Step[];
  readonly checklist: readonly string[];
  readonly checks: readonly Check[];
}

/** A level as its file defines it; a check that is a string is the commit of that step. */
export interface LevelDefinition extends Omit<Level, "checks"> {
  readonly checks: readonly (Check | string)[];
}

/** A commit `L<id> <name>` that adds or changes this file. */
export interface Step {
  readonly name: string;
  readonly file: string;
  /** What to do before the commit, where no check has said it. */
  readonly first?: string;
}

/** Files that a level may change besides runs/ and notes/; a path ending in / is a folder. */
export interface Budget {
  readonly change: readonly string[];
  /** Folders in which only new files may appear. */
  readonly add: readonly string[];
}

/** The commit as a command. */
export function commitCommand(id: LevelId, step: string): string {
  return `git add -A && git commit -m "L${id} ${step}"`;
}
