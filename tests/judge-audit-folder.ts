/** The folder of an audit, as `judge-audit` writes it, of a judge whose faults are known. */

import { AUDIT_DEFAULTS, auditOf } from "../src/audit/audit.ts";
import { type SimulatedFaults, simulatedVerdicts } from "../src/audit/simulated.contract.ts";
import { FINGERPRINT_VERSION, fingerprint, sha256 } from "../src/core/fingerprint.ts";
import { canonicalJson } from "../src/core/json.ts";
import type { JudgeIdentity } from "../src/core/judge.ts";
import {
  AUDIT,
  JUDGE_AUDIT_MANIFEST_SCHEMA,
  JUDGE_AUDIT_SUMMARY_SCHEMA,
  JUDGEMENTS,
} from "../src/runs/artifacts.ts";
import type {
  AuditJudgement,
  JudgeAudit,
  JudgeAuditManifest,
} from "../src/runs/judge-audit-schema.ts";
import { manifestFingerprint, observeOccasion } from "../src/runs/manifest.ts";
import { artifactJson, RunFolder } from "../src/runs/run-folder.ts";

const PAIRS = 200;
const SEED = 1;

/** What a forger changes; every hash is that of the forged files. */
export interface ForgedAudit {
  readonly audit?: (audit: JudgeAudit) => JudgeAudit;
  readonly judgements?: (lines: AuditJudgement[]) => AuditJudgement[];
  readonly data?: Partial<JudgeAuditManifest["data"]>;
}

/** Of a judge without faults unless stated. */
export async function writeJudgeAudit(
  dir: string,
  judge: JudgeIdentity,
  faults: SimulatedFaults = {},
  forged: ForgedAudit = {},
): Promise<string> {
  const verdicts = simulatedVerdicts(faults, { n: PAIRS, audit: SEED });
  const lines = forged.judgements?.(verdicts) ?? verdicts;
  const found = auditOf(judge, lines, { ...AUDIT_DEFAULTS, tasks: PAIRS });
  const audit = forged.audit?.(found) ?? found;
  const { alpha, margin, noiseLimit, accuracyNeeded, droppedLimit, difference } = AUDIT_DEFAULTS;
  const manifest: JudgeAuditManifest = {
    schema: JUDGE_AUDIT_MANIFEST_SCHEMA,
    ...{ fingerprint_version: FINGERPRINT_VERSION, command: "judge-audit", judge, inputs: [] },
    data: { source: "test", pairs: PAIRS, groups: 0, sha256: fingerprint("data"), ...forged.data },
    settings: {
      ...{ seed: SEED, limit: null, alpha, margin, difference, tasks: PAIRS },
      ...{ noise_limit: noiseLimit, accuracy_needed: accuracyNeeded, dropped_limit: droppedLimit },
    },
    volatile: await observeOccasion()(),
  };
  const files = {
    [AUDIT]: artifactJson(audit),
    [JUDGEMENTS]: lines.map((line) => `${canonicalJson(line)}\n`).join(""),
  };
  const folder = await RunFolder.open(dir, "judge-audit", {});
  await folder.finish(
    manifest,
    {
      schema: JUDGE_AUDIT_SUMMARY_SCHEMA,
      judge: { name: judge.name, version: judge.version, fingerprint: judge.fingerprint },
      ...{ trusted: audit.trusted, n_pairs: PAIRS, n_requests: lines.length },
      ...{ n_dropped: 0, n_convicted: 0, n_undecided: 0 },
      accuracy: audit.measures.accuracy.value,
      files: Object.fromEntries(
        Object.entries(files).map(([name, content]) => [name, sha256(content)]),
      ),
      manifest_sha256: manifestFingerprint(manifest),
    },
    files,
  );
  return dir;
}
