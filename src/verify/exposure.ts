/** What the checkpoint had met of the examples, counted again from the prompts that it carries. */

import { canonicalJson } from "../core/json.ts";
import type { SeenPrompts } from "../core/policy.ts";
import { ExposureCount } from "../loops/exposure.ts";
import type { Exposure } from "../runs/schemas.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { Comparison, skipped } from "./part.ts";

/** What a policy that is not a checkpoint lacks. */
export const NO_HISTORY = "it carries no prompts of its training";

interface Prompted {
  readonly id: string;
  readonly prompt: string;
}

/**
 * `whole`: the rows are all that were counted. An evaluation may use a part of what was sampled, and
 * then it may have fewer such rows, never more.
 */
export async function verifyExposure(
  recorded: Exposure | undefined,
  seen: SeenPrompts | undefined,
  rows: AsyncIterable<readonly Prompted[]>,
  whole: boolean,
): Promise<VerificationPart> {
  const count = new ExposureCount(seen);
  let total = 0;
  for await (const batch of rows) {
    total += batch.length;
    for (const { id, prompt } of batch) count.add({ id, prompt });
  }
  const counted = count.exposure();
  if (!counted)
    return skipped("exposure", "The checkpoint does not carry the prompts of its past.");
  const comparison = new Comparison();
  comparison.repeated = total;
  for (const kind of ["learned", "validated"] as const) {
    const expected = counted[kind];
    // A run that does not state it may not have met any.
    const found = recorded?.[kind] ?? { ...expected, rows: 0, first_ids: [] };
    const same = whole
      ? canonicalJson(expected) === canonicalJson(found)
      : expected.rows <= found.rows && expected.of === found.of;
    if (!same) comparison.differs("manifest.json", `exposure.${kind}`, expected, recorded?.[kind]);
  }
  if (!recorded && comparison.differences === 0)
    return skipped("exposure", "The run does not state it, and no row was met before.");
  return comparison.part("exposure", total, "prompts of the rows among those of the training");
}
