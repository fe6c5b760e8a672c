/** Loads a user's TypeScript or JavaScript file without a build step. */

import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import { LockedRoomError, messageOf, usageError } from "../core/errors.ts";
import { sourceFingerprint } from "./source.ts";

let loaded = false;

/** Whether user code runs in this process. */
export function userCodeLoaded(): boolean {
  return loaded;
}

export interface UserModule {
  readonly exports: Record<string, unknown>;
  /** Fingerprint of the file and of everything loaded with it. */
  readonly source_sha256: string;
}

/**
 * A fresh instance of the file at every call; `what` names its part in messages ("scorer",
 * "policy"). The fingerprint covers all files that the loader read.
 */
export async function importUserModule(file: string, what: string): Promise<UserModule> {
  loaded ||= existsSync(file);
  try {
    const { createJiti } = await import("jiti");
    const plain = createJiti(import.meta.url);
    const read = new Set<string>();
    const jiti = createJiti(import.meta.url, {
      fsCache: false,
      moduleCache: false,
      interopDefault: false,
      tryNative: false,
      transform: (options) => {
        if (options.filename) read.add(options.filename);
        return { code: plain.transform(options) };
      },
    });
    plain.transform({ source: "" }); // Now, so that the compiler does not count as the user's code.
    const native = createRequire(import.meta.url);
    const before = new Set(Object.keys(native.cache));
    const exports = await jiti.import<Record<string, unknown>>(path.resolve(file));
    for (const required of Object.keys(native.cache)) if (!before.has(required)) read.add(required);
    return { exports, source_sha256: sourceFingerprint(file, [...read].sort()) };
  } catch (error) {
    throw new LockedRoomError("data", `the ${what} ${file} does not load: ${messageOf(error)}`, {
      hint: "Run the file with node to see the full error.",
      cause: error,
    });
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
const CALL = new vm.Script("globalThis[Symbol.for('lockedroom.call')]()");

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
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      return false;
    throw error;
  } finally {
    delete globals[SLOT];
  }
}
