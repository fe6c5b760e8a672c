/** The manifest of a run that scored answers to a data set. */

import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import type { Example } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { MANIFEST_SCHEMA } from "../runs/artifacts.ts";
import { readProvenance } from "../runs/provenance.ts";
import type { Rows } from "../runs/rows.ts";
import type { Manifest, Volatile } from "../runs/schemas.ts";

export interface Description {
  readonly loop: "A" | "B";
  readonly command: string;
  readonly dataset: Rows<Example>;
  readonly answers: Rows<unknown>;
  /** What the answers are called in the manifest. */
  readonly role: "completions" | "samples";
  readonly examples: Manifest["examples"];
  /** Null when the file's own hash has to do. */
  readonly answersSha256: string | null;
  readonly scorer: GuardedScorer;
  readonly selection: Manifest["selection"];
  readonly settings: Manifest["settings"];
  readonly occasion: Volatile;
}

export async function describeRun(run: Description): Promise<Manifest> {
  const provenance = await readProvenance(run.answers);
  return {
    schema: MANIFEST_SCHEMA,
    fingerprint_version: FINGERPRINT_VERSION,
    loop: run.loop,
    command: run.command,
    inputs: [run.dataset.asInput("dataset"), run.answers.asInput(run.role)],
    examples: run.examples,
    answers_sha256: run.answersSha256,
    scorer: run.scorer.identity,
    prompt: provenance?.prompt ?? null,
    sampling: provenance?.sampling ?? null,
    selection: run.selection,
    policy: provenance?.policy ?? null,
    learning: null,
    device: null,
    settings: { ...run.settings, scorer_timeout_ms: run.scorer.timeoutMs },
    volatile: { ...run.occasion, jobs: run.scorer.concurrency },
  };
}
