import { describe, expect, test } from "vitest";
import { passAtK } from "../src/stats/pass-at-k.ts";
import { DEV, EXIT, expectError, gate, ROOT, Workspace } from "./cli.ts";

const PACK = `${ROOT}data/rollouts/selection_pack_dev.jsonl`;

async function selected(workspace: Workspace, outdir: string, flags: string[] = []) {
  const named = (flag: string, value: string) => (flags.includes(flag) ? [] : [flag, value]);
  const result = await workspace.run([
    "selection-demo",
    ...named("--dataset", DEV),
    ...named("--samples", PACK),
    ...named("--n", "4"),
    "--outdir",
    outdir,
    ...flags,
  ]);
  return result;
}

async function made(workspace: Workspace, outdir: string, flags: string[] = []) {
  const result = await selected(workspace, outdir, flags);
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok });
  return { ...workspace.readRun(outdir), stdout: result.stdout };
}

describe("selection-demo", () => {
  test("metrics can be recomputed from the rows", async () => {
    const workspace = new Workspace();
    const { rows, summary } = await made(workspace, "n4");
    const passed = (reward: number | null | undefined) => reward === 1;
    const rate = (holds: (row: (typeof rows)[number]) => boolean) =>
      rows.filter(holds).length / rows.length;
    const metrics = summary.metrics as Record<string, unknown>;
    expect(metrics.pass_at_1).toBe(rate((row) => passed(row.samples?.[0]?.reward)));
    expect(metrics.pass_at_n).toBe(
      rate((row) => (row.samples ?? []).slice(0, 4).some(({ reward }) => passed(reward))),
    );
    expect(metrics.delta).toBeCloseTo(
      (metrics.pass_at_n as number) - (metrics.pass_at_1 as number),
      12,
    );
    expect(metrics.rescued).toBe(
      rows.filter((row) => !passed(row.baseline?.reward) && passed(row.selected?.reward)).length,
    );
    for (const { k, value, packs } of metrics.pass_at_k as {
      k: number;
      value: number;
      packs: number;
    }[]) {
      const each = rows.map(
        ({ samples = [] }) =>
          passAtK(
            samples.length,
            samples.filter(({ reward }) => passed(reward)).length,
            k,
          ) as number,
      );
      expect(value).toBeCloseTo(each.reduce((a, b) => a + b) / each.length, 12);
      expect(packs).toBe(240);
    }
    for (const row of rows) {
      expect(row.completion).toBe(row.samples?.[row.selected?.index ?? -1]?.completion);
      expect(row.selected?.index).toBeLessThan(4);
      expect(row.baseline?.index).toBe(0);
      expect(row.samples).toHaveLength(8);
    }
  });

  test("inspect-run says which of the n samples was selected, not of the whole pack", async () => {
    const workspace = new Workspace();
    for (const n of ["1", "4"]) {
      const { stdout } = await made(workspace, `n${n}`, ["--n", n]);
      expect(stdout).toContain(
        n === "1" ? "the first sample of 240" : "the first 4 samples of 240",
      );
      const shown = await workspace.run(["inspect-run", "--run", `n${n}`, "--show", "50"]);
      const told = [...shown.stdout.matchAll(/^ +selected +(.*)$/gm)].map(([, text]) => text);
      expect(told).toContain(`sample 1 of ${n}, the first`);
      expect(told.filter((text) => !text?.includes(` of ${n}`))).toEqual([]);
      expect(told.some((text) => /^sample 3 of 4; the first was \w+$/.test(text ?? ""))).toBe(
        n === "4",
      );
    }
  });

  test("is the same bytes again, for any number of threads, with a chart", async () => {
    const workspace = new Workspace();
    const [one, two] = [await made(workspace, "a"), await made(workspace, "b", ["--jobs", "2"])];
    expect(two.results).toBe(one.results);
    expect(two.summaryText).toBe(one.summaryText);
    expect(workspace.read("a/pass_at_k.svg")).toContain("<svg");
    expect(workspace.snapshot("a")["pass_at_k.png"]).toBe(workspace.snapshot("b")["pass_at_k.png"]);
    expect(workspace.snapshot("a")["pass_at_k.png"]?.slice(1, 4)).toBe("PNG");
  });

  test("n = 1 against n = 4 is selection, in words; as a claim of policy it is refused", async () => {
    const workspace = new Workspace();
    await made(workspace, "n1", ["--n", "1"]);
    await made(workspace, "n4");
    const verdict = await gate(workspace, "n1", "n4");
    expect(verdict).toMatchObject({
      code: 0,
      decision: "PROMOTE",
      comparable: true,
      knobs: ["selection"],
    });
    expect(verdict.notes.join()).toContain("the policy's distribution is unchanged");
    const claimed = await gate(workspace, "n1", "n4", "--claim", "policy");
    expect(claimed).toMatchObject({ code: 1, decision: "REJECT" });
    expect(claimed.codes[0]).toBe("claim_mismatch");
    expect(await gate(workspace, "n1", "n4", "--claim", "selection")).toMatchObject({ code: 0 });
  });

  test("short, empty, missing and unknown packs are counted and reported", async () => {
    const workspace = new Workspace();
    const ids = ["a", "b", "c", "d"];
    workspace.jsonl(
      "d.jsonl",
      ids.map((id, i) => ({ id, prompt: "p", expected_answer: i })),
    );
    workspace.jsonl("p.jsonl", [
      { id: "a", samples: ["Final: 0", "x", "x"] },
      { id: "b", samples: ["no", { completion: "Final: 1" }] },
      { id: "c", samples: [] },
      { id: "zz", samples: ["x"] },
    ]);
    const { summary, rows, stdout } = await made(workspace, "r", [
      "--dataset",
      "d.jsonl",
      "--samples",
      "p.jsonl",
      "--n",
      "3",
    ]);
    expect(summary.metrics).toMatchObject({
      n_short_packs: 1,
      n_empty_packs: 1,
      n_missing: 2,
      n_scored: 2,
      pass_at_1: 0.5,
      pass_at_n: 1,
    });
    expect(summary.unknown_completions).toEqual({ count: 1, first_ids: ["zz"] });
    expect(rows.map(({ outcome_code }) => outcome_code)).toEqual([
      "ok",
      "ok",
      "missing_completion",
      "missing_completion",
    ]);
    expect(stdout).toContain("1 examples have fewer than 3 samples");
    expect(stdout).toContain("1 examples have no samples");
    expect(summary.metrics.pass_at_k).toEqual([
      { k: 1, value: (1 / 3 + 1 / 2) / 2, packs: 2 },
      { k: 2, value: (2 / 3 + 1) / 2, packs: 2 },
      { k: 3, value: 1, packs: 1 },
    ]);
  });

  test("other rules choose otherwise and are another knob setting", async () => {
    const workspace = new Workspace();
    const best = await made(workspace, "best");
    const majority = await made(workspace, "majority", ["--rule", "majority"]);
    expect(majority.summary.metrics.pass_rate).toBeLessThan(
      best.summary.metrics.pass_rate as number,
    );
    expect(majority.summary.alarms).toEqual([]);
    const lost = majority.rows.filter(
      ({ baseline, selected }) => baseline?.reward === 1 && selected?.reward === 0,
    ).length;
    expect(lost).toBeGreaterThan(0);
    expect(majority.summary.metrics.lost).toBe(lost);
    expect((await made(workspace, "first", ["--rule", "first-valid"])).summary.alarms).toEqual([]);
    expect((await gate(workspace, "majority", "best")).knobs).toEqual(["selection"]);
  });
});

describe("a user's policy", () => {
  const RANDOM =
    "export function tieBreakKey(sample) { return [Math.random(), sample.completion]; }";
  const FIXED = `export function tieBreakKey(sample: { completion: string; sum_logprob: number | null }) {
    return [sample.sum_logprob === null ? 0 : -sample.sum_logprob, sample.completion.length, sample.completion];
  }`;

  test("with a random tie-break: five runs, differing hashes, flagged, and refused by the gate", {
    timeout: 120_000,
  }, async () => {
    const workspace = new Workspace();
    workspace.write("random.ts", RANDOM);
    workspace.write("fixed.ts", FIXED);
    const runs = await Promise.all(
      [1, 2, 3, 4, 5].map((i) => made(workspace, `random_${i}`, ["--policy", "random.ts"])),
    );
    expect(new Set(runs.map(({ summary }) => summary.results_sha256)).size).toBe(5);
    for (const { summary, stdout } of runs) {
      expect(summary.alarms.map(({ code }) => code)).toEqual(["nondeterministic_selection"]);
      expect(stdout).toContain("nondeterministic_selection");
    }
    expect(workspace.read("random_1/README.md")).toContain("nondeterministic_selection");
    const verdict = await gate(workspace, "random_1", "random_2");
    expect(verdict).toMatchObject({ code: 3, comparable: false });
    expect(verdict.codes).toContain("nondeterministic_selection");
    const [one, two] = [
      await made(workspace, "fixed_1", ["--policy", "fixed.ts"]),
      await made(workspace, "fixed_2", ["--policy", "fixed.ts"]),
    ];
    expect(one.results).toBe(two.results);
    expect(one.summary.alarms).toEqual([]);
    expect(one.manifest.selection).toMatchObject({
      rule: "tieBreakKey",
      source_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("pickBest sees the samples and the scores, and may return a sample or its place", async () => {
    const workspace = new Workspace();
    const reference = await made(workspace, "reference");
    workspace.write(
      "place.ts",
      `export function pickBest(example, samples, score) {
        const rewards = samples.map((s) => score(example, s.completion).reward);
        const best = Math.max(...rewards);
        const key = (s) => [s.sum_logprob === null ? 1 : 0, -(s.sum_logprob ?? 0), s.completion.length];
        return samples.filter((_, i) => rewards[i] === best).sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || (a.completion < b.completion ? -1 : 1);
        })[0];
      }`,
    );
    expect((await made(workspace, "same", ["--policy", "place.ts"])).results).toBe(
      reference.results,
    );
    workspace.write(
      "first.ts",
      "export const pickBest = (example, samples) => samples.findIndex((s) => s.index === 0);",
    );
    const first = await made(workspace, "first", ["--policy", "first.ts"]);
    expect(first.summary.metrics).toMatchObject({ delta: 0, rescued: 0 });
    expect(first.summary.alarms).toEqual([]);
    workspace.write("order.ts", "export const pickBest = () => 0;");
    expect((await made(workspace, "order", ["--policy", "order.ts"])).summary.alarms[0]?.code).toBe(
      "nondeterministic_selection",
    );
  });

  test.each([
    [
      "a total order on reward and text",
      "export const pickBest = (e, s, score) => [...s].sort((a, b) => score(b).reward - score(a).reward || (a.completion < b.completion ? -1 : 1))[0];",
    ],
    [
      "a list sorted in place",
      "export const pickBest = (e, s) => { s.sort((a, b) => b.reward - a.reward || (a.completion < b.completion ? -1 : 1)); return s[0]; };",
    ],
    [
      "copies of the samples",
      "export const pickBest = (e, s) => s.map((x) => ({ ...x })).sort((a, b) => b.reward - a.reward || (a.completion < b.completion ? -1 : 1))[0];",
    ],
    [
      "an instance of a class",
      "class P { w = 1; tieBreakKey(s) { return [s.completion.length * this.w, s.completion]; } }\nexport default new P();",
    ],
  ])("that works with %s is as good as any", async (_, source) => {
    const workspace = new Workspace();
    workspace.write("p.ts", source);
    const { summary } = await made(workspace, "r", ["--policy", "p.ts"]);
    expect(summary.alarms).toEqual([]);
    expect(summary.metrics.pass_at_n).toBeGreaterThan(0.8);
  });

  test.each([
    ["throws", "export const tieBreakKey = () => { throw new Error('boom'); };", "boom"],
    ["gives no key", "export const tieBreakKey = () => undefined;", "numbers and texts"],
    ["gives NaN", "export const tieBreakKey = () => [NaN];", "numbers and texts"],
    ["picks nobody", "export const pickBest = () => 99;", "a sample or its place"],
    ["never returns", "export const pickBest = () => { for (;;); };", "did not return"],
    ["exports nothing", "export const x = 1;", "neither tieBreakKey nor pickBest"],
    ["does not parse", "export const = ;", "does not load"],
  ])("that %s fails with a sentence and leaves no run", async (_, source, message) => {
    const workspace = new Workspace();
    workspace.write("p.ts", source);
    const result = await selected(workspace, "r", ["--policy", "p.ts"]);
    expectError(result, EXIT.data, message);
    expect(workspace.has("r/summary.json")).toBe(false);
  });
});

test.each([
  [["--n", "0"], "whole number from 1"],
  [["--n", "x"], "whole number from 1"],
  [["--n", "1.5"], "whole number from 1"],
  [["--rule", "worst"], "best"],
  [["--policy", "nowhere.ts"], "no policy"],
])("%j is wrong usage", async (flags, message) => {
  expectError(await selected(new Workspace(), "r", flags), EXIT.usage, message);
});
