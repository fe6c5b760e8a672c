/** The first thing wrong with a value, as one line. */

import { messageOf } from "../core/errors.ts";

export function schemaProblem(error: unknown): string {
  const issue = (error as { issues?: { path: PropertyKey[]; message: string }[] }).issues?.[0];
  return issue ? `${issue.path.join(".") || "the whole"}: ${issue.message}` : messageOf(error);
}
