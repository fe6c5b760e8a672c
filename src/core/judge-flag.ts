/** How the option --judge names a judge, and how a recorded judge is named again. */

import type { JudgeIdentity } from "./judge.ts";

/** The kind, and the endpoint in the identity of such a judge. */
export const EMBEDDED = "embedded";

/** Of an embedded judge the model is "embedded-judge", or "embedded-judge:length" with its faults. */
export function judgeFlag({ name, endpoint }: Pick<JudgeIdentity, "name" | "endpoint">): string {
  if (endpoint !== EMBEDDED) return `openai:${name}`;
  const [, ...faults] = name.split(":");
  return [EMBEDDED, ...faults].join(":");
}
