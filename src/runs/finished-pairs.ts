/** How a preference dataset ends. */

import { LABELS, PAIRS, PAIRS_SUMMARY_SCHEMA } from "./artifacts.ts";
import { manifestFingerprint } from "./manifest.ts";
import type { PairsManifest, PairsSummary } from "./preference-schemas.ts";
import type { Finished, RunFolder } from "./run-folder.ts";

export interface FinishedPairs extends Finished<PairsManifest, PairsSummary> {
  /** The file of pairs, as `train dpo` is given it. */
  readonly pairs: string;
  /** The file of labels, as `train kto` is given it. */
  readonly labels: string;
}

export async function finishPairs(
  folder: RunFolder,
  manifest: PairsManifest,
  found: Omit<PairsSummary, "schema" | "scorer" | "files" | "manifest_sha256">,
): Promise<FinishedPairs> {
  const { name, version } = manifest.scorer;
  const summary: PairsSummary = {
    schema: PAIRS_SUMMARY_SCHEMA,
    scorer: { name, version },
    ...found,
    files: await folder.seal(),
    manifest_sha256: manifestFingerprint(manifest),
  };
  const finished = await folder.finish(manifest, summary);
  return { ...finished, pairs: folder.file(PAIRS), labels: folder.file(LABELS) };
}
