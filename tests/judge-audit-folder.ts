/** The folder of an audit with given findings, as `judge-audit` writes it. */

import { FINGERPRINT_VERSION, fingerprint, sha256 } from "../src/core/fingerprint.ts";
import type { JudgeIdentity } from "../src/core/judge.ts";
import {
  AUDIT,
  JUDGE_AUDIT_MANIFEST_SCHEMA,
  JUDGE_AUDIT_SCHEMA,
  JUDGE_AUDIT_SUMMARY_SCHEMA,
  JUDGEMENTS,
} from "../src/runs/artifacts.ts";
import {
  JUDGE_FAULTS,
  type JudgeAudit,
  type JudgeAuditManifest,
} from "../src/runs/judge-audit-schema.ts";
import { manifestFingerprint, observeOccasion } from "../src/runs/manifest.ts";
import { artifactJson, RunFolder } from "../src/runs/run-folder.ts";

const none = { value: null, interval: null, n: 0 };

export async function writeJudgeAudit(
  dir: string,
  judge: JudgeIdentity,
  { trusted = "trusted", accuracy = 0.9 }: { trusted?: JudgeAudit["trusted"]; accuracy?: number },
): Promise<string> {
  const power = { ...{ accuracy: 1, shrinkage: 1 }, smallest_difference: null, tasks_needed: null };
  const audit: JudgeAudit = {
    ...{ schema: JUDGE_AUDIT_SCHEMA, judge, trusted, alpha: 0.05 },
    findings: JUDGE_FAULTS.map((fault) => ({
      ...{
        fault,
        verdict: trusted === "trusted" || fault !== "length" ? "acquitted" : "convicted",
      },
      ...{ n: 100, effect: 0, interval: [0, 0], margin: fault === "agreement" ? 0.7 : 0.1 },
      ...{ p: 1, p_adjusted: 1, counts: {}, examples: [] },
    })),
    measures: {
      accuracy: { value: accuracy, interval: [accuracy - 0.05, accuracy + 0.05], n: 100 },
      ...{ ties: none, order_flips: none, self_agreement: none, kendall_tau: none },
      ...{ injection_wordings: {}, dropped: none },
    },
    dropped: { no_answer: 0, refused: 0, invalid_verdict: 0 },
    gate: {
      ...{ tasks: 100, alpha: 0.05, power: 0.8, difference: 0.2, perfect: power },
      ...{ measured: null, lower_bound: null, accuracy_needed: null },
    },
    tokens: { prompt_tokens: 0, completion_tokens: 0 },
  };
  const manifest: JudgeAuditManifest = {
    schema: JUDGE_AUDIT_MANIFEST_SCHEMA,
    ...{ fingerprint_version: FINGERPRINT_VERSION, command: "judge-audit", judge, inputs: [] },
    data: { source: "test", pairs: 100, groups: 0, sha256: fingerprint("data") },
    settings: {
      ...{ seed: 0, limit: null, alpha: 0.05, margin: 0.1, noise_limit: 0.1 },
      ...{ accuracy_needed: 0.7, dropped_limit: 0.1, tasks: 100, difference: 0.2 },
    },
    volatile: await observeOccasion()(),
  };
  const files = { [AUDIT]: artifactJson(audit), [JUDGEMENTS]: "" };
  const folder = await RunFolder.open(dir, "judge-audit", {});
  await folder.finish(
    manifest,
    {
      schema: JUDGE_AUDIT_SUMMARY_SCHEMA,
      judge: { name: judge.name, version: judge.version, fingerprint: judge.fingerprint },
      ...{ trusted, n_pairs: 100, n_requests: 100, n_dropped: 0, n_convicted: 0, n_undecided: 0 },
      accuracy,
      files: Object.fromEntries(
        Object.entries(files).map(([name, content]) => [name, sha256(content)]),
      ),
      manifest_sha256: manifestFingerprint(manifest),
    },
    files,
  );
  return dir;
}
