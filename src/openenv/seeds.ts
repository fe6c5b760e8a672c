/** Whether a server honours seeds: several known ones accept a seed and drop it. */

import { SPLITS } from "../core/environment.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { RemoteSession } from "./remote-session.ts";
import type { RemoteTasks } from "./remote-tasks.ts";
import { readTurn, withoutMetadata } from "./remote-turn.ts";
import type { SessionPool } from "./session-pool.ts";

/**
 * - `honoured`: the same seed gives the same start, another seed another;
 * - `no effect on the start`: every start is the same, so resets cannot show it;
 * - `dropped`: the same seed gave two different starts.
 */
export type Seeds = "honoured" | "no effect on the start" | "dropped";

const TRIED = [1, 2, 3, 4];

export async function seedsOf(pool: SessionPool, tasks: RemoteTasks): Promise<Seeds> {
  const task = await firstTask(tasks);
  // Two sessions where the server has two, which also finds those that have room for one only.
  const one = await pool.take();
  const other = await pool.another();
  try {
    const starts = await startsOf(one, task);
    const again = await startsOf(other ?? one, task);
    if (again.some((start, i) => start !== starts[i])) return "dropped";
    return new Set(starts).size > 1 ? "honoured" : "no effect on the start";
  } finally {
    pool.give(one);
    if (other) pool.give(other);
  }
}

/** How a reset names the task that is tried. */
async function firstTask(tasks: RemoteTasks): Promise<JsonObject> {
  for (const split of SPLITS) {
    const [task] = await tasks.of(split).catch(() => []);
    if (task && "index" in task) return { split: task.split, index: task.index };
  }
  return {};
}

async function startsOf(session: RemoteSession, task: JsonObject): Promise<string[]> {
  const starts: string[] = [];
  for (const seed of TRIED) {
    const data = await session.ask("reset", { ...task, seed });
    readTurn(data);
    starts.push(canonicalJson(withoutMetadata(data.observation as JsonObject)));
  }
  return starts;
}
