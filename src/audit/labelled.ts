/** Attempts of known worth, which an audit shows to a judge. */

import type { Tool } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import type { JudgedMessage } from "../core/judge.ts";
import type { JudgeAuditManifest } from "../runs/judge-audit-schema.ts";

export type Attempt = readonly JudgedMessage[];

/** Two attempts at one task, one of them better by its label. */
export interface LabelledPair {
  readonly id: string;
  readonly better: Attempt;
  readonly worse: Attempt;
  readonly tools: readonly Tool[];
}

/** Several attempts at one task; of two, the one with the larger worth is better. */
export interface LabelledGroup {
  readonly id: string;
  readonly attempts: readonly Attempt[];
  readonly worth: readonly number[];
  readonly tools: readonly Tool[];
}

export interface LabelledData {
  /** In a few words, for people. */
  readonly source: string;
  readonly pairs: readonly LabelledPair[];
  readonly groups: readonly LabelledGroup[];
  /** The files that it was read from. */
  readonly inputs: JudgeAuditManifest["inputs"];
}

/** An attempt of one reply. */
export function replyTo(prompt: string, reply: string): Attempt {
  return [
    { role: "user", content: prompt },
    { role: "assistant", content: reply },
  ];
}

/** The first pairs, and as many groups for each as there were. */
export function limited(data: LabelledData, limit: number | undefined): LabelledData {
  if (limit === undefined || limit >= data.pairs.length) return data;
  const groups = Math.ceil((data.groups.length * limit) / data.pairs.length);
  return { ...data, pairs: data.pairs.slice(0, limit), groups: data.groups.slice(0, groups) };
}

export function hashOf({ pairs, groups }: LabelledData): string {
  return fingerprint({ pairs, groups });
}

/** A judge cannot be measured with fewer: below this no test of the audit can be significant. */
export const LEAST_PAIRS = 8;

export function requirePairs(data: LabelledData): LabelledData {
  if (data.pairs.length >= LEAST_PAIRS) return data;
  throw dataError(
    `${data.source}: ${data.pairs.length} different labelled pairs are too few for an audit`,
    `Give at least ${LEAST_PAIRS}; about 160 are needed to rule the faults out.`,
  );
}

/** Each pair once: copies of one that is easy to judge would count as evidence. */
export function withoutCopies(data: LabelledData): LabelledData {
  const seen = new Set<string>();
  const pairs = data.pairs.filter(({ better, worse }) => {
    const content = fingerprint([better, worse]);
    return !seen.has(content) && seen.add(content);
  });
  return { ...data, pairs };
}
