/** What of a row is asked and what is the answer: for duplicates, contradictions and leaks. */

import { normalisedPrompt } from "../core/prompt-fingerprint.ts";
import { isFields } from "../core/records.ts";
import {
  type ContentHash,
  contentHash,
  hashOfPart,
  hashWithout,
  joined,
  joinedEitherWay,
} from "./content-hash.ts";
import { OLD_DPO_FIELDS, type TuneKind } from "./kinds.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface RowIdentity {
  /** Rows with the same one and another answer contradict each other. */
  readonly input: ContentHash;
  readonly answer: ContentHash;
}

/** What a grader is given of an RFT row; two ids do not make two rows. */
const NOT_ANSWER: ReadonlySet<string> = new Set(["messages", "tools", "id"]);

/** Undefined where the row has no messages. */
export function identityOf(kind: TuneKind, fields: Fields): RowIdentity | undefined {
  if (kind === "dpo") return pairIdentity(fields);
  const { messages, tools } = fields;
  if (!Array.isArray(messages)) return undefined;
  if (kind === "rft")
    return {
      input: withTools(contentHash(messages), tools),
      answer: hashWithout(fields, NOT_ANSWER),
    };
  const last = messages.findLastIndex((one: unknown) => isFields(one) && one.role === "assistant");
  const end = last < 0 ? messages.length : last;
  return {
    input: withTools(hashOfPart(messages, 0, end), tools),
    answer: hashOfPart(messages, end, messages.length),
  };
}

/** A pair and the same pair with its sides changed have the same input here. */
function pairIdentity(fields: Fields): RowIdentity | undefined {
  const { input } = fields;
  if (!isFields(input)) return undefined;
  const { preferred, other } = outputsOf(fields);
  const [better, worse] = [contentHash(preferred), contentHash(other)];
  const asked = withTools(contentHash(input.messages), input.tools);
  return { input: joined(asked, joinedEitherWay(better, worse)), answer: better };
}

/** Whether the two outputs of a pair are the same. */
export function sameOutputs(fields: Fields): boolean {
  const { preferred, other } = outputsOf(fields);
  const [one, two] = [contentHash(preferred), contentHash(other)];
  return Array.isArray(preferred) && one.high === two.high && one.low === two.low;
}

/** By their names or their old ones. */
export function outputsOf(fields: Fields): { preferred: unknown; other: unknown } {
  const [old, oldOther] = Object.keys(OLD_DPO_FIELDS) as [string, string];
  return {
    preferred: fields.preferred_output ?? fields[old],
    other: fields.non_preferred_output ?? fields[oldOther],
  };
}

function withTools(messages: ContentHash, tools: unknown): ContentHash {
  return Array.isArray(tools) && tools.length > 0 ? joined(messages, contentHash(tools)) : messages;
}

/** What stands before the first answer, without the instructions; undefined where there is none. */
export function promptOf(kind: TuneKind, fields: Fields): string | undefined {
  const holder = kind === "dpo" && isFields(fields.input) ? fields.input : fields;
  return Array.isArray(holder.messages) ? promptIn(holder.messages) : undefined;
}

/** The texts of the user messages before the first answer, as they count for a split. */
export function promptIn(messages: readonly unknown[]): string | undefined {
  const first = messages.findIndex((one) => isFields(one) && one.role === "assistant");
  const asked = messages.slice(0, first < 0 ? messages.length : first);
  const texts = asked.flatMap((one) => (isFields(one) && one.role === "user" ? textsOf(one) : []));
  return texts.length > 0 ? normalisedPrompt(texts.join("\n")) : undefined;
}

function textsOf({ content }: Fields): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) =>
    isFields(part) && typeof part.text === "string" ? [part.text] : [JSON.stringify(part)],
  );
}
