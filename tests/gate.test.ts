import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { gateJunit } from "../src/gate/junit.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { gateReportSchema } from "../src/runs/gate-report.ts";
import { logBinomialPmf } from "../src/stats/binomial.ts";
import { mcnemarExact } from "../src/stats/mcnemar.ts";
import { type Conditions, examplesOf, firstRight, folder, makeRun } from "./gate-runs.ts";

const root = folder();
const SCORER = (version: string, extra = "") => `
export const name = "length"; export const version = "${version}"; export const spec = "as long as expected";
export function score(example, completion) { ${extra}
  const good = completion === "Final: " + example.expected_answer;
  return { reward: good ? 1 : 0, code: good ? "ok" : "bad", details: {} };
}`;

function scorerFile(name: string, text: string): string {
  const file = path.join(root, name);
  writeFileSync(file, text);
  return file;
}

const verdictFor = async (
  baseline: Conditions,
  candidate: Conditions,
  options: Partial<GateOptions> = {},
) => {
  const report = await gate({
    baseline: await makeRun(root, baseline),
    candidate: await makeRun(root, candidate),
    ...options,
  });
  expect(gateReportSchema.parse(report)).toEqual(report);
  return report;
};

describe("one changed condition, refused for its own reason", () => {
  const examples = examplesOf(40);
  const changed = (index: number, change: object) =>
    examples.map((e, i) => (i === index ? { ...e, ...change } : e));
  const one = scorerFile("one.ts", SCORER("1"));
  const sameVersion = scorerFile("same-version.ts", SCORER("1", "/* looser */"));
  const bumped = scorerFile("bumped.ts", SCORER("2"));
  const throwing = scorerFile(
    "throwing.ts",
    SCORER("1", 'if (example.id === "ex-3") throw new Error("no");'),
  );
  const warm = { sampling: { temperature: 1, top_p: 0.9, seed: 1 } };

  test.each<[string, Conditions, Conditions, string[], string[]]>([
    [
      "an expected answer",
      {},
      { examples: changed(3, { expected_answer: 999999 }), completions: [] },
      ["dataset_bytes_differ", "examples_differ", "expected_answer_altered"],
      ["environment", "unknown"],
    ],
    [
      "a prompt",
      {},
      { examples: changed(3, { prompt: "Compute." }) },
      ["dataset_bytes_differ", "examples_differ", "prompts_differ", "prompt_altered"],
      ["environment"],
    ],
    [
      "a field nobody scores",
      {},
      { examples: changed(3, { topic: "sums" }) },
      ["dataset_bytes_differ", "examples_differ"],
      ["environment"],
    ],
    [
      "only the bytes of the data set",
      {},
      {
        examples: examples.map(({ id, prompt, expected_answer }) => ({
          prompt,
          id,
          expected_answer,
        })),
      },
      ["dataset_bytes_differ"],
      ["environment"],
    ],
    [
      "the number of examples",
      {},
      { maxExamples: 39 },
      ["examples_differ", "example_count_differs", "prompts_differ", "rows_not_paired"],
      ["environment"],
    ],
    [
      "the scorer",
      {},
      { scorer: one },
      ["scorer_name_differs", "scorer_version_differs", "scorer_source_differs"],
      ["measurement"],
    ],
    [
      "the scorer's version",
      { scorer: one },
      { scorer: bumped },
      ["scorer_version_differs", "scorer_source_differs"],
      ["measurement"],
    ],
    [
      "the scorer's code under the same version",
      { scorer: one },
      { scorer: sameVersion },
      ["instrument_changed_without_version_bump"],
      ["measurement"],
    ],
    [
      "a scorer that breaks on a row",
      { scorer: throwing },
      { scorer: throwing },
      ["scorer_errors"],
      [],
    ],
    [
      "a missing completion",
      {},
      { right: [undefined, ...firstRight(39, 19)] },
      ["missing_completions"],
      ["unknown"],
    ],
    [
      "the temperature",
      { provenance: warm },
      { provenance: { sampling: { ...warm.sampling, temperature: 0 } } },
      ["sampling_differs"],
      ["environment"],
    ],
    [
      "sampling that only one run states",
      { provenance: warm },
      {},
      ["sampling_differs"],
      ["environment"],
    ],
    [
      "the system prompt",
      { provenance: { prompt: { system: "a" } } },
      { provenance: { prompt: { system: "b" } } },
      ["prompt_settings_differ"],
      ["environment"],
    ],
  ])("%s", async (_, baseline, candidate, codes, knobs) => {
    const report = await verdictFor(baseline, candidate);
    expect(report.reasons.map(({ code }) => code)).toEqual(codes);
    expect(report).toMatchObject({
      decision: "REJECT",
      exit_code: 3,
      comparable: false,
      knobs,
      delta: null,
      p_value: null,
    });
    for (const { baseline: before, candidate: after, code } of report.reasons) {
      if (code !== "scorer_errors") expect(before).not.toEqual(after);
    }
  });

  test("says which answer was tampered with", async () => {
    const report = await verdictFor({}, { examples: changed(3, { expected_answer: -1 }) });
    expect(report.reasons).toContainEqual({
      code: "expected_answer_altered",
      message: "1 example has a different expected answer; the first is ex-3.",
      baseline: 4,
      candidate: -1,
    });
  });
});

describe("a run that was edited after it was written", () => {
  let honest: string;
  beforeAll(async () => {
    honest = await makeRun(root, {});
  });

  const edit = async (file: string, change: (text: string) => string) => {
    const run = await makeRun(root, { right: firstRight(40, 30) });
    const target = path.join(run, file);
    writeFileSync(target, change(readFileSync(target, "utf8")));
    return gate({ baseline: honest, candidate: run });
  };

  test.each([
    ["results.jsonl", (text: string) => text.replace('"reward":0', '"reward":1')],
    ["results.jsonl", (text: string) => text.replace("Final: 999999", "Final: 999998")],
    ["summary.json", (text: string) => text.replace('"n_pass": 30', '"n_pass": 31')],
    ["summary.json", (text: string) => text.replace('"pass_rate": 0.75', '"pass_rate": 0.95')],
    ["manifest.json", (text: string) => text.replace(/"rows": 40/, '"rows": 41')],
  ])("%s", async (file, change) => {
    const report = await edit(file, change);
    expect(report.exit_code).toBe(3);
    const reason = report.reasons.find(({ code }) => code === "run_edited");
    expect(reason?.baseline).toBe("intact");
    expect(reason?.candidate).toContain(file);
  });

  test("but the volatile block is nobody's evidence", async () => {
    const report = await edit("manifest.json", (text) =>
      text.replace(/"host": ".*"/, '"host": "elsewhere"'),
    );
    expect(report.comparable).toBe(true);
  });
});

describe("which knob", () => {
  const named = (name: string) => ({ provenance: { policy: { name } } });

  test("other completions of another policy are the policy", async () => {
    const other = { ...named("b"), right: firstRight(40, 30) };
    expect((await verdictFor(named("a"), other)).knobs).toEqual(["policy"]);
  });

  test.each<[string, Conditions, Conditions, string]>([
    ["no policy is stated", {}, {}, "Neither run states"],
    ["the candidate's is not", named("a"), {}, "The candidate does not state"],
    ["the baseline's is not", {}, named("b"), "The baseline does not state"],
    ["one is stated as nothing", named("a"), { provenance: { policy: {} } }, "The candidate"],
  ])("other completions are unknown where %s", async (_, baseline, candidate, said) => {
    const better = { ...candidate, right: firstRight(40, 40) };
    const report = await verdictFor(baseline, better);
    expect(report).toMatchObject({ decision: "PROMOTE", knobs: ["unknown"] });
    expect(report.notes.join()).toContain(said);
    expect(report.notes.join()).toContain("eval --policy NAME --sampling temperature=0.7,…");
    const claimed = await verdictFor(baseline, better, { claim: "policy" });
    expect(claimed).toMatchObject({ decision: "REJECT", exit_code: 1, comparable: true });
    expect(claimed.reasons.map(({ code }) => code)).toEqual(["policy_not_stated"]);
    const other = await verdictFor(baseline, better, { claim: "selection" });
    expect(other.reasons[0]).toMatchObject({
      code: "claim_mismatch",
      message: expect.stringContaining("something that is not stated changed"),
    });
  });

  test("the same completions are no change, whoever states a policy", async () => {
    expect((await verdictFor({}, named("b"))).knobs).toEqual([]);
  });

  test("unknown cannot be claimed", async () => {
    const claim = "unknown" as unknown as "policy";
    await expect(verdictFor({}, {}, { claim })).rejects.toMatchObject({ kind: "usage" });
  });

  test("nothing turned is nothing to promote", async () => {
    const report = await verdictFor({}, {});
    expect(report).toMatchObject({
      decision: "INCONCLUSIVE",
      exit_code: 2,
      comparable: true,
      knobs: [],
    });
    expect(report.reasons[0]?.code).toBe("nothing_changed");
  });

  test("the same named policy sampled again has turned nothing, whatever the numbers say", async () => {
    const of = (seed: number) => ({ policy: { name: "p" }, sampling: { temperature: 1, seed } });
    const report = await verdictFor(
      { provenance: of(1) },
      { provenance: of(2), right: firstRight(40, 40) },
    );
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", knobs: [], comparable: true });
    expect(report.notes.join()).toContain("sampled again");
  });

  test("a claim must match", async () => {
    const [baseline, candidate] = [named("a"), { ...named("b"), right: firstRight(40, 40) }];
    expect(await verdictFor(baseline, candidate, { claim: "policy" })).toMatchObject({
      decision: "PROMOTE",
      exit_code: 0,
    });
    const wrong = await verdictFor(baseline, candidate, { claim: "selection" });
    expect(wrong).toMatchObject({ decision: "REJECT", exit_code: 1, comparable: true });
    expect(wrong.reasons[0]?.code).toBe("claim_mismatch");
    expect(await verdictFor(baseline, baseline, { claim: "policy" })).toMatchObject({
      decision: "REJECT",
      exit_code: 1,
    });
  });
});

describe("is it real", () => {
  test.each<[string, number, number, Partial<GateOptions>, string, string]>([
    ["a clear gain", 20, 34, {}, "PROMOTE", "improvement"],
    ["a clear loss", 34, 20, {}, "REJECT", "worse"],
    ["five flips of forty", 20, 25, {}, "INCONCLUSIVE", "not_significant"],
    ["six flips of forty", 20, 26, {}, "PROMOTE", "improvement"],
    ["six flips at a stricter level", 20, 26, { alpha: 0.01 }, "INCONCLUSIVE", "not_significant"],
    ["a gain below what is wanted", 20, 28, { minDelta: 0.25 }, "INCONCLUSIVE", "below_min_delta"],
    [
      "a gain that rules out what is wanted",
      20,
      28,
      { minDelta: 0.5 },
      "REJECT",
      "below_min_delta",
    ],
  ])("%s", async (_, before, after, options, decision, code) => {
    const report = await verdictFor(
      { right: firstRight(40, before) },
      { right: firstRight(40, after) },
      options,
    );
    expect(report.decision).toBe(decision);
    expect(report.reasons[0]?.code).toBe(code);
    expect(report.delta).toBeCloseTo((after - before) / 40, 12);
    expect(report.p_value).toBe(
      mcnemarExact(Math.max(0, after - before), Math.max(0, before - after)),
    );
    expect(report.flips).toMatchObject({
      gained: Math.max(0, after - before),
      lost: Math.max(0, before - after),
    });
    expect(report.ci?.low).toBeLessThanOrEqual(report.delta as number);
    expect(report.ci?.high).toBeGreaterThanOrEqual(report.delta as number);
  });

  test.each<[string, number, number, number, number, string, string]>([
    ["one loss of one", 1, 1, 0, 0, "INCONCLUSIVE", "not_significant"],
    ["four losses of forty, as four gains", 40, 20, 16, 0, "INCONCLUSIVE", "not_significant"],
    ["no flip of five does not rule out a fifth", 5, 2, 2, 0.2, "INCONCLUSIVE", "not_significant"],
    ["no flip of two hundred rules out a fifth", 200, 100, 100, 0.2, "REJECT", "below_min_delta"],
  ])("little is known from %s", async (_, n, before, after, minDelta, decision, code) => {
    const examples = examplesOf(n);
    const report = await verdictFor(
      { examples, right: firstRight(n, before), provenance: { policy: { name: "a" } } },
      { examples, right: firstRight(n, after), provenance: { policy: { name: "b" } } },
      { minDelta },
    );
    expect([report.decision, report.reasons[0]?.code]).toEqual([decision, code]);
  });

  test("graded rewards that never changed rule nothing out", async () => {
    const graded = scorerFile(
      "first-word.ts",
      `export default { name: "first-word", version: "1", spec: "the first word as a number",
      score: (example, completion) => ({ reward: Number(completion.split(" ")[0]), code: "said", details: {} }) }`,
    );
    const all = (text: string) => ({ scorer: graded, completions: Array(40).fill(text) });
    const report = await verdictFor(all("0.5 a"), all("0.5 b"), { minDelta: 0.001 });
    expect(report.decision).toBe("INCONCLUSIVE");
  });

  test("a gain of 0.1 in decimals is a gain of 0.1", async () => {
    const graded = scorerFile(
      "decimal.ts",
      `export default { name: "decimal", version: "1", spec: "the number said",
      score: (example, completion) => ({ reward: Number(completion), code: "said", details: {} }) }`,
    );
    const all = (text: string) => ({ scorer: graded, completions: Array(40).fill(text) });
    expect((await verdictFor(all("0.6"), all("0.7"), { minDelta: 0.1 })).decision).toBe("PROMOTE");
  });

  test("pairs by example: crossing flips are no gain", async () => {
    const report = await verdictFor(
      { right: firstRight(40, 20) },
      { right: firstRight(40, 20).reverse() },
    );
    expect(report).toMatchObject({ delta: 0, p_value: 1, decision: "INCONCLUSIVE" });
    expect(report.flips).toMatchObject({ gained: 20, lost: 20 });
    expect(report.flips?.first[0]).toEqual({
      id: "ex-0",
      baseline: "ok",
      candidate: "wrong_answer",
      change: -1,
    });
  });

  test("rewards that are not 0 or 1 go to the sign-flip test", async () => {
    const graded = scorerFile(
      "graded.ts",
      `export default { name: "graded", version: "1", spec: "length / 20",
      score: (example, completion) => ({ reward: completion.length / 20, code: "graded", details: {} }) }`,
    );
    const report = await verdictFor(
      { scorer: graded, completions: Array.from({ length: 40 }, (_, i) => "x".repeat(i % 7)) },
      {
        scorer: graded,
        completions: Array.from({ length: 40 }, (_, i) => "x".repeat((i % 7) + (i % 3))),
      },
    );
    expect(report).toMatchObject({ test: "sign_flip", decision: "PROMOTE" });
  });

  test("the noise rule is said in words, with the smallest effect that could be seen", async () => {
    const report = await verdictFor(
      { examples: examplesOf(200) },
      { examples: examplesOf(200), right: firstRight(200, 108) },
    );
    expect(report.decision).toBe("PROMOTE");
    expect(report.notes.join()).toContain("Noise rule: on 200 examples, repeat the experiment");
    expect(report.minimum_detectable_effect).toBeGreaterThanOrEqual(6 / 200);
  });

  test("how many examples would be enough, and on which assumption", async () => {
    const report = await verdictFor(
      { examples: examplesOf(200) },
      { examples: examplesOf(200), right: firstRight(200, 103) },
    );
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", delta: 0.015 });
    const [, found] =
      /use about (\d+) examples \(if the same share of rows flips\)/.exec(report.notes.join()) ??
      [];
    const sixOf = (n: number) =>
      [0, 1, 2, 3, 4, 5].reduce((left, k) => left - Math.exp(logBinomialPmf(k, n, 0.015)), 1);
    expect(sixOf(Number(found))).toBeGreaterThanOrEqual(0.8);
    expect(sixOf(Number(found) - 1)).toBeLessThan(0.8);
  });

  test.each([0.2000001, 0.5, 0.999, 0, -1, Number.NaN])("α = %s is refused", async (alpha) => {
    await expect(verdictFor({}, {}, { alpha })).rejects.toMatchObject({ kind: "usage" });
  });

  test("a level of 0.2 is the largest", async () => {
    expect((await verdictFor({}, {}, { alpha: 0.2 })).alpha).toBe(0.2);
  });

  test("a promotion by a scorer that may answer otherwise says so in its reason", async () => {
    const text = SCORER("1").replace("export function", "export const deterministic = false;\n$&");
    const [unsure, sure] = [scorerFile("unsure.ts", text), scorerFile("sure.ts", SCORER("1"))];
    for (const [scorer, said] of [
      [unsure, true],
      [sure, false],
    ] as const) {
      const report = await verdictFor({ scorer }, { scorer, right: firstRight(40, 40) });
      expect(report.decision).toBe("PROMOTE");
      expect(report.reasons[0]?.message.includes("score both again")).toBe(said);
      expect(report.notes.join().includes("declared non-deterministic")).toBe(said);
    }
  });

  test("two verdicts on the same runs are the same bytes", async () => {
    const [baseline, candidate] = [
      await makeRun(root, {}),
      await makeRun(root, { right: firstRight(40, 29) }),
    ];
    const [one, two] = [await gate({ baseline, candidate }), await gate({ baseline, candidate })];
    expect(JSON.stringify(one)).toBe(JSON.stringify(two));
  });
});

test("Markdown and JUnit carry the verdict and both values, and cannot be broken out of", async () => {
  const report = await verdictFor({}, { provenance: { sampling: { note: '</testcase>|"&' } } });
  const markdown = gateMarkdown(report);
  expect(markdown).toContain("## Gate: REJECT (not comparable)");
  expect(markdown).toContain("`sampling_differs`");
  expect(markdown.split("\n").find((line) => line.includes("sampling_differs"))).toContain("\\|");
  const junit = gateJunit(report);
  expect(junit).toContain('failures="1"');
  expect(junit).toContain("&lt;/testcase&gt;");
  expect(junit.match(/<\/testcase>/g)).toHaveLength(1);
});
