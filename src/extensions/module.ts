/** Loads a user's TypeScript or JavaScript file as it is, without a build. */

import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { LockedRoomError, messageOf, usageError } from "../core/errors.ts";

let loaded = false;

/** Whether any code that is not ours runs in this process. */
export function userCodeLoaded(): boolean {
  return loaded;
}

/** The file's exports; `what` names its part in messages ("scorer", "policy"). */
export async function importUserModule(
  file: string,
  what: string,
): Promise<Record<string, unknown>> {
  loaded = true;
  try {
    const { createJiti } = await import("jiti");
    const jiti = createJiti(import.meta.url, {
      fsCache: false,
      moduleCache: false,
      interopDefault: false,
    });
    return await jiti.import<Record<string, unknown>>(path.resolve(file));
  } catch (error) {
    throw new LockedRoomError("data", `the ${what} ${file} does not load: ${messageOf(error)}`, {
      hint: "Run the file by itself to see the whole error.",
      cause: error,
    });
  }
}

/** What a user's code threw when nobody had called it. */
export function strayFailure(error: unknown): LockedRoomError {
  return new LockedRoomError(
    "data",
    `a scorer or policy failed outside of any call: ${messageOf(error)}`,
    {
      hint: "It must answer at once, and leave no timers and no promises behind.",
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
