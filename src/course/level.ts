/** What a level of the track consists of. */

import type { Room } from "./room.ts";

export const LEVEL_IDS = ["0", "0.5", "1", "2", "3", "4", "5", "6"] as const;
export type LevelId = (typeof LEVEL_IDS)[number];

/** One piece of evidence. `run` returns what was seen, or throws a Gap. */
export interface Check {
  readonly id: string;
  readonly title: string;
  /** What to do when the evidence is not there; commands stand on lines of their own. */
  readonly next: string;
  run(room: Room): Promise<string>;
}

/** A stage of the level, with commands to copy. */
export interface Stage {
  readonly name: "Build" | "Sabotage" | "Reflect" | "Repair and lock";
  readonly text: string;
  readonly commands: readonly string[];
}

export interface Level {
  readonly id: LevelId;
  readonly title: string;
  readonly loop: string;
  /** The intuition that the level breaks, and what it puts in its place. */
  readonly wrong: string;
  readonly right: string;
  readonly stages: readonly Stage[];
  readonly tasks: readonly string[];
  readonly budget: Budget;
  /** Files and folders (with a / at their end) that prove the level; all must be in the history. */
  readonly evidence: readonly string[];
  /** What is committed under which name, in this order. */
  readonly commits: readonly Step[];
  readonly checklist: readonly string[];
  readonly checks: readonly Check[];
}

/** A commit `L<id> <name>` that adds or changes this file. */
export interface Step {
  readonly name: string;
  readonly file: string;
  /** What to do before the commit, where a check has not said it. */
  readonly first?: string;
}

/** Files that a level may change besides runs/ and notes/; a path with a / at its end is a folder. */
export interface Budget {
  readonly change: readonly string[];
  /** Folders in which only new files may appear. */
  readonly add: readonly string[];
}
