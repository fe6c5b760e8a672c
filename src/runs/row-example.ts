/** The example that a row of results is about, as far as the row repeats it. */

import type { Example } from "../core/records.ts";
import type { ResultRow } from "./schemas.ts";

/** The fields of an example that a row repeats. */
export const REPEATED_FIELDS = ["id", "prompt", "expected_answer", "axis_labels"] as const;

type Repeated = Pick<ResultRow, (typeof REPEATED_FIELDS)[number]>;

export function exampleOf({ id, prompt, expected_answer, axis_labels }: Repeated): Example {
  return {
    ...{ id, prompt, expected_answer },
    ...(axis_labels !== undefined && { axis_labels }),
  } as Example;
}
