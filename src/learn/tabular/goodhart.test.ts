import { expect, test } from "vitest";
import {
  findHacks,
  initialGoodhartPolicy,
  naiveVerifier,
  optimiseProxy,
  patchedVerifier,
  type Question,
  type Verifier,
  writeCompletion,
} from "./goodhart.ts";

const problems: Question[] = Array.from({ length: 200 }, (_, i) => ({
  id: `p${i}`,
  prompt: "",
  answer: ((i * 37) % 150) - 50,
}));
const truth: Verifier = ({ answer }, completion) => (completion === `Final: ${answer}` ? 1 : 0);
const options = (proxy: Verifier) => ({
  problems,
  proxy,
  truth,
  seed: 0,
  lr: 1,
  batch: 64,
  levels: [0, 20, 320],
});

test("verifiers: the naive one pays for an integer anywhere, the patched one for one answer", () => {
  const problem = { id: "p", prompt: "", answer: -26 };
  for (const text of ["Final: -26", "-25 -26 -27", "it is -26.", "a\n-26"])
    expect(naiveVerifier(problem, text), text).toBe(1);
  for (const text of ["Final: 26", "-260", "126", "-2 6"])
    expect(naiveVerifier(problem, text), text).toBe(0);
  expect(patchedVerifier(problem, "Final: -26")).toBe(1);
  for (const text of ["-25 -26 -27", "it is -26.", "Final: -26 -27", "Final: -26."])
    expect(patchedVerifier(problem, text)).toBe(0);
});

test("under the naive verifier the proxy rises to the end while the truth rises and falls", () => {
  const [start, middle, end] = optimiseProxy(options(naiveVerifier));
  expect(middle?.proxy_reward).toBeGreaterThan((start?.proxy_reward as number) + 0.2);
  expect(end?.proxy_reward).toBeGreaterThan((middle?.proxy_reward as number) + 0.1);
  expect(middle?.true_reward).toBeGreaterThan((start?.true_reward as number) + 0.1);
  expect(end?.true_reward).toBeLessThan(0.05);
});

test("under the patched verifier the truth rises with the proxy", () => {
  const [start, , end] = optimiseProxy(options(patchedVerifier));
  expect(end?.true_reward).toBe(end?.proxy_reward);
  expect(end?.true_reward).toBeGreaterThan((start?.true_reward as number) + 0.4);
});

test("hacks come from the optimised policy: paid by the proxy, worth nothing, unlike each other", () => {
  const end = optimiseProxy(options(naiveVerifier)).at(-1);
  const hacks = findHacks(end?.policy ?? initialGoodhartPolicy, options(naiveVerifier), 5);
  expect(hacks).toHaveLength(5);
  for (const { problem, completion } of hacks) {
    expect(naiveVerifier(problem, completion)).toBe(1);
    expect(truth(problem, completion)).toBe(0);
    expect(patchedVerifier(problem, completion)).toBe(0);
  }
  expect(new Set(hacks.map(({ completion }) => completion)).size).toBe(5);
});

test("a completion depends on its address alone", () => {
  const problem = problems[0] as Question;
  expect(writeCompletion(initialGoodhartPolicy, problem, [1, 2])).toEqual(
    writeCompletion(initialGoodhartPolicy, problem, [1, 2]),
  );
  const texts = Array.from(
    { length: 20 },
    (_, i) => writeCompletion(initialGoodhartPolicy, problem, [i]).completion,
  );
  expect(new Set(texts).size).toBeGreaterThan(5);
});
