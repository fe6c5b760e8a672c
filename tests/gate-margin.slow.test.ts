/** The claim of no regression: what it takes to pass, and how a loss is hidden and found. */

import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { gateJunit } from "../src/gate/junit.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { gateReportSchema } from "../src/runs/gate-report.ts";
import { type Conditions, examplesOf, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const verdictFor = async (
  baseline: Conditions,
  candidate: Conditions,
  options: Partial<GateOptions> = { claim: "no-regression", margin: 0.05 },
) => {
  const report = await gate({
    baseline: await makeRun(root, baseline),
    candidate: await makeRun(root, candidate),
    ...options,
  });
  expect(gateReportSchema.parse(report)).toEqual(report);
  return { ...report, code: report.reasons[0]?.code };
};

const named = (name: string) => ({ provenance: { policy: { name } } });
/** Of n examples every second one right, then `lost` of those wrong and `gained` others right. */
const right = (n: number, gained = 0, lost = 0) =>
  Array.from({ length: n }, (_, i) => (i % 2 === 0 ? i / 2 >= lost : (i - 1) / 2 < gained));
const side = (n: number, name: string, gained = 0, lost = 0) => ({
  examples: examplesOf(n),
  right: right(n, gained, lost),
  ...named(name),
});

describe("pass or fail", () => {
  test.each<[string, number, number, number, string, string, number]>([
    ["no flip of 100", 100, 0, 0, "PASS", "loss_ruled_out", 0],
    ["no flip of 40", 40, 0, 0, "INCONCLUSIVE", "loss_not_ruled_out", 2],
    ["two flips each way of 200", 200, 2, 2, "PASS", "loss_ruled_out", 0],
    ["12 lost of 100", 100, 0, 12, "REJECT", "worse", 1],
    ["4 lost of 100", 100, 0, 4, "INCONCLUSIVE", "loss_not_ruled_out", 2],
    ["12 gained of 100", 100, 12, 0, "PASS", "loss_ruled_out", 0],
  ])("%s", async (_, n, gained, lost, decision, code, exit_code) => {
    const report = await verdictFor(side(n, "a"), side(n, "b", gained, lost));
    expect(report).toMatchObject({ decision, code, exit_code, margin: 0.05 });
    const bound = report.loss_bound ?? 1;
    expect(bound <= 0.05).toBe(decision === "PASS");
  });

  test("a loss that is shown but smaller than the margin passes, and its reason says that it is one", async () => {
    const report = await verdictFor(side(400, "a"), side(400, "b", 0, 7), {
      ...{ claim: "no-regression", margin: 0.1 },
    });
    expect(report).toMatchObject({ decision: "PASS", code: "loss_ruled_out" });
    expect(report.reasons[0]?.message).toMatch(/is lower, but by less than the margin/);
  });

  test("INCONCLUSIVE says how many examples would decide, and so many do", async () => {
    const report = await verdictFor(side(60, "a"), side(60, "b", 1, 1));
    const note = report.notes.find((line) => line.includes("use about")) ?? "";
    const enough = Number(/about (\d+) examples/.exec(note)?.[1]);
    expect(enough).toBeGreaterThan(60);
    expect(enough).toBeLessThan(1000);
    const n = 2 * Math.ceil(enough / 2);
    const flips = Math.round(n / 60);
    const again = await verdictFor(side(n, "a"), side(n, "b", flips, flips));
    expect(again.decision).toBe("PASS");
    // With as many more flips as happen in one of five runs, half of it is not enough.
    expect(enough).toBeGreaterThan(140);
  });
});

describe("what may have changed", () => {
  const warm = (seed: number) => ({ policy: { name: "a" }, sampling: { temperature: 1, seed } });

  test("the same answers are no loss, however few they are", async () => {
    const report = await verdictFor(side(8, "a"), side(8, "a"));
    expect(report).toMatchObject({ decision: "PASS", code: "nothing_changed", knobs: [] });
  });

  test("the same answers of policies that are not stated are tested: they may agree on a few", async () => {
    const unstated = { examples: examplesOf(8), right: right(8) };
    const report = await verdictFor(unstated, unstated);
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "loss_not_ruled_out" });
    expect(report.notes.join(" ")).toMatch(/use about \d+ examples/);
    const many = { examples: examplesOf(100), right: right(100) };
    expect(await verdictFor(many, many)).toMatchObject({
      decision: "PASS",
      code: "loss_ruled_out",
    });
  });

  test("the same policy by name, with other answers, is tested and not believed", async () => {
    const again = { ...side(8, "a"), completions: ["Final:  1"] };
    const report = await verdictFor(side(8, "a"), again);
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "loss_not_ruled_out" });
  });

  test("a claim of policy with a margin asks for both", async () => {
    const options = { claim: "policy", margin: 0.05 } as const;
    const passed = await verdictFor(side(100, "a"), side(100, "b"), options);
    expect(passed).toMatchObject({ decision: "PASS", claim: "policy", knobs: ["policy"] });
    const unstated = { examples: examplesOf(100), right: right(100, 1) };
    const refused = await verdictFor({ ...unstated, right: right(100) }, unstated, options);
    expect(refused).toMatchObject({ decision: "REJECT", code: "policy_not_stated" });
    const open = await verdictFor({ ...unstated, right: right(100) }, unstated);
    expect(open).toMatchObject({ decision: "PASS", knobs: ["unknown"] });
  });

  const asked = (name: string, system: string, temperature = 0) => ({
    provenance: { policy: { name }, prompt: { system }, sampling: { temperature, seed: 1 } },
  });

  test("another policy, prompt and temperature at once: allowed, and named", async () => {
    const [before, after] = [asked("a", "x", 0.5), asked("b", "y", 1)];
    const report = await verdictFor(
      { ...side(100, "a"), ...before },
      { ...side(100, "b"), ...after },
    );
    expect(report).toMatchObject({ decision: "PASS", exit_code: 0, code: "loss_ruled_out" });
    expect(report.changed).toEqual(["policy", "prompt", "sampling"]);
    expect(report.reasons[0]?.message).toContain("all changes together (policy, prompt, sampling)");
    expect(gateMarkdown(report)).toContain("**Changed:** policy, prompt, sampling");
    const worse = await verdictFor(
      { ...side(100, "a"), ...before },
      { ...side(100, "b", 0, 12), ...after },
    );
    expect(worse).toMatchObject({ decision: "REJECT", code: "worse", exit_code: 1 });
  });

  test("a claim of one knob, or of an improvement, does not allow them", async () => {
    const [before, after] = [asked("a", "x"), asked("b", "y")];
    for (const options of [{ claim: "policy", margin: 0.05 }, {}] as const) {
      const report = await verdictFor(
        { ...side(100, "a"), ...before },
        { ...side(100, "b", 20), ...after },
        options,
      );
      expect(report).toMatchObject({ decision: "REJECT", exit_code: 3 });
      expect(report.code).toBe("prompt_settings_differ");
    }
  });

  test("another prompt with another seed, which may be the best of many, is refused", async () => {
    const at = (system: string, seed: number) => ({
      provenance: { policy: { name: "a" }, prompt: { system }, sampling: { temperature: 1, seed } },
    });
    const base = { ...side(100, "a"), ...at("x", 1) };
    const chosen = await verdictFor(base, { ...side(100, "a"), ...at("y", 7) });
    expect(chosen).toMatchObject({ decision: "REJECT", exit_code: 3, code: "seeds_differ" });
    const same = await verdictFor(base, { ...side(100, "a", 1), ...at("y", 1) });
    expect(same).toMatchObject({ decision: "PASS", changed: ["prompt"] });
  });

  test("other examples and another scorer are never allowed", async () => {
    const other = await verdictFor(side(100, "a"), { ...side(100, "b"), maxExamples: 99 });
    expect(other).toMatchObject({ decision: "REJECT", exit_code: 3, code: "examples_differ" });
    const scorer = path.join(root, "lenient.ts");
    writeFileSync(
      scorer,
      `export default { name: "lenient", version: "1", spec: "always 1",
        score: () => ({ reward: 1, code: "ok", details: {} }) }`,
    );
    const lenient = await verdictFor(side(100, "a"), { ...side(100, "b"), scorer });
    expect(lenient).toMatchObject({ decision: "REJECT", exit_code: 3 });
    expect(lenient.code).toBe("scorer_name_differs");
  });

  test("only another seed is sampling noise: nothing to pass, as for an improvement", async () => {
    const base = { ...side(100, "a"), provenance: warm(1) };
    const again = { ...side(100, "a", 1), provenance: warm(2) };
    const report = await verdictFor(base, again);
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "only_seed_changed" });
    expect(await verdictFor(base, again, {})).toMatchObject({ code: "only_seed_changed" });
    const same = await verdictFor(base, { ...base, provenance: warm(2) });
    expect(same).toMatchObject({ decision: "PASS", code: "nothing_changed" });
  });

  test("several seeds tried ask for more", async () => {
    const tried = (seeds_tried: number) => ({
      provenance: { ...warm(1), policy: { name: `b${seeds_tried}` }, seeds_tried },
    });
    const base = { ...side(84, "a"), provenance: warm(1) };
    const once = await verdictFor(base, { ...side(84, "b"), ...tried(1) });
    const often = await verdictFor(base, { ...side(84, "b"), ...tried(20) });
    expect([once.decision, often.decision]).toEqual(["PASS", "INCONCLUSIVE"]);
  });
});

describe("rewards between 0 and 1", () => {
  const scorerOf = (name: string, range?: readonly [number, number]) => {
    const file = path.join(root, `${name}.ts`);
    writeFileSync(
      file,
      `export default { name: "${name}", version: "1", spec: "the completion as a number",
        ${range ? `range: ${JSON.stringify(range)},` : ""}
        score: (example, completion) => ({ reward: Number(completion), code: "said", details: {} }) }`,
    );
    return file;
  };
  const declared = scorerOf("graded", [0, 1]);
  const said = (name: string, n: number, reward: (i: number) => number, scorer = declared) => ({
    ...{ scorer, examples: examplesOf(n), ...named(name) },
    completions: Array.from({ length: n }, (_, i) => String(reward(i))),
  });
  const half = () => 0.5;

  test.each<[string, number, (i: number) => number, string]>([
    ["none changed of 200", 200, half, "PASS"],
    ["none changed of 50", 50, half, "INCONCLUSIVE"],
    ["all a little up and down", 200, (i) => 0.5 + (i % 2 ? 0.05 : -0.05), "PASS"],
    ["a tiny change in each of 60: a rare loss may be missed", 60, () => 0.501, "INCONCLUSIVE"],
    ["more lost than gained", 100, (i) => [0, 0.8][i % 8] ?? 0.5, "INCONCLUSIVE"],
    [
      "one in 40 lost everything, which is less than the margin",
      200,
      (i) => (i % 40 === 0 ? 0 : 0.5),
      "PASS",
    ],
    ["all lost a tenth", 60, () => 0.4, "REJECT"],
  ])("%s", async (_, n, reward, decision) => {
    const report = await verdictFor(said("a", n, half), said("b", n, reward));
    expect(report.decision).toBe(decision);
    expect(report.reward_range).toEqual({ low: 0, high: 1, source: "scorer" });
    expect((report.loss_bound ?? 1) <= 0.05).toBe(decision === "PASS");
  });

  test("a declared range of 10 needs more, although no reward goes beyond 1", async () => {
    const wide = scorerOf("wide", [0, 10]);
    const report = await verdictFor(said("a", 200, half, wide), said("b", 200, half, wide));
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "loss_not_ruled_out" });
  });

  test("rewards that happen to be 0 and 1 are not pass or fail where the range says more", async () => {
    const all = (n: number, scorer: string) =>
      [said("a", n, () => 1, scorer), said("b", n, () => 1, scorer)] as const;
    const penalised = scorerOf("penalised", [-10, 1]);
    const report = await verdictFor(...all(100, penalised));
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "loss_not_ruled_out" });
    expect(report.reward_range).toEqual({ low: -10, high: 1, source: "scorer" });
    // A reward of -10 with a probability of 0.05 / 11 is a loss of the margin, and is mostly not drawn.
    expect((1 - 0.05 / 11) ** 100).toBeGreaterThan(0.6);
    const options = { claim: "no-regression", margin: 0.05, rewardRange: [-10, 1] } as const;
    for (const scorer of [scorerOf("silent"), declared]) {
      expect(await verdictFor(...all(100, scorer)), "pass or fail").toMatchObject({
        ...{ decision: "PASS", test: "mcnemar_exact" },
      });
      const stated = await verdictFor(...all(100, scorer), options);
      expect(stated).toMatchObject({ decision: "INCONCLUSIVE", test: "betting" });
      expect(stated.reward_range).toEqual({ low: -10, high: 1, source: "caller" });
    }
    const narrow = await verdictFor(...all(100, penalised), { ...options, rewardRange: [0, 1] });
    expect(narrow.reward_range).toEqual({ low: -10, high: 1, source: "scorer" });
    expect(narrow.decision).toBe("INCONCLUSIVE");
    expect((await verdictFor(...all(1300, penalised))).decision).toBe("PASS");
  });

  test("small gains everywhere promote only where rare losses are ruled out; without a range a note says what is assumed", async () => {
    const gain = () => 0.52;
    const ask = (n: number, scorer: string) =>
      verdictFor(said("a", n, half, scorer), said("b", n, gain, scorer), {});
    expect(await ask(100, declared)).toMatchObject({
      ...{ decision: "INCONCLUSIVE", test: "betting", reward_range: { low: 0, high: 1 } },
    });
    expect((await ask(240, declared)).decision).toBe("PROMOTE");
    const open = await ask(100, scorerOf("no-range"));
    expect(open).toMatchObject({ decision: "PROMOTE", test: "sign_flip" });
    expect(open.notes.join(" ")).toMatch(/range of the rewards is unknown, so the error rate/);
    const few = await ask(100, declared);
    expect(few.notes.join(" ")).not.toMatch(/range of the rewards is unknown/);
    const advised = Number(/about (\d+) examples/.exec(few.notes.join(" "))?.[1]);
    expect(advised).toBeGreaterThan(186);
    expect((await ask(advised, declared)).decision).toBe("PROMOTE");
  });

  test("without a declared range nothing is ruled out, unless the caller states one", async () => {
    const open = scorerOf("undeclared");
    const sides = [said("a", 200, half, open), said("b", 200, half, open)] as const;
    const report = await verdictFor(...sides);
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "reward_range_unknown" });
    expect(report.loss_bound).toBeNull();
    expect(report.reasons[0]?.message).toMatch(/Declare `range: \[0, 1\]`.*--reward-range 0,1/);
    const options = { claim: "no-regression", margin: 0.05, rewardRange: [0, 1] } as const;
    const stated = await verdictFor(...sides, options);
    expect(stated).toMatchObject({ decision: "PASS", reward_range: { source: "caller" } });
    expect(gateMarkdown(stated)).toContain("range of rewards: 0 to 1, stated with --reward-range");
    const wrong = await verdictFor(...sides, { ...options, rewardRange: [0, 0.4] });
    expect(wrong).toMatchObject({ exit_code: 3, code: "rewards_out_of_range" });
    const worse = await verdictFor(
      said("a", 60, half, open),
      said("b", 60, () => 0.4, open),
    );
    expect(worse).toMatchObject({ decision: "REJECT", code: "worse" });
  });

  test("a reward beyond the declared range is a broken scorer", async () => {
    const narrow = scorerOf("narrow", [0, 0.4]);
    const report = await verdictFor(said("a", 20, half, narrow), said("b", 20, half, narrow));
    expect(report).toMatchObject({ exit_code: 3, code: "scorer_errors" });
  });
});

test("repeated prompts count once: 200 copies of 20 problems do not pass where 200 problems do", async () => {
  const copies = Array.from({ length: 200 }, (_, i) => ({
    ...{ id: `c-${i}`, prompt: `Compute ${i % 20} + 1.`, expected_answer: (i % 20) + 1 },
  }));
  const make = (name: string) => ({ examples: copies, right: right(200), ...named(name) });
  const few = await verdictFor(make("a"), make("b"));
  expect(few).toMatchObject({ decision: "INCONCLUSIVE", test: "cluster_betting" });
  expect(few.notes.join(" ")).toMatch(/different prompts/);
  const many = await verdictFor(side(200, "a"), side(200, "b"));
  expect(many).toMatchObject({ decision: "PASS", test: "mcnemar_exact" });
});

test.each<[string, Partial<GateOptions>, RegExp]>([
  ["without a margin", { claim: "no-regression" }, /needs --margin/],
  ["with a margin of 0", { claim: "no-regression", margin: 0 }, /--margin must be above 0/],
  ["with --min-delta as well", { margin: 0.1, minDelta: 0.1 }, /different things/],
])("%s it is wrong usage", async (_, options, message) => {
  await expect(gate({ baseline: "a", candidate: "b", ...options })).rejects.toThrow(message);
});

test("Markdown and JUnit say PASS and which losses are ruled out", async () => {
  const { code: _, ...report } = await verdictFor(side(100, "a"), side(100, "b"));
  expect(gateMarkdown(report)).toMatch(
    /## Gate: PASS[\s\S]*losses of 0\.0\d+ or more are ruled out \(margin 0\.05: one-sided p = 0\.0\d+, level 0\.025\)/,
  );
  const junit = gateJunit(report);
  expect(junit).toContain('failures="0" skipped="0"');
  expect(junit).toContain("<system-out>loss_ruled_out");
});
