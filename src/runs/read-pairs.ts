/** Opens finished preference data for reading. */

import path from "node:path";
import { MANIFEST, PAIRS, SUMMARY } from "./artifacts.ts";
import { requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { manifestFingerprint } from "./manifest.ts";
import {
  type PairRow,
  type PairsManifest,
  type PairsSummary,
  pairRowSchema,
  pairsManifestSchema,
  pairsSummarySchema,
} from "./preference-schemas.ts";
import { parseWith, readArtifact, sha256OfFile } from "./whole-file.ts";

export interface PreferenceData {
  readonly dir: string;
  readonly manifest: PairsManifest;
  readonly summary: PairsSummary;
  readonly manifestIntact: boolean;
  /** The SHA-256 of a further file; undefined when it is not there. */
  hashOf(name: string): Promise<string | undefined>;
  pairs(): JsonlFile<PairRow>;
}

const AGAIN = "Run pairs again.";

export async function openPairs(dir: string): Promise<PreferenceData> {
  requireFinished(dir, await requireKind(dir, ["pairs"]));
  const manifest = await readArtifact(path.join(dir, MANIFEST), pairsManifestSchema, AGAIN);
  const summary = await readArtifact(path.join(dir, SUMMARY), pairsSummarySchema, AGAIN);
  return {
    ...{ dir, manifest, summary },
    manifestIntact: manifestFingerprint(manifest) === summary.manifest_sha256,
    hashOf: (file) => sha256OfFile(path.join(dir, file)).catch(() => undefined),
    pairs: () =>
      new JsonlFile(path.join(dir, PAIRS), (fields) => parseWith(pairRowSchema, fields), {
        regular: true,
      }),
  };
}
