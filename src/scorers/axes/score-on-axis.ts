/** Scores a text on an embedded axis with the rules of the guard: labels that it cannot read give no reward. */

import {
  asRecorded,
  type CheckedScore,
  type ScoreRequest,
  type ScoreResult,
} from "../../core/score.ts";
import { AXES } from "./index.ts";

export function scoreOnAxis(name: string, { example, completion }: ScoreRequest): CheckedScore {
  const axis = AXES.find((one) => one.name === name);
  if (axis === undefined) throw new Error(`there is no embedded axis ${name}`);
  return asRecorded(axis.score(example, completion) as ScoreResult);
}
