import { withGitChecks } from "../git-checks.ts";
import type { Level, LevelId } from "../level.ts";
import { LEVEL_0_5 } from "./level-0.5.ts";
import { LEVEL_0 } from "./level-0.ts";
import { LEVEL_1 } from "./level-1.ts";
import { LEVEL_2 } from "./level-2.ts";
import { LEVEL_3 } from "./level-3.ts";
import { LEVEL_4 } from "./level-4.ts";
import { LEVEL_5 } from "./level-5.ts";
import { LEVEL_6 } from "./level-6.ts";

/** The levels of the track, in order. */
export const LEVELS: readonly Level[] = [
  LEVEL_0,
  LEVEL_0_5,
  LEVEL_1,
  LEVEL_2,
  LEVEL_3,
  LEVEL_4,
  LEVEL_5,
  LEVEL_6,
].map(withGitChecks);

export function levelOf(id: LevelId): Level {
  return LEVELS.find((level) => level.id === id) as Level;
}
