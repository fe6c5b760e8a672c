/** Scorers of the drill's cases. They are files, so that a reader can find the line that decides. */

const scorerFile = (version: string, spec: string, lines: readonly string[]): string =>
  [
    'export const name = "final_answer";',
    `export const version = "${version}";`,
    `export const spec = "${spec}";`,
    "",
    "export function score(example, completion) {",
    "  const text = String(completion);",
    ...lines.map((line) => `  ${line}`),
    '  const code = right ? "ok" : "no_match";',
    "  return { reward: right ? 1 : 0, code, details: {} };",
    "}",
    "",
  ].join("\n");

const EXACT = [
  "const answer = /^Final: (-?[0-9]+)$/.exec(text.trim())?.[1];",
  "const right = answer === String(example.expected_answer);",
];

export const STRICT = scorerFile(
  "1.0.0",
  "One line: Final: <int>. Outer white space is ignored.",
  EXACT,
);

export const LENIENT = scorerFile("1.1.0", "The last integer of the text is the expected one.", [
  "const answer = text.match(/-?[0-9]+/g)?.at(-1);",
  "const right = answer === String(example.expected_answer);",
]);

export const NAIVE = scorerFile("1.0.0", "The expected integer is in the text.", [
  "const numbers = text.match(/-?[0-9]+/g) ?? [];",
  "const right = numbers.includes(String(example.expected_answer));",
]);

/** The specification of STRICT, with parsers that do not keep to it. */
export const BRITTLE_AT_END = STRICT.replace("text.trim()", "text.trimStart()");
export const BRITTLE_AT_START = STRICT.replace("text.trim()", "text.trimEnd()");
