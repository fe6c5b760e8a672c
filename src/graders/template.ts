/**
 * Templates: text with `{{item.a.b}}` and `{{sample.output_text}}`. A template is read once; what is
 * put into it is never read as a template, so that an item cannot name variables of its own.
 *
 * A path has members after dots and indexes in brackets, and spaces inside the braces are allowed.
 * Only own members of JSON objects and elements of lists are found, never what JavaScript adds.
 */

import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { type Fault, fault } from "./fault.ts";
import { SAMPLE_FIELDS, type Sample } from "./sample.ts";

export interface Variables {
  readonly item: JsonObject;
  readonly sample: Sample;
}

/** How a value that is not a string becomes text; the API's way is not documented. */
export type ObjectText = "canonical_json" | "python_json";

export interface Template {
  /** The members of the item that it names. */
  readonly itemFields: readonly string[];
  readonly usesSample: boolean;
  /** The members of the sample that it names. */
  readonly sampleFields: readonly string[];
  render(variables: Variables): string | Fault;
}

interface Path {
  readonly shown: string;
  readonly root: "item" | "sample";
  readonly steps: readonly (string | number)[];
}

const VARIABLE = /\{\{(.*?)\}\}/gs;
const ROOT = /^(item|sample)(?=[.[]|$)/;
const STEP = /\.([^.[\]{}\s"']+)|\[(\d+)\]|\["([^"\]]*)"\]|\['([^'\]]*)'\]/y;
const ALLOWED =
  "Write {{item.FIELD}} or {{sample.output_text}}; fields follow with dots, list elements as [0].";

/** A template that cannot be read; `hint` says what one looks like. */
export class TemplateError extends Error {
  readonly hint = ALLOWED;
}

export function readTemplate(text: string, objects: ObjectText = "canonical_json"): Template {
  const parts: (string | Path)[] = [];
  let end = 0;
  for (const match of text.matchAll(VARIABLE)) {
    parts.push(literal(text.slice(end, match.index)), pathOf(match[1] as string));
    end = match.index + match[0].length;
  }
  parts.push(literal(text.slice(end)));
  const paths = parts.filter((part): part is Path => typeof part !== "string");
  const kept = parts.filter((part) => part !== "");
  const [only] = kept;
  return {
    itemFields: paths.filter(({ root }) => root === "item").map(({ steps }) => String(steps[0])),
    usesSample: paths.some(({ root }) => root === "sample"),
    sampleFields: paths
      .filter(({ root }) => root === "sample")
      .map(({ steps }) => String(steps[0])),
    render:
      kept.length === 1 && typeof only === "object"
        ? (variables) => valueText(only, variables, objects)
        : (variables) => joined(kept, variables, objects),
  };
}

function literal(text: string): string {
  if (!text.includes("{{")) return text;
  throw new TemplateError("`{{` has no `}}` behind it");
}

function pathOf(inner: string): Path {
  const shown = inner.trim();
  const root = ROOT.exec(shown)?.[1] as Path["root"] | undefined;
  if (root === undefined)
    throw new TemplateError(`{{${brief(shown)}}} begins with neither \`item\` nor \`sample\``);
  const steps: (string | number)[] = [];
  STEP.lastIndex = root.length;
  while (STEP.lastIndex < shown.length) {
    const found = STEP.exec(shown);
    if (found === null) throw new TemplateError(`{{${brief(shown)}}} is not a path`);
    const [, member, index, ...quoted] = found;
    steps.push(index === undefined ? ((member ?? quoted[0] ?? quoted[1]) as string) : +index);
  }
  if (steps.length === 0) throw new TemplateError(`{{${brief(shown)}}} names no field`);
  if (root === "sample" && !(SAMPLE_FIELDS as readonly unknown[]).includes(steps[0]))
    throw new TemplateError(
      `{{${brief(shown)}}} is no field of a sample: ${SAMPLE_FIELDS.join(", ")}`,
    );
  return { shown, root, steps };
}

function joined(
  parts: readonly (string | Path)[],
  variables: Variables,
  objects: ObjectText,
): string | Fault {
  let text = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : valueText(part, variables, objects);
    if (typeof value !== "string") return value;
    text += value;
  }
  return text;
}

function valueText(path: Path, variables: Variables, objects: ObjectText): string | Fault {
  const value = find(path, variables);
  if (typeof value === "string") return value;
  if (value === undefined) return missing(path, variables.sample);
  try {
    return objects === "python_json" ? spaced(value) : canonicalJson(value);
  } catch {
    return fault("other_error", path.root, `{{${path.shown}}} is nested too deeply`);
  }
}

function find({ root, steps }: Path, { item, sample }: Variables): Json | undefined {
  if (root === "item") return walk(item, steps, 0);
  if (steps[0] === "output_text") return walk(sample.output_text, steps, 1);
  if (steps[0] === "output_json") return walk(sample.output_json(), steps, 1);
  return walk(steps[0] === "choices" ? sample.choices : sample.output_tools, steps, 1);
}

function walk(
  start: Json | undefined,
  steps: readonly (string | number)[],
  from: number,
): Json | undefined {
  let value = start;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i] as string | number;
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(String(step))) return undefined;
    value = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
  }
  return value;
}

function missing({ shown, root, steps }: Path, sample: Sample): Fault {
  if (root === "item")
    return fault("invalid_variable_error", "item", `the item has no {{${brief(shown)}}}`);
  if (steps[0] === "output_json" && sample.output_json() === undefined)
    return fault("sample_parse_error", "sample", "the output is not JSON");
  return fault("invalid_variable_error", "sample", `the sample has no {{${brief(shown)}}}`);
}

/** With spaces behind commas and colons, as Python's json.dumps writes; keys keep their order. */
function spaced(value: Json): string {
  if (typeof value !== "object" || value === null) return canonicalJson(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member as Json)}`).join(", ")}}`;
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
