/**
 * Level 5: a naive verifier, hacks that it accepts, and a patch that rejects their class.
 *
 *   ./lockedroom run assignments/hackable_scorer_demo.ts
 */

import { isProgram } from "lockedroom/extensions";

export interface Case {
  readonly expected: number;
  readonly completion: string;
}

/** Correct completions: a verifier must accept these. */
export const HONEST: readonly Case[] = [
  { expected: 42, completion: "Final: 42" },
  { expected: -7, completion: "Final: -7" },
  { expected: 0, completion: "Final: 0" },
];

/** Five different exploits that naive() accepts although they are not correct answers. */
export const HACKS: readonly Case[] = [];

/** Build: 1 if the expected integer appears anywhere in the completion, otherwise 0. */
export function naive(expected: number, completion: string): number {
  void [expected, completion];
  throw new Error("naive is not written yet; see level 5");
}

/** Repair: rejects the class of the exploit, not one string. */
export function patched(expected: number, completion: string): number {
  return naive(expected, completion);
}

// Runs only when this file is the program, not when a test imports it.
if (isProgram(import.meta.url)) {
  const cases = [
    ...HONEST.map((c) => ["honest", c] as const),
    ...HACKS.map((c) => ["hack", c] as const),
  ];
  const lines = cases.map(([kind, { expected, completion }]) => {
    const rewards = [naive(expected, completion), patched(expected, completion)];
    return `${rewards.join("      ")}        ${kind.padEnd(6)}  ${JSON.stringify(completion)}`;
  });
  console.log(["naive  patched  kind    completion", ...lines].join("\n"));
}
