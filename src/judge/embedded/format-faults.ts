/** The text of an answer, in order or spoiled by a fault. */

import { rngAt } from "../../core/rng.ts";
import type { Asked } from "./asked.ts";
import type { Fault, FormatFault } from "./faults.ts";

export interface Entry {
  readonly trajectory_id: string;
  readonly explanation: string;
  readonly score: number;
}

/** The faults that strike this request. */
export function strikes(faults: readonly Fault[], { hash, corrective }: Asked): FormatFault[] {
  return faults.flatMap((fault) =>
    fault.kind === "format" &&
    !(fault.once && corrective) &&
    rngAt("judge-fault", fault.name, hash).next() < fault.share
      ? [fault.name]
      : [],
  );
}

type Spoil = Partial<Record<FormatFault, (entries: readonly Entry[]) => readonly Entry[]>>;

const ENTRIES: Spoil = {
  "wrong-ids": (entries) =>
    entries.map((one) => ({ ...one, trajectory_id: `attempt-${one.trajectory_id}` })),
  "duplicate-ids": (entries) => [...entries, ...entries.slice(0, 1)],
  "missing-ids": (entries) => entries.slice(0, -1),
  huge: (entries) => entries.map((one) => ({ ...one, score: 1e9 })),
};

export function answerText(entries: readonly Entry[], struck: readonly FormatFault[]): string {
  const spoiled = struck.reduce((all, name) => ENTRIES[name]?.(all) ?? all, entries);
  let text = JSON.stringify({ scores: spoiled });
  // JSON has no NaN; models write it nevertheless.
  if (struck.includes("nan")) text = text.replaceAll(/"score":[^,}]*/g, '"score":NaN');
  if (struck.includes("fenced")) text = `\`\`\`json\n${text}\n\`\`\``;
  if (struck.includes("chatter")) {
    text = `Here is how I see these attempts:\n${text}\nTell me if you need anything else.`;
  }
  return text;
}

export const REFUSAL = "I cannot judge these attempts.";
