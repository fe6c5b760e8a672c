/** The three kinds of training files that Azure and OpenAI take, and what each may hold. */

import { isFields } from "../core/records.ts";

export const TUNE_KINDS = ["sft", "dpo", "rft"] as const;
export type TuneKind = (typeof TUNE_KINDS)[number];

/** What a file is for. */
export type TuneRole = "training" | "validation";

/** Documented limits, in rows and bytes; a megabyte is a million bytes. */
export const LIMITS = {
  leastRows: { sft: { training: 10 } } as Limits,
  mostRows: { rft: { training: 50_000, validation: 1_000 } } as Limits,
  fileBytes: 512e6,
  portalBytes: 200e6,
  /** Of a job: tokens of the file times epochs. */
  jobTokens: 2e9,
} as const;

type Limits = { readonly [K in TuneKind]?: { readonly [R in TuneRole]?: number } };

export const SFT_FIELDS: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "parallel_tool_calls",
]);
export const DPO_FIELDS: ReadonlySet<string> = new Set([
  ...["input", "preferred_output", "non_preferred_output"],
]);

/** Names of an older description of the DPO format, with what takes their place. */
export const OLD_DPO_FIELDS = {
  preferred_completion: "preferred_output",
  non_preferred_completion: "non_preferred_output",
} as const;

/** The kind of a row; undefined where it is of none. */
export function kindOfRow(fields: Readonly<Record<string, unknown>>): TuneKind | undefined {
  const { messages } = fields;
  const names = Object.keys(fields);
  if (names.some((name) => DPO_FIELDS.has(name) || name in OLD_DPO_FIELDS)) return "dpo";
  if (!Array.isArray(messages)) return undefined;
  const last: unknown = messages.at(-1);
  if (isFields(last) && last.role === "user") return "rft";
  return names.some((name) => !SFT_FIELDS.has(name) && !DEPRECATED.has(name)) ? "rft" : "sft";
}

/** Older names of `tools` and of what chooses among them. */
export const DEPRECATED: ReadonlySet<string> = new Set(["functions", "function_call"]);
