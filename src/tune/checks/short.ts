import { visibleShort } from "../../core/visible.ts";

/** A value on a few columns, for reasons. */
export function short(value: unknown): string {
  return visibleShort(typeof value === "string" ? `"${value}"` : (JSON.stringify(value) ?? ""), 30);
}
