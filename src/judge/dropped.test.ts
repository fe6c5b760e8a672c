import { describe, expect, test } from "vitest";
import { DROP_REASONS, type GroupVerdict } from "../core/judge.ts";
import { DroppedGroups } from "./dropped.ts";

const tokens = { prompt_tokens: 0, completion_tokens: 0 };
const judged: GroupVerdict = { id: "g", judgements: [], identical: false, tokens };
const without = (type: (typeof DROP_REASONS)[number], message = "why"): GroupVerdict => ({
  ...{ id: "g", tokens, dropped: { type, message } },
});

function counted(verdicts: readonly GroupVerdict[], options?: { limit?: number; total?: number }) {
  const dropped = new DroppedGroups(options);
  for (const verdict of verdicts) dropped.add(verdict);
  return dropped;
}

describe("groups without a verdict", () => {
  test("are counted by type, beside those with one", () => {
    const dropped = counted([judged, without("refused"), without("no_answer"), without("refused")]);
    expect(dropped.groups).toBe(4);
    expect(dropped.dropped).toBe(3);
    expect(dropped.counts).toEqual({ no_answer: 1, refused: 2, invalid_verdict: 0 });
  });

  test("may be as many as the limit, and one more is an error that says what to do", () => {
    const nine = Array<GroupVerdict>(9).fill(judged);
    expect(() => counted([...nine, without("refused")]).requireFew()).not.toThrow();
    expect(() => counted([]).requireFew()).not.toThrow();
    const over = counted([...nine, without("refused", "it said no"), without("refused")]);
    const { message, hint } = thrownBy(() => over.requireFew());
    expect(message).toMatch(/2 of 11 groups \(refused 2\), above the limit of 10 %.*it said no/);
    expect(hint).toMatch(/reword the rubric.*--judge-dropped-limit/);
  });

  test("a limit of 0 accepts none, and of 1 all", () => {
    const all = [without("invalid_verdict")];
    expect(() => counted(all, { limit: 1 }).requireFew()).not.toThrow();
    expect(() => counted([judged, ...all], { limit: 0 }).requireFew()).toThrow(/1 of 2/);
  });

  test("with the total known, the work ends when the limit cannot be kept any more", () => {
    const dropped = counted([without("no_answer"), without("no_answer")], { total: 20 });
    const { message } = thrownBy(() => dropped.add(without("no_answer")));
    expect(message).toMatch(/3 of 20 groups \(no answer 3\)/);
  });

  test.each(DROP_REASONS)("each type has its own advice: %s", (type) => {
    const others = DROP_REASONS.filter((other) => other !== type);
    const advice = (one: (typeof DROP_REASONS)[number]) =>
      thrownBy(() => counted([without(one)]).requireFew()).hint;
    for (const other of others) expect(advice(type)).not.toBe(advice(other));
  });

  test("an example cannot command a terminal, and is shortened", () => {
    const long = `\u001b[31m${"x".repeat(5000)}`;
    const { message } = thrownBy(() => counted([without("refused", long)]).requireFew());
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(1100);
  });
});

function thrownBy(work: () => void): { message: string; hint: string } {
  try {
    work();
  } catch (error) {
    return error as { message: string; hint: string };
  }
  throw new Error("nothing was thrown");
}
