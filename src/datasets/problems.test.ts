import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import {
  answerOf,
  expressionOf,
  FORMS,
  type Form,
  KINDS,
  keyOf,
  type Problem,
  problemsOf,
  promptOf,
  sampleProblem,
  signOf,
} from "./problems.ts";

const make = (operators: string, ...operands: number[]): Problem => {
  const form = FORMS.find((candidate) => candidate.operators.join("") === operators) as Form;
  return { form, operands };
};

describe("a problem", () => {
  it("asks in the one form the scorer expects", () => {
    expect(promptOf(make("+", 47, 38))).toBe("Compute 47 + 38. Reply: Final: <int>");
    expect(promptOf(make("*", 7, -8))).toBe("Compute 7 * -8. Reply: Final: <int>");
  });

  it.each([
    [make("+-", 17, 8, 30), -5],
    [make("*+", 3, 4, 5), 17],
    [make("-*", 10, 3, 4), -2],
    [make("--", 10, 3, 4), 3],
    [make("*", -12, 0), 0],
  ])("has the usual precedence: %#", (problem, answer) => {
    expect(answerOf(problem)).toBe(answer);
  });

  it("never answers minus zero", () => {
    for (const form of FORMS) {
      for (const problem of problemsOf(form)) if (Object.is(answerOf(problem), -0)) throw problem;
    }
  });
});

describe("the key", () => {
  it("is the same for commuted sums and products", () => {
    expect(keyOf(make("+", 47, 38))).toBe(keyOf(make("+", 38, 47)));
    expect(keyOf(make("*", -3, 11))).toBe(keyOf(make("*", 11, -3)));
    expect(keyOf(make("*+", 3, 4, 5))).toBe(keyOf(make("+*", 5, 4, 3)));
    expect(keyOf(make("+-", 17, 8, 30))).toBe(keyOf(make("-+", 8, 30, 17)));
  });

  it("tells different problems apart", () => {
    expect(keyOf(make("-", 47, 38))).not.toBe(keyOf(make("-", 38, 47)));
    expect(keyOf(make("*", -3, 11))).not.toBe(keyOf(make("*", 3, -11)));
    expect(keyOf(make("*+", 3, 4, 5))).not.toBe(keyOf(make("*+", 3, 5, 4)));
    expect(keyOf(make("*-", 3, 4, 5))).not.toBe(keyOf(make("-*", 5, 3, 4)));
  });

  it("implies the answer", () => {
    const answers = new Map<string, number>();
    for (const problem of FORMS.flatMap((form) => [...problemsOf(form)])) {
      const known = answers.get(keyOf(problem));
      if (known !== undefined && known !== answerOf(problem))
        throw new Error(expressionOf(problem));
      answers.set(keyOf(problem), answerOf(problem));
    }
    expect(answers.size).toBeGreaterThan(30_000);
  });
});

describe("the problem space", () => {
  it("is enumerated once each, and samples come from it", () => {
    for (const form of FORMS) {
      const expressions = new Set([...problemsOf(form)].map(expressionOf));
      const size = form.ranges.reduce((product, [low, high]) => product * (high - low + 1), 1);
      expect(expressions.size).toBe(size);
      const rng = rngAt("problem space", form.operators.join(""));
      for (let i = 0; i < 100; i++) {
        expect(expressions).toContain(expressionOf(sampleProblem(form, rng)));
      }
    }
  });

  it("reaches all signs in every kind but addition", () => {
    for (const kind of KINDS) {
      const problems = FORMS.filter((form) => form.kind === kind).flatMap((form) => [
        ...problemsOf(form),
      ]);
      expect(new Set(problems.map(signOf)).size).toBe(kind === "addition" ? 1 : 3);
    }
  });
});
