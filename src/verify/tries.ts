/** With how many seeds the policy had answered the examples, by the ledger in the checkpoint's folder. */

import { SketchMaker } from "../core/example-sketch.ts";
import { triedRollout } from "../loops/rollout.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { PI0 } from "../policy/pi0.ts";
import { triesInLedger } from "../runs/rollout-ledger.ts";
import type { Manifest } from "../runs/schemas.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { realPath } from "../runs/whole-file.ts";
import { Comparison, skipped } from "./part.ts";

type Tried = Pick<Manifest, "examples" | "seeds_tried"> & { readonly environment?: unknown };

/**
 * Seeds that were tried later do not count: the ledger is read up to the line of this rollout. A copy of
 * the checkpoint may lack the line, which is no objection.
 */
export async function verifyTries(
  { examples, environment, seeds_tried: recorded = null }: Tried,
  policy: EmbeddedPolicy,
  rows: AsyncIterable<readonly { readonly id: string; readonly prompt: string }[]>,
): Promise<VerificationPart> {
  const { dir } = policy.checkpoint;
  if (dir === null || realPath(dir) === realPath(PI0))
    return skipped("tries", "The embedded policy does not list its rollouts.");
  const sketch = new SketchMaker();
  for await (const batch of rows) for (const row of batch) sketch.add(row);
  const games = environment !== undefined;
  const tried = triedRollout(policy, examples.prompts_sha256, sketch.sketch(), games);
  const tries = await triesInLedger(dir, tried);
  if (!tries) return skipped("tries", `The ledger of ${dir} does not list this rollout.`);
  const comparison = new Comparison();
  comparison.repeated = 1;
  if (recorded === null || recorded < tries.least)
    comparison.differs("manifest.json", "seeds_tried", tries.least, recorded);
  return comparison.part("tries", 1, "seeds in the ledger of the checkpoint");
}
