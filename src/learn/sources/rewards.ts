/** Rewards of episodes that training needs: a broken scorer stops the run, it is never a zero. */

import { dataError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { visibleShort } from "../../core/visible.ts";
import type { Episode } from "../play.ts";

export function requireReward({ task, generations, reward, end }: Episode): number {
  if (reward !== null) return reward;
  const { scorer = "environment", code = end.code, details = {} } = end.details as JsonObject;
  const text = generations.map(({ completion }) => completion).join("\n");
  throw dataError(
    `the scorer ${scorer} gave no reward (${code}) for "${visibleShort(text, 40)}" on ${task.id}: ${visibleShort(JSON.stringify(details), 120)}`,
    "Fix the scorer and start again: a broken scorer is never a zero, so nothing was learned from it.",
  );
}

export function countOf(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
