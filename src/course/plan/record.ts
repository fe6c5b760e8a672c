/** plan.json: which phases were passed, when, and on what evidence. */

import path from "node:path";
import { z } from "zod";
import { insidePath } from "../workspace.ts";
import { parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import { DONE, isDay } from "./calendar.ts";

export const PLAN_FILE = "plan.json";
export const PLAN_SCHEMA = "lockedroom.plan@1";

const advanceSchema = z.strictObject({
  phase: z.int(),
  on: z.string().refine(isDay, { message: "must be a date such as 2026-11-15" }),
  evidence: z.array(
    z.strictObject({
      criterion: z.string(),
      path: insidePath,
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

const planRecordSchema = z
  .strictObject({
    schema: z.literal(PLAN_SCHEMA),
    /** The current phase; 5 when all are passed. */
    phase: z.int().min(0).max(DONE),
    advanced: z.array(advanceSchema),
  })
  .refine(
    ({ phase, advanced }) =>
      advanced.length === phase && advanced.every((one, i) => one.phase === i),
    { message: "every phase before the current one must be recorded in `advanced`, in order" },
  );

export type PlanRecord = z.infer<typeof planRecordSchema>;

const EMPTY: PlanRecord = { schema: PLAN_SCHEMA, phase: 0, advanced: [] };

export function readRecord(dir: string): PlanRecord {
  const content = textOf(dir, PLAN_FILE);
  if (content === undefined) return EMPTY;
  return parseFile(path.join(dir, PLAN_FILE), content, planRecordSchema, {
    conflict: `Keep one side, git checkout --ours ${PLAN_FILE} or git checkout --theirs ${PLAN_FILE}, then git add ${PLAN_FILE}.`,
    damaged: `Restore the committed one: git checkout -- ${PLAN_FILE}. Or fix it by hand; phases are checked again either way.`,
  });
}

export async function writeRecord(dir: string, record: PlanRecord): Promise<void> {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  await writeAtomically(path.join(dir, PLAN_FILE), text, { replace: true });
}
