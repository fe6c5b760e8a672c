import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { LOSSES } from "./import-rows.ts";
import type { TuneKind } from "./kinds.ts";
import { RULES, type RuleName } from "./rules.ts";
import { type ValidateOptions, validateFile } from "./validate.ts";

const room = mkdtempSync(path.join(tmpdir(), "tune-"));
let files = 0;

function fileOf(content: string | Uint8Array): string {
  const file = path.join(room, `${files++}.jsonl`);
  writeFileSync(file, content);
  return file;
}

const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const user = (content: string) => ({ role: "user", content });
const said = (content: string, more = {}) => ({ role: "assistant", content, ...more });
const call = (id = "c1", made: object = { name: "clock", arguments: "{}" }) => ({
  ...{ role: "assistant", content: null },
  tool_calls: [{ id, type: "function", function: made }],
});
const reply = (id = "c1") => ({ role: "tool", tool_call_id: id, content: "12:00" });
const clock = { type: "function", function: { name: "clock", parameters: { type: "object" } } };

/** Sound rows of a kind, each with another prompt. */
const SOUND: Record<TuneKind, (i: number) => object> = {
  sft: (i) => ({
    messages: [user(`What is ${i} + ${i}?`), said(`${2 * i}`, { weight: 1 })],
  }),
  dpo: (i) => ({
    input: { messages: [user(`Refuse ${i}`)], tools: [], parallel_tool_calls: true },
    preferred_output: [said("I am afraid I cannot.")],
    non_preferred_output: [said("No.")],
  }),
  rft: (i) => ({
    messages: [{ role: "developer", content: "Answer with a number." }, user(`${i} * 6`)],
    ...{ answer: `${6 * i}`, tags: ["mul"] },
  }),
};
const sound = (kind: TuneKind, count = 10) =>
  Array.from({ length: count }, (_, i) => SOUND[kind](i));

async function rulesOf(content: string | Uint8Array, options: ValidateOptions = {}) {
  const found = await validateFile(fileOf(content), options);
  return Object.fromEntries(
    found.findings.map(({ rule, first }) => [rule, first.map(({ line }) => line)]),
  );
}

test.each(["sft", "dpo", "rft"] as const)("sound %s rows have no findings", async (kind) => {
  const found = await validateFile(fileOf(lines(sound(kind))));
  expect(found).toMatchObject({ kind, rows: 10, valid: true, findings: [], errors: 0 });
  expect((await validateFile(fileOf(lines(sound(kind)).trimEnd()))).rows).toBe(10);
});

const pair = (changes: object) => ({ ...SOUND.dpo(99), ...changes });
const chat = (...messages: object[]) => ({ messages });

/** One row each that breaks a rule, put after ten sound rows; and the same row mended. */
const BROKEN: [kind: TuneKind, rule: RuleName, wrong: object, right: object][] = [
  ["sft", "unknown_field", { ...SOUND.sft(99), id: "x" }, SOUND.sft(99)],
  [
    "sft",
    "deprecated_field",
    { ...SOUND.sft(99), functions: [] },
    { ...SOUND.sft(99), tools: [clock] },
  ],
  ["sft", "messages_missing", { messages: [] }, SOUND.sft(99)],
  ["sft", "message_shape", { messages: ["hello", said("x")] }, chat(user("hello"), said("x"))],
  [
    "sft",
    "role",
    chat({ role: "developer", content: "x" }, said("x")),
    chat({ role: "system", content: "x" }, said("x")),
  ],
  ["sft", "content", chat(user("q"), { role: "assistant" }), chat(user("q"), said("a"))],
  ["sft", "empty_answer", chat(user("q"), said("")), chat(user("q"), said(" "))],
  ["sft", "no_assistant", chat({ role: "system", content: "x" }), chat(user("q"), said("a"))],
  ["sft", "last_not_assistant", chat(said("a"), user("q")), chat(user("q"), said("a"))],
  [
    "sft",
    "weight_value",
    chat(user("q"), said("a", { weight: 0.5 })),
    chat(user("q"), said("b", { weight: 0 }), user("r"), said("a", { weight: 1 })),
  ],
  ["sft", "weight_place", chat({ ...user("q"), weight: 1 }, said("a")), chat(user("q"), said("a"))],
  [
    "sft",
    "nothing_to_learn",
    chat(user("q"), said("a", { weight: 0 })),
    chat(user("q"), said("a", { weight: 0 }), said("b")),
  ],
  [
    "sft",
    "tools_shape",
    { ...SOUND.sft(99), tools: [{ type: "function", function: { name: "the clock" } }] },
    { ...SOUND.sft(99), tools: [clock] },
  ],
  [
    "sft",
    "parallel_tool_calls",
    { ...SOUND.sft(99), parallel_tool_calls: "no" },
    { ...SOUND.sft(99), parallel_tool_calls: false },
  ],
  [
    "sft",
    "tool_calls_shape",
    { ...chat(user("q"), call("c1", { name: "clock", arguments: {} })), tools: [clock] },
    { ...chat(user("q"), call()), tools: [clock] },
  ],
  [
    "sft",
    "tool_arguments",
    { ...chat(user("q"), call("c1", { name: "clock", arguments: "now" })), tools: [clock] },
    { ...chat(user("q"), call()), tools: [clock] },
  ],
  ["sft", "tool_unknown", chat(user("q"), call()), { ...chat(user("q"), call()), tools: [clock] }],
  [
    "sft",
    "tool_unanswered",
    { ...chat(user("q"), call(), said("noon")), tools: [clock] },
    { ...chat(user("q"), call(), reply(), said("noon")), tools: [clock] },
  ],
  [
    "sft",
    "tool_unasked",
    { ...chat(user("q"), call("c1"), reply("c1"), reply("c2"), said("noon")), tools: [clock] },
    { ...chat(user("q"), call("c1"), reply("c1"), said("noon")), tools: [clock] },
  ],
  ["sft", "duplicate_row", SOUND.sft(4), SOUND.sft(99)],
  ["sft", "contradictory_row", chat(user("What is 4 + 4?"), said("9")), SOUND.sft(99)],
  ["dpo", "old_dpo_field", pair({ preferred_completion: [said("x")] }), pair({})],
  ["dpo", "input_missing", pair({ input: [user("q")] }), pair({})],
  ["dpo", "output_missing", pair({ preferred_output: "x" }), pair({})],
  ["dpo", "output_role", pair({ preferred_output: [said("x"), user("thanks")] }), pair({})],
  [
    "dpo",
    "output_no_assistant",
    pair({ preferred_output: [{ role: "user", content: "" }] }),
    pair({}),
  ],
  ["dpo", "same_outputs", pair({ preferred_output: [said("No.")] }), pair({})],
  [
    "dpo",
    "images",
    pair({ preferred_output: [said("x", { content: [{ type: "image_url" }] })] }),
    pair({ preferred_output: [said("x", { content: [{ type: "text", text: "x" }] })] }),
  ],
  ["dpo", "weight_place", pair({ preferred_output: [said("x", { weight: 1 })] }), pair({})],
  ["dpo", "duplicate_row", SOUND.dpo(4), SOUND.dpo(99)],
  [
    "dpo",
    "contradictory_row",
    {
      ...SOUND.dpo(4),
      preferred_output: [said("No.")],
      non_preferred_output: [said("I am afraid I cannot.")],
    },
    { ...SOUND.dpo(4), non_preferred_output: [said("Never.")] },
  ],
  [
    "rft",
    "system_role",
    { ...chat({ role: "system", content: "x" }, user("q")), answer: "a" },
    { ...chat({ role: "developer", content: "x" }, user("q")), answer: "a" },
  ],
  ["rft", "last_message", { ...chat(user("q"), said("a")), answer: "a" }, SOUND.rft(99)],
  ["rft", "contradictory_row", { ...SOUND.rft(4), answer: "25" }, SOUND.rft(99)],
  ["rft", "duplicate_row", { id: "other", ...SOUND.rft(4) }, SOUND.rft(99)],
];

test.each(BROKEN)("%s: %s is named with its line", async (kind, rule, wrong, right) => {
  const rows = sound(kind);
  expect(await rulesOf(lines([...rows, wrong]), { kind })).toHaveProperty(rule, [11]);
  expect(await rulesOf(lines([...rows, right]), { kind })).toEqual({});
});

test("lines that are no rows are named, and those after them are read", async () => {
  const [first, ...others] = sound("sft");
  const start = Buffer.from(lines([first]));
  const odd = Buffer.from('{"a":\n[1]\n\n  \n');
  const latin = Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x7d, 10]);
  const content = Buffer.concat([start, odd, latin, Buffer.from(lines(others))]);
  expect(await rulesOf(content)).toEqual({
    ...{ not_json: [2], not_object: [3], blank_line: [4, 5], not_utf8: [6] },
  });
  expect(await validateFile(fileOf(content))).toMatchObject({ rows: 10, valid: false });
});

test("a byte order mark is accepted, and CR LF is a warning", async () => {
  const text = lines(sound("sft"));
  const marked = await validateFile(fileOf(`\ufeff${text}`));
  expect(marked).toMatchObject({ valid: true, byte_order_mark: true, findings: [] });
  const windows = await validateFile(fileOf(text.replaceAll("\n", "\r\n")));
  expect(windows).toMatchObject({ valid: true, warnings: 10, errors: 0 });
  expect(windows.findings[0]?.rule).toBe("line_ending");
});

test("a file without rows, and one with a line of 5 MB", async () => {
  expect(await rulesOf("")).toEqual({ no_rows: [null] });
  expect(await rulesOf("\n")).toEqual({ blank_line: [1], no_rows: [null] });
  const long = { messages: [user("q"), said("x".repeat(5e6))] };
  expect(await rulesOf(lines([...sound("sft"), long]))).toEqual({});
  const longer = Buffer.alloc(17 * 1024 * 1024, "x");
  const content = Buffer.concat([longer, Buffer.from(`\n${lines(sound("sft"))}`)]);
  expect(await rulesOf(content)).toEqual({ line_too_long: [1] });
});

test("counts of rows by kind and role", async () => {
  expect(await rulesOf(lines(sound("sft", 9)))).toEqual({ too_few_rows: [null] });
  const many = Array.from({ length: 1001 }, (_, i) => SOUND.rft(i));
  const training = fileOf(lines([SOUND.rft(5000)]));
  expect(await rulesOf(lines(many))).toEqual({});
  expect(await rulesOf(lines(many), { against: training })).toEqual({ too_many_rows: [null] });
  const few = lines(sound("sft", 3));
  const other = fileOf(lines([SOUND.sft(70)]));
  expect(await rulesOf(few, { against: other })).toEqual({});
});

test.each(["sft", "dpo", "rft"] as const)("%s: a prompt in both files is a leak", async (kind) => {
  const training = fileOf(lines(sound(kind)));
  const apart = [SOUND[kind](50), SOUND[kind](51)];
  expect(await rulesOf(lines(apart), { against: training })).toEqual({});
  const rows = JSON.parse(
    JSON.stringify([apart[0], SOUND[kind](3)])
      .toUpperCase()
      .toLowerCase(),
  );
  expect(await rulesOf(lines(rows), { kind, against: training })).toMatchObject({ leak: [2] });
});

test("an id in both files is a leak", async () => {
  const named = (id: string, i: number) => ({ ...SOUND.rft(i), id });
  const training = fileOf(lines([named("a", 1), named("b", 2)]));
  const content = lines([named("c", 3), named("b", 4)]);
  expect(await rulesOf(content, { against: training })).toEqual({ leak: [2] });
});

test("rows of no kind say what they are", async () => {
  const found = await validateFile(fileOf(lines([{ prompt: "q", chosen: "a", rejected: "b" }])));
  expect(found).toMatchObject({ kind: null, valid: false });
  expect(found.findings[0]).toMatchObject({
    rule: "unknown_shape",
    first: [{ line: 1, reason: expect.stringContaining("tune data dpo") }],
  });
});

test("the order of keys makes no other row; a number and its text do", async () => {
  const turned = {
    messages: [
      { content: "What is 4 + 4?", role: "user" },
      { weight: 1, content: "8", role: "assistant" },
    ],
  };
  expect(await rulesOf(lines([...sound("sft"), turned]))).toEqual({ duplicate_row: [11] });
  const [text, number] = ["24", 24].map((answer) => ({ ...chat(user("4 * 6")), answer }));
  expect(await rulesOf(lines([text, number]))).toEqual({ contradictory_row: [2] });
});

test("tokens are counted where a counter is given", async () => {
  const tokens = { encoding: "letters", count: (text: string) => text.length, most: 40 };
  const rows = [...sound("sft"), chat(user("q".repeat(50)), said("a"))];
  const found = await validateFile(fileOf(lines(rows)), { tokens });
  // 3 for the row, 3 and the role for each message, and the contents.
  expect(found.tokens).toMatchObject({ most: 3 + 3 + 4 + 50 + 3 + 9 + 1, encoding: "letters" });
  expect(found.findings).toMatchObject([{ rule: "too_many_tokens", first: [{ line: 11 }] }]);
});

test("a folder and a missing file are refused", async () => {
  await expect(validateFile(room)).rejects.toThrow("it is a folder, not a file");
  await expect(validateFile(path.join(room, "none.jsonl"))).rejects.toThrow("no such file");
});

test("the reference page lists every rule, and what an import changes", () => {
  const page = readFileSync(new URL("../../docs/tune-data.md", import.meta.url), "utf8");
  const rows = [
    ...Object.entries(RULES).map(([rule, { severity, about }]) => [`\`${rule}\``, severity, about]),
    ...Object.entries(LOSSES).map(([loss, about]) => [`\`${loss}\``, about]),
  ];
  for (const row of rows) expect(page).toContain(`| ${row.join(" | ")} |`);
  expect(page.match(/^\| `\w+` \| (error|warning) \|/gm)).toHaveLength(Object.keys(RULES).length);
});

test("every rule has a test or a limit that a test would have to fill", () => {
  const tested = new Set([
    ...BROKEN.map(([, rule]) => rule),
    ...(["not_json", "not_object", "blank_line", "not_utf8", "line_ending", "no_rows"] as const),
    ...(["line_too_long", "too_few_rows", "too_many_rows", "leak", "unknown_shape"] as const),
    "too_many_tokens",
  ]);
  const left = (Object.keys(RULES) as RuleName[]).filter((rule) => !tested.has(rule));
  expect(left).toEqual(["file_too_large", "portal_size", "job_tokens"]);
});
