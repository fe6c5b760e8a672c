/** The embedded axes, by name. */

import type { Scorer } from "../../core/score.ts";
import { formatAxis } from "./format.ts";
import { hallucinationAxis } from "./hallucination.ts";
import { refusalAxis } from "./refusal.ts";
import { rewardHackingAxis } from "./reward-hacking.ts";
import { safetyAxis } from "./safety.ts";
import { verbosityAxis } from "./verbosity.ts";

/** Each is in the module of its name. */
export const AXES: readonly Scorer[] = [
  ...[formatAxis, refusalAxis, verbosityAxis],
  ...[hallucinationAxis, safetyAxis, rewardHackingAxis],
];

export const AXIS_NAMES: readonly string[] = AXES.map(({ name }) => name);
