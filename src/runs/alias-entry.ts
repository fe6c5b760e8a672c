/** One entry in the history of a policy alias: which policy it names from then on, and why. */

import { z } from "zod";
import { ALIAS_ENTRY_SCHEMA } from "./artifacts.ts";
import { gateReportSchema } from "./gate-report.ts";
import { hash, jsonObject, manifestSchema } from "./schemas.ts";

const number = z.int().min(1);
const { host, platform, node, lockedroom, git } = manifestSchema.shape.volatile.shape;

/** What decided, as the report of the gate has it. */
const { claim, alpha, min_delta, margin, delta, ci, allowed, axes } = gateReportSchema.shape;
const onAxis = axes
  .unwrap()
  .shape.values.element.pick({ name: true, margin: true, delta: true, ci: true, state: true });

export const aliasEntrySchema = z.strictObject({
  schema: z.literal(ALIAS_ENTRY_SCHEMA),
  alias: z.string(),
  /** The first is 1; the name of the file. */
  number,
  action: z.enum(["promote", "rollback"]),
  /** The policy's identity: for a checkpoint the fingerprint of its content. */
  policy: jsonObject,
  /** A checkpoint folder relative to the folder of the alias, `pi0`, or `openai:MODEL`. */
  source: z.string().min(1),
  /** The entry that a rollback returns to; null where there is none. */
  rollback_to: number.nullable(),
  /** Of a rollback: the entry whose policy it restores. */
  restores: number.optional(),
  /** Why, in the words of whoever did it. */
  reason: z.string().nullable(),
  /** What the promotion lacked, where it was forced. */
  forced: z.string().nullable(),
  /** The verdict of the gate that the promotion rests on. */
  verdict: z
    .strictObject({
      sha256: hash,
      decision: z.string(),
      baseline: z.string(),
      candidate: z.string(),
      ...{ claim, alpha, min_delta, margin, delta, ci, allowed },
      axes: z.array(onAxis).optional(),
    })
    .nullable(),
  /** What depends on the alias, as its owner states it; nothing of it is measured. */
  stated: z.strictObject({
    used_by: z.array(z.string()),
    /** Share of the traffic, from 0 to 1. */
    traffic: z.number().min(0).max(1).nullable(),
  }),
  /** The `sha256` of the entry before; null in the first. */
  previous_sha256: hash.nullable(),
  volatile: z.strictObject({ at: z.string(), host, platform, node, lockedroom, git }),
  /** Of the canonical JSON of everything else in the entry. */
  sha256: hash,
});

/** One entry in the history of a policy alias. */
export type AliasEntry = Readonly<z.infer<typeof aliasEntrySchema>>;
/** Their numbers have four digits. */
export const MOST_ENTRIES = 9999;
