/** Opens any environment to be played: by name, from a file, or on a server by `openenv:URL`. */

import { z } from "zod";
import type { PlayableEnvironment } from "../core/environment.ts";
import { dataError, LockedRoomError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import { isName } from "../core/score.ts";
import { visible } from "../core/visible.ts";
import { openPlayable as openOwn } from "../environments/playable.ts";
import { isRemote, type RemoteAddress, readAddress } from "./address.ts";
import { type Metadata, OpenEnvClient, type Schemas } from "./client.ts";
import { actionReader } from "./remote-action.ts";
import { RemoteEnvironment, SOLVED } from "./remote-environment.ts";
import { RemoteFailure } from "./remote-failure.ts";
import { RemoteSession } from "./remote-session.ts";
import { type RemoteTasks, remoteTasks } from "./remote-tasks.ts";
import { type Seeds, seedsOf } from "./seeds.ts";
import { SessionPool } from "./session-pool.ts";

export type OnWarning = (sentence: string) => void;

/** An environment on a server says more of itself. */
export interface RemotePlayable extends PlayableEnvironment {
  readonly remote: { readonly tasks: string; readonly actions: string; readonly seeds: Seeds };
}

export async function openPlayable(
  given: string,
  onWarning: OnWarning = () => {},
): Promise<PlayableEnvironment> {
  return isRemote(given) ? openRemote(given, onWarning) : openOwn(given);
}

export async function openRemote(given: string, onWarning: OnWarning): Promise<RemotePlayable> {
  const address = readAddress(given);
  if (address.warning) onWarning(address.warning);
  try {
    return await opened(given, address, onWarning);
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    throw dataError(
      `${address.url} ${error.message}`,
      "Check the address and the server: `openenv validate --url` tests one from outside.",
    );
  }
}

/** What our own server adds to `/metadata`. */
const ABOUT = z.object({
  codes: z.array(z.string()),
  solved: z.array(z.string()),
  rewards: z.tuple([z.number(), z.number()]).nullable(),
  max_turns: z.int().min(1),
  memoryless: z.boolean(),
});

async function opened(
  given: string,
  address: RemoteAddress,
  onWarning: OnWarning,
): Promise<RemotePlayable> {
  const client = new OpenEnvClient(address);
  const [metadata, schemas] = await Promise.all([client.metadata(), client.schemas()]);
  const about = ABOUT.safeParse(metadata.lockedroom).data;
  const tools = await client.tools();
  const tasks = await remoteTasks(client, metadata.name, address.settings.tasks);
  const settings = about
    ? { ...address.settings, turns: Math.min(address.settings.turns, about.max_turns) }
    : address.settings;
  const actions = actionReader(schemas.action, tools);
  const pool = new SessionPool({
    open: () => RemoteSession.open(address),
    ...{ most: settings.sessions, waitMs: settings.seconds * 1000 },
  });
  const seeds = await probed(pool, tasks);
  for (const sentence of warnings(address, seeds, settings.solved ?? about?.solved)) {
    onWarning(sentence);
  }
  const identity = identityOf(given, { ...address, settings }, { metadata, schemas, seeds });
  return {
    environment: new RemoteEnvironment({
      ...{ url: address.url, identity, settings, actions, pool },
      memoryless: about?.memoryless ?? false,
    }),
    tools,
    codes: about?.codes ?? [],
    solved: solvedCodes(settings.solved, about?.solved),
    rewards: about?.rewards ?? null,
    tasks: (split) => sentenced(address, tasks.of(split)),
    close: async () => pool.close(),
    remote: { tasks: tasks.says, actions: actions.says, seeds },
  };
}

/** A pool that could not be tried is not left open. */
async function probed(pool: SessionPool, tasks: RemoteTasks): Promise<Seeds> {
  try {
    return await seedsOf(pool, tasks);
  } catch (error) {
    pool.close();
    throw error;
  }
}

async function sentenced<T>({ url }: RemoteAddress, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof LockedRoomError || !(error instanceof RemoteFailure)) throw error;
    throw dataError(`${url} ${error.message}`, "Check the server and try again.");
  }
}

function solvedCodes(
  given: RemoteAddress["settings"]["solved"],
  told: readonly string[] | undefined,
): readonly string[] {
  if (typeof given === "number") return [SOLVED];
  return given ?? told ?? [];
}

function* warnings({ url }: RemoteAddress, seeds: Seeds, solved: unknown): Generator<string> {
  if (seeds === "dropped") {
    yield `${url} does not honour seeds: two resets with the same seed began differently. Episodes cannot be played again, and the manifest says so.`;
  }
  if (solved === undefined) {
    yield `${url} does not say which outcomes are solved, so no episode counts as passed. Add #solved=REWARD (the least reward of a solved episode) or #solved=CODE to the address.`;
  }
}

interface Told {
  readonly metadata: Metadata;
  readonly schemas: Schemas;
  readonly seeds: Seeds;
}

function identityOf(
  given: string,
  { url, settings }: RemoteAddress,
  { metadata, schemas, seeds }: Told,
): JsonObject {
  const { turns, invalid, solved = null } = settings;
  const { name, version, description } = metadata;
  const shown = visible(name).slice(0, 100);
  return {
    name: isName(shown) ? shown : "openenv",
    version: version && isName(version) ? version : "unknown",
    spec: description,
    /** Of what the server tells of itself, as its code cannot be seen, and of our rules for it. */
    source_sha256: fingerprint({ metadata, schemas, rules: { turns, invalid, solved } }),
    path: given,
    remote: { url, seeds, reproducible: seeds !== "dropped" },
  };
}
