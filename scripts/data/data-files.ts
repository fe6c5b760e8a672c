/** The committed data files as text; regenerating them gives the same bytes. */

import { canonicalJson } from "../../src/core/json.ts";
import { examplesOf, trainExamples } from "../../src/datasets/splits.ts";
import { frozenRollouts, selectionPacks } from "./frozen.ts";
import { goldenCorrect, goldenExploits } from "./golden.ts";

export interface DataFile {
  /** Relative to the data folder, with forward slashes. */
  readonly path: string;
  readonly content: string;
}

export function generateDataFiles(): DataFile[] {
  return [
    { path: "datasets/math_train.jsonl", content: jsonLines(trainExamples(2000)) },
    { path: "datasets/math_dev.jsonl", content: jsonLines(examplesOf("dev")) },
    { path: "datasets/math_holdout.jsonl", content: jsonLines(examplesOf("holdout")) },
    { path: "rollouts/frozen_rollouts_dev.jsonl", content: jsonLines(frozenRollouts()) },
    { path: "rollouts/selection_pack_dev.jsonl", content: jsonLines(selectionPacks()) },
    { path: "golden/golden_correct.jsonl", content: jsonLines(goldenCorrect()) },
    { path: "golden/golden_exploits.jsonl", content: jsonLines(goldenExploits()) },
  ];
}

function jsonLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${canonicalJson(row)}\n`).join("");
}
