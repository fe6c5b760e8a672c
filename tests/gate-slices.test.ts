/** Slices and repeated samples: what the rows keep, and what the gate makes of them. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { gateText } from "../src/cli/commands/gate.ts";
import { rngAt } from "../src/core/rng.ts";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { verdictReport } from "../src/report/gate/report.ts";
import { report } from "../src/report/report.ts";
import { gateReportSchema } from "../src/runs/gate-report.ts";
import { openRun } from "../src/runs/reader.ts";
import { resultRowSchema, summarySchema } from "../src/runs/schemas.ts";
import { pairsForEffect } from "../src/stats/power.ts";
import { wilsonInterval } from "../src/stats/wilson.ts";
import { verify } from "../src/verify/verify.ts";
import { type Conditions, examplesOf, folder, forge, makeRun } from "./gate-runs.ts";

const root = folder();
const verdictFor = async (
  baseline: Conditions,
  candidate: Conditions,
  options: Partial<GateOptions>,
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
const rowsOf = (dir: string) =>
  readFileSync(path.join(dir, "results.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => resultRowSchema.parse(JSON.parse(line)));
const summaryOf = (dir: string) =>
  summarySchema.parse(JSON.parse(readFileSync(path.join(dir, "summary.json"), "utf8")));

const SAME = ["files equal", "data equal", "answers equal", "score equal"];
const madeAgain = async (run: string) => {
  const { parts } = await verify({ run, only: ["files", "data", "answers", "score"] });
  return parts.map(({ part, status, first }) =>
    first.length === 0 ? `${part} ${status}` : `${part} ${JSON.stringify(first)}`,
  );
};

/** Three topics, of which the third has a fifth of the examples. */
const topics = (n: number) =>
  examplesOf(n).map((example, i) => ({
    ...example,
    metadata: { topic: i % 5 === 4 ? "rare" : i % 2 ? "odd" : "even" },
  }));

describe("slices of an evaluation", () => {
  test("rows keep the values, the summary has the rates, also of a field within another", async () => {
    const examples = topics(40).map((one, i) => ({
      ...one,
      hard: i < 10,
      ...(i > 30 && { tag: 3 }),
    }));
    const right = examples.map((_, i) => i % 4 !== 0);
    const dir = await makeRun(root, { examples, right, slice: ["metadata.topic", "hard", "tag"] });
    const rows = rowsOf(dir);
    expect(rows[4]?.slices).toEqual({ "metadata.topic": "rare", hard: "true", tag: "(none)" });
    const { slices } = summaryOf(dir);
    expect(slices?.tag?.map(({ value, n_examples }) => [value, n_examples])).toEqual([
      ["(none)", 31],
      ["3", 9],
    ]);
    for (const { value, n_pass, n_scored, pass_rate_ci95 } of slices?.["metadata.topic"] ?? []) {
      const own = rows.filter((row) => row.slices?.["metadata.topic"] === value);
      expect(n_scored).toBe(own.length);
      expect(n_pass).toBe(own.filter(({ reward }) => reward === 1).length);
      expect(pass_rate_ci95).toEqual(wilsonInterval(n_pass, n_scored));
    }
    expect(await madeAgain(dir)).toEqual(SAME);
  });

  test("a field that groups nothing is refused", async () => {
    await expect(makeRun(root, { examples: topics(1001), slice: ["id"] })).rejects.toThrow(
      /more than 1000 values/,
    );
  });
});

describe("slices of a comparison", () => {
  const slice = { slice: ["metadata.topic"] };
  const examples = topics(400);
  const isRare = (i: number) => i % 5 === 4;
  const base = { examples, right: examples.map((_, i) => i % 3 !== 0), ...named("a"), ...slice };
  /** Better everywhere but on the rare topic, where it fails at a half of what passed. */
  const hidden = {
    ...{ examples, ...named("b"), ...slice },
    right: examples.map((_, i) => (isRare(i) ? i % 3 === 1 : true)),
  };
  const better = { ...hidden, right: examples.map((_, i) => i % 3 !== 0 || i % 2 === 0) };

  test("a mean hides a loss, and its slice shows it", async () => {
    expect(await verdictFor(base, hidden, {})).toMatchObject({ decision: "PROMOTE" });
    const report = await verdictFor(base, hidden, { slice: "metadata.topic" });
    expect(report).toMatchObject({ decision: "REJECT", code: "slice_worse", exit_code: 1 });
    const states = report.slices?.values.map(({ value, state }) => [value, state]);
    expect(states).toEqual([
      ["even", "better"],
      ["odd", "better"],
      ["rare", "worse"],
    ]);
    const rare = report.slices?.values.find(({ value }) => value === "rare");
    expect(rare).toMatchObject({ n: 80, gained: 0 });
    // Holm by hand: each p times the number of those that are no smaller, and never below a smaller one's.
    const ps = report.slices?.values.map(({ p_value }) => p_value ?? 1).sort((a, b) => a - b) ?? [];
    const adjusted = ps.map((_, i) => Math.max(...ps.slice(0, i + 1).map((p, j) => p * (3 - j))));
    expect(report.slices?.values.map(({ p_holm }) => p_holm).sort((a, b) => a - b)).toEqual(
      adjusted,
    );
    expect(gateMarkdown(report)).toMatch(/\| rare \| 80 \| .* \| worse \|/);
    expect(await verdictFor(base, better, { slice: "metadata.topic" })).toMatchObject({
      decision: "PROMOTE",
    });
  });

  test("with a margin a loss of it is ruled out in every slice, or the verdict is open", async () => {
    const margin = { claim: "no-regression", margin: 0.05, slice: "metadata.topic" } as const;
    const same = { ...base, ...named("b") };
    const passed = await verdictFor(base, same, { ...margin });
    expect(passed).toMatchObject({ decision: "PASS", code: "loss_ruled_out" });
    const narrow = await verdictFor(base, same, { ...margin, sliceMargin: 0.03 });
    expect(narrow).toMatchObject({ decision: "INCONCLUSIVE", code: "slice_loss_not_ruled_out" });
    expect(narrow.reasons[0]?.message).toMatch(/rare .* About 1\d\d examples in each would decide/);
  });

  test("advice on the whole is given where the whole is open, not where only a slice is", async () => {
    const margin = { claim: "no-regression", margin: 0.05, slice: "metadata.topic" } as const;
    const advice = ({ notes }: { notes: string[] }) => notes.filter((one) => /use about/.test(one));
    const open = await verdictFor(
      base,
      { ...base, ...named("b") },
      { ...margin, sliceMargin: 0.03 },
    );
    expect(open.code).toBe("slice_loss_not_ruled_out");
    expect(advice(open)).toEqual([]);
    const worse = await verdictFor(base, hidden, { ...margin, margin: 0.001 });
    expect(worse).toMatchObject({ decision: "REJECT", code: "slice_worse" });
    expect(advice(worse)).toEqual([]);
  });

  test("showing a loss in one of three slices needs a third of the level, and so more examples", async () => {
    const few = {
      ...base,
      ...named("b"),
      right: base.right.map((one, i) => one && i !== 4 && i !== 9 && i !== 14),
    };
    const report = await verdictFor(base, few, {
      ...{ claim: "no-regression", margin: 0.01, slice: "metadata.topic" },
    });
    const rare = report.slices?.values.find(({ value }) => value === "rare");
    const lost = rare?.lost ?? 0;
    expect(rare).toMatchObject({ state: "loss_not_ruled_out", gained: 0 });
    const needed = (alpha: number) =>
      pairsForEffect({ effect: lost / 80, discordantShare: lost / 80, alpha });
    expect(rare?.needed).toBe(needed(0.05 / 3));
    expect(rare?.needed).toBeGreaterThan(needed(0.05) as number);
  });

  test("only another seed: a difference in a slice is noise as well", async () => {
    const warm = (seed: number) => ({
      provenance: { policy: { name: "a" }, sampling: { temperature: 1, seed } },
    });
    const report = await verdictFor(
      { ...base, ...warm(1) },
      { ...hidden, ...warm(2) },
      {
        slice: "metadata.topic",
      },
    );
    expect(report).toMatchObject({ decision: "INCONCLUSIVE", code: "only_seed_changed" });
  });

  test("slices that no run recorded are read from the data set", async () => {
    const { slice: _, ...plain } = hidden;
    const { slice: __, ...bare } = base;
    const recorded = await verdictFor(base, hidden, { slice: "metadata.topic" });
    for (const [before, after] of [
      [base, plain],
      [bare, plain],
    ] as const) {
      const report = await verdictFor(before, after, { slice: "metadata.topic" });
      expect(report.slices).toEqual(recorded.slices);
    }
    await expect(verdictFor(bare, plain, { slice: "metadata.topik" })).rejects.toThrow(
      /no example .* has the field "metadata.topik"/,
    );
  });

  test("from either data set, as long as it is what the run used", async () => {
    const { slice: _, ...plain } = hidden;
    const [baseline, candidate] = [await makeRun(root, plain), await makeRun(root, plain)];
    const asked = { baseline, candidate, slice: "metadata.topic" };
    rmSync(`${baseline}.dataset.jsonl`);
    expect((await gate(asked)).slices?.values).toHaveLength(3);
    writeFileSync(`${candidate}.dataset.jsonl`, "{}\n");
    await expect(gate(asked)).rejects.toThrow(/no slices by "metadata.topic", and its data set/);
  });

  test("repeated samples have the slice of their example", async () => {
    const examples = topics(40);
    const packs = (right: number) => examples.map((_, i) => Array<boolean>(3).fill(i < right));
    const report = await verdictFor(
      { examples, packs: packs(20), ...named("a") },
      { examples, packs: packs(39), ...named("b") },
      { slice: "metadata.topic" },
    );
    const counts = report.slices?.values.map(({ n }) => n) ?? [];
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(120);
    expect(counts.every((n) => n % 3 === 0)).toBe(true);
  });

  test("without --slice, slices that both runs have are named", async () => {
    const note = (notes: readonly string[]) => notes.filter((line) => line.includes("--slice"));
    expect(note((await verdictFor(base, hidden, {})).notes)).toEqual([
      "Both runs have slices by metadata.topic. To compare each slice, add --slice metadata.topic.",
    ]);
    const { slice: _, ...plain } = hidden;
    expect(note((await verdictFor(base, plain, {})).notes)).toEqual([]);
    expect(note((await verdictFor(base, hidden, { slice: "metadata.topic" })).notes)).toEqual([]);
  });

  test("what was found about a slice is said in the table and as a reason", async () => {
    const all = { ...base, right: base.examples.map(() => true), ...named("b") };
    const better = await verdictFor(base, all, { slice: "metadata.topic" });
    expect(better.decision).toBe("PROMOTE");
    expect(better.slices?.values.map(({ state }) => state)).toContain("better");
    expect(better.reasons.map(({ code }) => code)).toEqual(["improvement", "no_slice_worse"]);
    const passed = await verdictFor(base, all, { slice: "metadata.topic", margin: 0.1 });
    expect(passed.reasons.map(({ code }) => code)).toEqual([
      "loss_ruled_out",
      "slice_losses_ruled_out",
    ]);
    const text = gateText(
      await verdictFor(base, all, { slice: "metadata.topic", sliceMargin: 0.3 }),
    );
    expect(text).toContain("A loss of 0.3 or more must be ruled out in every slice.");
    expect(text).toMatch(/even .* better/);
    const same = await verdictFor(base, base, { slice: "metadata.topic", margin: 0.01 });
    expect(same.slices?.values.map(({ state }) => state)).toEqual(Array(3).fill("unchanged"));
    expect(same.decision).toBe("PASS");
  });

  test("rows that say another slice are refused", async () => {
    const dir = await makeRun(root, hidden);
    forge(dir, {
      row: (row, i) => (i === 4 ? { ...row, slices: { "metadata.topic": "odd" } } : row),
    });
    const report = await gate({ baseline: await makeRun(root, base), candidate: dir });
    expect(report.exit_code).toBe(3);
    expect(report.reasons.map(({ code }) => code)).toEqual(["run_edited", "slices_altered"]);
  });
});

describe("repeated samples", () => {
  const examples = examplesOf(60);
  /** Each example has a chance of its own, so that samples of one are alike. */
  const packs = (seed: number, k: number, gain = 0) =>
    examples.map(({ id }) => {
      const skill = rngAt("skill", id).next() < 0.5 ? 0.05 : 0.9;
      return Array.from(
        { length: k },
        (_, i) => rngAt(seed, id, i).next() < Math.min(1, skill + gain),
      );
    });

  test("a row for each sample, an interval over examples, and verification makes them again", async () => {
    const dir = await makeRun(root, { examples, packs: packs(1, 5) });
    const rows = rowsOf(dir);
    expect(rows).toHaveLength(300);
    expect(rows.slice(4, 6).map(({ id, sample }) => [id, sample])).toEqual([
      ["ex-0", 4],
      ["ex-1", 0],
    ]);
    const { metrics } = summaryOf(dir);
    expect(metrics).toMatchObject({ repeats: 5, n_examples: 300 });
    const [low, high] = metrics.pass_rate_ci95 as [number, number];
    const [from, to] = wilsonInterval(metrics.n_pass, 300) as [number, number];
    expect(high - low, "wider than if samples were independent").toBeGreaterThan(1.5 * (to - from));
    expect((await openRun(dir)).manifest.examples.count).toBe(60);
    expect(await madeAgain(dir)).toEqual(SAME);
  });

  test("a sample that is not there is missing, and the gate refuses the run", async () => {
    const short = packs(1, 3).map((pack, i) => (i === 7 ? pack.slice(0, 2) : pack));
    const report = await verdictFor(
      { examples, packs: packs(2, 3) },
      { examples, packs: short },
      {},
    );
    expect(report.reasons.map(({ code }) => code)).toEqual(["missing_completions"]);
  });

  test("examples are counted, not samples; the report says which estimate it is", async () => {
    const report = await verdictFor(
      { examples, packs: packs(1, 8), ...named("a") },
      { examples, packs: packs(2, 8, 0.2), ...named("b") },
      {},
    );
    expect(report).toMatchObject({ decision: "PROMOTE", test: "cluster_betting", repeats: 8 });
    expect(report.effective_examples).toBe(60);
    expect(gateMarkdown(report)).toContain("mean of 8 samples for each example");
  });

  test("one lucky draw does not decide: eight samples find no difference where one found one", async () => {
    const draws = (side: string, first: number) =>
      examples.map(({ id }, i) => [
        i < first,
        ...Array.from({ length: 7 }, (_, j) => rngAt(side, id, j).next() < 0.5),
      ]);
    const [plain, lucky] = [draws("plain", 20), draws("lucky", 40)];
    const one = (of: boolean[][]) => of.map(([first]) => first as boolean);
    const [a, b] = [named("a"), named("b")];
    const single = await verdictFor(
      { examples, right: one(plain), ...a },
      { examples, right: one(lucky), ...b },
      {},
    );
    expect(single.decision).toBe("PROMOTE");
    const all = await verdictFor(
      { examples, packs: plain, ...a },
      { examples, packs: lucky, ...b },
      { minDelta: 0.02 },
    );
    expect(all.decision).not.toBe("PROMOTE");
  });

  const grouped = (of: (i: number) => string, n: number) =>
    examplesOf(n).map((one, i) => ({ ...one, group: of(i) }));

  test("a slice of 8 prompts with 10 equal samples each counts 8: it neither rejects nor passes", async () => {
    const examples = grouped((i) => (i < 8 ? "few" : "many"), 208);
    const side = (name: string, right: (i: number) => boolean) => ({
      ...{ examples, slice: ["group"], ...named(name) },
      packs: examples.map((_, i) => Array<boolean>(10).fill(right(i))),
    });
    const options = { claim: "no-regression", margin: 0.04, slice: "group" } as const;
    const few = (report: Awaited<ReturnType<typeof verdictFor>>) =>
      report.slices?.values.find(({ value }) => value === "few");
    const same = await verdictFor(
      side("a", () => true),
      side("b", () => true),
      options,
    );
    expect(few(same)).toMatchObject({ n: 80, prompts: 8, state: "loss_not_ruled_out" });
    expect(same.code).toBe("slice_loss_not_ruled_out");
    expect(same.reasons[0]?.message).toMatch(
      /few \(\+0\.0000, 8 prompts, 80 rows\)\. About \d+ different prompts in each/,
    );
    expect(gateMarkdown(same)).toContain("| few | 80 (8 prompts) |");
    // 20 of 80 rows lost would be significant; they are two prompts.
    const lost = await verdictFor(
      side("a", () => true),
      side("b", (i) => i > 1),
      options,
    );
    expect(few(lost)).toMatchObject({ lost: 20, state: "loss_not_ruled_out" });
    expect(few(lost)?.p_value).toBeGreaterThan(0.5);
  });

  test("another number of samples is another measurement", async () => {
    const report = await verdictFor(
      { examples, packs: packs(1, 3) },
      { examples, packs: packs(1, 4) },
      {},
    );
    expect(report.reasons.map(({ code }) => code)).toContain("repeats_differ");
  });
});

test("pages show the slices of an evaluation and of a verdict", async () => {
  const examples = topics(60);
  const slice = ["metadata.topic"];
  const [baseline, candidate] = [
    await makeRun(root, { examples, slice, ...named("a") }),
    await makeRun(root, { examples, slice, right: examples.map(() => true), ...named("b") }),
  ];
  const { html } = await report({ runs: [baseline] });
  expect(html).toMatch(/id="slices"[\s\S]*metadata\.topic[\s\S]*rare[\s\S]*12/);
  const verdict = await gate({ baseline, candidate, slice: "metadata.topic" });
  expect((await verdictReport({ verdict })).html).toMatch(
    /id="slices"[\s\S]*p \(Holm\)[\s\S]*rare/,
  );
  const plain = await verdictReport({ verdict: await gate({ baseline, candidate }) });
  expect(plain.html).not.toContain('id="slices"');
});
