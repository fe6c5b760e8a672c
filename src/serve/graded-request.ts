/** Reads a request as it is sent to an `endpoint` grader: `{ sample, item, trace_id }`. */

import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { ScoreRequest } from "../core/score.ts";
import { badRequest } from "../http/errors.ts";

export interface GradedRequest {
  readonly row: ScoreRequest;
  readonly traceId: string | undefined;
}

/** Scorers walk examples recursively. */
const DEEPEST = 100;

/** `wholeSample`: the scorer is a grader, which reads tool calls besides the text. */
export function readGradedRequest(body: unknown, wholeSample: boolean): GradedRequest {
  if (!isFields(body)) throw badRequest("the body must be a JSON object");
  if (isDeep(body)) throw badRequest(`the body is nested more than ${DEEPEST} levels deep`);
  const { sample, item, trace_id: traceId } = body;
  if (!isFields(item)) throw badRequest('"item" must be an object: the fields of a row', "item");
  if (!isFields(sample))
    throw badRequest('"sample" must be an object with "output_text"', "sample");
  if (traceId !== undefined && traceId !== null && typeof traceId !== "string")
    throw badRequest('"trace_id" must be a text', "trace_id");
  const completion = completionOf(sample as JsonObject, wholeSample);
  return {
    row: { example: item as ScoreRequest["example"], completion },
    traceId: traceId ?? undefined,
  };
}

function completionOf(sample: JsonObject, wholeSample: boolean): string {
  const [choice] = listOf(sample.choices);
  const message = isFields(choice) && isFields(choice.message) ? choice.message : {};
  const text = [sample.output_text, message.content].find((one) => typeof one === "string");
  const output_tools = listOf(sample.output_tools ?? (message.tool_calls as Json | undefined));
  if (text === undefined && output_tools.length === 0)
    throw badRequest('"sample.output_text" must be a text', "sample.output_text");
  if (!wholeSample) {
    if (typeof text === "string" && (text !== "" || output_tools.length === 0)) return text;
    throw badRequest("the sample has only tool calls, and the scorer reads text", "sample");
  }
  const { choices } = sample;
  const whole = { output_text: text ?? "", output_tools, ...(choices && { choices }) };
  // A grader takes a sample in place of the text; no other scorer gets one.
  return whole as unknown as string;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
