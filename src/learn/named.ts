/** An entry of a table that is chosen by name. */

import { usageError } from "../core/errors.ts";

export function named<T>(what: string, table: Readonly<Record<string, T>>, name: string): T {
  if (Object.hasOwn(table, name)) return table[name] as T;
  const names = Object.keys(table).join(", ");
  throw usageError(`there is no ${what} "${name}"`, `Choose one of ${names}.`);
}
