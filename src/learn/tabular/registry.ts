/** The microscopes by the name of the rule that pays. */

import { fileURLToPath } from "node:url";
import { sourceFingerprint } from "../../extensions/source.ts";
import { BANDIT_MODULE } from "./bandit.ts";
import { GOODHART_MODULE } from "./goodhart.ts";
import { KL_MODULE } from "./kl.ts";
import { TWO_STEP_MODULE } from "./two-step.ts";

const MODULES = new Map([
  ["four_armed_bandit", BANDIT_MODULE],
  ["two_step_mdp", TWO_STEP_MODULE],
  ["leashed_replies", KL_MODULE],
  ["naive_integer_anywhere", GOODHART_MODULE],
]);

/** The current source hash of a microscope's rule; undefined when there is none of that name. */
export function microscopeSource(name: string): string | undefined {
  const module = MODULES.get(name);
  return module && sourceFingerprint(fileURLToPath(module));
}
