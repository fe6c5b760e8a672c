/** The rates of slices as text. */

import { dataError } from "../core/errors.ts";
import { visibleShort } from "../core/visible.ts";
import type { Summary } from "../runs/schemas.ts";

/** A table for each field, 80 columns wide; nothing where a run has no slices. */
export function sliceTable({ slices = {} }: Summary, only?: string): string[] {
  return Object.entries(slices)
    .filter(([field]) => only === undefined || field === only)
    .flatMap(([field, values]) => [
      "",
      `  ${visibleShort(field, 28).padEnd(28)}   rows  pass rate  95 % interval`,
      ...values.map(({ value, n_scored, pass_rate: rate, pass_rate_ci95: ci }) => {
        const figures =
          rate === null || ci === null
            ? "nothing scored"
            : `${rate.toFixed(4).padStart(9)}  ${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}`;
        return `  ${visibleShort(value, 28).padEnd(28)} ${String(n_scored).padStart(6)}  ${figures}`;
      }),
    ]);
}

/** Refuses a field that a run has no slices by. */
export function requireSlice({ slices = {} }: Summary, run: string, field: string): void {
  if (Object.hasOwn(slices, field)) return;
  const known = Object.keys(slices);
  throw dataError(
    `the run ${run} has no slices by ${JSON.stringify(field)}`,
    known.length > 0
      ? `It has slices by ${known.join(", ")}. Evaluate again with --slice ${field}.`
      : `Evaluate again with --slice ${field}.`,
  );
}
