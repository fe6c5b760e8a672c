/**
 * What `env check` can find out about an environment on a server, by the same ids: it has no players,
 * and its state is not to be seen.
 */

import { ENVIRONMENT_ERROR, SPLITS, type Split, type Turn } from "../core/environment.ts";
import { LockedRoomError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { visibleShort } from "../core/visible.ts";
import { CANARIES, type CheckOptions, type Finding } from "../environments/check.ts";
import type { RemotePlayable } from "./open-playable.ts";

interface Played {
  readonly task: Example;
  readonly answer: string;
  readonly turns: readonly Turn<unknown>[];
}

export async function checkRemote(
  opened: RemotePlayable,
  { tasks: count, seed }: CheckOptions,
): Promise<Finding[]> {
  const { missing, tasks } = await tasksOf(opened);
  const tried = Object.values(tasks).flatMap((list) => list.slice(0, count));
  const episodes: Played[] = [];
  for (const [i, answer] of CANARIES.entries()) {
    const task = tried[i % tried.length];
    if (task) episodes.push(await played(opened, task, seed, answer));
  }
  return [
    disjoint(tasks, missing),
    seedControl(opened),
    await determinism(opened, episodes, seed),
    notKnown("semantic.oracle_max", "a server has no gold player"),
    notKnown("semantic.floor_gap", "a server has no gold player"),
    canaries(opened, episodes),
    notKnown("semantic.no_solution_leakage", "a server has no gold player"),
    notKnown("semantic.verifier_determinism", "a server does not show its state"),
    wellFormed(episodes),
  ];
}

/** As long as the same answer is taken; a game that goes on is left after some turns. */
const MOST_TURNS = 8;

async function played(
  { environment }: RemotePlayable,
  task: Example,
  seed: number,
  answer: string,
): Promise<Played> {
  const turns = [await environment.reset(task, rngAt(seed, task.id))];
  while (turns.length <= MOST_TURNS) {
    const { state, end } = turns.at(-1) as Turn<unknown>;
    if (end) break;
    turns.push(...(await environment.step([{ state, action: { text: answer } }])));
  }
  environment.leave?.(turns.at(-1)?.state);
  return { task, answer, turns };
}

async function tasksOf(opened: RemotePlayable) {
  const tasks: Partial<Record<Split, readonly Example[]>> = {};
  const missing: string[] = [];
  for (const split of SPLITS) {
    try {
      tasks[split] = await opened.tasks(split);
    } catch (error) {
      if (!(error instanceof LockedRoomError)) throw error;
      missing.push(split);
    }
  }
  return { tasks, missing };
}

function disjoint(
  tasks: Partial<Record<Split, readonly Example[]>>,
  missing: readonly string[],
): Finding {
  const id = "tasks.disjoint";
  const owners = new Map<string, string>();
  for (const [split, list] of Object.entries(tasks)) {
    for (const task of list) {
      const owner = owners.get(task.id);
      if (owner) return wrong(id, `${visibleShort(task.id, 60)} is in ${owner} and in ${split}`);
      owners.set(task.id, split);
    }
  }
  if (missing.length > 0) return wrong(id, `no tasks for ${missing.join(" and ")}`);
  return right(id, `${owners.size} tasks, each in one split`);
}

function seedControl({ remote: { seeds } }: RemotePlayable): Finding {
  const id = "runtime.seed_control";
  if (seeds === "honoured") return right(id, "the same seed gives the same start, another another");
  if (seeds === "dropped") return wrong(id, "the same seed gives another start: seeds are dropped");
  return notKnown(id, "every start is the same, so resets do not show whether seeds are honoured");
}

async function determinism(
  opened: RemotePlayable,
  episodes: readonly Played[],
  seed: number,
): Promise<Finding> {
  const id = "runtime.episode_determinism";
  for (const { task, answer, turns } of episodes) {
    const again = await played(opened, task, seed, answer);
    if (textOf(again.turns) !== textOf(turns)) {
      return wrong(id, `${task.id}: the same actions give another episode`);
    }
  }
  return right(id, `${episodes.length} episodes played again, equal in every byte`);
}

function canaries({ solved }: RemotePlayable, episodes: readonly Played[]): Finding {
  const id = "semantic.canary_floor";
  if (solved.length === 0) {
    return notKnown(id, "which outcomes are solved is not known: add #solved= to the address");
  }
  for (const { task, answer, turns } of episodes) {
    const code = turns.at(-1)?.end?.code;
    if (code !== undefined && solved.includes(code)) {
      return wrong(id, `the answer "${visibleShort(answer, 40)}" solves ${task.id}`);
    }
  }
  return right(id, `none of ${episodes.length} empty or fixed answers solves a task`);
}

function wellFormed(episodes: readonly Played[]): Finding {
  const id = "reward.well_formed";
  for (const { task, turns } of episodes) {
    const end = turns.at(-1)?.end;
    if (end?.code === ENVIRONMENT_ERROR) {
      return wrong(id, `${task.id}: ${visibleShort(String(end.details.message), 200)}`);
    }
  }
  return right(id, "every reward is a number or none, every answer was read");
}

/** Without the states, which are ours. */
function textOf(turns: readonly Turn<unknown>[]): string {
  return canonicalJson(turns.map(({ state: _, ...turn }) => turn));
}

const right = (id: string, says: string): Finding => ({ id, passed: true, says });
const wrong = (id: string, says: string): Finding => ({ id, passed: false, says });
const notKnown = (id: string, says: string): Finding => ({ id, passed: null, says });
