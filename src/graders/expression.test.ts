import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate, parseExpression } from "./expression.ts";
import { formulaRange, type Range } from "./formula-range.ts";

const VALUES = new Map([
  ["a", 0.25],
  ["b", 1],
  ["c", 0],
  ["min", 0.5],
]);
const NAMES = new Set(VALUES.keys());
const result = (text: string) => evaluate(parseExpression(text, NAMES), VALUES);

describe("formulas", () => {
  test.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["2 - 3 - 4", -5],
    ["8 / 4 / 2", 1],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["(-2) ^ 2", 4],
    ["2 ^ -1", 0.5],
    ["2 * -3", -6],
    ["- - 3", 3],
    ["+3", 3],
    ["0.7*b + 0.3*max(a, 0.1)", 0.775],
    ["max(a, b, c)", 1],
    ["abs(-2) + floor(1.5) + ceil(1.5) + exp(0) + sqrt(4) + log(1)", 8],
    [".5 + 1e-1", 0.6],
    ["min + min(a, b)", 0.75],
  ])("%s is %d", (text, value) => {
    expect(result(text)).toBeCloseTo(value, 12);
  });

  test("log has the base that is set, e otherwise", () => {
    const log = parseExpression("log(100)", new Set());
    expect(evaluate(log, new Map())).toBeCloseTo(Math.log(100), 12);
    expect(evaluate(log, new Map(), "10")).toBeCloseTo(2, 12);
  });
});

describe("attacks", () => {
  test.each(["1/0", "1/(1/c)", "0/0", "log(c)", "sqrt(0-1)", "exp(9999)", "c^-1", "(0-1)^0.5"])(
    "%s is an error, not a number",
    (text) => {
      expect(() => result(text)).toThrow(/is not a finite number/);
    },
  );

  test.each([
    ["__proto__", "is no grader of this one"],
    ["constructor", "is no grader of this one"],
    ["toString()", "is no grader of this one"],
    ["process", "is no grader of this one"],
    ["a.b", "cannot be read"],
    ["a[0]", "cannot be read"],
    ["a = 1", "cannot be read"],
    ["a;b", "cannot be read"],
    ["`a`", "cannot be read"],
    ["a b", "cannot be read"],
    ["2a", "cannot be read"],
    ["a +", "ends too early"],
    ["(a", "ends too early"],
    ["", "ends too early"],
    ["min()", "cannot be read"],
    ["abs(a, b)", "takes one number"],
    ["a(1)", "is no grader of this one"],
    ["1e999", "cannot be read"],
    ["a ** b", "cannot be read"],
    ["а", "cannot be read"],
  ])("%s is refused", (text, message) => {
    expect(() => result(text)).toThrow(message);
  });

  test.each([
    ["10,000 nested parentheses", `${"(".repeat(10_000)}a${")".repeat(10_000)}`],
    ["10,000 signs", `${"-".repeat(10_000)}a`],
    ["10,000 powers", `${"2^".repeat(10_000)}a`],
    ["10,000 calls", `${"abs(".repeat(10_000)}a${")".repeat(10_000)}`],
  ])("%s are refused with a sentence", (_, text) => {
    expect(() => result(text)).toThrow(/nested deeper than 100 levels/);
  });

  test("10,000 sums are refused, a thousand are not", () => {
    expect(() => result(`a${"+a".repeat(10_000)}`)).toThrow("more than 1000 operations");
    expect(result(`a${"+a".repeat(999)}`)).toBe(250);
    expect(() => result("a".repeat(200_000))).toThrow("longer than 100000 characters");
  });

  test("any text is either a formula or refused with a FormulaError", () => {
    const piece = fc.constantFrom(..."ab+-*/^(),. 12".split(""), "min(", "log(", "c");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          expect(result(pieces.join(""))).toSatisfy(Number.isFinite);
        } catch (error) {
          expect(["FormulaError", "NoNumber"]).toContain((error as Error).constructor.name);
        }
      }),
    );
  });
});

describe("the range of a formula", () => {
  const UNIT = new Map<string, Range>([
    ["a", [0, 1]],
    ["b", [0, 1]],
  ]);
  const rangeOf = (text: string) =>
    formulaRange(parseExpression(text, new Set(["a", "b"])), UNIT, "e");

  test.each([
    ["0.7*a + 0.3*max(b, 0.1)", [0.03, 1]],
    ["a - b", [-1, 1]],
    ["-a", [-1, 0]],
    ["(a - b)^2", [0, 1]],
    ["abs(a - 2)", [1, 2]],
    ["a / (b + 1)", [0, 1]],
    ["a / b", undefined],
    ["log(a)", undefined],
    ["a ^ -1", undefined],
  ])("%s", (text, range) => {
    const found = rangeOf(text);
    if (range === undefined) expect(found).toBeUndefined();
    else expect(found?.map((end) => Math.round(end * 1e9) / 1e9)).toEqual(range);
  });

  test("holds every value that the formula gives", () => {
    const leaf = fc.constantFrom("a", "b", "0.5", "2");
    const { formula } = fc.letrec((tie) => ({
      formula: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(tie("formula"), fc.constantFrom("+", "-", "*", "/", "^"), tie("formula"))
          .map(([x, sign, y]) => `(${x}${sign}${y})`),
        tie("formula").map((x) => `abs(${x})`),
        fc.tuple(tie("formula"), tie("formula")).map(([x, y]) => `max(${x},${y})`),
      ),
    }));
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(formula, share, share, (text, a, b) => {
        const range = rangeOf(text as string);
        if (range === undefined) return;
        const expression = parseExpression(text as string, new Set(["a", "b"]));
        const value = evaluate(
          expression,
          new Map([
            ["a", a],
            ["b", b],
          ]),
        );
        const slack = 1e-9 * (1 + Math.abs(value));
        expect(value).toBeGreaterThanOrEqual(range[0] - slack);
        expect(value).toBeLessThanOrEqual(range[1] + slack);
      }),
      { numRuns: 500 },
    );
  });
});
