/** Explains an input file of the wrong kind: what it contains, and which command expected it. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { LockedRoomError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";

/** The fields that tell each kind; the first match decides. */
const FIELDS = {
  trajectories: ["id", "sample", "messages", "reward", "code"],
  packs: ["id", "samples"],
  pairs: ["prompt", "chosen", "rejected"],
  labels: ["prompt", "completion", "label"],
  texts: ["prompt", "completion"],
  completions: ["id", "completion"],
  examples: ["id", "prompt"],
};

export type DataKind = keyof typeof FIELDS;

export interface ExpectedData {
  readonly file: string;
  readonly wanted: DataKind;
  /** Such as "eval scores". */
  readonly who: string;
  /** What to do with a file of another kind. */
  readonly instead: Partial<Record<DataKind, string>>;
}

/** The same error with a better hint, where the first row of the file is of another kind. */
export function explained(error: unknown, expected: ExpectedData): unknown {
  const { file, wanted } = expected;
  if (!(error instanceof LockedRoomError) || !error.message.startsWith(`${file}:`)) return error;
  const row = firstRow(file);
  const found = kindOf(row);
  if (found === undefined || isKind(row, wanted)) return error;
  return new LockedRoomError(error.kind, error.message, {
    hint: difference(expected, found),
    cause: error,
  });
}

/** A warning for texts with ids: they parse as examples, but the built-in scorer needs an answer. */
export function missingAnswerWarning(expected: ExpectedData): string | undefined {
  const row = firstRow(expected.file);
  const found = kindOf(row);
  const answered = isFields(row) && "expected_answer" in row;
  if (expected.wanted !== "examples" || found === "examples" || answered) return undefined;
  return found && isKind(row, "examples")
    ? `${expected.file} has no expected_answer: ${difference(expected, found)}`
    : undefined;
}

function difference({ wanted, who, instead }: ExpectedData, found: DataKind): string {
  const advice = instead[found];
  return `${who} ${described(wanted)}; this file has ${described(found)}.${advice ? ` ${advice}` : ""}`;
}

function described(kind: DataKind): string {
  if (kind === "examples") return "examples (id, prompt, expected_answer)";
  return `${kind === "packs" ? "packs of samples" : kind} (${FIELDS[kind].join(", ")})`;
}

function kindOf(row: unknown): DataKind | undefined {
  return (Object.keys(FIELDS) as DataKind[]).find((kind) => isKind(row, kind));
}

function isKind(row: unknown, kind: DataKind): boolean {
  return isFields(row) && FIELDS[kind].every((name) => name in row);
}

/** Whether the first row of a file has a field. */
export function firstRowHas(file: string, field: string): boolean {
  const row = firstRow(file);
  return isFields(row) && field in row;
}

/** Longer rows are not explained. */
const MAX_BYTES = 1024 * 1024;

/** Only for regular files: a pipe cannot be read twice. */
function firstRow(file: string): unknown {
  let handle: number | undefined;
  try {
    if (!statSync(file).isFile()) return undefined;
    handle = openSync(file, "r");
    const buffer = Buffer.alloc(MAX_BYTES);
    const text = buffer.toString("utf8", 0, readSync(handle, buffer));
    return JSON.parse(text.trimStart().split("\n", 1)[0] ?? "");
  } catch {
    // The command that expected the file reports what is wrong with it.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
