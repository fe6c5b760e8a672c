import { describe, expect, test } from "vitest";
import type { ScoreRequest, Scorer } from "../core/score.ts";
import { Guard } from "./guard.ts";

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
const messages = async (
  score: unknown,
  n = 3,
  limit = 1000,
  more: Partial<Scorer> = {},
  concurrency = 1,
) => {
  const scored = await new Guard(scorer(score, more), limit, concurrency).scoreBatch(rows(n));
  return scored.map(({ reward, code, details }) =>
    code === "scorer_error"
      ? `${reward}: ${(details as { message: string }).message}`
      : `${code} ${reward}`,
  );
};

test("an unreadable example may have the reward null, and gets none either way", async () => {
  for (const reward of [null, 0, 0.5])
    expect(await messages(() => ({ reward, code: "invalid_example", details: {} }), 1)).toEqual([
      "invalid_example null",
    ]);
});

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
    ["null as reward", () => ({ ...good(), reward: null }), "reward is null, not"],
    ["a list as reward", () => ({ ...good(), reward: [1] }), "reward is an array, not"],
    ["nothing", () => undefined, "returned a undefined"],
    ["null", () => null, "returned null"],
    ["a promise of NaN", async () => ({ ...good(), reward: Number.NaN }), "reward is NaN"],
    ["a promise that fails", () => Promise.reject(new Error("late")), "the scorer threw: late"],
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
  ])("%s", async (_, score, message) => {
    for (const row of await messages(score)) {
      expect(row.startsWith("null: ")).toBe(true);
      expect(row).toContain(message);
    }
  });

  test("a code outside the declared closed set", async () => {
    expect((await messages(good, 1, 1000, { codes: ["other"] }))[0]).toContain("closed set");
    expect((await messages(good, 1, 1000, { codes: ["fine"] }))[0]).toBe("fine 1");
  });
});

describe("a non-deterministic scorer", () => {
  test("between two calls on the same row", async () => {
    let call = 0;
    expect((await messages(() => ({ ...good(), reward: call++ % 2 }), 4)).join()).toContain(
      "not deterministic",
    );
  });

  test("by what it saw before: state shows because the second pass runs backwards", async () => {
    let last = "";
    const sticky = (_: unknown, completion: string) => {
      const reward = last < completion ? 1 : 0;
      last = completion;
      return { ...good(), reward };
    };
    expect(
      (await messages(sticky, 4)).filter((row) => row.startsWith("null")).length,
    ).toBeGreaterThan(0);
  });
});

describe("a scorer that does not return", () => {
  const hang = (_: unknown, completion: string) => {
    while (completion === "1") {}
    return good();
  };

  test("on one row loses that row and no other", async () => {
    expect(await messages(hang, 4, 100)).toEqual([
      "fine 1",
      "null: the scorer did not return within 100 ms",
      "fine 1",
      "fine 1",
    ]);
  });

  test("in a regular expression", async () => {
    const slow = () => ({ ...good(), reward: /^(a+)+$/.test(`${"a".repeat(40)}!`) ? 1 : 0 });
    expect((await messages(slow, 1, 100))[0]).toContain("did not return within 100 ms");
  });

  test("on every row is given up on", async () => {
    const rows = await messages(
      () => {
        for (;;);
      },
      50,
      50,
    );
    expect(rows.filter((row) => row.includes("did not return"))).toHaveLength(3);
    expect(rows.filter((row) => row.includes("not scored"))).toHaveLength(47);
  });

  test("but slow rows that each keep the limit are all scored", async () => {
    const slow = () => {
      const end = Date.now() + 20;
      while (Date.now() < end) {}
      return good();
    };
    expect(await messages(slow, 10, 1000 / 4)).toEqual(Array(10).fill("fine 1"));
  });
});

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("an asynchronous scorer", () => {
  /** Earlier rows take longer, so that answers arrive out of order. */
  const slow = async (_: unknown, completion: string) => {
    await sleep(20 - Number(completion));
    return { ...good(), reward: Number(completion) };
  };

  test.each([1, 3, 16])("is scored in order, %i rows at once", async (concurrency) => {
    const expected = Array.from({ length: 12 }, (_, i) => `fine ${i}`);
    expect(await messages(slow, 12, 1000, {}, concurrency)).toEqual(expected);
  });

  test("never has more rows in flight than allowed, over batches too", async () => {
    let [flying, most] = [0, 0];
    const counted = async () => {
      most = Math.max(most, ++flying);
      await sleep(5);
      flying--;
      return good();
    };
    const guard = new Guard(scorer(counted), 1000, 3);
    await Promise.all([guard.scoreBatch(rows(7)), guard.scoreBatch(rows(7))]);
    expect(most).toBe(3);
  });

  test.each([1, 8])("that never settles on a row loses that row, %i at once", async (many) => {
    const hang = async (_: unknown, completion: string) =>
      completion === "1" ? new Promise(() => {}) : good();
    expect(await messages(hang, 3, 50, {}, many)).toEqual([
      "fine 1",
      "null: the scorer did not return within 50 ms",
      "fine 1",
    ]);
  });

  test.each([1, 2, 8])("that hangs is given up on at the same row, %i at once", async (many) => {
    const hang = async (_: unknown, completion: string) =>
      ["1", "3", "4", "6"].includes(completion) ? new Promise(() => {}) : good();
    const found = await messages(hang, 8, 50, {}, many);
    expect(found.map((row) => /fine|did not return|not scored/.exec(row)?.[0])).toEqual([
      ...["fine", "did not return", "fine", "did not return", "did not return"],
      ...["not scored", "not scored", "not scored"],
    ]);
  });

  test("that loops before it returns is stopped by the watchdog", async () => {
    const hang = async (_: unknown, completion: string) => {
      while (completion === "1") {}
      return good();
    };
    expect((await messages(hang, 3, 50))[1]).toContain("did not return within 50 ms");
  });

  test("is checked for determinism, and asked once where it says that it has none", async () => {
    let calls = 0;
    const random = async () => ({ ...good(), reward: calls++ });
    expect((await messages(random, 2)).join()).toContain("not deterministic");
    calls = 0;
    expect(await messages(random, 3, 1000, { deterministic: false })).toEqual([
      ...["fine 0", "fine 1", "fine 2"],
    ]);
    expect(calls).toBe(3);
  });

  test("may answer some rows at once", async () => {
    const mixed = (_: unknown, completion: string) =>
      Number(completion) % 2 ? Promise.resolve(good()) : good();
    expect(await messages(mixed, 5, 1000, {}, 2)).toEqual(Array(5).fill("fine 1"));
  });
});

test("a scorer that blocks past its limit after an await, and then answers, is over the limit", async () => {
  const blocks = async () => {
    await Promise.resolve();
    for (const end = performance.now() + 120; performance.now() < end; );
    return good();
  };
  const [only] = await messages(blocks, 1, 50);
  expect(only).toMatch(/did not return within 50 ms/);
});
