/** Checks items against the `item_schema` of an eval. */

import { z } from "zod";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";

/** Gives a check that answers with the first mistake of an item, or undefined. */
export function itemCheck(schema: JsonObject, where: string): (row: unknown) => string | undefined {
  const check = schemaOf(schema, where);
  return (row) => {
    const result = check.safeParse(itemOf(row));
    if (result.success) return undefined;
    const [issue] = result.error.issues as [z.core.$ZodIssue];
    const place = ["item", ...issue.path.map(String)].join(".");
    return `${place}: ${issue.message.replace("Invalid input: ", "")}`;
  };
}

/** Data files of evals have each item in a member `item`; ours are items themselves. */
function itemOf(row: unknown): unknown {
  return isFields(row) && isFields(row.item) ? row.item : row;
}

function schemaOf(schema: JsonObject, where: string): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw dataError(`${where}: item_schema cannot be used: ${(error as Error).message}`);
  }
}
