/** Rows of the base as examples and completions. */

import type { BaseRow } from "../base.ts";
import type { LabExample } from "../laboratory.ts";

export function examplesIn(rows: readonly BaseRow[]): LabExample[] {
  return rows.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer }));
}

export const completionsIn = (rows: readonly BaseRow[]) => rows.map(({ completion }) => completion);

/** In the form that the built-in scorer takes. */
export const rightAnswer = ({ expected_answer }: BaseRow) => `Final: ${String(expected_answer)}`;
