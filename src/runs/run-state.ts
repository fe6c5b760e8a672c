/** What lies in a folder: which kind of run, in which state, and what it says of itself so far. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { JOURNAL, MANIFEST, SUMMARY } from "./artifacts.ts";
import { type Claim, readClaim } from "./claim.ts";
import { kindOfRecord, type RunKind } from "./kinds.ts";

export type RunState = "running" | "interrupted" | "finished";

export interface FolderContent {
  readonly kind: RunKind | undefined;
  /** Undefined when nothing says that this is a run. */
  readonly state: RunState | undefined;
  /** Undefined where it is missing, or no JSON object. */
  readonly manifest: JsonObject | undefined;
  /** Undefined where it is missing, or not one of ours. */
  readonly summary: JsonObject | undefined;
  readonly claim: Claim | undefined;
}

export async function contentOf(dir: string): Promise<FolderContent> {
  const manifest = await readObject(path.join(dir, MANIFEST));
  const found = await readObject(path.join(dir, SUMMARY));
  const summary = String(found?.schema).startsWith("lockedroom.") ? found : undefined;
  const claim = await readClaim(dir);
  const journal = existsSync(path.join(dir, JOURNAL)) ? "rollout" : undefined;
  const kind = kindOfRecord(summary) ?? kindOfRecord(manifest) ?? journal ?? claim?.kind;
  return { kind, state: stateOf(kind, summary, claim), manifest, summary, claim };
}

/** A finished run that is being replaced is running: what it says is about to change. */
function stateOf(
  kind: RunKind | undefined,
  summary: JsonObject | undefined,
  claim: Claim | undefined,
): RunState | undefined {
  if (claim?.writer !== undefined) return "running";
  if (summary) return "finished";
  return kind || claim ? "interrupted" : undefined;
}

/** Undefined for what is missing, half-written, or no JSON object. */
export async function readObject(file: string): Promise<JsonObject | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return isFields(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
