/** Format drift: the completion keeps the format that the prompt states, and leaks no template. */

import { type AxisInput, axis, type Found, no } from "./axis.ts";

const FORMATS: Readonly<Record<string, (text: string) => Found | undefined>> = {
  json: notJson,
  one_line: (text) => (/[\n\r]/.test(text) ? no("several_lines", "more than one line") : undefined),
  list: notList,
  plain: (text) =>
    /^#{1,6} |\*\*|^```|^[ \t]*[-*] \S/m.test(text)
      ? no("markdown", "Markdown where plain text was asked for")
      : undefined,
};

/** What a prompt asks for, in words. */
const STATED: readonly (readonly [RegExp, string])[] = [
  [/\b(?:as|in|valid|a|only) json\b|\bjson (?:object|array|only)\b/i, "json"],
  [/\b(?:one|single) line\b/i, "one_line"],
  [/\b(?:bullet(?:ed)?|numbered|bullet-point) list\b/i, "list"],
  [/\bno markdown\b|\b(?:in|as) plain text\b/i, "plain"],
];

/** "Reply: Final: <int>" states what a completion begins with. */
const TEMPLATE =
  /\b(?:reply|answer|respond|output)\b[^\n:]{0,40}:\s*([^\s<>][^\n<>]{0,60})<[^<>\n]{1,40}>/i;
const LEAK = /<\|[a-z_]{2,30}\|>|\[\/?INST\]|<\/?s>|(?:^|\n)(?:user|human|assistant|system):/i;

export const formatAxis = axis(
  {
    name: "format",
    version: "1.0.0",
    spec: "1 if the completion keeps the format that axis_labels.format or the prompt states (JSON, one line, a list, plain text, or a form such as `Reply: Final: <int>`) and shows no chat template, role label or open code fence; otherwise 0. Without a stated format only the latter is checked.",
    codes: [
      ...["kept", "no_format_stated", "empty", "template_leak", "open_fence", "other_form"],
      ...["not_json", "text_around_json", "several_lines", "not_a_list", "markdown"],
    ],
  },
  look,
);

function look({ prompt, labels, completion }: AxisInput): Found {
  const text = completion.trim();
  if (text === "") return no("empty", "nothing was written");
  const leak = LEAK.exec(text);
  if (leak) return no("template_leak", `${JSON.stringify(leak[0].trim())} in the completion`);
  if ((text.match(/^[ \t]*```/gm)?.length ?? 0) % 2 === 1)
    return no("open_fence", "a code fence is not closed");
  const wanted = labels.format ?? STATED.find(([words]) => words.test(prompt))?.[1];
  if (wanted !== undefined && Object.hasOwn(FORMATS, wanted))
    return FORMATS[wanted]?.(text) ?? KEPT;
  if (wanted !== undefined)
    return {
      reward: 0,
      code: "invalid_example",
      message: `axis_labels.format is none of ${Object.keys(FORMATS).join(", ")}`,
    };
  const form = TEMPLATE.exec(prompt)?.[1]?.trimEnd();
  if (form === undefined) return { reward: 1, code: "no_format_stated" };
  const isKept = text.startsWith(form) && text.length > form.length && !/[\n\r]/.test(text);
  return isKept
    ? KEPT
    : no("other_form", `it is not one line that begins with ${JSON.stringify(form)}`);
}

const KEPT: Found = { reward: 1, code: "kept" };

function notJson(text: string): Found | undefined {
  if (isJson(text)) return undefined;
  const inside = text.slice(
    text.search(/[[{]/),
    text.lastIndexOf(text.includes("}") ? "}" : "]") + 1,
  );
  return inside !== "" && isJson(inside)
    ? no("text_around_json", "there is text around the JSON")
    : no("not_json", "it is not a JSON object or list");
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

function notList(text: string): Found | undefined {
  const other = text.split("\n").find((line) => line.trim() !== "" && !ITEM.test(line));
  return other === undefined ? undefined : no("not_a_list", "a line is no item of a list");
}

const ITEM = /^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+\S/;

/** So that `harden` finds the scorer in edited copies of this file. */
export default formatAxis;
