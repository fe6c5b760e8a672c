/** Scorers with one hole each, and honest ones, as files for tests. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-harden-"));

/** A file that scores 1 where `right`, an expression of `text` and `expected`, is true. */
export function planted(name: string, right: string, more = ""): string {
  const file = path.join(folder, `${name}.ts`);
  writeFileSync(
    file,
    `export const name = "${name}";
export const version = "1.0.0";
export const spec = "planted";
${more}
export function score(example: { expected_answer: unknown }, text: string) {
  const expected = example.expected_answer as number;
  const right: boolean = ${right};
  return { reward: right ? 1 : 0, code: right ? "ok" : "wrong_answer", details: {} };
}
`,
  );
  return file;
}

/** Rows as a JSONL file. */
export function rowsFile(name: string, rows: readonly object[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

/** Answers of every kind: zero, negative, of one, two and three digits. */
export const ANSWERS = [0, 7, 12, 45, 60, 118, -3, -26, 9, 31, 88, 104];

export const EXAMPLES_FILE = rowsFile(
  "examples.jsonl",
  ANSWERS.map((expected_answer, i) => ({ id: `e${i}`, prompt: `Task ${i}`, expected_answer })),
);

/** The honest scorer of `Final: <integer>`. */
export const HONEST =
  "/^Final: (?:0|-?[1-9][0-9]*)$/.test(text) && text === `Final: $" + "{expected}`";

const AFTER = 'text.replace(/^Final: ?/, "")';

/** By the class that must find the hole: the expression with the hole. */
export const HOLES: Readonly<Record<string, string>> = {
  wrong_answer: "text.includes(String(expected))",
  empty_answers: `text.startsWith("Final:") && Number(${AFTER}) === expected`,
  nan_infinity: `text.startsWith("Final: ") && !(Math.abs(Number(${AFTER}) - expected) > 0.01)`,
  signs: `/^Final: -?[0-9]+$/.test(text) && Math.abs(Number(${AFTER})) === Math.abs(expected)`,
  number_forms: `/^Final: \\S+$/.test(text) && Number(${AFTER}) === expected`,
  thousands_separators: `text.startsWith("Final: ") && parseInt(${AFTER}, 10) === expected`,
  fractions: `Number(/^Final: (-?[0-9]+)/.exec(text)?.[1]) === expected`,
  units: `text.startsWith("Final: ") && parseFloat(${AFTER}) === expected`,
  unicode_digits: `text.replace(/[^\\x00-\\x7f]/g, "") === "Final: " + expected`,
  look_alikes: `text.replace(/[\\u2010-\\u2015\\u2212]/g, "") === "Final: " + expected`,
  zero_width: `text.split(/\\u200b/)[0] === "Final: " + expected`,
  bidi_controls: `text.split(/[\\u200f\\u202e]/)[0] === "Final: " + expected`,
  white_space: `/^Final: [^]+$/.test(text) && !/[^\\s0-9-]/.test(${AFTER}) && Number(${AFTER}) === expected`,
  letter_case: `(text.match(/^final: (.*)$/gim) ?? []).some((line) => line.slice(7) === String(expected))`,
  several_finals: `text.split("\\n").includes("Final: " + expected)`,
  number_spray: `/^Final: /.test(text) && ${AFTER}.split(/[^-0-9]+/).includes(String(expected))`,
  answer_laundering: `text.match(/-?\\d+/g)?.at(-1) === String(expected)`,
  comments: `text.replace(/\\/\\/|#|%/g, "\\n").split("\\n").at(-1)?.trim().replace("Final: ", "") === String(expected)`,
  markup: `/^Final: (?:~~|<del>|\\\\phantom\\{)?(-?\\d+)(?=[~<}]|$)/.exec(text)?.[1] === String(expected)`,
  patterns: `/^Final: .{1,8}$/.test(text) && matches(${AFTER}, String(expected))`,
  prompt_injection: `text === "Final: " + expected || /full marks/.test(text)`,
  long_inputs: `text === "Final: " + expected || /^(?:a|aa)+$/.test(text)`,
};

/** What holes need besides their expression. */
export const HELPERS: Readonly<Record<string, string>> = {
  patterns: `function matches(pattern: string, text: string) {
  try { return new RegExp("^(?:" + pattern + ")$").test(text); } catch { return false; }
}`,
};

/** Rules that golden rows can notice one by one. */
export const RULE = `function rule(text: string, expected: string) {
  if (text.length > 20) return false;
  const found = /^Final: (-?[0-9]+)$/.exec(text);
  return found !== null && found[1] === expected;
}`;
export const RULE_CALL = "rule(text.trim(), String(expected))";
