/** An expected answer that the scorer cannot read is a fault of the data: no reward, and not a zero. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Example } from "../core/records.ts";
import { gate } from "../gate/gate.ts";
import { warnings } from "../runs/summary-text.ts";
import { evaluate } from "./eval.ts";
import { makePairs } from "./preference-pairs.ts";
import { select } from "./select.ts";
import { builtInPolicy } from "./selection-policy.ts";
import { validateScorer } from "./validate.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-invalid-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);

const EXAMPLES: Example[] = [
  { id: "good", prompt: "1 + 1", expected_answer: 2 },
  { id: "wrong", prompt: "1 + 2", expected_answer: 3 },
  { id: "unreadable", prompt: "1 + 3", expected_answer: "four" },
];
const COMPLETIONS = EXAMPLES.map(({ id }) => ({ id, completion: "Final: 2" }));
const PACKS = EXAMPLES.map(({ id }) => ({ id, samples: ["Final: 2", "Final: 3"] }));

describe("an unreadable expected answer", () => {
  test("is a row of its own code without a reward, and rates are over the others", async () => {
    const { summary } = await evaluate({
      ...{ dataset: EXAMPLES, completions: COMPLETIONS, outdir: at("run") },
    });
    expect(summary.metrics).toMatchObject({
      ...{ n_examples: 3, n_scored: 2, n_pass: 1, n_fail: 1, pass_rate: 0.5 },
      ...{ n_missing: 0, n_scorer_error: 0 },
    });
    expect(summary.outcomes.counts).toEqual({ ok: 1, wrong_answer: 1, invalid_example: 1 });
    const rows = readFileSync(at("run", "results.jsonl"), "utf8").trimEnd().split("\n");
    expect(JSON.parse(rows[2] as string)).toMatchObject({
      ...{ id: "unreadable", outcome_code: "invalid_example", reward: null },
      details: { message: expect.stringContaining("four") },
    });
    expect(warnings(summary).join()).toMatch(/1 examples are invalid .*gate will refuse/);
  });

  test("is refused by the gate, by a code of its own", async () => {
    const rows = { dataset: EXAMPLES, completions: COMPLETIONS };
    await evaluate({ ...rows, outdir: at("a") });
    await evaluate({ ...rows, outdir: at("b") });
    const { reasons } = await gate({ baseline: at("a"), candidate: at("b") });
    const codes = reasons.map(({ code }) => code);
    expect(codes).toContain("invalid_examples");
    expect(codes).not.toContain("scorer_errors");
  });

  test("in selection is no alarm of the scorer", async () => {
    const { summary } = await select({
      ...{ dataset: EXAMPLES, samples: PACKS, n: 2, policy: builtInPolicy("best") },
      outdir: at("s"),
    });
    expect(summary.metrics).toMatchObject({ n_scored: 2, n_pass: 2, n_sample_scorer_errors: 0 });
    expect(summary.alarms).toEqual([]);
    expect(summary.outcomes.counts).toEqual({ ok: 2, invalid_example: 1 });
  });

  test("makes neither pairs nor labels", async () => {
    const { summary } = await makePairs({
      ...{ dataset: EXAMPLES, rollouts: PACKS, outdir: at("p"), by: "all", margin: 0 },
      ...{ perPrompt: 1, lengthTolerance: null },
    });
    expect(summary).toMatchObject({ n_pairs: 2, n_labels: 4, n_scorer_errors: 0 });
    expect(summary.without_pair).toMatchObject({ invalid_example: 1, scorer_error: 0 });
  });

  test("agrees with a golden row that expects no reward, and with no other", async () => {
    const golden = [0, 1].map((expected_reward) => ({
      ...{ id: "unreadable", completion: "Final: 4", expected_reward, note: "" },
    }));
    const { rows } = await validateScorer({ dataset: EXAMPLES, golden });
    expect(rows.map(({ verdict }) => verdict)).toEqual(["agrees", "false_negative"]);
  });
});
