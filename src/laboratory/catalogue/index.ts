/** Every sabotage, by family. */

import { usageError } from "../../core/errors.ts";
import { FAMILIES, type Sabotage } from "../sabotage.ts";
import { ALIASES } from "./aliases.ts";
import { AXES } from "./axes.ts";
import { DATA } from "./data.ts";
import { FORGERIES } from "./forgeries.ts";
import { HARDENED } from "./hardened.ts";
import { LEAKS } from "./leaks.ts";
import { PAUSED } from "./paused.ts";
import { PROMPT } from "./prompt.ts";
import { RECOMPUTED } from "./recomputed.ts";
import { SAMPLING } from "./sampling.ts";
import { SCORER } from "./scorer.ts";
import { SEALS } from "./seals.ts";
import { SEEDS } from "./seeds.ts";
import { SELECTION } from "./selection.ts";
import { STATISTICS } from "./statistics.ts";
import { TRAINING } from "./training.ts";

const ALL: readonly Sabotage[] = [
  ...[DATA, PROMPT, SCORER, SAMPLING, SELECTION, SEEDS, LEAKS, FORGERIES, STATISTICS],
  ...[TRAINING, RECOMPUTED, PAUSED, SEALS, HARDENED, AXES, ALIASES],
].flat();

export const SABOTAGES: readonly Sabotage[] = FAMILIES.flatMap((family) =>
  ALL.filter((sabotage) => sabotage.family === family),
);

/** Sabotages or families by name; all without any. */
export function sabotagesNamed(names: readonly string[]): readonly Sabotage[] {
  if (names.length === 0) return SABOTAGES;
  const unknown = names.find(
    (name) => !SABOTAGES.some((one) => one.name === name || one.family === name),
  );
  if (unknown !== undefined) {
    throw usageError(
      `there is no sabotage or family "${unknown}"`,
      "`lockedroom sabotage list` names them all.",
    );
  }
  return SABOTAGES.filter(({ name, family }) => names.includes(name) || names.includes(family));
}
