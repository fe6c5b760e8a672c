/**
 * What a page was made with, embedded in it as JSON, so that a program can write the page again without
 * reading its sentences. A meta element, because a page has no scripts.
 */

import { z } from "zod";
import { unescapeMarkup } from "../core/markup.ts";
import { type Html, html } from "./page/html.ts";
import type { Named } from "./page/run-names.ts";
import type { ReportOptions } from "./report-type.ts";

const price = z.number().nonnegative();
const pageOptionsSchema = z.strictObject({
  /** Names of the runs on the page, not their folders: a page does not depend on where it was made. */
  runs: z.array(z.string()).min(1),
  pricePerHour: price.optional(),
  slice: z.array(z.string()).optional(),
  prices: z.strictObject({ in: price, out: price }).optional(),
  alias: z.string().optional(),
});

/** The options of `report`, with names in place of folders. */
export type PageOptions = z.infer<typeof pageOptionsSchema>;

export function pageOptions(
  runs: readonly Named<unknown>[],
  { pricePerHour, slice, prices, alias }: Omit<ReportOptions, "runs">,
): PageOptions {
  return {
    runs: runs.map(({ name }) => name),
    ...(pricePerHour !== undefined && { pricePerHour }),
    ...(slice !== undefined && { slice: [...slice] }),
    ...(prices !== undefined && { prices: { in: prices.in, out: prices.out } }),
    ...(alias !== undefined && { alias }),
  };
}

const NAME = "lockedroom-report";

export function optionsMeta(options: PageOptions): Html {
  return html`<meta name="${NAME}" content="${JSON.stringify(options)}">\n`;
}

/** Undefined for a page that `report` did not write about runs. */
export function readPageOptions(page: string): PageOptions | undefined {
  const content = new RegExp(`<meta name="${NAME}" content="([^"]*)">`).exec(page)?.[1];
  if (content === undefined) return undefined;
  try {
    return pageOptionsSchema.safeParse(JSON.parse(unescapeMarkup(content))).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
