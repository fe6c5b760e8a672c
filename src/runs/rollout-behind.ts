/** The rollout that a scored run took its completions from, for what it cost and how long it took. */

import path from "node:path";
import { LockedRoomError } from "../core/errors.ts";
import { answersName } from "./finished-rollout.ts";
import { openRollout, type Rollout } from "./read-rollout.ts";
import type { Manifest } from "./schemas.ts";

/** A sentence where there is none, or not the one that it was. */
export async function rolloutBehind({ inputs }: Manifest): Promise<Rollout | string> {
  const input = inputs.find(({ role }) => role === "completions" || role === "samples");
  if (!input || input.path === null) return "the completions do not come from a rollout";
  try {
    const rollout = await openRollout(path.dirname(input.path));
    const { [answersName(rollout.manifest.n)]: sha256 } = rollout.summary.files;
    if (sha256 === input.sha256) return rollout;
    return "the rollout is not the one that was scored";
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    return "the completions do not lie in the folder of their rollout";
  }
}
