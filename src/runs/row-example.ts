/** The example that a row of results is about, as far as the row repeats it. */

import type { Example } from "../core/records.ts";
import type { ResultRow } from "./schemas.ts";

type Repeated = Pick<ResultRow, "id" | "prompt" | "expected_answer" | "axis_labels">;

export function exampleOf({ id, prompt, expected_answer, axis_labels }: Repeated): Example {
  return {
    ...{ id, prompt, expected_answer },
    ...(axis_labels !== undefined && { axis_labels }),
  } as Example;
}
