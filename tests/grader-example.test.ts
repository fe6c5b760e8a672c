/** The graders of examples/grader against their golden rows and exploits. */

import path from "node:path";
import { describe, expect, test } from "vitest";
import { validateScorer } from "../src/loops/validate.ts";
import { openScorer } from "../src/scorers/open.ts";
import { ROOT } from "./cli.ts";

const file = (name: string) => path.join(ROOT, "examples/grader", name);

async function validated(grader: string, golden: string) {
  const scorer = await openScorer(file(grader));
  try {
    return await validateScorer({
      ...{ scorer, dataset: file("dataset.jsonl"), golden: file(golden) },
    });
  } finally {
    await scorer.close();
  }
}

describe("examples/grader", () => {
  test("the grader gives every golden row and every exploit the reward that is stated", async () => {
    for (const golden of ["golden.jsonl", "exploits.jsonl"])
      expect((await validated("grader.json", golden)).valid, golden).toBe(true);
  });

  test("the naive one is paid by exploits, but not by variables in the output", async () => {
    const { valid, rows } = await validated("naive.json", "exploits.jsonl");
    expect(valid).toBe(false);
    const fooled = rows.filter(({ verdict }) => verdict === "false_positive");
    const classes = new Set(fooled.map(({ golden }) => golden.exploit_class));
    expect([...classes].sort()).toEqual(["longer_number", "many_answers", "padding"]);
  });
});
