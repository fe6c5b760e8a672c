/** Opens the environment that a run names, if its code is the recorded one, and finds its tasks again. */

import path from "node:path";
import type { PlayableEnvironment, Split } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { EMBEDDED } from "../environments/catalogue.ts";
import { openPlayable } from "../environments/playable.ts";
import { openRows } from "../runs/rows.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import { fileExists } from "../runs/whole-file.ts";
import { currentCode } from "../scorers/load.ts";
import { candidatesOf, lookBelow, type Places, reached, whereToLook } from "./find-input.ts";
import { impossible, Unreachable } from "./part.ts";

export interface EnvironmentPlaces extends Places {
  /** The file to use in place of the one that the run names. */
  readonly scorer?: string | undefined;
}

/**
 * Throws `Unreachable` with the reason where the episodes cannot be played again. A file is not run
 * before its code is known to be the recorded one.
 */
export async function openRecordedEnvironment(
  recorded: JsonObject,
  places: EnvironmentPlaces,
): Promise<PlayableEnvironment> {
  const { path: file, source_sha256: wanted } = recorded;
  const name = String(recorded.name);
  if (typeof wanted !== "string")
    throw new Unreachable(`The environment ${name} was an object of a program: no file holds it.`);
  if (typeof file !== "string") {
    if (!EMBEDDED.has(name))
      throw new Unreachable(`There is no embedded environment named ${name}.`);
    return sameCode(name, wanted);
  }
  if (/^\w+:\/?\/?/.test(file) && !fileExists(file))
    throw new Unreachable(`The environment ${file} is on a server, which may answer otherwise.`);
  const place = places.scorer ?? file;
  if (EMBEDDED.has(place)) return sameCode(place, wanted);
  const there = await environmentFiles(place, places);
  if (there.length === 0)
    throw new Unreachable(`The environment ${place} is not there. ${whereToLook(places)}`);
  const codeOf = (one: string) => currentCode({ name, path: one });
  const same = there.find((one) => codeOf(one) === wanted);
  if (same !== undefined) return sameCode(same, wanted);
  const [other = place] = there;
  throw otherCode(other, codeOf(other) ?? "unknown", wanted);
}

async function sameCode(given: string, wanted: string): Promise<PlayableEnvironment> {
  const opened = await openPlayable(given);
  const { source_sha256: found } = opened.environment.identity;
  if (found === wanted) return opened;
  await opened.close();
  throw otherCode(given, String(found), wanted);
}

async function environmentFiles(wanted: string, places: Places): Promise<string[]> {
  const named = candidatesOf(wanted, places).filter(fileExists);
  const { files } = await lookBelow(places);
  const below = files
    .map(({ file }) => file)
    .filter((file) => path.basename(file) === path.basename(wanted));
  return [...new Set([...named, ...below])];
}

function otherCode(file: string, found: string, recorded: string): Unreachable {
  const short = (hash: string) => `${hash.slice(0, 12)}…`;
  return new Unreachable(
    `The code of the environment ${file} is not the recorded one: its hash is ${short(found)}, that of the run ${short(recorded)}.`,
  );
}

/** The tasks of the recorded split, by id. */
export async function recordedTasks(
  environment: PlayableEnvironment,
  split: string | undefined,
): Promise<Map<string, Example>> {
  if (split === undefined)
    throw new Unreachable("The run does not say what split its tasks are of.");
  return new Map((await environment.tasks(split as Split)).map((task) => [task.id, task]));
}

/** The environment with the tasks of the run. */
export interface OpenedEnvironment {
  readonly environment: PlayableEnvironment;
  readonly tasks: ReadonlyMap<string, Example>;
}

/** A part that needs the environment; impossible, with the reason, where it cannot be reached. */
export async function withEnvironment(
  part: PartName,
  total: number,
  { environment, split }: { readonly environment?: unknown; readonly split?: string | undefined },
  places: EnvironmentPlaces,
  work: (opened: OpenedEnvironment) => Promise<VerificationPart>,
): Promise<VerificationPart> {
  const opened = await reached(async () => {
    const found = await openRecordedEnvironment(environment as JsonObject, places);
    return { environment: found, tasks: await recordedTasks(found, split) };
  });
  if ("why" in opened) return impossible(part, total, opened.why);
  try {
    const done = await reached(() => work(opened.value));
    return "why" in done ? impossible(part, total, done.why) : done.value;
  } finally {
    await opened.value.environment.close();
  }
}

interface RecordedTasks {
  readonly split: Split;
  readonly sha256: string;
  readonly rows: number;
}

/** Throws `Unreachable` where the environment has other tasks now. */
export async function requireTasks(
  { environment, tasks }: PlayableEnvironment,
  { split, sha256, rows }: RecordedTasks,
): Promise<readonly Example[]> {
  const list = (await tasks(split)).slice(0, rows);
  const read = openRows(list, `${split} tasks`, (fields) => fields);
  for await (const _ of read.batches()) {
    // They are only counted and hashed.
  }
  if (read.sha256 === sha256) return list;
  throw new Unreachable(
    `The ${split} tasks of ${environment.identity.name} are not those of the run.`,
  );
}
