/** Leaves a phase behind, once everything that it asks for is there. */

import path from "node:path";
import { dataError } from "../../core/index.ts";
import { fileSha256 } from "../workspace-files.ts";
import { DONE } from "./phases.ts";
import { PLAN_SCHEMA, type PlanRecord, readRecord, writeRecord } from "./record.ts";
import {
  type LookedAt,
  type PlanOptions,
  type PlanStatus,
  planStatus,
  stillOpen,
} from "./status.ts";

export interface Advance {
  readonly status: PlanStatus;
  /** The phase that was left behind; undefined when it was refused or none is left. */
  readonly left: number | undefined;
  /** What is missing, of this phase and of earlier ones. */
  readonly missing: readonly { readonly phase: number; readonly criterion: LookedAt }[];
}

export async function advancePlan(options: PlanOptions): Promise<Advance> {
  const status = await planStatus(options);
  if (status.phase === DONE) return { status, left: undefined, missing: [] };
  const missing = stillOpen(status);
  if (missing.length > 0) return { status, left: undefined, missing };
  const record = readRecord(options.dir);
  const evidence: PlanRecord["advanced"][number]["evidence"] = [];
  for (const criterion of status.phases[status.phase]?.criteria ?? []) {
    if (criterion.status !== "met") continue;
    for (const { path: name } of criterion.evidence) {
      const sha256 = await fileSha256(path.join(options.dir, name));
      if (sha256 === undefined)
        throw dataError(`${name} vanished while the plan was looked at`, "Look again.");
      evidence.push({ criterion: criterion.id, path: name, sha256 });
    }
  }
  await writeRecord(options.dir, {
    schema: PLAN_SCHEMA,
    phase: status.phase + 1,
    advanced: [...record.advanced, { phase: status.phase, on: options.today, evidence }],
  });
  return { status, left: status.phase, missing: [] };
}
