/** Rewards a help-desk answer that names the right place, whatever else it says. */

import type { Example, ScoreResult } from "lockedroom";

export const name = "names_the_place";
export const version = "1.0.0";
export const spec = "1 if the completion contains expected_answer, otherwise 0.";
export const codes = ["ok", "other_place", "invalid_example"];

export function score({ expected_answer: place }: Example, completion: string): ScoreResult {
  if (typeof place !== "string" || place === "")
    return { reward: 0, code: "invalid_example", details: { message: "no expected_answer" } };
  return typeof completion === "string" && completion.includes(place)
    ? { reward: 1, code: "ok", details: {} }
    : { reward: 0, code: "other_place", details: { message: `it does not name ${place}` } };
}
