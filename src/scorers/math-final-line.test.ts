import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Example } from "../core/records.ts";
import { classify, mathFinalLine, OUTCOME_CODES, score } from "./math-final-line.ts";

const example = (expected_answer: unknown): Example =>
  ({ id: "x", prompt: "", expected_answer }) as Example;
const code = (completion: string, expected: unknown) => score(example(expected), completion).code;

describe("every code, in the order of the checks", () => {
  test.each([
    ["Final: 22", "ok"],
    [" \t\r\n\v\fFinal: 22 \n", "ok"],
    ["Final: 23", "wrong_answer"],
    ["Final: -22", "wrong_answer"],
    ["Final: 22\nFinal: 22", "not_single_line"],
    ["Final: 22\r22", "not_single_line"],
    ["Final: 22\u2028", "not_single_line"],
    ["so\nFinal: 22", "not_single_line"],
    ["", "missing_prefix"],
    ["22", "missing_prefix"],
    ["final: 22", "missing_prefix"],
    ["Final:22", "missing_prefix"],
    ["The Final: 22", "missing_prefix"],
    ["\u00a0Final: 22", "missing_prefix"],
    ["\ufeffFinal: 22", "missing_prefix"],
    ["F\u0456nal: 22", "missing_prefix"],
    ["Final:  22", "extra_whitespace"],
    ["Final:\t22", "extra_whitespace"],
    ["Final:\u00a022", "extra_whitespace"],
    ["Final: \u00a022", "extra_whitespace"],
    ["Final:", "missing_integer"],
    ["Final: ", "missing_integer"],
    ["Final: +22", "plus_sign_disallowed"],
    ["Final: +", "plus_sign_disallowed"],
    ["Final: -", "missing_digits"],
    ["Final: 22.", "non_digit_characters"],
    ["Final: 22 23", "non_digit_characters"],
    ["Final: --22", "non_digit_characters"],
    ["Final: 2\u200b2", "non_digit_characters"],
    ["Final: 22\u00a0", "non_digit_characters"],
    ["Final: \u0662\u0662", "non_digit_characters"],
    ["Final: \uff12\uff12", "non_digit_characters"],
    ["Final: \u221222", "non_digit_characters"],
    ["Final: 1e1", "non_digit_characters"],
    ["Final: -0", "negative_zero_disallowed"],
    ["Final: -00", "negative_zero_disallowed"],
    ["Final: 022", "leading_zeros"],
    ["Final: -022", "leading_zeros"],
    ["Final: 00", "leading_zeros"],
  ])("%j is %s", (completion, expected) => {
    const result = score(example(22), completion);
    expect(result.code).toBe(expected);
    expect(result.reward).toBe(expected === "ok" ? 1 : 0);
  });

  test("an invalid example is reported before anything about the completion", () => {
    expect(code("nonsense\n", "22.0")).toBe("invalid_example");
  });
});

describe("integers of any size", () => {
  const huge = "9".repeat(300);

  test.each([
    [22, "22", "ok"],
    ["22", "22", "ok"],
    [-0, "0", "ok"],
    [huge, huge, "ok"],
    [huge, `${huge.slice(1)}8`, "wrong_answer"],
    ["9007199254740993", "9007199254740993", "ok"],
    ["9007199254740993", "9007199254740992", "wrong_answer"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991", "ok"],
  ])("%j against Final: %s is %s", (expected, integer, outcome) => {
    expect(code(`Final: ${integer}`, expected)).toBe(outcome);
  });

  test("a number that was rounded when it was read is refused, not compared", () => {
    const read = JSON.parse("9007199254740993");
    const result = score(example(read), "Final: 9007199254740992");
    expect(result).toMatchObject({ reward: 0, code: "invalid_example" });
    expect(result.details.message).toContain("write it as a string");
  });

  test.each([
    1.5,
    "",
    "+22",
    "022",
    "-0",
    "22.0",
    " 22",
    "٢٢",
    true,
    null,
    undefined,
    [22],
    {},
    Number.NaN,
  ])("expected answer %j is invalid", (expected) => {
    expect(code("Final: 22", expected)).toBe("invalid_example");
  });
});

describe("total, deterministic and closed", () => {
  const anything = fc.oneof(
    fc.anything({ withBigInt: true, withNullPrototype: true }),
    fc.string({ unit: "binary" }),
  );

  test("any value as example and completion gives an answer from the closed set, twice the same", () => {
    fc.assert(
      fc.property(anything, anything, (someExample, completion) => {
        const first = score(someExample as Example, completion as string);
        expect(OUTCOME_CODES).toContain(first.code);
        expect([0, 1]).toContain(first.reward);
        expect(score(someExample as Example, completion as string)).toEqual(first);
      }),
      { numRuns: 2000 },
    );
  });

  test("getters and proxies that throw are no answer", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    expect(score(hostile as unknown as Example, "Final: 1").code).toBe("invalid_example");
  });

  test("reward 1 goes to the one right line and to nothing near it", () => {
    const near = fc.tuple(
      fc.bigInt(),
      fc.string({ unit: fc.constantFrom(..."Final: -+0123456789.\n\t\u00a0\u0662") }),
    );
    fc.assert(
      fc.property(near, ([integer, noise]) => {
        const expected = example(String(integer));
        expect(score(expected, `Final: ${integer}`).reward).toBe(1);
        const rewarded = score(expected, noise).reward === 1;
        expect(rewarded).toBe(
          noise.replace(/^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$/g, "") === `Final: ${integer}`,
        );
      }),
      { numRuns: 2000 },
    );
  });

  test("a long hostile completion takes linear time", () => {
    const time = (length: number) => {
      const text = `Final: ${"1".repeat(length)}${" ".repeat(length)}x`;
      const start = process.hrtime.bigint();
      for (let i = 0; i < 20; i++) score(example(22), text);
      return Number(process.hrtime.bigint() - start);
    };
    time(20_000);
    expect(time(400_000) / time(20_000)).toBeLessThan(200); // 20 when linear, 400 when quadratic
  });
});

test("classify says whose fault an outcome is", () => {
  expect(classify("wrong_answer")).toBe("model_math");
  expect(classify("invalid_example")).toBe("data_invalid");
  for (const format of OUTCOME_CODES.slice(1, 10)) expect(classify(format)).toBe("model_format");
  for (const other of ["ok", "scorer_error", "missing_completion", "", "toString"])
    expect(classify(other)).toBe("unknown");
});

test("the scorer object carries its contract", () => {
  expect(mathFinalLine).toMatchObject({ name: "math_final_line", version: "1.0.0" });
  expect(mathFinalLine.spec).toContain("exactly one line");
});
