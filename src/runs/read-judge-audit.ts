/** Opens the folder of a judge's audit, and says whether it stands for a judge. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JudgeIdentity } from "../core/judge.ts";
import { AUDIT, JUDGEMENTS, MANIFEST, SUMMARY } from "./artifacts.ts";
import { requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import {
  type AuditJudgement,
  auditJudgementSchema,
  JUDGE_FAULTS,
  type JudgeAudit,
  type JudgeAuditManifest,
  type JudgeAuditSummary,
  type JudgeFault,
  type JudgeFinding,
  judgeAuditManifestSchema,
  judgeAuditSchema,
  judgeAuditSummarySchema,
} from "./judge-audit-schema.ts";
import { manifestFingerprint } from "./manifest.ts";
import { parseWith, readArtifact, sha256OfFile } from "./whole-file.ts";

export interface OpenedJudgeAudit {
  readonly dir: string;
  readonly manifest: JudgeAuditManifest;
  readonly summary: JudgeAuditSummary;
  readonly audit: JudgeAudit;
  judgements(): JsonlFile<AuditJudgement>;
}

const AGAIN = "Run judge-audit again.";

/** Refuses an audit whose files are not those that were written. */
export async function openJudgeAudit(dir: string): Promise<OpenedJudgeAudit> {
  requireFinished(dir, await requireKind(dir, ["judge-audit"]));
  const read = <T>(name: string, schema: Parameters<typeof readArtifact<T>>[1]) =>
    readArtifact(path.join(dir, name), schema, AGAIN);
  const manifest = await read(MANIFEST, judgeAuditManifestSchema);
  const summary = await read(SUMMARY, judgeAuditSummarySchema);
  for (const [name, hash] of Object.entries(summary.files)) {
    if ((await sha256OfFile(path.join(dir, name))) !== hash)
      throw dataError(`${path.join(dir, name)} was changed after the audit was written`, AGAIN);
  }
  const audit = await read(AUDIT, judgeAuditSchema);
  if (
    manifestFingerprint(manifest) !== summary.manifest_sha256 ||
    manifest.judge.fingerprint !== audit.judge.fingerprint
  )
    throw dataError(`${path.join(dir, MANIFEST)} was changed after the audit was written`, AGAIN);
  return {
    ...{ dir, manifest, summary, audit },
    judgements: () =>
      new JsonlFile(
        path.join(dir, JUDGEMENTS),
        (fields) => parseWith(auditJudgementSchema, fields),
        { regular: true },
      ),
  };
}

type AuditedJudge = Pick<JudgeAudit, "judge" | "trusted" | "findings">;

/** An acquittal at a wider margin says too little: for agreement below, for the others above these. */
const WIDEST_MARGINS: Readonly<Record<JudgeFault, number>> = {
  ...{ position: 0.1, length: 0.1, self_praise: 0.1, injection: 0.1 },
  ...{ noise: 0.2, agreement: 0.6, dropped: 0.2 },
};

/** Undefined where the audit acquitted this judge of everything; else why it does not count. */
export function whyNotTrusted(
  audit: AuditedJudge,
  judge: Pick<JudgeIdentity, "name" | "fingerprint">,
): string | undefined {
  if (audit.judge.fingerprint !== judge.fingerprint)
    return `it is about another judge: ${audit.judge.name} with the fingerprint ${audit.judge.fingerprint.slice(0, 12)}, not ${judge.name} with ${judge.fingerprint.slice(0, 12)}`;
  const named = (verdict: string) =>
    audit.findings.filter((one) => one.verdict === verdict).map(({ fault }) => fault);
  if (named("convicted").length > 0)
    return `it convicted the judge of ${named("convicted").join(", ")}`;
  const missing = JUDGE_FAULTS.filter((fault) => !named("acquitted").includes(fault));
  if (missing.length > 0) return `it could not decide about ${missing.join(", ")}`;
  const wide = audit.findings.find(isWide);
  if (wide)
    return `it acquitted the judge of ${wide.fault} at a margin of ${wide.margin}, and ${WIDEST_MARGINS[wide.fault]} is the widest that counts`;
  return audit.trusted === "trusted" ? undefined : `it calls the judge ${audit.trusted}`;
}

function isWide({ fault, margin }: JudgeFinding): boolean {
  return fault === "agreement" ? margin < WIDEST_MARGINS[fault] : margin > WIDEST_MARGINS[fault];
}

export function auditTrusted(
  audit: AuditedJudge,
  judge: Pick<JudgeIdentity, "name" | "fingerprint">,
): boolean {
  return whyNotTrusted(audit, judge) === undefined;
}
