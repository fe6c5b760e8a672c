/** The formats by name; a new one is a file and an entry here. */

import { usageError } from "../core/errors.ts";
import { art } from "./art.ts";
import { atif } from "./atif.ts";
import type { TrajectoryFormat } from "./format.ts";
import { openenv } from "./openenv.ts";
import { plain } from "./plain.ts";
import { trl, trlMessages } from "./trl.ts";
import { verifiers } from "./verifiers.ts";

export const FORMATS: readonly TrajectoryFormat[] = [
  ...[art, verifiers, openenv, atif, trl, trlMessages, plain],
];

export function formatNamed(name: string): TrajectoryFormat {
  const found = FORMATS.find((format) => format.name === name);
  if (found) return found;
  const names = FORMATS.map((format) => format.name).join(", ");
  throw usageError(`there is no trajectory format ${name}`, `There are ${names}.`);
}
