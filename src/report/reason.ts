/** Why a row got its reward, in the words of its scorer. */

import { visibleShort } from "../core/visible.ts";
import type { ResultRow } from "../runs/schemas.ts";

const PARSED_WIDTH = 60;

/** The scorer's message, or what it read as the answer, or all of its details; one line. */
export function reasonOf({ details }: Pick<ResultRow, "details">, width: number): string {
  const { message, parsed } = (details ?? {}) as { message?: unknown; parsed?: unknown };
  if (typeof message === "string") return visibleShort(message, width);
  return parsed === undefined
    ? visibleShort(JSON.stringify(details ?? null), width)
    : `parsed as ${visibleShort(String(parsed), PARSED_WIDTH)}`;
}
