/** JUnit with a case for each example. */

import { expect, test } from "vitest";
import { gate } from "../src/gate/gate.ts";
import { ExampleCases, gateJunit } from "../src/gate/junit.ts";
import { examplesOf, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const named = (name: string) => ({ provenance: { policy: { name } } });

async function junit(baseline: string, candidate: string): Promise<string> {
  const cases = new ExampleCases();
  return gateJunit(await gate({ baseline, candidate, onPair: cases.add }), cases);
}

test("lost examples fail, those that fail in both are skipped, the others pass", async () => {
  const examples = [
    ...examplesOf(3),
    { id: 'odd "<&>"', prompt: "Compute 5 + 1.", expected_answer: 6 },
  ];
  const slice = { slice: ["expected_answer"] };
  const text = await junit(
    await makeRun(root, { examples, right: [true, false, false, true], ...named("a") }),
    await makeRun(root, { examples, right: [false, false, true, true], ...named("b"), ...slice }),
  );
  expect(text).toContain('tests="5" failures="1" skipped="2"');
  expect(text).toMatch(
    /classname="examples expected_answer=1" name="ex-0">\s+<failure message="lost">reward 1 → 0: \S+ → \S+</,
  );
  expect(text).toMatch(/name="ex-1">\s+<skipped message="fails in both runs"\/>/);
  expect(text).toContain('name="ex-2"/>');
  expect(text).toContain('name="odd &quot;&lt;&amp;&gt;&quot;"/>');
});

test("samples of an example are one case, by their mean", async () => {
  const packs = (first: boolean) => examplesOf(4).map(() => [first, true, false]);
  const examples = examplesOf(4);
  const text = await junit(
    await makeRun(root, { examples, packs: packs(true), ...named("a") }),
    await makeRun(root, { examples, packs: packs(false), ...named("b") }),
  );
  expect(text).toContain('tests="5" failures="4"');
  expect(text).toContain("reward 0.6667 → 0.3333, mean of 3 samples");
});

test("runs that are not comparable have no cases but the verdict", async () => {
  const text = await junit(
    await makeRun(root, { maxExamples: 39 }),
    await makeRun(root, { maxExamples: 40 }),
  );
  expect(text).toContain('tests="1" failures="1"');
});
