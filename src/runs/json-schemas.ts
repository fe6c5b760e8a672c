/** Every schema of the project by name, and their JSON Schema form. */

import { type ZodType, z } from "zod";
import { aliasEntrySchema } from "./alias-entry.ts";
import { rolloutFailureSchema } from "./episode-schema.ts";
import { gateReportSchema } from "./gate-report.ts";
import { hardenReportSchema } from "./harden-report.ts";
import * as audits from "./judge-audit-schema.ts";
import * as judged from "./judge-schemas.ts";
import * as preferences from "./preference-schemas.ts";
import * as records from "./record-schemas.ts";
import * as reviews from "./review-schemas.ts";
import * as rollouts from "./rollout-schemas.ts";
import { sabotageReportSchema } from "./sabotage-report.ts";
import * as scored from "./schemas.ts";
import { sealSchema } from "./seal-record.ts";
import * as lines from "./train-records.ts";
import * as training from "./train-schemas.ts";
import { trajectorySchema } from "./trajectory-schema.ts";
import { validationReportSchema } from "./validation-report.ts";
import { verificationSchema } from "./verification.ts";

export const SCHEMAS: Readonly<Record<string, ZodType>> = {
  "example@1": records.exampleSchema,
  "completion@1": records.completionSchema,
  "selection-pack@1": records.selectionPackSchema,
  "golden-row@1": records.goldenRowSchema,
  "provenance@1": scored.provenanceSchema,
  "manifest@1": scored.manifestSchema,
  "results-row@1": scored.resultRowSchema,
  "summary@1": scored.summarySchema,
  "rollout@1": rollouts.rolloutManifestSchema,
  "rollout-summary@1": rollouts.rolloutSummarySchema,
  "journal-row@1": rollouts.journalRowSchema,
  "trajectory@1": trajectorySchema,
  "rollout-failure@1": rolloutFailureSchema,
  "pair@1": preferences.pairRowSchema,
  "label@1": preferences.labelRowSchema,
  "pairs@1": preferences.pairsManifestSchema,
  "pairs-summary@1": preferences.pairsSummarySchema,
  "review-label@1": reviews.reviewLabelSchema,
  "review@1": reviews.reviewManifestSchema,
  "review-summary@1": reviews.reviewSummarySchema,
  "gate@1": gateReportSchema,
  "harden@1": hardenReportSchema,
  "validation@2": validationReportSchema,
  "judgement@1": judged.groupJudgementSchema,
  "dropped-group@1": judged.droppedGroupSchema,
  "judge-audit@1": audits.judgeAuditSchema,
  "judge-audit-manifest@1": audits.judgeAuditManifestSchema,
  "judge-audit-summary@1": audits.judgeAuditSummarySchema,
  "judge-audit-judgement@1": audits.auditJudgementSchema,
  "train@1": training.trainManifestSchema,
  "train-summary@1": training.trainSummarySchema,
  "metrics-row@1": lines.stepRecordSchema,
  "evaluations-row@1": lines.evaluationRecordSchema,
  "samples-row@1": lines.sampleRecordSchema,
  "alarms-row@1": lines.alarmSchema,
  "timing-row@1": lines.timingRecordSchema,
  "verification@1": verificationSchema,
  "seal@1": sealSchema,
  "alias-entry@1": aliasEntrySchema,
  "states-row@1": lines.stateRecordSchema,
  "baseline-row@1": lines.baselineRecordSchema,
  "sabotage@1": sabotageReportSchema,
};

/** JSON Schema (draft 2020-12) of each, as committed under schemas/. */
export function jsonSchemas(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      name,
      { title: `lockedroom ${name}`, ...z.toJSONSchema(schema) },
    ]),
  );
}
