/** The rates of slices as text. */

import { columns, visible } from "../core/visible.ts";
import type { SliceRate } from "../stats/slice-rates.ts";

type Rate = Pick<SliceRate, "value" | "n_scored" | "pass_rate" | "pass_rate_ci95">;

/** A table for each field, 80 columns wide; nothing where a run has no slices. */
export function sliceTable(slices: Readonly<Record<string, readonly Rate[]>> = {}): string[] {
  return Object.entries(slices).flatMap(([field, values]) => [
    "",
    `  ${cell(field)}   rows  pass rate  95 % interval`,
    ...values.map(({ value, n_scored, pass_rate: rate, pass_rate_ci95: ci }) => {
      const figures =
        rate === null || ci === null
          ? "nothing scored"
          : `${rate.toFixed(4).padStart(9)}  ${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}`;
      return `  ${cell(value)} ${String(n_scored).padStart(6)}  ${figures}`;
    }),
  ]);
}

const WIDTH = 28;

/** A name of at most the column's width, padded to it. */
function cell(text: string): string {
  const characters = [...visible(text)];
  let shown = characters.join("");
  while (columns(shown) > WIDTH) {
    characters.pop();
    shown = `${characters.join("")}…`;
  }
  return shown + " ".repeat(WIDTH - columns(shown));
}
