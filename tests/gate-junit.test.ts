/** JUnit with a case for each example. */

import { expect, test } from "vitest";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { ExampleCases, gateJunit } from "../src/gate/junit.ts";
import { examplesOf, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const named = (name: string) => ({ provenance: { policy: { name } } });

async function junit(
  baseline: string,
  candidate: string,
  options: Partial<GateOptions> = {},
): Promise<string> {
  const cases = new ExampleCases();
  return gateJunit(await gate({ baseline, candidate, ...options, onPair: cases.add }), cases);
}

/** Of n examples the first `lost` are right in the baseline alone, the next `gained` in the candidate. */
const sides = async (n: number, lost: number, gained: number) => {
  const make = (name: string, right: (i: number) => boolean) =>
    makeRun(root, {
      ...{ examples: examplesOf(n), ...named(name) },
      right: Array.from({ length: n }, (_, i) => right(i)),
    });
  return [
    await make("a", (i) => i < lost || i >= lost + gained),
    await make("b", (i) => i >= lost),
  ] as const;
};

test("a verdict that passes has no failures: its lost examples say so in their output", async () => {
  const promoted = await junit(...(await sides(60, 1, 12)));
  expect(promoted).toContain('tests="61" failures="0" skipped="0"');
  expect(promoted).toMatch(/name="ex-0">\s+<system-out>lost: reward 1 → 0: \S+ → \S+</);
  const margin = { claim: "no-regression", margin: 0.1 } as const;
  const passed = await junit(...(await sides(100, 1, 1)), margin);
  expect(passed).toContain('tests="101" failures="0" skipped="0"');
  expect(passed).toContain("<system-out>lost: reward 1 → 0");
});

test("a verdict that is open fails by itself and skips its lost examples; one that rejects fails them", async () => {
  const open = await junit(...(await sides(40, 2, 2)));
  expect(open).toContain('tests="41" failures="1" skipped="2"');
  const rejected = await junit(...(await sides(40, 9, 0)));
  expect(rejected).toContain('tests="41" failures="10" skipped="0"');
  expect(rejected).toContain('<failure message="lost">lost: reward 1 → 0');
});

test("emoji stay, and what XML forbids is replaced", async () => {
  const examples = [{ id: "😀 a\u0000b\ud800", prompt: "Compute 1 + 1.", expected_answer: 2 }];
  const make = (name: string) => makeRun(root, { examples, right: [true], ...named(name) });
  const text = await junit(await make("a"), await make("b"));
  expect(text).toContain('name="😀 a\ufffdb\ufffd"');
});

test("those that fail in both are skipped, and names are escaped", async () => {
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
    /classname="examples expected_answer=1" name="ex-0">\s+<skipped message="lost/,
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
  expect(text).toContain('tests="5" failures="1" skipped="4"');
  expect(text).toContain("reward 0.6667 → 0.3333, mean of 3 samples");
});

test("runs that are not comparable have no cases but the verdict", async () => {
  const text = await junit(
    await makeRun(root, { maxExamples: 39 }),
    await makeRun(root, { maxExamples: 40 }),
  );
  expect(text).toContain('tests="1" failures="1"');
});

test("an example with some passing samples in both runs is no failure", async () => {
  const packs = [
    [true, false],
    [false, false],
  ];
  const make = (name: string) => makeRun(root, { examples: examplesOf(2), packs, ...named(name) });
  const text = await junit(await make("a"), await make("b"));
  expect(text).toContain('name="ex-0"/>');
  expect(text).toMatch(/name="ex-1">\s+<skipped message="fails in both runs"\/>/);
});
