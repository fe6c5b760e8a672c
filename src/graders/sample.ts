/** What `sample` is for a completion, as the templates of graders see it. */

import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";

/** A model's answer. Chat answers may bring tool calls; a completion is text alone. */
export interface Sample {
  readonly output_text: string;
  readonly output_tools: readonly Json[];
  readonly choices: readonly Json[];
  /** The parsed text; undefined where it is not JSON. It is parsed once, and only if asked for. */
  output_json(): Json | undefined;
}

/** The members that a template may name. */
export const SAMPLE_FIELDS = ["output_text", "output_json", "output_tools", "choices"] as const;

class TextSample implements Sample {
  readonly output_text: string;
  readonly output_tools: readonly Json[];
  readonly #choices: readonly Json[] | undefined;
  #parsed: { readonly value: Json | undefined } | undefined;

  constructor(text: string, tools: readonly Json[] = [], choices?: readonly Json[]) {
    this.output_text = text;
    this.output_tools = tools;
    this.#choices = choices;
  }

  get choices(): readonly Json[] {
    if (this.#choices) return this.#choices;
    const calls = this.output_tools.length > 0 ? { tool_calls: this.output_tools } : {};
    const message = { role: "assistant", content: this.output_text, ...calls };
    return [{ index: 0, finish_reason: "stop", message }];
  }

  output_json(): Json | undefined {
    this.#parsed ??= { value: parsed(this.output_text) };
    return this.#parsed.value;
  }
}

/** From the text of a completion, or from an object with `output_text` and perhaps tool calls. */
export function sampleOf(given: string | JsonObject): Sample {
  if (typeof given === "string") return new TextSample(given);
  const { output_text: text = "", output_tools, choices } = given;
  return new TextSample(typeof text === "string" ? text : "", list(output_tools), list(choices));
}

/** The sample as plain data, for graders that are programs; `output_json` only where it parses. */
export function plainSample(sample: Sample): JsonObject {
  const { output_text, output_tools, choices } = sample;
  const output_json = sample.output_json();
  return { output_text, ...(output_json !== undefined && { output_json }), output_tools, choices };
}

/** Whether a value is such an object and not some other JSON. */
export function isSampleObject(value: unknown): value is JsonObject {
  return isFields(value) && SAMPLE_FIELDS.some((name) => Object.hasOwn(value, name));
}

function list(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Deeper than any answer needs; JSON of thousands of levels can be parsed here, and written nowhere. */
const DEEPEST = 200;

function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isDeeper(value, DEEPEST) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Level by level, because a recursion would be as deep as the value. */
function isDeeper(value: Json, levels: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? (Object.values(one) as Json[]) : [],
    );
  }
  return false;
}
