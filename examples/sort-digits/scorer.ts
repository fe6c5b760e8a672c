/** Rewards the digits of the prompt in ascending order, and nothing else. */

import type { Example, ScoreResult } from "lockedroom";

export const name = "sorted_digits";
export const version = "1.0.0";
export const spec =
  "The completion is the digits of the prompt in ascending order and nothing else. Reward 1, otherwise 0.";
export const codes = ["ok", "wrong_order", "wrong_digits", "not_digits", "invalid_example"];

export function score({ prompt }: Example, completion: string): ScoreResult {
  const digits = String(prompt).match(/\d/g);
  if (!digits) return fail("invalid_example", "the prompt has no digits");
  if (!/^\d+$/.test(completion)) return fail("not_digits", "something else than digits");
  const expected = digits.sort().join("");
  if (completion === expected) return { reward: 1, code: "ok", details: {} };
  const same = [...completion].sort().join("") === expected;
  return same
    ? fail("wrong_order", "the right digits in another order")
    : fail("wrong_digits", `expected ${expected}`);
}

function fail(code: string, message: string): ScoreResult {
  return { reward: 0, code, details: { message } };
}
