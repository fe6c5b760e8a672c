/** Most sabotages: one condition of the candidate's evaluation is not that of the baseline. */

import type { GateOptions } from "../../gate/gate.ts";
import type { Base, BaseRow } from "../base.ts";
import type { Conditions } from "../laboratory.ts";
import type { Caught, Family, Sabotage } from "../sabotage.ts";

type About = Omit<Sabotage, "play" | "family">;
type Make = (rows: readonly BaseRow[], base: Base) => Conditions;

export interface Pair {
  /** Of both runs, in the sabotage and in its twin. */
  readonly both?: Make;
  /** The trick. */
  readonly candidate?: Make;
  /** A trick that is played on the baseline. */
  readonly baseline?: Make;
  /** In place of nothing at all in the honest twin. */
  readonly honest?: Make;
  /** How the gate is asked, in both. */
  readonly gate?: Partial<GateOptions>;
  /** How it is asked in the sabotage only. */
  readonly cheatGate?: Partial<GateOptions>;
}

/** The honest twin is a better policy against a weaker one, all else being equal. */
export function againstBaseline(family: Family, about: About, pair: Pair): Sabotage {
  return {
    ...about,
    family,
    async play(lab, cheat) {
      const base = await lab.base();
      const made = (make: Make | undefined) => make?.(base.rows, base) ?? {};
      const both = made(pair.both);
      const own = made(cheat ? pair.candidate : pair.honest);
      const other = cheat ? made(pair.baseline) : {};
      const baseline = await lab.baseline({ ...both, ...other });
      const candidate = await lab.evaluate(about.name, { ...both, ...own });
      return lab.gate(baseline, candidate, { ...pair.gate, ...(cheat && pair.cheatGate) });
    },
  };
}

export const byGate = (code: string): Caught => ({ check: "gate", code });

export const HONEST_PAIR = "The same two policies, evaluated under the same conditions.";
