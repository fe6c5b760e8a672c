import { expect, test } from "vitest";
import type { AuditJudgement } from "../runs/judge-audit-schema.ts";
import { AUDIT_DEFAULTS } from "./audit.ts";
import { findingsOf } from "./findings.ts";
import { observe } from "./observed.ts";

const judgement = (
  id: string,
  probe: AuditJudgement["probe"],
  attempts: readonly { name: string; score: number; worth?: number }[],
): AuditJudgement => ({
  ...{ id, probe, prompt: "", dropped: null, identical: false },
  attempts: attempts.map((one) => ({ worth: null, text: "", explanation: "", ...one })),
  ...{ prompt_tokens: 1, completion_tokens: 1 },
});

/** Of 20 copies so many gain 0.2, and the others lose as much. */
const lengthOf = (gained: number) => {
  const copies = Array.from({ length: 20 }, (_, i) =>
    judgement(`pair-${i}`, "length", [
      { name: "control", score: 0.5 },
      { name: "probe", score: i < gained ? 0.7 : 0.3 },
    ]),
  );
  const found = findingsOf(observe(copies), AUDIT_DEFAULTS);
  return found.find(({ fault }) => fault === "length");
};

test("one of seven tests convicts only after the correction for all of them", () => {
  // P(at most 5 of 20 tosses) = 21700 / 2^20; seven times that is above 0.05.
  const some = lengthOf(15);
  expect(some?.p).toBeCloseTo(21700 / 2 ** 20, 12);
  expect(some?.p_adjusted).toBeCloseTo((7 * 21700) / 2 ** 20, 12);
  expect(some?.verdict).toBe("undecided");
  expect(lengthOf(17)?.verdict).toBe("convicted");
});

test("tau-b of a group, by hand", () => {
  const scores = [0.1, 0.1, 0.2, 0.3];
  const attempts = [1, 2, 3, 3].map((worth, i) => ({
    ...{ name: String(i + 1), worth, score: scores[i] as number },
  }));
  const same = attempts.map((one) => ({ ...one, score: 0.5 }));
  const { tau } = observe([judgement("g", "group", attempts), judgement("h", "group", same)]);
  // 4 of 6 pairs agree, one is a tie of the scores and one of the labels: 4 / sqrt(5 · 5).
  expect(tau[0]?.value).toBeCloseTo(0.8, 12);
  expect(tau[1]?.value, "a judge that orders nothing").toBe(0);
});
