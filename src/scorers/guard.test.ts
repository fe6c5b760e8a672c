import { describe, expect, test } from "vitest";
import type { ScoreRequest, Scorer } from "../core/score.ts";
import { scoreBatch } from "./guard.ts";

const rows = (n: number): ScoreRequest[] =>
  Array.from({ length: n }, (_, i) => ({
    example: { id: `e${i}`, prompt: "p", meta: { i } },
    completion: String(i),
  }));

const scorer = (score: unknown, more: Partial<Scorer> = {}) => ({
  scorer: { name: "s", version: "1", spec: "s", score, ...more } as Scorer,
  again: { name: "s", version: "1", spec: "s", score, ...more } as Scorer,
  identity: { name: "s", version: "1", spec: "s", source_sha256: "", path: "s.ts" },
  trusted: false,
});

const good = () => ({ reward: 1, code: "fine", details: { seen: 1 } });
const messages = (score: unknown, n = 3, limit = 1000, more: Partial<Scorer> = {}) =>
  scoreBatch(scorer(score, more), rows(n), limit).map(({ reward, code, details }) =>
    code === "scorer_error"
      ? `${reward}: ${(details as { message: string }).message}`
      : `${code} ${reward}`,
  );

describe("a broken answer is a scorer_error without a reward", () => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      "the scorer threw: boom",
    ],
    [
      "throws nothing",
      () => {
        throw undefined;
      },
      "the scorer threw: undefined",
    ],
    ["NaN", () => ({ ...good(), reward: Number.NaN }), "reward is NaN"],
    ["Infinity", () => ({ ...good(), reward: Number.POSITIVE_INFINITY }), "reward is Infinity"],
    ["a reward without measure", () => ({ ...good(), reward: 1e300 }), "beyond"],
    ["text as reward", () => ({ ...good(), reward: "1" }), "reward is string"],
    ["nothing", () => undefined, "returned a undefined"],
    ["null", () => null, "returned null"],
    ["a promise", async () => good(), "returned a promise"],
    ["no code", () => ({ reward: 1 }), "code is not a name"],
    ["a harness code", () => ({ ...good(), code: "missing_completion" }), "belongs to the harness"],
    ["NaN in details", () => ({ ...good(), details: { x: Number.NaN } }), "x is NaN"],
    [
      "a cycle in details",
      () => {
        const d: Record<string, unknown> = {};
        d.d = d;
        return { ...good(), details: d };
      },
      "nested deeper",
    ],
    [
      "a changed example",
      (e: { meta: { i: number } }) => {
        e.meta.i = 7;
        return good();
      },
      "read only",
    ],
  ])("%s", (_, score, message) => {
    for (const row of messages(score)) {
      expect(row.startsWith("null: ")).toBe(true);
      expect(row).toContain(message);
    }
  });

  test("a code outside the declared closed set", () => {
    expect(messages(good, 1, 1000, { codes: ["other"] })[0]).toContain("closed set");
    expect(messages(good, 1, 1000, { codes: ["fine"] })[0]).toBe("fine 1");
  });
});

describe("a scorer that changes its mind", () => {
  test("between two calls on the same row", () => {
    let call = 0;
    expect(messages(() => ({ ...good(), reward: call++ % 2 }), 4).join()).toContain(
      "changed its mind",
    );
  });

  test("by what it saw before: state shows because the second pass runs backwards", () => {
    let last = "";
    const sticky = (_: unknown, completion: string) => {
      const reward = last < completion ? 1 : 0;
      last = completion;
      return { ...good(), reward };
    };
    expect(messages(sticky, 4).filter((row) => row.startsWith("null")).length).toBeGreaterThan(0);
  });
});

describe("a scorer that does not return", () => {
  const hang = (_: unknown, completion: string) => {
    while (completion === "1") {}
    return good();
  };

  test("on one row loses that row and no other", () => {
    expect(messages(hang, 4, 100)).toEqual([
      "fine 1",
      "null: the scorer did not return within 100 ms",
      "fine 1",
      "fine 1",
    ]);
  });

  test("in a regular expression", () => {
    const slow = () => ({ ...good(), reward: /^(a+)+$/.test(`${"a".repeat(40)}!`) ? 1 : 0 });
    expect(messages(slow, 1, 100)[0]).toContain("did not return within 100 ms");
  });

  test("on every row is given up on", () => {
    const rows = messages(
      () => {
        for (;;);
      },
      50,
      50,
    );
    expect(rows.filter((row) => row.includes("did not return"))).toHaveLength(3);
    expect(rows.filter((row) => row.includes("not scored"))).toHaveLength(47);
  });

  test("but slow rows that each keep the limit are all scored", () => {
    const slow = () => {
      const end = Date.now() + 20;
      while (Date.now() < end) {}
      return good();
    };
    expect(messages(slow, 10, 1000 / 4)).toEqual(Array(10).fill("fine 1"));
  });
});
