/** What a judge read and wrote, as commands print it. */

import type { JudgeSummary } from "../runs/judge-schemas.ts";

/** With their cost where the price is known. */
export function tokensText({
  prompt_tokens: read,
  completion_tokens: written,
  total,
}: Pick<JudgeSummary, "prompt_tokens" | "completion_tokens" | "total">): string {
  const cost = total === null ? "" : `, $${total.toFixed(total < 0.1 ? 4 : 2)}`;
  return `${read} tokens read, ${written} written${cost}`;
}
