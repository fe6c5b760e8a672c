/** Every schema of the project by name, and their JSON Schema form. */

import { type ZodType, z } from "zod";
import { gateReportSchema } from "./gate-report.ts";
import {
  labelRowSchema,
  pairRowSchema,
  pairsManifestSchema,
  pairsSummarySchema,
} from "./preference-schemas.ts";
import {
  completionSchema,
  exampleSchema,
  goldenRowSchema,
  selectionPackSchema,
} from "./record-schemas.ts";
import {
  journalRowSchema,
  rolloutManifestSchema,
  rolloutSummarySchema,
} from "./rollout-schemas.ts";
import { manifestSchema, provenanceSchema, resultRowSchema, summarySchema } from "./schemas.ts";
import {
  alarmSchema,
  evaluationRecordSchema,
  sampleRecordSchema,
  stepRecordSchema,
  timingRecordSchema,
} from "./train-records.ts";
import { trainManifestSchema, trainSummarySchema } from "./train-schemas.ts";
import { validationReportSchema } from "./validation-report.ts";

export const SCHEMAS: Readonly<Record<string, ZodType>> = {
  "example@1": exampleSchema,
  "completion@1": completionSchema,
  "selection-pack@1": selectionPackSchema,
  "golden-row@1": goldenRowSchema,
  "provenance@1": provenanceSchema,
  "manifest@1": manifestSchema,
  "results-row@1": resultRowSchema,
  "summary@1": summarySchema,
  "rollout@1": rolloutManifestSchema,
  "rollout-summary@1": rolloutSummarySchema,
  "journal-row@1": journalRowSchema,
  "pair@1": pairRowSchema,
  "label@1": labelRowSchema,
  "pairs@1": pairsManifestSchema,
  "pairs-summary@1": pairsSummarySchema,
  "gate@1": gateReportSchema,
  "validation@1": validationReportSchema,
  "train@1": trainManifestSchema,
  "train-summary@1": trainSummarySchema,
  "metrics-row@1": stepRecordSchema,
  "evaluations-row@1": evaluationRecordSchema,
  "samples-row@1": sampleRecordSchema,
  "alarms-row@1": alarmSchema,
  "timing-row@1": timingRecordSchema,
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
