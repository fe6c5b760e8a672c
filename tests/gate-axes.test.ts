/** The gate and the axes: a rise of the main reward does not hide the fall of something else. */

import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { axisLines } from "../src/cli/axis-text.ts";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { gateMarkdown } from "../src/gate/render.ts";
import { verdictReport } from "../src/report/gate/report.ts";
import { report } from "../src/report/report.ts";
import { gateReportSchema } from "../src/runs/gate-report.ts";
import type { ResultRow } from "../src/runs/schemas.ts";
import { verifyBoth } from "../src/verify/gate-checks.ts";
import { type Conditions, examplesOf, folder, forge, makeRun } from "./gate-runs.ts";

const root = folder();
const N = 240;
const examples = examplesOf(N);
/** Rewards the right number anywhere in the completion. */
const scorer = scorerFile(
  "contains",
  'const ok = completion.match(/\\d+/g)?.includes(String(example.expected_answer));\nreturn { reward: ok ? 1 : 0, code: ok ? "ok" : "wrong", details: {} };',
);
const AXES = [{ name: "verbosity" }, { name: "safety" }, { name: "refusal" }];
const PADDING = `${"as we said and as we will say again, ".repeat(40)}so `;

function scorerFile(name: string, body: string, more = ""): string {
  const file = path.join(root, `${name}.ts`);
  const about = `export const name = "${name}";\nexport const version = "1";\nexport const spec = "x";\n${more}`;
  const head =
    "export function score(example: { id: string; expected_answer: number }, completion: string)";
  writeFileSync(file, `${about}${head} {\n${body}\n}\n`);
  return file;
}

const answer = (i: number, right: boolean) => `It is ${right ? i + 1 : 999999}.`;
const policy = (name: string) => ({ provenance: { policy: { name } } });
const old = (more: Partial<Conditions> = {}) =>
  makeRun(root, {
    ...{ examples, scorer, axes: AXES, ...policy("old") },
    completions: examples.map((_, i) => answer(i, i % 10 < 6)),
    ...more,
  });
/** Better by a tenth; `change` may spoil what the reward does not measure. */
const better = (change: (text: string, i: number) => string, more: Partial<Conditions> = {}) =>
  makeRun(root, {
    ...{ examples, scorer, axes: AXES, ...policy("new") },
    completions: examples.map((_, i) => change(answer(i, i % 10 < 7 || i % 20 === 7), i)),
    ...more,
  });
const same = (text: string) => text;
/** The axis under another name, in manifest and rows. */
const renaming = (from: string, to: string): Parameters<typeof forge>[1] => ({
  manifest: (it) => ({
    ...it,
    axes: it.axes?.map((axis) => (axis.name === from ? { ...axis, name: to } : axis)),
  }),
  row: ({ axes = {}, ...row }) => {
    const scores = Object.entries(axes).map(([name, score]) => [name === from ? to : name, score]);
    return { ...row, axes: Object.fromEntries(scores) };
  },
});
const verdictFor = async (
  baseline: string,
  candidate: string,
  options: Partial<GateOptions> = {},
) => {
  const verdict = await gate({ baseline, candidate, claim: "policy", ...options });
  expect(gateReportSchema.parse(verdict)).toEqual(verdict);
  return { ...verdict, code: verdict.reasons[0]?.code };
};
const stateOf = (verdict: Awaited<ReturnType<typeof verdictFor>>, name: string) =>
  verdict.axes?.values.find((one) => one.name === name);

describe("what the main reward misses", () => {
  const spoiled = [
    ["verbosity", (text: string, i: number) => (i % 4 === 0 ? PADDING + text : text)],
    ["safety", (text: string, i: number) => (i % 8 === 0 ? `${text} Ask bob@mail.net.` : text)],
  ] as const;

  test.each(spoiled)("the candidate is better, and worse on %s: refused", async (name, change) => {
    const [baseline, candidate] = [await old(), await better(change)];
    const refused = await verdictFor(baseline, candidate);
    expect(refused).toMatchObject({ decision: "REJECT", code: "refused_by_axis", exit_code: 1 });
    expect(refused.delta).toBeGreaterThan(0);
    expect(refused.axes).toMatchObject({ without_axes: "PROMOTE", refused_by: [name] });
    expect(stateOf(refused, name)).toMatchObject({ state: "worse", margin: 0.02, n: N });
    expect(refused.reasons.map(({ code }) => code)).toContain("improvement");
  });

  test("without axes the same completions are promoted", async () => {
    const [baseline, candidate] = [
      await old({ axes: [] }),
      await better(spoiled[0][1], { axes: [] }),
    ];
    const verdict = await verdictFor(baseline, candidate);
    expect(verdict).toMatchObject({ decision: "PROMOTE", code: "improvement" });
    expect(verdict.axes).toBeUndefined();
  });

  test("a candidate that keeps its axes is promoted, with the axes on record", async () => {
    const verdict = await verdictFor(await old(), await better(same));
    expect(verdict).toMatchObject({ decision: "PROMOTE", code: "improvement" });
    expect(verdict.axes).toMatchObject({ without_axes: "PROMOTE", refused_by: [] });
    expect(verdict.axes?.values.map(({ state }) => state)).toEqual(Array(3).fill("loss_ruled_out"));
  });

  test("a claim of no regression is refused by an axis as well", async () => {
    const [baseline, candidate] = [await old(), await better(spoiled[0][1])];
    const options = { claim: "no-regression", margin: 0.05 } as const;
    expect(await verdictFor(baseline, candidate, options)).toMatchObject({
      decision: "REJECT",
      code: "refused_by_axis",
      axes: { without_axes: "PASS" },
    });
    expect(await verdictFor(baseline, await better(same), options)).toMatchObject({
      decision: "PASS",
    });
  });
});

describe("margins", () => {
  const two = (text: string, i: number) => (i < 2 ? `${text} Ask bob@mail.net.` : text);

  test("a margin of 0 asks that no row loses; a wide one allows it", async () => {
    const [baseline, candidate] = [await old(), await better(two)];
    const strict = await verdictFor(baseline, candidate, { axisMargins: { safety: 0 } });
    expect(strict).toMatchObject({ decision: "INCONCLUSIVE", code: "axis_loss_not_ruled_out" });
    expect(stateOf(strict, "safety")).toMatchObject({
      state: "loss_not_ruled_out",
      lost: 2,
      margin: 0,
    });
    const wide = await verdictFor(baseline, candidate, { axisMargin: 0.05 });
    expect(wide).toMatchObject({ decision: "PROMOTE" });
    expect(stateOf(wide, "safety")).toMatchObject({ state: "loss_ruled_out", margin: 0.05 });
    const kept = await verdictFor(baseline, await better(same), { axisMargins: { safety: 0 } });
    expect(kept.decision).toBe("PROMOTE");
  });

  test("with too few examples a loss is not ruled out, and the number that would do is named", async () => {
    const few = { examples: examples.slice(0, 60) };
    const right = (k: number) => few.examples.map((_, i) => answer(i, i < k));
    const verdict = await verdictFor(
      await old({ ...few, completions: right(20) }),
      await better(same, { ...few, completions: right(50) }),
    );
    expect(verdict).toMatchObject({ decision: "INCONCLUSIVE", code: "axis_loss_not_ruled_out" });
    expect(stateOf(verdict, "safety")?.needed).toBeGreaterThan(60);
    expect(verdict.axes?.refused_by).toEqual([]);
  });

  test("rewards on a small scale have a small margin, and a margin of the whole scale is refused", async () => {
    const tiny = scorerFile(
      "tiny",
      'const ok = completion.length < 200;\nreturn { reward: ok ? 0.01 : 0, code: ok ? "brief" : "long", details: {} };',
      "export const range = [0, 0.01];\n",
    );
    const axes = [{ name: "tiny", scorer: tiny }];
    const long = (text: string, i: number) => (i % 4 === 0 ? PADDING + text : text);
    const [baseline, candidate] = [await old({ axes }), await better(long, { axes })];
    const refused = await verdictFor(baseline, candidate);
    expect(refused).toMatchObject({ decision: "REJECT", code: "refused_by_axis" });
    expect(stateOf(refused, "tiny")).toMatchObject({ margin: 0.0002, state: "worse" });
    for (const margin of [0.02, 0.01])
      await expect(verdictFor(baseline, candidate, { axisMargin: margin })).rejects.toThrow(
        /allows any loss: its rewards span 0\.01/,
      );
    const kept = await verdictFor(baseline, await better(same, { axes }));
    expect(stateOf(kept, "tiny")?.delta).toBe(0);
    expect(kept.axes?.refused_by).toEqual([]);
  });

  test("a loss that is shown is not called ruled out because a wide margin allows it", async () => {
    const long = (text: string, i: number) => (i % 4 === 0 ? PADDING + text : text);
    const wide = await verdictFor(await old(), await better(long), {
      axisMargins: { verbosity: 0.5 },
    });
    expect(wide.decision).toBe("PROMOTE");
    expect(stateOf(wide, "verbosity")?.state).toBe("worse_within_margin");
    expect(stateOf(wide, "safety")?.state).toBe("loss_ruled_out");
    expect(gateMarkdown(wide)).toContain("worse within margin");
    expect(axisLines(wide).every((line) => line.length <= 80)).toBe(true);
  });

  test("a margin of an axis that is not there, or that is no margin, is refused", async () => {
    const [baseline, candidate] = [await old(), await better(same)];
    await expect(verdictFor(baseline, candidate, { axisMargins: { charm: 0 } })).rejects.toThrow(
      /charm/,
    );
    await expect(verdictFor(baseline, candidate, { axisMargin: -1 })).rejects.toThrow(/0 or more/);
  });
});

describe("the axes must be the same instruments", () => {
  test("an axis that one run lacks refuses the comparison: it cannot be left out", async () => {
    const verdict = await verdictFor(await old(), await better(same, { axes: AXES.slice(0, 2) }));
    expect(verdict).toMatchObject({ decision: "REJECT", code: "axis_missing", exit_code: 3 });
    expect(verdict.reasons[0]).toMatchObject({
      baseline: "refusal, safety, verbosity",
      candidate: "safety, verbosity",
    });
  });

  test("another scorer under the same name refuses it", async () => {
    const generous = scorerFile("verbosity", 'return { reward: 1, code: "fine", details: {} };');
    const verdict = await verdictFor(
      await old({ axes: [{ name: "short", scorer: "verbosity" }] }),
      await better(same, { axes: [{ name: "short", scorer: generous }] }),
    );
    expect(verdict).toMatchObject({ code: "axis_differs", exit_code: 3 });
  });

  test("the name of an embedded axis is taken by no other scorer, in eval and in the gate", async () => {
    const generous = scorerFile("safety", 'return { reward: 1, code: "clean", details: {} };');
    await expect(old({ axes: [{ name: "safety", scorer: generous }] })).rejects.toThrow(
      /the name safety is reserved for the embedded axis/,
    );
    const axes = [{ name: "mine", scorer: generous }];
    const [baseline, candidate] = [await old({ axes }), await better(same, { axes })];
    expect((await verdictFor(baseline, candidate)).decision).toBe("PROMOTE");
    for (const run of [baseline, candidate]) forge(run, renaming("mine", "safety"));
    expect(await verdictFor(baseline, candidate)).toMatchObject({
      code: "axis_code_unknown",
      exit_code: 3,
    });
    const { html } = await report({ runs: [candidate] });
    expect(html).toContain("embedded axis safety, on these rows");
  });

  test.each(["constructor", "valueOf", "toString"])("%s is a name like any other", async (name) => {
    const brief = scorerFile(
      "brief",
      'const ok = completion.length < 200;\nreturn { reward: ok ? 1 : 0, code: ok ? "brief" : "long", details: {} };',
    );
    const axes = [{ name, scorer: brief }];
    const baseline = await old({ axes });
    const options = { axisMargins: {} };
    const kept = await verdictFor(baseline, await better(same, { axes }), options);
    expect(kept.decision).toBe("PROMOTE");
    expect(stateOf(kept, name)).toMatchObject({ margin: 0.02, state: "loss_ruled_out" });
    const long = await better((text, i) => (i % 4 === 0 ? PADDING + text : text), { axes });
    expect((await verdictFor(baseline, long, options)).code).toBe("refused_by_axis");
  });

  test("an axis that failed on a row refuses it, whatever the mean of the others", async () => {
    const broken = scorerFile(
      "broken",
      'if (example.id === "ex-7") throw new Error("no");\nreturn { reward: 1, code: "ok", details: {} };',
    );
    const axes = [{ name: "mine", scorer: broken }];
    const verdict = await verdictFor(await old({ axes }), await better(same, { axes }));
    expect(verdict).toMatchObject({ code: "axis_errors", exit_code: 3 });
    expect(verdict.reasons[0]).toMatchObject({ baseline: 1, candidate: 1 });
  });

  test("an axis with rewards of any size needs a declared range to rule out a loss", async () => {
    const body = 'return { reward: 0.5, code: "half", details: {} };';
    const run = async (file: string) => {
      const axes = [{ name: "size", scorer: file }];
      return verdictFor(await old({ axes }), await better(same, { axes }));
    };
    const without = await run(scorerFile("size", body));
    expect(without.decision).toBe("INCONCLUSIVE");
    expect(without.notes.join(" ")).toContain("declares no `range`");
    const ranged = await run(scorerFile("sized", body, "export const range = [0, 1];\n"));
    expect(ranged.decision).toBe("PROMOTE");
  });
});

test("rewards on an axis beyond its declared range refuse the comparison", async () => {
  const file = scorerFile(
    "ranged",
    'return { reward: completion.length / 4, code: "length", details: {} };',
    "export const range = [0, 100];\n",
  );
  const axes = [{ name: "length", scorer: file }];
  const [baseline, candidate] = [await old({ axes }), await better(same, { axes })];
  const within = await verdictFor(baseline, candidate);
  expect(within.comparable).toBe(true);
  // An evaluation refuses such a reward; a row that was edited can have it.
  forge(candidate, {
    row: (row) => ({ ...row, axes: { length: { reward: 1000, code: "length" } } }),
  });
  const beyond = await verdictFor(baseline, candidate);
  expect(beyond).toMatchObject({ code: "axis_rewards_out_of_range", exit_code: 3 });
  expect(beyond.reasons[0]?.message).toMatch(/axis length, but the scorer declares 0 to 100\.$/);
});

describe("edited axes", () => {
  const whitewash = (row: ResultRow) => {
    for (const one of Object.values(row.axes ?? {}))
      if (one.reward !== 1) Object.assign(one, { reward: 1, code: "clean" });
    return row;
  };
  const verbose = (text: string, i: number) => (i % 4 === 0 ? PADDING + text : text);

  test("the gate scores embedded axes again", async () => {
    const [baseline, candidate] = [await old(), await better(verbose)];
    forge(candidate, { row: whitewash });
    const verdict = await verdictFor(baseline, candidate);
    expect(verdict).toMatchObject({
      decision: "REJECT",
      code: "axis_rewards_differ",
      exit_code: 3,
    });
    expect(verdict.reasons[0]?.candidate).toMatchObject({ rows: 60 });
  });

  test("a score that claims to be a failure is no measurement", async () => {
    const [baseline, candidate] = [await old(), await better(verbose)];
    forge(candidate, {
      row(row) {
        for (const one of Object.values(row.axes ?? {}))
          if (one.reward !== 1) Object.assign(one, { reward: 1, code: "scorer_error" });
        return row;
      },
    });
    const codes = (await verdictFor(baseline, candidate)).reasons.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["axis_errors", "axis_rewards_differ"]));
  });

  test("labels that one run adds to its rows are another example", async () => {
    const [baseline, candidate] = [await old(), await better(verbose)];
    forge(candidate, {
      row(row) {
        if (row.axes?.verbosity?.reward === 1) return row;
        const verbosity = { reward: 1, code: "within_budget" };
        return { ...row, axes: { ...row.axes, verbosity }, axis_labels: { max_words: 5000 } };
      },
    });
    const verdict = await verdictFor(baseline, candidate);
    expect(verdict).toMatchObject({ code: "axis_labels_altered", exit_code: 3 });
    const labelled = {
      examples: examples.map((one) => ({ ...one, axis_labels: { max_words: 5000 } })),
    };
    const honest = await verdictFor(await old(labelled), await better(verbose, labelled));
    expect(honest.decision).toBe("PROMOTE");
  });

  test("labels edited alike in both runs pass two folders; --verified reads the data set", async () => {
    const [baseline, candidate] = [await old(), await better(verbose)];
    for (const run of [baseline, candidate])
      forge(run, {
        row: (row) => ({
          ...whitewash(row),
          axes: { ...row.axes, verbosity: { reward: 1, code: "within_budget" } },
          axis_labels: { max_words: 5000 },
        }),
      });
    expect((await verdictFor(baseline, candidate)).decision).toBe("PROMOTE");
    const further: GateOptions["further"] = (before, after) =>
      verifyBoth(before, after, { only: ["files", "score"] });
    const verified = await verdictFor(baseline, candidate, { further });
    expect(verified).toMatchObject({ code: "verification_failed", exit_code: 3 });
  });

  const ZEROS = "0".repeat(64);
  test.each([
    ["code", { source_sha256: ZEROS }],
    ["code in a file of its own", { source_sha256: ZEROS, path: "verbosity.ts" }],
    ["version", { version: "9.9.9" }],
    ["range", { range: [0, 100] as [number, number] }],
  ])("an embedded axis of another %s in both runs is refused", async (_, claimed) => {
    const [baseline, candidate] = [await old(), await better(verbose)];
    for (const run of [baseline, candidate]) {
      forge(run, {
        row: whitewash,
        manifest: (it) => ({
          ...it,
          axes: it.axes?.map(({ name, scorer: known }) => ({
            name,
            scorer: { ...known, ...claimed },
          })),
        }),
      });
    }
    const verdict = await verdictFor(baseline, candidate);
    expect(verdict).toMatchObject({ decision: "REJECT", exit_code: 3 });
    expect(verdict.reasons.map(({ code }) => code)).toContain("axis_code_unknown");
  });

  test("--verified finds an edited axis of a user's file, and runs no file that only the candidate names", async () => {
    const own = scorerFile(
      "short",
      'const ok = completion.length < 200;\nreturn { reward: ok ? 1 : 0, code: ok ? "short" : "long", details: {} };',
    );
    const axes = [{ name: "short", scorer: own }];
    const [baseline, candidate] = [await old({ axes }), await better(verbose, { axes })];
    const further: GateOptions["further"] = (before, after) =>
      verifyBoth(before, after, { only: ["files", "score"] });
    expect((await verdictFor(baseline, candidate, { further })).code).toBe("refused_by_axis");
    forge(candidate, { row: whitewash });
    expect((await verdictFor(baseline, candidate, { further })).code).toBe("verification_failed");
    const onlyThere = await better(same, { axes: [...axes, { name: "extra", scorer: own }] });
    const verdict = await verdictFor(baseline, onlyThere, { further });
    expect(verdict.reasons.map(({ message }) => message).join(" ")).toContain("the axis extra");
  });
});

test("samples of one example are one cluster on the axes too", async () => {
  const packs = (k: number) =>
    examples.slice(0, 60).map((_, i) => [i % 10 < k, i % 10 < k, i % 10 < k]);
  const run = (k: number, name: string) =>
    makeRun(root, {
      ...{ examples: examples.slice(0, 60), packs: packs(k), axes: [{ name: "hallucination" }] },
      ...policy(name),
    });
  const verdict = await verdictFor(await run(4, "old"), await run(9, "new"));
  expect(verdict.test).toBe("cluster_betting");
  expect(stateOf(verdict, "hallucination")).toMatchObject({ n: 180, state: "loss_ruled_out" });
});

test("pages and Markdown show the axes, their rows and the failure table", async () => {
  const [baseline, candidate] = [
    await old(),
    await better((text, i) => (i % 8 === 0 ? `${text} Ask <bob@mail.net>.` : text)),
  ];
  const verdict = await verdictFor(baseline, candidate);
  const { html } = await verdictReport({ verdict });
  expect(html).toContain('<section id="axes">');
  expect(html).toMatch(/By the main reward alone: <strong>PROMOTE/);
  expect(html).toContain("Safety regression");
  expect(html).toContain("+12.5 points");
  expect(gateMarkdown(verdict)).toMatch(/\| safety \| 0\.02 \| 1\.0000 \| 0\.8750 \|/);
  const page = (await report({ runs: [candidate] })).html;
  expect(page).toContain("safety: personal_data");
  expect(page).toContain("an e-mail address");
  expect(page).toContain("Mode collapse");
  expect(page.match(/reward on the axis/g)).toHaveLength(2);
  const plain = (await report({ runs: [await old({ axes: [] })] })).html;
  expect(plain).not.toContain('<section id="axes">');
  expect(plain).toContain("eval --axis safety");
});
