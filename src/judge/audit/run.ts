/** Audits a judge with labelled data and writes the run: every verdict, and what they show. */

import { type AuditQuestion, auditOf } from "../../audit/audit.ts";
import {
  hashOf,
  type LabelledData,
  limited,
  requirePairs,
  withoutCopies,
} from "../../audit/labelled.ts";
import { auditRequests, countRequests } from "../../audit/requests.ts";
import { FINGERPRINT_VERSION } from "../../core/fingerprint.ts";
import { canonicalJson } from "../../core/json.ts";
import type { GroupJudge } from "../../core/judge.ts";
import {
  AUDIT,
  JUDGE_AUDIT_MANIFEST_SCHEMA,
  JUDGE_AUDIT_SUMMARY_SCHEMA,
  JUDGEMENTS,
  NOTE,
} from "../../runs/artifacts.ts";
import type {
  AuditJudgement,
  JudgeAudit,
  JudgeAuditManifest,
  JudgeAuditSummary,
} from "../../runs/judge-audit-schema.ts";
import { manifestFingerprint, observeOccasion } from "../../runs/manifest.ts";
import { judgeAuditFacts } from "../../runs/note-facts.ts";
import { artifactJson, type Finished, RunFolder } from "../../runs/run-folder.ts";
import { runNote, stamped } from "../../runs/run-note.ts";
import { askedOf } from "./ask.ts";

export interface JudgeAuditOptions extends Omit<AuditQuestion, "tasks"> {
  readonly judge: GroupJudge;
  readonly data: LabelledData;
  readonly outdir: string;
  readonly seed?: number | undefined;
  /** At most so many pairs. */
  readonly limit?: number | undefined;
  /** Tasks that the gate compares; by default as many as there are pairs. */
  readonly tasks?: number | undefined;
  readonly force?: boolean | undefined;
  /** Called with the number of verdicts so far and in all. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

export interface FinishedJudgeAudit extends Finished<JudgeAuditManifest, JudgeAuditSummary> {
  readonly audit: JudgeAudit;
}

export async function auditJudge(options: JudgeAuditOptions): Promise<FinishedJudgeAudit> {
  const { judge, outdir, force, seed = 0 } = options;
  const data = requirePairs(limited(withoutCopies(options.data), options.limit));
  const question = { ...options, tasks: options.tasks ?? data.pairs.length };
  const occasion = observeOccasion();
  const inputs = data.inputs.flatMap(({ path }) => (path === null ? [] : [path]));
  const folder = await RunFolder.open(outdir, "judge-audit", { force, inputs });
  try {
    const lines = await folder.lines(JUDGEMENTS);
    const judgements: AuditJudgement[] = [];
    for await (const one of askedOf(judge, auditRequests(data, seed))) {
      judgements.push(one);
      lines.add(canonicalJson(one));
      await lines.flush();
      options.onProgress?.(judgements.length, countRequests(data));
    }
    const audit = auditOf(judge.identity, judgements, question);
    const manifest: JudgeAuditManifest = {
      ...fixedPart(options, data, question),
      volatile: { ...(await occasion()), judge: { ...judge.traffic } },
    };
    const auditText = artifactJson(audit);
    const summary = summaryOf(audit, judgements, {
      n_pairs: data.pairs.length,
      files: await folder.seal({ [AUDIT]: auditText }),
      manifest_sha256: manifestFingerprint(manifest),
    });
    const note = stamped(runNote(judgeAuditFacts(manifest, audit)));
    const finished = await folder.finish(manifest, summary, { [AUDIT]: auditText, [NOTE]: note });
    return { ...finished, audit };
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

type AskedAudit = Pick<JudgeAuditOptions, "judge" | "seed" | "limit">;

function fixedPart(
  { judge, seed = 0, limit }: AskedAudit,
  data: LabelledData,
  question: AuditQuestion,
): Omit<JudgeAuditManifest, "volatile"> {
  return {
    schema: JUDGE_AUDIT_MANIFEST_SCHEMA,
    fingerprint_version: FINGERPRINT_VERSION,
    command: "judge-audit",
    judge: judge.identity,
    inputs: data.inputs,
    data: {
      source: data.source,
      pairs: data.pairs.length,
      groups: data.groups.length,
      sha256: hashOf(data),
    },
    settings: {
      ...{ seed, limit: limit ?? null },
      alpha: question.alpha,
      margin: question.margin,
      noise_limit: question.noiseLimit,
      accuracy_needed: question.accuracyNeeded,
      dropped_limit: question.droppedLimit,
      tasks: question.tasks,
      difference: question.difference,
    },
  };
}

function summaryOf(
  audit: JudgeAudit,
  judgements: readonly AuditJudgement[],
  end: Pick<JudgeAuditSummary, "n_pairs" | "files" | "manifest_sha256">,
): JudgeAuditSummary {
  const { name, version, fingerprint } = audit.judge;
  const found = (verdict: string) => audit.findings.filter((one) => one.verdict === verdict).length;
  return {
    schema: JUDGE_AUDIT_SUMMARY_SCHEMA,
    judge: { name, version, fingerprint },
    trusted: audit.trusted,
    n_requests: judgements.length,
    n_dropped: judgements.filter(({ dropped }) => dropped !== null).length,
    n_convicted: found("convicted"),
    n_undecided: found("undecided"),
    accuracy: audit.measures.accuracy.value,
    ...end,
  };
}
