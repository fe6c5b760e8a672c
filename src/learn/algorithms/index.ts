/** Every learning method, by name. */

import { usageError } from "../../core/errors.ts";
import type { Algorithm } from "../algorithm.ts";
import { dpo } from "./dpo.ts";
import { grpo } from "./grpo.ts";
import { ipo } from "./ipo.ts";
import { kto } from "./kto.ts";
import { orpo } from "./orpo.ts";
import { ppo } from "./ppo.ts";
import { reinforce } from "./reinforce.ts";
import { rft } from "./rft.ts";
import { rloo } from "./rloo.ts";
import { sft } from "./sft.ts";

export const ALGORITHMS = [
  // One on a line, in the order of the help.
  sft,
  rft,
  dpo,
  ipo,
  kto,
  orpo,
  reinforce,
  rloo,
  grpo,
  ppo,
] as const;

export function algorithmOf(name: string): Algorithm {
  const found = ALGORITHMS.find((algorithm) => algorithm.name === name);
  if (found) return found as unknown as Algorithm;
  const names = ALGORITHMS.map((algorithm) => algorithm.name).join(", ");
  throw usageError(`there is no learning method "${name}"`, `Choose one of ${names}.`);
}
