/** Phase 3: more than one thing is wanted, and the price of each in the other is drawn. */

import { type Criterion, met, missing } from "./criterion.ts";
import { recordsOf, summaryOf } from "./learning.ts";
import type { KnownRun } from "./shelf.ts";

const FEWEST_POINTS = 3;

const objectives: Criterion = {
  id: "several_objectives",
  title: "A run with several objectives, or with a constraint",
  needs: ["train"],
  async check({ shelf }) {
    const found = await shelf.firstSound((known) => wantedOf(known) !== undefined);
    if (found) return met({ path: summaryOf(found), figure: wantedOf(found) ?? "" });
    return missing(
      "a finished, whole run of train whose learning names two objectives or more, or a constraint",
      "no such run in runs/",
      "Train one; ./lockedroom train --help says how.",
    );
  },
};

/** What a run was trained for besides one reward. */
function wantedOf({ run: { manifest } }: KnownRun): string | undefined {
  const { learning, command } = manifest;
  if (command !== "train" || learning === null) return undefined;
  const { objectives: several, constraint } = learning;
  if (Array.isArray(several) && several.length >= 2) return `${several.length} objectives`;
  return constraint == null ? undefined : "a constraint";
}

const curve: Criterion = {
  id: "tradeoff_curve",
  title: "The trade-off as a curve over several runs",
  needs: ["train", "sweep"],
  async check(place) {
    const sweeps = recordsOf(place, "lockedroom.sweep");
    for (const { path, record } of sweeps) {
      const names = Array.isArray(record.runs) ? [...new Set(record.runs.map(String))] : [];
      const sound: string[] = [];
      for (const name of names) {
        const known = place.shelf.runAt(name);
        if (known && (await place.shelf.problemOf(known)) === undefined) sound.push(name);
      }
      if (sound.length >= FEWEST_POINTS) return met({ path, figure: `${sound.length} points` });
    }
    return missing(
      `the record of a sweep in runs/ that names ${FEWEST_POINTS} whole runs or more`,
      `${sweeps.length} such records`,
      "Sweep the weight of one objective; ./lockedroom sweep --help says how.",
    );
  },
};

export const PHASE_3: readonly Criterion[] = [objectives, curve];
