/** How a rollout ends: its answers with their provenance, ready for eval or selection-demo. */

import { existsSync } from "node:fs";
import path from "node:path";
import { sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import {
  COMPLETIONS,
  JOURNAL,
  NOTE,
  PROVENANCE_SCHEMA,
  ROLLOUT_SUMMARY_SCHEMA,
  SAMPLES,
  TRAJECTORIES,
} from "./artifacts.ts";
import { contentOf } from "./folder-kind.ts";
import { manifestFingerprint, provenancePath } from "./manifest.ts";
import { type NotedAnswer, rolloutFacts } from "./note-facts.ts";
import { type RolloutIdentity, requireSame } from "./rollout-journal.ts";
import type { RolloutManifest, RolloutSummary } from "./rollout-schemas.ts";
import { artifactJson, type Finished, type RunFolder } from "./run-folder.ts";
import { runNote, stamped } from "./run-note.ts";
import type { Provenance } from "./schemas.ts";

export interface FinishedRollout extends Finished<RolloutManifest, RolloutSummary> {
  /** The file of answers, as eval or selection-demo are given it. */
  readonly answers: string;
}

/** The file of answers of a rollout with this manifest. */
export function answersName({
  n,
  environment,
}: Pick<RolloutManifest, "n" | "environment">): string {
  if (environment) return TRAJECTORIES;
  return n === 1 ? COMPLETIONS : SAMPLES;
}

/** The finished rollout that the folder holds, if it is the wanted one; another is refused. */
export async function rolloutIn(
  folder: RunFolder,
  identity: RolloutIdentity,
  force: boolean,
): Promise<FinishedRollout | undefined> {
  const { manifest, summary } = await contentOf(folder.dir);
  if (!manifest || !summary || existsSync(folder.file(JOURNAL))) return undefined;
  try {
    requireSame(folder.dir, identityOf(manifest as unknown as RolloutManifest), identity);
  } catch (error) {
    if (force) return undefined;
    throw error;
  }
  const answers = folder.file(answersName(manifest as unknown as RolloutManifest));
  return { dir: folder.dir, answers, manifest, summary } as unknown as FinishedRollout;
}

export async function finishRollout(
  folder: RunFolder,
  manifest: RolloutManifest,
  found: Omit<RolloutSummary, "schema" | "files" | "manifest_sha256">,
  concrete: readonly NotedAnswer[],
): Promise<FinishedRollout> {
  const name = answersName(manifest);
  const { [name]: answersSha256 = "", ...others } = await folder.seal();
  const provenance = artifactJson(provenanceOf(manifest, answersSha256));
  const provenanceName = path.basename(provenancePath(name));
  const summary: RolloutSummary = {
    schema: ROLLOUT_SUMMARY_SCHEMA,
    ...found,
    files: {
      ...{ [name]: answersSha256, [provenanceName]: sha256(provenance) },
      ...others,
    },
    manifest_sha256: manifestFingerprint(manifest),
  };
  const finished = await folder.finish(manifest, summary, {
    [provenanceName]: provenance,
    [NOTE]: stamped(runNote(rolloutFacts(manifest, found, concrete))),
  });
  return { ...finished, answers: folder.file(name) };
}

function provenanceOf(manifest: RolloutManifest, sha: string): Provenance {
  const { policy, prompt, sampling, exposure, seeds_tried, volatile } = manifest;
  return {
    ...{ schema: PROVENANCE_SCHEMA, completions_sha256: sha, policy, prompt, sampling },
    ...{ prompts_by_row: true, exposure, seeds_tried },
    ...(volatile.checkpoint !== undefined && { checkpoint: volatile.checkpoint }),
  };
}

function identityOf(manifest: RolloutManifest): JsonObject {
  const { inputs, environment, examples, n, policy, prompt, sampling } = manifest;
  const asked = environment
    ? taskIdentity(environment, examples)
    : { dataset_sha256: inputs[0]?.sha256 };
  return { ...asked, n, policy, prompt, sampling } as JsonObject;
}

/** What is played: where the environment's file lies does not matter. */
export function taskIdentity(
  { path: _path, ...environment }: JsonObject,
  { sha256: tasks_sha256 }: RolloutManifest["examples"],
): Required<Pick<RolloutIdentity, "environment" | "tasks_sha256">> {
  return { environment, tasks_sha256 };
}
