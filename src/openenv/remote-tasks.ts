/** The tasks of a server by our splits: from its task routes, or seeds where it has none. */

import { z } from "zod";
import { SPLITS, type Split } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { OpenEnvClient } from "./client.ts";
import { RemoteFailure } from "./remote-failure.ts";

/** How a reset names the task. */
export type RemoteTask = Example<{ readonly split: string; readonly index: number }>;
export type SeedTask = Example<{ readonly seed: number }>;

export interface RemoteTasks {
  /** Where they come from, in words. */
  readonly says: string;
  of(split: Split): Promise<readonly (RemoteTask | SeedTask)[]>;
}

const NAMES = z.array(z.string()).min(1);
const SERVER_SPLITS = z.array(z.looseObject({ name: z.string(), type: z.string().default("") }));

export async function remoteTasks(
  client: OpenEnvClient,
  name: string,
  most: number | undefined,
): Promise<RemoteTasks> {
  const names = NAMES.safeParse(await client.get("/list_environments"));
  const route = names.success ? `/${encodeURIComponent(names.data[0] as string)}` : undefined;
  const listed =
    route === undefined ? undefined : SERVER_SPLITS.safeParse(await client.get(`${route}/splits`));
  if (!route || !listed?.success || listed.data.length === 0) {
    return seedTasks(name, most ?? SEEDS);
  }
  const splits = matched(listed.data);
  const known = listed.data.map((split) => split.name).join(", ");
  return {
    says: `from the server's splits: ${SPLITS.map((split) => `${split} is ${splits[split] ?? "missing"}`).join(", ")}`,
    of: async (split) => {
      const own = splits[split];
      if (own === undefined) {
        throw dataError(
          `the server has no split for ${split}: it has ${known}`,
          "Give another --split.",
        );
      }
      const specs = await specsOf(client, route, own, most ?? MOST_TASKS);
      return withIds(specs.map((spec, index) => taskOf(spec, own, index)));
    },
  };
}

const MOST_TASKS = 10_000;

/** Where a server has no tasks: each split has seeds of its own. */
const SEEDS = 200;
const FIRST_SEED: Readonly<Record<Split, number>> = {
  train: 0,
  dev: 1_000_000,
  holdout: 2_000_000,
};

function seedTasks(name: string, count: number): RemoteTasks {
  return {
    says: `the server lists none, so a task is a seed; ${count} in each split`,
    of: async (split) =>
      Array.from({ length: count }, (_, i) => {
        const seed = FIRST_SEED[split] + i;
        return { id: `seed-${split}-${i}`, prompt: `${name}, seed ${seed}`, seed };
      }),
  };
}

const TYPES: Readonly<Record<Split, string>> = {
  train: "train",
  dev: "validation",
  holdout: "test",
};

/** By our name first, then by the split's type; no split of the server is two of ours. */
function matched(listed: z.output<typeof SERVER_SPLITS>): Partial<Record<Split, string>> {
  const found: Partial<Record<Split, string>> = {};
  const names = new Set<string>(listed.map(({ name }) => name));
  for (const split of SPLITS) if (names.delete(split)) found[split] = split;
  for (const split of SPLITS) {
    const own = listed.find(
      ({ name, type }) => names.has(name) && (name === TYPES[split] || type === TYPES[split]),
    );
    if (found[split] !== undefined || !own) continue;
    names.delete(own.name);
    found[split] = own.name;
  }
  return found;
}

const COUNT = z.object({ num_tasks: z.int().min(0) });
const TASKS = z.object({ tasks: z.array(z.json()) });
const AT_ONCE = 1000;

async function specsOf(
  client: OpenEnvClient,
  route: string,
  split: string,
  most: number,
): Promise<readonly Json[]> {
  const counted = COUNT.safeParse(await client.post(`${route}/num_tasks`, { split }));
  const count = counted.success ? Math.min(counted.data.num_tasks, most) : 0;
  const specs: Json[] = [];
  while (specs.length < count) {
    const stop = Math.min(specs.length + AT_ONCE, count);
    const range = { split, start: specs.length, stop };
    const part = TASKS.safeParse(await client.post(`${route}/task_range`, range));
    if (!part.success || part.data.tasks.length === 0) break;
    specs.push(...part.data.tasks);
  }
  if (specs.length > 0) return specs.slice(0, count);
  const whole = TASKS.safeParse(await client.post(`${route}/tasks`, { split }));
  if (!whole.success) throw new RemoteFailure(`does not list the tasks of ${split}`);
  return whole.data.tasks.slice(0, most);
}

function taskOf(spec: Json, split: string, index: number): RemoteTask {
  const { id, prompt } = (isObject(spec) ? spec : {}) as JsonObject;
  const named = typeof id === "string" || typeof id === "number";
  return {
    id: named ? String(id) : `${split}-${index}`,
    prompt: typeof prompt === "string" ? prompt : canonicalJson(spec),
    ...{ split, index },
  };
}

/** Ids that a server gave twice are replaced by the place in the split, all of them. */
function withIds(tasks: readonly RemoteTask[]): readonly RemoteTask[] {
  if (new Set(tasks.map(({ id }) => id)).size === tasks.length) return tasks;
  return tasks.map((task) => ({ ...task, id: `${task.split}-${task.index}` }));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
