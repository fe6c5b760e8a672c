/** Each sabotage that two run folders can betray, beside the honest thing that looks like it. */

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { gateText } from "../src/cli/commands/gate.ts";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { editedFiles } from "../src/gate/index.ts";
import { gateJunit } from "../src/gate/junit.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { select } from "../src/loops/select.ts";
import { builtInPolicy } from "../src/loops/selection-policy.ts";
import { gateReportSchema } from "../src/runs/gate-report.ts";
import { openRun } from "../src/runs/reader.ts";
import type { ResultRow } from "../src/runs/schemas.ts";
import { type Conditions, examplesOf, firstRight, folder, forge, makeRun } from "./gate-runs.ts";

const root = folder();

const gated = async (baseline: string, candidate: string, options: Partial<GateOptions> = {}) => {
  const report = await gate({ baseline, candidate, ...options });
  expect(gateReportSchema.parse(report)).toEqual(report);
  for (const line of gateText(report).split("\n"))
    if (!line.includes(root)) expect(line.length, line).toBeLessThanOrEqual(80);
  return report;
};

const verdictFor = async (
  baseline: Conditions,
  candidate: Conditions,
  options: Partial<GateOptions> = {},
) => gated(await makeRun(root, baseline), await makeRun(root, candidate), options);

const codesOf = ({ reasons }: { reasons: readonly { code: string }[] }) =>
  reasons.map(({ code }) => code);

describe("seeds", () => {
  const sampled = (name: string, seed: number, more: object = {}) => ({
    provenance: { policy: { name }, sampling: { temperature: 1, seed }, ...more },
  });

  test("another policy with another seed is refused; with the same seed it is compared", async () => {
    const better = { right: firstRight(40, 40) };
    const picked = await verdictFor(sampled("a", 1), { ...sampled("b", 17), ...better });
    expect(picked).toMatchObject({ decision: "REJECT", exit_code: 3, knobs: ["policy"] });
    expect(picked.reasons).toEqual([
      {
        code: "seeds_differ",
        message: expect.stringContaining("Sample both policies with the same seed"),
        baseline: 1,
        candidate: 17,
      },
    ]);
    const honest = await verdictFor(sampled("a", 1), { ...sampled("b", 1), ...better });
    expect(honest.decision).toBe("PROMOTE");
    expect(honest.seeds_tried).toBeUndefined();
  });

  test("a seed that only one side states is another seed; greedy decoding has none", async () => {
    const of = (name: string, sampling: object, k = 20) => ({
      provenance: { policy: { name }, sampling },
      right: firstRight(40, k),
    });
    const one = await verdictFor(
      of("a", { temperature: 1 }),
      of("b", { temperature: 1, seed: 3 }, 40),
    );
    expect(codesOf(one)).toEqual(["seeds_differ"]);
    const greedy = (seed: number) => ({ temperature: 0, seed });
    const both = await verdictFor(of("a", greedy(1)), of("b", greedy(2), 40));
    expect(both.decision).toBe("PROMOTE");
    const tried = { seeds_tried: 20 };
    const often = await verdictFor(of("a", greedy(1)), {
      ...of("b", greedy(1), 26),
      provenance: { policy: { name: "b" }, sampling: greedy(1), ...tried },
    });
    expect(often.decision).toBe("PROMOTE");
    expect(often.seeds_tried).toBeUndefined();
  });

  test("the same policy with another seed is told so, and no number of examples is advised", async () => {
    const luckier = { ...sampled("a", 5), right: firstRight(40, 24) };
    const report = await verdictFor(sampled("a", 0), luckier);
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", exit_code: 2, knobs: [] });
    expect(report.reasons).toEqual([
      {
        code: "only_seed_changed",
        message: expect.stringMatching(
          /^Only the seed changed \(0, 5\).*same seed.*several seeds, each on both sides\.$/,
        ),
        ...{ baseline: 0, candidate: 5 },
      },
    ]);
    expect(report.notes.join()).not.toMatch(/use about \d+ examples/);
    const claimed = await verdictFor(sampled("a", 0), luckier, { claim: "policy" });
    expect(claimed.decision).toBe("REJECT");
    expect(codesOf(claimed)).toEqual(["claim_mismatch", "only_seed_changed"]);
    // With the same seed nothing at all changed; greedy decoding has no seed to speak of.
    expect(codesOf(await verdictFor(sampled("a", 0), sampled("a", 0)))).toEqual([
      "nothing_changed",
    ]);
    const greedy = (seed: number) => ({
      provenance: { policy: { name: "a" }, sampling: { temperature: 0, seed } },
    });
    expect(codesOf(await verdictFor(greedy(0), greedy(5)))).toEqual(["nothing_changed"]);
  });

  // Six gains of forty: p = 0.03125. Fourteen: p = 0.00012.
  test.each<[string, number | null, number | null, number, string, string, number | undefined]>([
    ["one seed each", 1, 1, 26, "PROMOTE", "improvement", undefined],
    ["nobody counted", null, null, 26, "PROMOTE", "improvement", undefined],
    ["the best of 20", 1, 20, 26, "INCONCLUSIVE", "several_seeds_tried", 0.0025],
    ["the worst baseline of 5", 5, 1, 26, "INCONCLUSIVE", "several_seeds_tried", 0.01],
    ["20 seeds and a large gain", 1, 20, 34, "PROMOTE", "improvement", 0.0025],
    ["20 seeds and a large loss", 1, 20, 6, "REJECT", "worse", 0.0025],
    ["20 seeds and hardly a gain", 1, 20, 22, "INCONCLUSIVE", "not_significant", 0.0025],
    ["20 seeds and a small loss", 20, 20, 14, "INCONCLUSIVE", "several_seeds_tried", 0.0025],
  ])("%s", async (_, before, after, right, decision, code, level) => {
    const tried = (seeds_tried: number | null) => (seeds_tried === null ? {} : { seeds_tried });
    const report = await verdictFor(sampled("a", 1, tried(before)), {
      ...sampled("b", 1, tried(after)),
      right: firstRight(40, right),
    });
    expect([report.decision, codesOf(report)]).toEqual([decision, [code]]);
    const seeds = level && { baseline: before, candidate: after, level };
    expect(report.seeds_tried).toEqual(seeds);
    expect(report.alpha).toBe(0.05);
    expect(report.ci?.confidence).toBeCloseTo(1 - (level ?? 0.05), 12);
    const shown = [gateText(report), gateMarkdown(report), gateJunit(report)];
    for (const text of shown) expect(text.includes("instead of 0.05")).toBe(level !== undefined);
  });
});

describe("settings that a person states", () => {
  const rollout = {
    policy: { kind: "checkpoint", fingerprint: "a".repeat(64) },
    sampling: { temperature: 0.7, top_k: 0, top_p: 1, max_tokens: 64, stop: [], seed: 3 },
    prompt: { form: "text", system_sha256: null },
  };
  const stated = (sampling: object, more: object = {}) => ({
    provenance: { policy: { kind: "stated", name: "mine" }, sampling, ...more },
    right: firstRight(40, 40),
  });
  const all = { temperature: 0.7, max_tokens: 64, seed: 3 };
  const against = (candidate: Conditions) => verdictFor({ provenance: rollout }, candidate);

  test("are compared with those of a rollout: what is left out is off", async () => {
    for (const sampling of [all, { ...all, top_p: 1 }, { ...all, top_k: -1, min_p: 0 }]) {
      const report = await against(stated(sampling));
      expect([codesOf(report), report.knobs]).toEqual([["improvement"], ["policy"]]);
      expect(report.notes).toContain(
        "The candidate does not state its prompt settings; that they are the same cannot be verified from the runs.",
      );
    }
  });

  test("still differ where they say so, or leave out what has no neutral value", async () => {
    const { max_tokens: _, ...without } = all;
    for (const sampling of [{ ...all, top_p: 0.9 }, { ...all, min_p: 0.1 }, without])
      expect(codesOf(await against(stated(sampling)))).toEqual(["sampling_differs"]);
    const other = { prompt: { form: "chat template", system_sha256: null } };
    expect(codesOf(await against(stated(all, other)))).toEqual(["prompt_settings_differ"]);
    // A system prompt of the one side is not one that the other forgot to mention.
    for (const prompt of [{ system: "Be exact." }, { form: "text", system_sha256: "a".repeat(64) }])
      expect(codesOf(await verdictFor(stated(all), stated(all, { prompt })))).toEqual([
        "prompt_settings_differ",
      ]);
    const same = await against(stated(all, { prompt: rollout.prompt }));
    expect(codesOf(same)).toEqual(["improvement"]);
    expect(same.notes.join()).not.toContain("prompt settings");
  });

  test("of a program must be there: nothing is filled in for a checkpoint", async () => {
    const policy = { kind: "checkpoint", fingerprint: "b".repeat(64) };
    const report = await against({ provenance: { policy, sampling: all } });
    expect(codesOf(report)).toEqual(["prompt_settings_differ", "sampling_differs"]);
  });
});

test("a checkpoint whose tries nobody counted is noted", async () => {
  const of = (name: string, seeds_tried: number | null) => ({
    provenance: {
      ...{ policy: { kind: "checkpoint", fingerprint: name.repeat(64) }, seeds_tried },
      sampling: { temperature: 1, seed: 1 },
    },
  });
  const noted = async (before: number | null, after: number | null) =>
    (await verdictFor(of("a", before), of("b", after))).notes.join();
  expect(await noted(1, null)).toContain("How many seeds were tried is unknown for the candidate:");
  expect(await noted(null, null)).toContain("unknown for the baseline and the candidate:");
  expect(await noted(1, 1)).not.toContain("How many seeds");
});

describe("data that a policy has seen", () => {
  const overlap = (rows: number) => ({
    rows,
    first_ids: Array.from({ length: Math.min(5, rows) }, (_, i) => `ex-${i}`),
    ...{ of: 1000, false_positive_rate: 1e-9 },
  });
  const trained = (name: string, learned: number, validated: number, learning = {}) => ({
    provenance: {
      policy: {
        ...{ kind: "checkpoint", name, fingerprint: name.repeat(64) },
        learning: { prompts: { complete: true }, ...learning },
      },
      exposure: { learned: overlap(learned), validated: overlap(validated) },
    },
  });
  const better = { right: firstRight(40, 40) };

  test("prompts of the training data are counted and named, on either side", async () => {
    const report = await verdictFor(trained("a", 0, 0), { ...trained("b", 39, 0), ...better });
    expect(report).toMatchObject({ decision: "REJECT", exit_code: 3 });
    expect(report.reasons).toEqual([
      {
        code: "measured_on_training_data",
        message: expect.stringContaining("Evaluate on a held-out data set"),
        baseline: null,
        candidate: { rows: 39, first_ids: ["ex-0", "ex-1", "ex-2", "ex-3", "ex-4"] },
      },
    ]);
    expect(gateText(report)).toContain("39 rows: ex-0, ex-1, ex-2, ex-3, ex-4, …");
    const before = await verdictFor(trained("a", 1, 0), { ...trained("b", 0, 0), ...better });
    expect(codesOf(before)).toEqual(["measured_on_training_data"]);
    const allowed = { allowDev: true, allowUnknownHistory: true };
    const stubborn = await verdictFor(
      trained("a", 1, 0),
      { ...trained("b", 0, 0), ...better },
      allowed,
    );
    expect(codesOf(stubborn)).toEqual(["measured_on_training_data"]);
  });

  test("none of them is nothing to say", async () => {
    const pair = [trained("a", 0, 0), { ...trained("b", 0, 0), ...better }] as const;
    for (const allowDev of [false, true]) {
      const report = await verdictFor(...pair, { claim: "policy", allowDev });
      expect(report.decision).toBe("PROMOTE");
      expect(report.allowed).toBeUndefined();
      expect(report.notes.join()).not.toMatch(/overlap|History|llowed/);
    }
  });

  test("validation data are refused, unless that is said aloud", async () => {
    const pair = [trained("a", 0, 0), { ...trained("b", 0, 40), ...better }] as const;
    const refused = await verdictFor(...pair);
    expect(refused).toMatchObject({ exit_code: 3, reasons: [{ candidate: { rows: 40 } }] });
    expect(codesOf(refused)).toEqual(["measured_on_validation_data"]);
    expect(refused.reasons[0]?.message).toContain("--allow-dev");
    const allowed = await verdictFor(...pair, { allowDev: true });
    expect(allowed).toMatchObject({
      decision: "PROMOTE",
      allowed: ["measured_on_validation_data"],
    });
    expect(allowed.notes[0]).toContain("--allow-dev");
    for (const text of [gateText(allowed), gateMarkdown(allowed), gateJunit(allowed)])
      expect(text).toContain("allowed by the caller: measured_on_validation_data");
  });

  test("a file that was --dev of the training is known by its hash too", async () => {
    const dir = await makeRun(root, {});
    const sha256 = (await openRun(dir)).manifest.inputs[0]?.sha256;
    const dev = (role: string) => ({ inputs: [{ role, sha256, rows: 40 }], learned_from: [] });
    const codes = async (role: string) =>
      codesOf(
        await verdictFor(trained("a", 0, 0), { ...trained("b", 0, 0, dev(role)), ...better }),
      );
    expect(await codes("dev")).toEqual(["measured_on_validation_data"]);
    expect(await codes("holdout")).toEqual(["improvement"]);
    const file = { learned_from: [sha256] };
    const report = await verdictFor({}, { ...trained("b", 0, 0, file), ...better });
    expect(report.reasons).toMatchObject([
      { code: "measured_on_training_data", baseline: null, candidate: sha256 },
    ]);
  });
});

describe("history", () => {
  const none = { rows: 0, first_ids: [], of: 0, false_positive_rate: 0 };
  const checkpoint = (name: string, more: object, about: object = {}) => ({
    provenance: {
      policy: { kind: "checkpoint", name, fingerprint: name.repeat(64), ...more },
      exposure: { learned: none, validated: none },
      ...about,
    },
  });
  const learning = (complete: boolean) => ({
    learning: { algorithm: "sft", learned_from: [], prompts: { complete } },
  });
  const known = learning(true);
  const better = { right: firstRight(40, 40) };

  test("a deleted one is stated, and no claim of policy rests on it unless allowed", async () => {
    const pair = [checkpoint("a", known), { ...checkpoint("b", {}), ...better }] as const;
    const unclaimed = await verdictFor(...pair);
    expect(unclaimed.decision).toBe("PROMOTE");
    expect(unclaimed.notes.join()).toContain("History unknown: the candidate");
    const claimed = await verdictFor(...pair, { claim: "policy" });
    expect(claimed).toMatchObject({ decision: "REJECT", exit_code: 1, comparable: true });
    expect(codesOf(claimed)).toEqual(["history_unknown"]);
    const allowed = await verdictFor(...pair, { claim: "policy", allowUnknownHistory: true });
    expect(allowed).toMatchObject({ decision: "PROMOTE", allowed: ["history_unknown"] });
    expect(allowed.notes.join()).toContain("--allow-unknown-history");
  });

  test("one that began unknown stays unknown, however much was trained since", async () => {
    const laundered = { ...checkpoint("b", learning(false)), ...better };
    const report = await verdictFor(checkpoint("a", known), laundered, { claim: "policy" });
    expect(report).toMatchObject({ decision: "REJECT", exit_code: 1 });
    expect(codesOf(report)).toEqual(["history_unknown"]);
    expect(report.notes.join()).toContain("History unknown: the candidate may");
  });

  test("with it the claim holds; that of the baseline is only noted", async () => {
    const pair = [checkpoint("a", {}), { ...checkpoint("b", known), ...better }] as const;
    const report = await verdictFor(...pair, { claim: "policy" });
    expect(report.decision).toBe("PROMOTE");
    expect(report.allowed).toBeUndefined();
    expect(report.notes.join()).toContain("History unknown: the baseline may");
  });

  test("without the count of overlapping prompts it supports no claim of policy", async () => {
    const uncounted = checkpoint("b", known, { exposure: undefined });
    const pair = [checkpoint("a", known), { ...uncounted, ...better }] as const;
    const unclaimed = await verdictFor(...pair);
    expect(unclaimed.decision).toBe("PROMOTE");
    expect(unclaimed.notes.join()).toContain("For the candidate, overlap of prompts");
    const claimed = await verdictFor(...pair, { claim: "policy" });
    expect(claimed.decision).toBe("REJECT");
    expect(claimed.reasons).toMatchObject([
      { code: "history_unknown", candidate: "overlap unknown" },
    ]);
    const allowed = await verdictFor(...pair, { claim: "policy", allowUnknownHistory: true });
    expect(allowed).toMatchObject({ decision: "PROMOTE", allowed: ["history_unknown"] });
  });

  test.each(["Checkpoint", "CHECKPOINT ", "checkpoint"])(
    "a checkpoint is one however a forger writes the word: %j",
    async (kind) => {
      const dir = await makeRun(root, { ...checkpoint("b", {}), ...better });
      forge(dir, { manifest: (m) => ({ ...m, policy: { ...m.policy, kind } }) });
      const report = await gated(await makeRun(root, checkpoint("a", known)), dir, {
        claim: "policy",
      });
      expect(codesOf(report)).toContain("history_unknown");
    },
  );

  test("an endpoint has none to state", async () => {
    const endpoint = (name: string) => ({ provenance: { policy: { kind: "openai", name } } });
    const claim = "policy" as const;
    const report = await verdictFor(endpoint("a"), { ...endpoint("b"), ...better }, { claim });
    expect(report.decision).toBe("PROMOTE");
  });
});

describe("repeated prompts", () => {
  const copies = (problems: number, each: number, spelled = (text: string, _: number) => text) =>
    Array.from({ length: problems * each }, (_, i) => ({
      id: `ex-${i}`,
      prompt: spelled(`Compute ${i % problems} + 1.`, i),
      expected_answer: (i % problems) + 1,
    }));
  const gain = (examples: ReturnType<typeof copies>, problems: number, solved: number) =>
    [
      { examples, right: examples.map(() => false) },
      { examples, right: examples.map((_, i) => i % problems < solved) },
    ] as const;

  test.each([
    ["as they are", (text: string) => text],
    [
      "re-cased and with other white space",
      (text: string, i: number) =>
        (i % 2 ? text.toUpperCase() : text).replaceAll(" ", " ".repeat(1 + (i % 3))),
    ],
  ])("5 problems × 30 copies are 5 examples: %s", async (_, spelled) => {
    const report = await verdictFor(...gain(copies(5, 30, spelled), 5, 4));
    expect(report).toMatchObject({
      decision: "INCONCLUSIVE",
      test: "cluster_betting",
      delta: 0.8,
      p_value: expect.closeTo(0.1698, 4),
      minimum_detectable_effect: null,
      repeated_prompts: 145,
      effective_examples: 5,
      flips: { gained: 120, lost: 0 },
    });
    expect(gateText(report)).toContain(
      "effective number of examples: 5 of 150 (145 repeat a prompt)",
    );
    expect(gateText(report)).toContain("pass rate 0.8000 of 150");
  });

  test("150 problems are 150, and their report says nothing of repeats", async () => {
    const report = await verdictFor(...gain(copies(150, 1), 150, 120));
    expect(report).toMatchObject({ decision: "PROMOTE", test: "mcnemar_exact", delta: 0.8 });
    expect(Object.keys(report)).not.toContain("effective_examples");
    expect(gateText(report)).not.toContain("effective");
  });

  test("prompts that differ only where normalising does not reach are no repeats", async () => {
    const examples = ["1 23", "12 3", "1 2 3", "123"].map((digits, i) => ({
      id: `ex-${i}`,
      prompt: `Sort ${digits}`,
      expected_answer: i,
    }));
    const right = examples.map(() => true);
    const report = await verdictFor(
      { examples, right: right.map(() => false) },
      { examples, right },
    );
    expect(report).toMatchObject({ test: "mcnemar_exact", p_value: 0.125 });
    expect(report.effective_examples).toBeUndefined();
  });

  test("enough problems with copies can still be promoted", async () => {
    const report = await verdictFor(...gain(copies(40, 3), 40, 14));
    expect(report).toMatchObject({ decision: "PROMOTE", effective_examples: 40 });
    expect(report.delta).toBeCloseTo(0.35, 12);
    expect(report.p_value).toBeLessThan(0.001);
    const single = await verdictFor(...gain(copies(40, 1), 40, 14));
    // Copies add nothing: the interval is that of the problems.
    expect(report.ci?.low).toBeCloseTo(single.ci?.low as number, 1);
    expect(report.ci?.high).toBeCloseTo(single.ci?.high as number, 1);
    expect(report.minimum_detectable_effect).toBeGreaterThan(0.15);
  });
});

describe("a run that was forged, with every hash made to fit", () => {
  const flipped = { reward: 1, outcome_code: "ok" };

  test("rewards of wrong texts are scored again", async () => {
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, { row: (row, i) => (i >= 20 && i < 32 ? { ...row, ...flipped } : row) });
    const report = await gated(honest, forged);
    expect(report.exit_code).toBe(3);
    expect(report.reasons).toContainEqual({
      code: "rewards_differ_from_scorer",
      message: expect.stringContaining("scored again"),
      baseline: "as scored",
      candidate: { rows: 12, first_ids: ["ex-20", "ex-21", "ex-22", "ex-23", "ex-24"] },
    });
    expect(codesOf(report)).not.toContain("run_edited");
  });

  test.each([
    ["a code", { outcome_code: "missing_prefix" }],
    ["details", { details: { parsed: "1" } }],
    ["a reward without a completion", { completion: null }],
  ])("%s", async (_, edit) => {
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, { row: (row, i) => (i === 30 ? { ...row, ...edit } : row) });
    const reason = (await gated(honest, forged)).reasons.find(
      ({ code }) => code === "rewards_differ_from_scorer",
    );
    expect(reason?.candidate).toEqual({ rows: 1, first_ids: ["ex-30"] });
  });

  test("details of any depth are compared", async () => {
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, {});
    const file = `${forged}/results.jsonl`;
    const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
    writeFileSync(file, readFileSync(file, "utf8").replace('{"parsed":"1"}', deep));
    const reasons = (await gated(honest, forged)).reasons;
    expect(reasons.find(({ code }) => code === "rewards_differ_from_scorer")).toMatchObject({
      candidate: { rows: 1, first_ids: ["ex-0"] },
    });
  });

  test.each([
    ["a prompt that is no text", (row: object) => ({ ...row, prompt: 5 })],
    ["no prompt", ({ prompt: _, ...row }: Record<string, unknown>) => row],
    ["a completion that is no text", (row: object) => ({ ...row, completion: ["Final: 1"] })],
    ["samples that are no list", (row: object) => ({ ...row, samples: { length: 1 } })],
    ["samples that are numbers", (row: object) => ({ ...row, samples: [1] })],
  ])("a row with %s is bad data, not a crash", async (_, edit) => {
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, { row: (row, i) => (i === 3 ? (edit(row) as ResultRow) : row) });
    await expect(gate({ baseline: honest, candidate: forged })).rejects.toMatchObject({
      kind: "data",
      message: expect.stringContaining("results.jsonl:4"),
    });
  });

  test("saying that the scorer is a file does not keep it from being scored again", async () => {
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, {
      row: (row, i) => (i === 30 ? { ...row, ...flipped } : row),
      manifest: (it) => ({ ...it, scorer: { ...it.scorer, path: "mine.ts" } }),
    });
    expect(codesOf(await gated(honest, forged))).toContain("rewards_differ_from_scorer");
  });

  test("honest runs are found as they were: a forgery that changes nothing, and odd examples", async () => {
    const untouched = await makeRun(root, {});
    forge(untouched, {});
    expect(codesOf(await gated(await makeRun(root, {}), untouched))).toEqual(["nothing_changed"]);
    const examples = [undefined, null, "x", 1.5, "7", [1]].map((expected_answer, i) => ({
      ...{ id: `ex-${i}`, prompt: `Compute ${i}.` },
      expected_answer,
    }));
    const completions = ["Final: 1", "", "Final: +1", "Final: 7\n", "Final: 7", "\u00a0Final: 1"];
    const odd = { examples, completions };
    expect(codesOf(await verdictFor(odd, odd))).not.toContain("rewards_differ_from_scorer");
  });

  test("a built-in whose code is not this one cannot be asked, which is noted", async () => {
    const [one, other] = [await makeRun(root, {}), await makeRun(root, {})];
    for (const run of [one, other])
      forge(run, {
        row: (row, i) => (i === 30 ? { ...row, ...flipped } : row),
        manifest: (it) => ({ ...it, scorer: { ...it.scorer, source_sha256: "0".repeat(64) } }),
      });
    const report = await gated(one, other);
    expect(codesOf(report)).toEqual(["nothing_changed"]);
    expect(report.notes.join()).toContain("The rewards could not be checked: math_final_line");
  });

  test("samples of a selection are scored again", async () => {
    const rows = examplesOf(20);
    const samples = rows.map(({ id, expected_answer: answer }, i) => ({
      id,
      samples: ["Final: 999", `Final: ${i < 10 ? answer : 999}`, "no"],
    }));
    const made = async (name: string) =>
      (
        await select({
          ...{ dataset: rows, samples, n: 2, policy: builtInPolicy("best") },
          outdir: `${root}/${name}`,
        })
      ).dir;
    const [honest, again] = [await made("selected"), await made("selected-again")];
    expect(codesOf(await gated(honest, again))).toEqual(["nothing_changed"]);
    forge(again, {
      row: (row, i) => ({
        ...row,
        samples: row.samples?.map((one, k) => (i === 15 && k === 2 ? { ...one, reward: 1 } : one)),
      }),
    });
    const reason = (await gated(honest, again)).reasons.find(
      ({ code }) => code === "rewards_differ_from_scorer",
    );
    expect(reason?.candidate).toEqual({ rows: 1, first_ids: ["ex-15"] });
  });

  test("completions are held against the hash of the answers", async () => {
    const right = firstRight(40, 30);
    const [honest, forged] = [await makeRun(root, {}), await makeRun(root, {})];
    forge(forged, {
      row: (row, i) => {
        const answer = String(row.expected_answer);
        if (i < 20 || !right[i]) return row;
        return { ...row, ...flipped, completion: `Final: ${answer}`, details: { parsed: answer } };
      },
    });
    const report = await gated(honest, forged);
    expect(codesOf(report)).toEqual(["answers_differ_from_hash"]);
    expect(report.reasons[0]).toMatchObject({
      baseline: "as recorded",
      candidate: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await editedFiles(await openRun(forged))).toEqual(["results.jsonl"]);
    expect(await editedFiles(await openRun(honest))).toEqual([]);
    const truly = await makeRun(root, { right });
    expect((await gated(honest, truly)).comparable).toBe(true);
  });
});
