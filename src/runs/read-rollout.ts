/** Opens a finished rollout for reading, and says which of its files are not what it wrote. */

import path from "node:path";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { MANIFEST, SUMMARY } from "./artifacts.ts";
import { answersName } from "./finished-rollout.ts";
import { requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { manifestFingerprint, provenancePath, readProvenance } from "./manifest.ts";
import {
  type RolloutManifest,
  type RolloutSummary,
  rolloutManifestSchema,
  rolloutSummarySchema,
} from "./rollout-schemas.ts";
import type { Provenance } from "./schemas.ts";
import { readArtifact, sha256OfFile } from "./whole-file.ts";

/** A finished rollout, open for reading. */
export interface Rollout {
  readonly dir: string;
  readonly manifest: RolloutManifest;
  readonly summary: RolloutSummary;
  /** A fresh pass over the answers, each with its id. */
  answers(): JsonlFile<JsonObject>;
  /** The files that differ from what the rollout wrote. */
  editedFiles(): Promise<string[]>;
}

const AGAIN = "Run the rollout again.";

export async function openRollout(dir: string): Promise<Rollout> {
  requireFinished(dir, await requireKind(dir, ["rollout"]));
  const manifest = await readArtifact(path.join(dir, MANIFEST), rolloutManifestSchema, AGAIN);
  const summary = await readArtifact(path.join(dir, SUMMARY), rolloutSummarySchema, AGAIN);
  const answers = path.join(dir, answersName(manifest));
  return {
    dir,
    manifest,
    summary,
    answers: () => new JsonlFile(answers, (fields) => fields as JsonObject, { regular: true }),
    async editedFiles() {
      const edited = manifestFingerprint(manifest) === summary.manifest_sha256 ? [] : [MANIFEST];
      for (const [name, hash] of Object.entries(summary.files)) {
        const found = await sha256OfFile(path.join(dir, name)).catch(() => undefined);
        if (found !== hash) edited.push(name);
      }
      if (edited.length === 0 && !(await describesItself(answers, manifest)))
        edited.push(path.basename(provenancePath(answers)));
      return edited;
    },
  };
}

/** The provenance that eval reads says what the manifest says. */
async function describesItself(answers: string, manifest: RolloutManifest): Promise<boolean> {
  const sha256 = await sha256OfFile(answers);
  const provenance = await readProvenance({ path: answers, sha256 }).catch(() => undefined);
  const said = ({ policy, prompt, sampling, exposure }: Provenance | RolloutManifest) =>
    canonicalJson([policy ?? null, prompt ?? null, sampling ?? null, exposure ?? null]);
  return provenance !== undefined && said(provenance) === said(manifest);
}
