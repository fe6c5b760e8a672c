/** The rates of slices as text. */

import { columns, visible } from "../core/visible.ts";
import type { SliceRate } from "../stats/slice-rates.ts";

interface SliceTableOptions {
  /** Samples for each example, where there are several. */
  readonly repeats?: number | undefined;
}

type Column = readonly [head: string, cell: (one: SliceRate) => string];

/** A table for each field, 80 columns wide; nothing where a run has no slices. */
export function sliceTable(
  slices: Readonly<Record<string, readonly SliceRate[]>> = {},
  { repeats = 1 }: SliceTableOptions = {},
): string[] {
  return Object.entries(slices).flatMap(([field, values]) => {
    const graded = values.some(({ mean_reward_ci95 }) => mean_reward_ci95 !== undefined);
    const table = [...counts(repeats), ...(graded ? GRADED : BINARY)];
    const line = (name: string, texts: readonly string[]) =>
      `  ${name} ${texts.map((text, i) => text.padStart(widthOf(table[i] as Column))).join("  ")}`;
    return [
      "",
      line(
        cell(field),
        table.map(([head]) => head),
      ),
      ...values.map((one) =>
        line(
          cell(one.value),
          table.map(([, text]) => text(one)),
        ),
      ),
    ];
  });
}

/** Samples are no examples: both are counted. */
const counts = (repeats: number): Column[] => [
  ...(repeats > 1
    ? [["examples", ({ n_examples }) => String(n_examples / repeats)] satisfies Column]
    : []),
  [repeats > 1 ? "samples" : "scored", ({ n_scored }) => String(n_scored)],
];

const rate: Column = ["pass rate", ({ pass_rate }) => pass_rate?.toFixed(4) ?? "–"];
const interval = (ci: readonly [number, number] | null | undefined) =>
  ci ? `${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}` : "–";

const BINARY: readonly Column[] = [
  rate,
  ["95 % interval", ({ pass_rate_ci95 }) => interval(pass_rate_ci95)],
];

/** The interval is that of the mean reward, which the gate compares. */
const GRADED: readonly Column[] = [
  rate,
  ["mean", ({ mean_reward }) => mean_reward?.toFixed(4) ?? "–"],
  ["95 % interval", ({ mean_reward_ci95 }) => interval(mean_reward_ci95)],
];

const widthOf = ([head]: Column) => Math.max(6, head.length);

const WIDTH = 22;

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
