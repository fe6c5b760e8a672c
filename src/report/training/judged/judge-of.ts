/** The judge that rewarded a run. */

import type { JsonObject } from "../../../core/json.ts";
import { isFields } from "../../../core/records.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";

export function isJudged({ manifest }: TrainingRunRecords): boolean {
  return manifest?.judge !== undefined;
}

/** Whether something else than the judge measures the policy. */
export function hasLabels({ evaluations }: TrainingRunRecords): boolean {
  return evaluations.some(({ labels }) => labels !== undefined);
}

/** Its identity as an instrument; undefined where no judge rewards. */
export function judgeOf({ manifest }: TrainingRunRecords): JsonObject | undefined {
  const found = manifest.scorers.find(({ identity }) => identity.kind === "judge");
  return isFields(found?.identity) ? found.identity : undefined;
}
