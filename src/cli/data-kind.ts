/** When a file is not what a command reads: says what it holds, and who reads that. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { LockedRoomError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";

/** What a row of each kind has; the first that fits is the one. */
const FIELDS = {
  packs: ["id", "samples"],
  pairs: ["prompt", "chosen", "rejected"],
  labels: ["prompt", "completion", "label"],
  texts: ["prompt", "completion"],
  completions: ["id", "completion"],
  examples: ["id", "prompt"],
};

const LOOKS: Record<DataKind, string> = {
  packs: "packs of samples (id, samples)",
  pairs: "pairs (prompt, chosen, rejected)",
  labels: "labels (prompt, completion, label)",
  texts: "texts (prompt, completion)",
  completions: "completions (id, completion)",
  examples: "examples (id, prompt, expected_answer)",
};

export type DataKind = keyof typeof FIELDS;

export interface Reads {
  readonly file: string;
  readonly wanted: DataKind;
  /** Such as "eval scores". */
  readonly who: string;
  /** A sentence for whoever has another kind. */
  readonly instead: Partial<Record<DataKind, string>>;
}

/** The same error with a better next step, where the file's first row is of another kind. */
export function explained(error: unknown, reads: Reads): unknown {
  const { file, wanted } = reads;
  if (!(error instanceof LockedRoomError) || !error.message.startsWith(`${file}:`)) return error;
  const row = firstRow(file);
  const found = kindOf(row);
  if (found === undefined || isKind(row, wanted)) return error;
  return new LockedRoomError(error.kind, error.message, {
    hint: difference(reads, found),
    cause: error,
  });
}

/** Texts with ids would pass for examples, and every sample fail for want of an answer. */
export function doubtful(reads: Reads): string | undefined {
  const row = firstRow(reads.file);
  const found = kindOf(row);
  const answered = isFields(row) && "expected_answer" in row;
  if (reads.wanted !== "examples" || found === "examples" || answered) return undefined;
  return found && isKind(row, "examples")
    ? `${reads.file} has no expected_answer: ${difference(reads, found)}`
    : undefined;
}

function difference({ wanted, who, instead }: Reads, found: DataKind): string {
  const advice = instead[found];
  return `${who} ${LOOKS[wanted]}; these are ${LOOKS[found]}.${advice ? ` ${advice}` : ""}`;
}

function kindOf(row: unknown): DataKind | undefined {
  return (Object.keys(FIELDS) as DataKind[]).find((kind) => isKind(row, kind));
}

function isKind(row: unknown, kind: DataKind): boolean {
  return isFields(row) && FIELDS[kind].every((name) => name in row);
}

/** A longer row is explained by nobody. */
const MOST_BYTES = 1024 * 1024;

/** Of a plain file only: a pipe has been read already. */
function firstRow(file: string): unknown {
  let handle: number | undefined;
  try {
    if (!statSync(file).isFile()) return undefined;
    handle = openSync(file, "r");
    const buffer = Buffer.alloc(MOST_BYTES);
    const text = buffer.toString("utf8", 0, readSync(handle, buffer));
    return JSON.parse(text.trimStart().split("\n", 1)[0] ?? "");
  } catch {
    // Whoever reads the file for its content says what is wrong with it.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
