/** Loads a user's TypeScript or JavaScript file without a build step. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import { dataError, LockedRoomError, messageOf, usageError } from "../core/errors.ts";
import { keepBuiltIns } from "./builtins.ts";
import { LOAD_LIMIT_MS, LoadTimeout, withinLoadLimit } from "./load-limit.ts";
import { sourceFingerprint } from "./source.ts";
import {
  asHarness,
  inScope,
  loadingScope,
  newSight,
  type Scope,
  type Sight,
  stillWatching,
} from "./watch.ts";
import { watchUserCode } from "./watched-acts.ts";

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
  try {
    const root = path.dirname(existsSync(file) ? realpathSync(file) : path.resolve(file));
    const scope = loadingScope(newSight(root), what === "scorer");
    watchUserCode();
    const exports = await instanceOf(file, what, scope, limitMs);
    if (scope.refused !== undefined) throw dataError(scope.refused);
    const { sight, network = false } = scope;
    return { exports, source_sha256: sourceFingerprint(file, sight), sight, network };
  } catch (error) {
    if (error instanceof LoadTimeout) throw error;
    throw new LockedRoomError("data", `the ${what} ${file} does not load: ${messageOf(error)}`, {
      hint: "Run the file with node to see the full error.",
      cause: error,
    });
  }
}

async function instanceOf(
  file: string,
  what: string,
  scope: Scope,
  limitMs: number,
): Promise<Record<string, unknown>> {
  const { createJiti } = await import("jiti");
  // Without its cache in the temporary folder: whoever writes there would change the code that runs.
  const plain = createJiti(import.meta.url, { fsCache: false });
  plain.transform({ source: "" }); // Now, so that the compiler does not count as the user's code.
  // Every option that could come from the environment is given: it would not show in the identity.
  const jiti = createJiti(import.meta.url, {
    ...{ fsCache: false, moduleCache: false, interopDefault: false, tryNative: false },
    ...{ alias: {}, nativeModules: [], transformModules: [], tsconfigPaths: false, jsx: false },
    transform: (options) => ({ code: asHarness(() => plain.transform(options)) }),
  });
  const native = createRequire(import.meta.url);
  const before = new Set(Object.keys(native.cache));
  const changedBuiltIn = keepBuiltIns();
  const late = new LoadTimeout(what, file, limitMs);
  try {
    const exports = await withinLoadLimit(late, limitMs, () => {
      let loading: Promise<Record<string, unknown>> | undefined;
      const inTime = inScope(scope, () =>
        withinLimit(() => {
          loading = jiti.import<Record<string, unknown>>(path.resolve(file));
        }, limitMs),
      );
      if (!inTime || loading === undefined) throw late;
      return loading;
    });
    const changed = changedBuiltIn();
    if (changed !== undefined)
      throw dataError(`it changes ${changed}, which the harness uses as well`);
    return exports;
  } finally {
    scope.phase = "score";
    // The next instance reads its files again. Compiled addons cannot be loaded twice.
    for (const name of Object.keys(native.cache))
      if (!before.has(name) && !name.endsWith(".node")) delete native.cache[name];
  }
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

const SLOT = Symbol.for("lockedroom.call");
/** The slot is emptied first, so that the call cannot find itself there and run again inside itself. */
const CALL = new vm.Script(`{
  const call = globalThis[Symbol.for("lockedroom.call")];
  delete globalThis[Symbol.for("lockedroom.call")];
  call();
}`);

/**
 * Runs a call and returns whether it finished in time; its errors are rethrown. V8's termination
 * interrupts any JavaScript, loops and backtracking regular expressions included.
 */
export function withinLimit(call: () => void, limitMs: number): boolean {
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[SLOT] = call;
  try {
    CALL.runInThisContext({ timeout: limitMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw error;
    stillWatching();
    return false;
  } finally {
    delete globals[SLOT];
  }
}
