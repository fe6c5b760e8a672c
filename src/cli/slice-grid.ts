/** Several runs by slice: a row for each run, a column for each value of a field. */

import { columns, visible } from "../core/visible.ts";
import type { Comparison } from "../gate/compare.ts";
import { markdownCell } from "../gate/words.ts";
import { openRun } from "../runs/reader.ts";
import type { Summary } from "../runs/schemas.ts";
import { endOf, WIDTH } from "./terminal.ts";

type Rates = NonNullable<Summary["slices"]>[string];

/** The figures of all runs by the values of one field. */
export interface SliceGrid {
  readonly field: string;
  readonly metric: Comparison["metric"];
  readonly values: readonly string[];
  readonly rows: readonly {
    readonly run: string;
    /** One for each value; null where nothing was scored. */
    readonly figures: readonly (number | null)[];
  }[];
}

/** A grid for each field that all compared runs were evaluated with. */
export async function sliceGrids({ baseline, runs, metric }: Comparison): Promise<SliceGrid[]> {
  const compared = [baseline, ...runs.filter(({ refused }) => refused.length === 0)];
  const slices: NonNullable<Summary["slices"]>[] = [];
  for (const { run } of compared) slices.push((await openRun(run)).summary.slices ?? {});
  const fields = Object.keys(slices[0] ?? {}).filter((field) =>
    slices.every((one) => Object.hasOwn(one, field)),
  );
  return fields.map((field) => {
    const values = (slices[0]?.[field] ?? []).map(({ value }) => value);
    const rows = compared.map(({ run }, i) => ({
      run,
      figures: figuresOf(slices[i]?.[field] ?? [], values, metric),
    }));
    return { field, metric, values, rows };
  });
}

function figuresOf(rates: Rates, values: readonly string[], metric: Comparison["metric"]) {
  const name = metric === "pass rate" ? "pass_rate" : "mean_reward";
  return values.map((value) => rates.find((one) => one.value === value)?.[name] ?? null);
}

const NAME_WIDTH = 24;
const LONGEST_VALUE = 16;
const shown = (figure: number | null) => figure?.toFixed(4) ?? "–";

/** At most 80 columns wide: values that do not fit beside the others follow below. */
export function gridText({ field, metric, values, rows }: SliceGrid): string {
  const widths = values.map((value) => Math.max(6, columns(beginOf(value))));
  const blocks: number[][] = [];
  let room = 0;
  for (const [i, width] of widths.entries()) {
    room -= width + 2;
    if (room < 0) {
      blocks.push([]);
      room = WIDTH - NAME_WIDTH - width - 2;
    }
    blocks.at(-1)?.push(i);
  }
  const line = (name: string, cells: readonly string[], block: readonly number[]) =>
    name.padEnd(NAME_WIDTH) +
    block
      .map((i) => {
        const cell = cells[i] ?? "";
        return `  ${" ".repeat(Math.max(0, (widths[i] as number) - columns(cell)))}${cell}`;
      })
      .join("");
  return blocks
    .map((block) =>
      [
        line(endOf(field, NAME_WIDTH), values.map(beginOf), block),
        ...rows.map(({ run, figures }) => line(endOf(run, NAME_WIDTH), figures.map(shown), block)),
      ].join("\n"),
    )
    .concat(noteOf({ field, metric }))
    .join("\n");
}

export function gridMarkdown({ field, metric, values, rows }: SliceGrid): string {
  const row = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |`;
  return [
    row([field, ...values]),
    `|${"---|".repeat(values.length + 1)}`,
    ...rows.map(({ run, figures }) => row([run, ...figures.map(shown)])),
    "",
    noteOf({ field, metric }),
    "",
  ].join("\n");
}

const noteOf = ({ field, metric }: Pick<SliceGrid, "field" | "metric">) =>
  `${metric} in each slice; to test a slice: gate --slice ${visible(field)}`;

function beginOf(value: string): string {
  const characters = [...visible(value)];
  if (columns(characters.join("")) <= LONGEST_VALUE) return characters.join("");
  while (columns(characters.join("")) >= LONGEST_VALUE) characters.pop();
  return `${characters.join("")}…`;
}
