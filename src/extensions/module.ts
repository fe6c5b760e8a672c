/** Loads a user's TypeScript or JavaScript file without a build step. */

import { existsSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { dataError, LockedRoomError, messageOf, usageError } from "../core/errors.ts";
import { LOAD_LIMIT_MS, LoadTimeout } from "./load-limit.ts";
import { importInstance } from "./loader.ts";
import { sourceFingerprint } from "./source.ts";
import { type Act, loadingScope, newSight, type Scope, type Sight } from "./watch.ts";

let loaded = false;

/** Whether user code runs in this process. */
export function userCodeLoaded(): boolean {
  return loaded;
}

export interface UserModule {
  readonly exports: Record<string, unknown>;
  /** Fingerprint of the file and of everything that it loaded and read. */
  readonly source_sha256: string;
  /** What it loaded and read, relative to its folder. */
  readonly sight: Sight;
  /** Whether it used the network while it loaded. */
  readonly network: boolean;
}

export interface LoadOptions {
  /** How long loading may take, in milliseconds. */
  readonly limitMs?: number | undefined;
}

/** Two fresh instances of a file: one to use, and one to see whether it answers the same. */
export async function importTwice(
  file: string,
  what: string,
  { limitMs = LOAD_LIMIT_MS }: LoadOptions = {},
): Promise<[first: UserModule, again: UserModule]> {
  const first = await importUserModule(file, what, { limitMs });
  const again = await importUserModule(file, what, { limitMs });
  if (first.source_sha256 !== again.source_sha256)
    throw dataError(
      `the ${what} ${file} read other files, or other bytes, when it was loaded again`,
      "What it loads and reads is part of its identity, so it must not change.",
    );
  return [first, again];
}

/**
 * A fresh instance of the file at every call; `what` names its part in messages ("scorer",
 * "policy"). The fingerprint covers all files that were read while it loaded.
 */
export async function importUserModule(
  file: string,
  what: string,
  { limitMs = LOAD_LIMIT_MS }: LoadOptions = {},
): Promise<UserModule> {
  loaded ||= existsSync(file);
  const scope = loadingScope(newSight(folderOf(file)), what === "scorer");
  try {
    const exports = await importInstance({ file, what, scope, limitMs });
    if (scope.refused !== undefined) throw refusedWhileLoading(file, scope);
    const { sight, network = false } = scope;
    return { exports, source_sha256: sourceFingerprint(file, sight), sight, network };
  } catch (error) {
    // What the watch refused comes first: the error that the file threw is then our own.
    if (scope.refused !== undefined) throw refusedWhileLoading(file, scope);
    if (error instanceof LoadTimeout) throw error;
    throw new LockedRoomError("data", `the ${what} ${file} does not load: ${messageOf(error)}`, {
      hint: "Run the file with node to see the full error.",
      cause: error,
    });
  }
}

/** Names of what a module reads are relative to this folder. */
export function folderOf(file: string): string {
  return path.dirname(existsSync(file) ? realpathSync(file) : path.resolve(file));
}

const INTO_SCORE = "Move it into `score` and declare `deterministic: false`.";
const INSTEAD: Readonly<Record<Act | "read", string>> = {
  network: INTO_SCORE,
  program: INTO_SCORE,
  thread: INTO_SCORE,
  write: "Write nothing while it loads.",
  read: "Read only regular files that do not change.",
};

function refusedWhileLoading(file: string, { refused, refusedAct }: Scope): Error {
  return dataError(`${file}: ${refused}`, INSTEAD[refusedAct ?? "read"]);
}

/** An error that user code threw outside of a call. */
export function strayFailure(error: unknown): LockedRoomError {
  return new LockedRoomError(
    "data",
    `user code (a scorer or policy) threw outside of a call: ${messageOf(error)}`,
    {
      hint: "It must leave no timers and no promises behind once it has answered.",
      cause: error,
    },
  );
}

/** Refuses what is not a file, with `hint` as the next step. */
export function requireFile(file: string, what: string, hint: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile()) return;
  throw usageError(
    existsSync(file)
      ? `the ${what} ${file} is a folder, not a file`
      : `there is no ${what} "${file}"`,
    hint,
  );
}
