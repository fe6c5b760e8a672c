/** The rollout that a scored run took its completions from, for what it cost and how long it took. */

import path from "node:path";
import { LockedRoomError } from "../core/errors.ts";
import { answersName } from "./finished-rollout.ts";
import { openRollout, type Rollout } from "./read-rollout.ts";
import type { Run } from "./reader.ts";
import { recordedPlaces } from "./recorded-places.ts";

/** A sentence where there is none, or not the one that it was. */
export async function rolloutBehind({
  dir,
  manifest: { inputs },
}: Pick<Run, "dir" | "manifest">): Promise<Rollout | string> {
  const input = inputs.find(({ role }) => role !== "dataset");
  if (!input || input.path === null) return "the completions do not come from a rollout";
  let isOther = false;
  for (const file of recordedPlaces(dir, input.path)) {
    const rollout = await rolloutIn(path.dirname(file));
    if (rollout === undefined) continue;
    const { [answersName(rollout.manifest)]: sha256 } = rollout.summary.files;
    if (sha256 === input.sha256) return rollout;
    isOther = true;
  }
  return isOther
    ? "the rollout is not the one that was scored"
    : "the completions do not lie in the folder of their rollout";
}

async function rolloutIn(dir: string): Promise<Rollout | undefined> {
  try {
    return await openRollout(dir);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    return undefined;
  }
}
