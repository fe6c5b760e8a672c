/** The cases show what their causes say, the order follows the seed, and the first answer counts. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  ABLATIONS,
  answerFile,
  CAUSE_NAMES,
  CAUSES,
  type CauseName,
  type CurveRun,
  caseCount,
  curvesSvg,
  type DiagnoseCase,
  isDiagnosed,
  keepAnswer,
  markDiagnosis,
  openCase,
  readAnswers,
} from "./index.ts";

const numbers = Array.from({ length: caseCount() }, (_, i) => i + 1);
const cases = numbers.map((number) => openCase(number, 0));
const names = (seed: number) => numbers.map((number) => openCase(number, seed).name);

test("every cause has a case, and runs without a fault are among them", () => {
  expect([...new Set(cases.map(({ cause }) => cause))].sort()).toEqual([...CAUSE_NAMES].sort());
  expect(cases.filter(({ cause }) => cause === "nothing-wrong").length).toBeGreaterThan(1);
});

test("a seed gives one order with every case once, and another seed another order", () => {
  expect(names(0)).toEqual(cases.map(({ name }) => name));
  expect([...names(1)].sort()).toEqual([...names(0)].sort());
  expect(names(1)).not.toEqual(names(0));
  expect(() => openCase(caseCount() + 1, 0)).toThrow(/no case/);
});

const first = (values: readonly number[]) => values[0] ?? Number.NaN;
const end = (values: readonly number[]) => {
  const last = values.slice(-5);
  return last.reduce((sum, value) => sum + value, 0) / last.length;
};
const rises = ({ curves }: CurveRun) => end(curves.reward) > first(curves.reward) + 0.1;
const validated = ({ validation }: CurveRun) =>
  (validation.pass_rate.at(-1) ?? 0) - first(validation.pass_rate);

/** What the words of a cause say, as figures. */
const SHOWN: Record<CauseName, (one: DiagnoseCase) => void> = {
  "nothing-wrong": ({ run, ablation }) => {
    for (const one of [run, ablation.run]) {
      expect(rises(one)).toBe(true);
      expect(validated(one)).toBeGreaterThan(0.1);
      expect(one.alarms).toEqual([]);
    }
  },
  "wrong-sign": ({ run, ablation }) => {
    expect(end(run.curves.reward)).toBe(0);
    expect(validated(run)).toBeLessThan(-0.1);
    expect(first(run.curves.clip_fraction ?? [])).toBeLessThan(0.1);
    expect(rises(ablation.run)).toBe(true);
  },
  "aliased-reference": ({ run, ablation }) => {
    for (const one of [run, ablation.run]) {
      expect(Math.max(...one.curves.kl)).toBe(0);
      expect(rises(one)).toBe(true);
    }
  },
  "wrong-log-probs": ({ run, ablation }) => {
    expect(first(run.curves.clip_fraction ?? [])).toBeGreaterThan(0.1);
    expect(first(ablation.run.curves.clip_fraction ?? [])).toBeLessThan(0.05);
    expect(rises(run)).toBe(false);
    expect(rises(ablation.run)).toBe(true);
  },
  "learning-rate-too-high": ({ run, ablation }) => {
    expect(Math.max(...run.curves.kl.slice(0, 5))).toBeGreaterThan(
      5 * Math.max(...ablation.run.curves.kl.slice(0, 5)),
    );
    expect(rises(run)).toBe(false);
    expect(rises(ablation.run)).toBe(true);
  },
  "reward-favours-length": ({ run, ablation }) => {
    expect(rises(run)).toBe(true);
    expect(end(run.curves.length)).toBeGreaterThan(1.3 * first(run.curves.length));
    expect(validated(run)).toBeLessThan(-0.1);
    expect(validated(ablation.run)).toBeGreaterThan(validated(run));
  },
  "no-reward": ({ run, ablation }) => {
    expect(Math.max(...run.curves.reward)).toBe(0);
    expect(Math.max(...run.curves.kl)).toBe(0);
    expect(rises(ablation.run)).toBe(true);
  },
  "kl-penalty-too-strong": ({ run, ablation }) => {
    expect(Math.max(...run.curves.kl)).toBeGreaterThan(0);
    expect(end(run.curves.kl)).toBeLessThan(0.1);
    expect(end(run.curves.entropy)).toBeGreaterThan(3 * end(ablation.run.curves.entropy));
    expect(end(ablation.run.curves.reward)).toBeGreaterThan(end(run.curves.reward) + 0.1);
    expect(validated(ablation.run)).toBeGreaterThan(validated(run) + 0.1);
  },
  "completions-cut": ({ run, ablation }) => {
    const [shortest, longest] = [Math.min(...run.curves.length), Math.max(...run.curves.length)];
    expect(longest - shortest).toBeLessThan(0.5);
    expect(end(run.curves.reward)).toBeLessThan(0.1);
    expect(first(run.validation.pass_rate)).toBeGreaterThan(0.3);
    expect(rises(ablation.run)).toBe(true);
  },
  "value-head-untrained": ({ run, ablation }) => {
    const [off, on] = [run, ablation.run].map(({ curves }) => end(curves.value_loss ?? []));
    expect(off).toBeGreaterThan(1.5 * (on ?? 0));
    expect(off).toBeGreaterThan(first(run.curves.value_loss ?? []));
  },
};

test.each(cases)("$name shows what its cause says, and its ablation confirms it", (one) => {
  SHOWN[one.cause](one);
});

test("the picture of the curves does not name the run", () => {
  for (const one of cases) {
    const svg = curvesSvg("Case 1", one.run);
    expect(svg).toContain("entropy");
    expect(svg).not.toContain(one.name);
    expect(svg).not.toContain(one.cause);
  }
});

describe("answers", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-diagnoses-"));
  afterAll(() => rmSync(dir, { recursive: true }));
  const [one] = cases as [DiagnoseCase];
  const right = { cause: one.cause, ablation: CAUSES[one.cause].ablation };

  test("cause and ablation are marked apart", () => {
    expect(markDiagnosis(one, right)).toEqual({ cause_right: true, ablation_right: true });
    const guess = { ...right, ablation: "clip-range" };
    expect(markDiagnosis(one, guess)).toEqual({ cause_right: true, ablation_right: false });
    const revealed = { cause: null, ablation: null };
    expect(markDiagnosis(one, revealed)).toEqual({ cause_right: false, ablation_right: false });
  });

  test("the first counts, of each case, under whichever seed it is shown", async () => {
    const elsewhere = names(1).indexOf(one.name) + 1;
    const again = openCase(elsewhere, 1);
    expect(await keepAnswer(dir, again, { cause: null, ablation: null }), "revealed").toBe("kept");
    const guess = { ...right, ablation: "clip-range" };
    expect(await keepAnswer(dir, one, guess)).toBe("answered before");
    expect(readAnswers(dir)).toMatchObject([{ name: one.name, cause: null, cause_right: false }]);
  });

  test("that were wrong can be corrected once; the first stays beside the correction", async () => {
    expect(isDiagnosed(dir, answerFile(one))).toBe(false);
    expect(await keepAnswer(dir, one, right)).toBe("corrected");
    expect(isDiagnosed(dir, answerFile(one))).toBe(true);
    expect(await keepAnswer(dir, one, right)).toBe("answered before");
    expect(readAnswers(dir)).toMatchObject([{ cause: null, cause_right: false, corrected: right }]);
  });

  test("that are given at the same time are all kept", async () => {
    const others = cases.slice(1, 5);
    const kept = await Promise.all(
      others.map((other) => keepAnswer(dir, other, { cause: other.cause, ablation: null })),
    );
    expect(kept).toEqual(others.map(() => "kept"));
    const all = readAnswers(dir).map(({ name }) => name);
    expect(all).toEqual([one, ...others].map(({ name }) => name).sort());
  });
});

const MANUAL = new URL("../../../docs/manual/", import.meta.url);
const page = (name: string) => readFileSync(new URL(name, MANUAL), "utf8");
const rowsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").map((cell) => cell.trim()));

test("the table of the manual has every curve, and every cause with the ablation that confirms it", () => {
  const rows = rowsOf(page("23-debugging-from-curves.md"));
  for (const curve of ["reward", "KL", "entropy", "length", "value loss", "clip fraction"])
    expect(rows.filter(([, name]) => name === curve).length, curve).toBeGreaterThan(1);
  const named = rows.flatMap((row) =>
    [...(row[5] ?? "").matchAll(/`([a-z-]+)`/g)].map(([, x]) => x),
  );
  expect(named.filter((name) => !Object.hasOwn(ABLATIONS, name ?? ""))).toEqual([]);
  for (const cause of CAUSE_NAMES) expect(named, cause).toContain(CAUSES[cause].ablation);
});

test("the guide has each of the eight methods, once by what one has and once as measured", () => {
  const text = page("22-choosing-a-method.md");
  const [, has = "", measured = ""] = text.split(/^## (?:By what you have|What we measured)$/m);
  const first = (part: string) => rowsOf(part).map(([, name]) => name?.toLowerCase());
  for (const method of ["sft", "dpo", "ipo", "kto", "orpo", "rft", "grpo", "ppo"])
    for (const part of [has, measured]) expect(first(part), method).toContain(method);
});
