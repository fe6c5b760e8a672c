import { describe, expect, it } from "vitest";
import { rngAt } from "../core/rng.ts";
import { expressionOf, KINDS, keyOf, signOf } from "./problems.ts";
import {
  examplesOf,
  heldOutProblems,
  sampleTrainProblem,
  splitOf,
  trainProblems,
} from "./splits.ts";

const PROMPT = /^Compute (-?\d+(?: [-+*] -?\d+){1,2})\. Reply: Final: <int>$/;
const asked = (prompt: string): string => PROMPT.exec(prompt)?.[1] ?? `no expression in ${prompt}`;

/** The same idea as `keyOf`, made from the text alone. */
function unordered(expression: string): string {
  return expression
    .replaceAll(" - ", " + ~")
    .split(" + ")
    .map((term) => [term.startsWith("~"), term.replace("~", "").split(" * ").sort()].join())
    .sort()
    .join(";");
}

describe.each(["dev", "holdout"] as const)("%s", (split) => {
  const examples = examplesOf(split);

  it("has 240 examples with numbered ids, 60 of each kind", () => {
    expect(examples.map(({ id }) => id)).toEqual(
      Array.from({ length: 240 }, (_, i) => `${split}-${String(i + 1).padStart(4, "0")}`),
    );
    for (const kind of KINDS) {
      expect(examples.filter(({ metadata }) => metadata.kind === kind)).toHaveLength(60);
    }
  });

  it("expects what JavaScript itself computes", () => {
    for (const { prompt, expected_answer } of examples) {
      const evaluate = new Function(`return ${asked(prompt)}`) as () => number;
      expect(expected_answer, prompt).toBe(evaluate() + 0);
    }
  });

  it("has negative, zero and positive answers", () => {
    for (const sign of [-1, 0, 1]) {
      const found = examples.filter(({ expected_answer }) => Math.sign(expected_answer) === sign);
      expect(found.length).toBeGreaterThanOrEqual(10);
    }
  });

  it("mixes the kinds, so that a head of the file is still a fair sample", () => {
    expect(new Set(examples.slice(0, 20).map(({ metadata }) => metadata.kind)).size).toBe(4);
  });

  it("says of its own problems where they belong", () => {
    expect(new Set(heldOutProblems(split).map(splitOf))).toEqual(new Set([split]));
  });
});

it("dev and holdout share no problem, not even commuted", () => {
  const texts = (["dev", "holdout"] as const)
    .flatMap((split) => examplesOf(split))
    .map(({ prompt }) => unordered(asked(prompt)));
  expect(new Set(texts).size).toBe(480);
  const problems = [...heldOutProblems("dev"), ...heldOutProblems("holdout")];
  expect(new Set(problems.map(keyOf)).size).toBe(480);
});

describe("train", () => {
  const heldOut = new Set(
    (["dev", "holdout"] as const)
      .flatMap((split) => examplesOf(split))
      .map(({ prompt }) => unordered(asked(prompt))),
  );

  it.each(KINDS)("is large enough and free of held-out problems: %s", (kind) => {
    const texts = [...trainProblems(kind)].map((problem) => unordered(expressionOf(problem)));
    expect(new Set(texts).size).toBeGreaterThan(200);
    expect(texts.filter((text) => heldOut.has(text))).toEqual([]);
  });

  it("is sampled in the mix of the held-out splits, never from them", () => {
    const rng = rngAt("train sample");
    const problems = Array.from({ length: 4000 }, () => sampleTrainProblem(rng));
    expect(problems.filter((problem) => heldOut.has(unordered(expressionOf(problem))))).toEqual([]);
    for (const kind of KINDS) {
      const share = problems.filter(({ form }) => form.kind === kind).length / 4000;
      expect(share).toBeCloseTo(0.25, 1);
    }
    expect(problems.filter((problem) => signOf(problem) === "zero").length).toBeGreaterThan(200);
  });
});
