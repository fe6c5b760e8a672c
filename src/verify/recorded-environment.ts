/** Opens the environment that a run names, if its code is the recorded one, and finds its tasks again. */

import path from "node:path";
import type { PlayableEnvironment, Split } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { openPlayable } from "../environments/playable.ts";
import { openRows } from "../runs/rows.ts";
import { fileExists } from "../runs/whole-file.ts";
import { currentCode } from "../scorers/load.ts";
import { candidatesOf, lookBelow, type Places, whereToLook } from "./find-input.ts";
import { Unreachable } from "./part.ts";

/**
 * Throws `Unreachable` with the reason where it cannot be played again. A file is not run before its
 * code is known to be the recorded one.
 */
export async function openRecordedEnvironment(
  recorded: JsonObject,
  places: Places,
): Promise<PlayableEnvironment> {
  const { name, path: file, source_sha256: code } = recorded;
  if (typeof code !== "string")
    throw new Unreachable(`The environment ${name} was an object of a program: no file holds it.`);
  const given = typeof file === "string" ? await fileWith(file, code, places) : String(name);
  const opened = await openPlayable(given);
  const { source_sha256: found } = opened.environment.identity;
  if (found === code) return opened;
  await opened.close();
  throw otherCode(given);
}

async function fileWith(wanted: string, code: string, places: Places): Promise<string> {
  const { files } = await lookBelow(places);
  const below = files.map(({ file }) => file);
  const there = [
    ...candidatesOf(wanted, places).filter(fileExists),
    ...below.filter((file) => path.basename(file) === path.basename(wanted)),
  ];
  if (there.length === 0)
    throw new Unreachable(`The environment ${wanted} is not there. ${whereToLook(places)}`);
  const same = there.find((file) => currentCode({ name: "", path: file }) === code);
  if (same === undefined) throw otherCode(there[0] as string);
  return same;
}

function otherCode(which: string): Unreachable {
  return new Unreachable(
    `The code of the environment ${which}, or a file that it reads, is not the recorded one.`,
  );
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
