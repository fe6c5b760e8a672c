/** `token-inspect` end to end: one screen, the right verdict, and a sentence for what is wrong. */

import { describe, expect, test } from "vitest";
import { readText, unescaped } from "../src/cli/tokens/text.ts";
import { EXIT, expectError, type Finished, RAW_CONTROL, Workspace } from "./cli.ts";

const workspace = new Workspace();

function inspect(args: readonly string[], input?: string | Uint8Array): Promise<Finished> {
  const { child, finished } = workspace.start(["token-inspect", ...args]);
  // The command may end before it has read everything.
  child.stdin?.on("error", () => {});
  if (input !== undefined) child.stdin?.end(input);
  return finished;
}

async function screen(args: readonly string[], input?: string | Uint8Array): Promise<string> {
  const result = await inspect(args, input);
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(result.stdout).not.toMatch(RAW_CONTROL);
  for (const line of result.stdout.split("\n")) expect(columns(line), line).toBeLessThanOrEqual(80);
  return result.stdout;
}

/** Counts generously: whatever is not Latin or punctuation takes two. */
function columns(line: string): number {
  return Array.from(line, (c) =>
    /[\p{Script=Han}\p{Emoji_Presentation}]/u.test(c) ? 2 : 1,
  ).reduce((sum, width) => sum + width, 0);
}

interface Answer {
  readonly text: string;
  readonly encoding: string;
  readonly score: Record<string, unknown>;
  readonly notes: string[];
  readonly n_bytes: number;
  readonly n_tokens: number;
  readonly tokens: { position: number; id: number; bytes: string; text: string | null }[];
}

async function json(args: readonly string[], input?: string | Uint8Array): Promise<Answer> {
  return JSON.parse(await screenless(["--format", "json", ...args], input));
}

async function screenless(args: readonly string[], input?: string | Uint8Array): Promise<string> {
  const result = await inspect(args, input);
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok, stderr: "" });
  return result.stdout;
}

const ids = ({ tokens }: Answer) => tokens.map(({ id }) => id);

describe.concurrent("on one screen", () => {
  test("the text, its tokens, and the verdict", async () => {
    expect(await screen(["Final:  323", "--expect", "323"])).toBe(`\
text  Final:··323
      (11 characters, 11 bytes; · is a space)

      #      id  bytes                                text
      0   15519  46 69 6e 61 6c                       Final
      1      25  3a                                   :
      2     220  20                                   ·
      3     220  20                                   ·
      4   29173  33 32 33                             323
5 tokens in o200k_base

math_final_line 1.0.0
  outcome  extra_whitespace
  reason   "  " where one space belongs
  class    model_format
  parsed   no integer
  reward   0, expected 323
`);
  });

  test("without an expected answer, what was read and no reward", async () => {
    const text = await screen(["Final: 323"]);
    expect(text).toContain("outcome  ok, with the parsed integer as the expected one");
    expect(text).toContain("parsed   323\n");
    expect(text).toContain("reward   none without --expect\n");
  });

  test("parts of a character have bytes and no text", async () => {
    const text = await screen(["👧", "--encoding", "cl100k_base"]);
    expect(text).toMatch(/^ +0 +9468 {2}f0 9f +\(part of a character\)$/m);
    expect(text).toMatch(/^ +2 +100 {2}a7 +\(part of a character\)$/m);
  });

  test("no two texts look the same", async () => {
    const hostile = ["a\\nb", "a\nb", "a b", "a·b", "a\u00a0b", "a⟨U+00A0⟩b", "a\x1b[31mb"];
    const lines = await Promise.all(
      hostile.map(async (text) => (await screen([text])).split("\n")),
    );
    expect(lines.map(([first]) => first?.slice(6))).toEqual([
      "a\\\\nb",
      "a\\nb",
      "a·b",
      "a⟨U+00B7⟩b",
      "a⟨U+00A0⟩b",
      "a⟨U+27E8⟩U+00A0⟩b",
      "a⟨U+001B⟩[31mb",
    ]);
  });

  test.each([
    ["prose", "The policy acts on tokens. ".repeat(400)],
    ["wide characters", "語😀".repeat(400)],
    ["what must be named", "\u0301\u200b\u{e0041}".repeat(200)],
    ["spaces", " ".repeat(2000)],
    ["digits", `Final: ${"7".repeat(3000)}`],
    ["names of every object", "constructor __proto__ toString"],
  ])("a long text of %s is cut, and --all is not", async (_, text) => {
    const cut = await screen([text, "--expect", "7".repeat(500)]);
    expect(cut.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    const whole = await screen([text, "--all"]);
    expect(whole).not.toContain("use --all");
    const tokens = Number(/(\d+) tokens in/.exec(cut)?.[1]);
    expect(whole.match(/^ *\d+ {2} *\d+ {2}[0-9a-f]{2} /gm)).toHaveLength(tokens);
    if (tokens > 8) expect(cut).toContain(`… ${tokens - 8} more tokens; use --all to show them`);
  });

  test("an empty text", async () => {
    expect(await screen([""])).toContain("text  (empty)\n      (0 characters, 0 bytes)\n");
    expect(await screen([], "")).toContain("0 tokens in o200k_base");
  });

  test("the help has examples and fits", async () => {
    const help = await screen(["--help"]);
    expect(help).toContain('lockedroom token-inspect --escapes "Final:\\n323"');
    expect(help).toContain("cl100k_base    GPT-4, GPT-3.5");
  });
});

describe.concurrent("the verdict", () => {
  const big = "123456789012345678901234567890";
  test.each([
    ["Final: 323", "323", { code: "ok", class: null, parsed: "323", reward: 1, in_spec: true }],
    ["Final: 323", "324", { code: "wrong_answer", class: "model_math", parsed: "323", reward: 0 }],
    ["Final: 323", undefined, { code: "ok", parsed: "323", expected: null, reward: null }],
    ["Final: 0", undefined, { code: "ok", parsed: "0", reward: null }],
    [
      "Final: 0323",
      "323",
      { code: "leading_zeros", class: "model_format", parsed: null, reward: 0 },
    ],
    ["Final: 0323", undefined, { code: "leading_zeros", in_spec: false, reward: null }],
    [`Final: ${big}`, big, { code: "ok", parsed: big, expected: big, reward: 1 }],
    [`Final: ${big}`, `${big}1`, { code: "wrong_answer", reward: 0 }],
    ["Final: -7", "-7", { code: "ok", parsed: "-7", reward: 1 }],
    ["", undefined, { code: "missing_prefix", parsed: null }],
  ])("%j, expected %s", async (text, expected, verdict) => {
    const flags = expected === undefined ? [] : ["--expect", expected];
    expect((await json([text, ...flags])).score).toMatchObject(verdict);
  });

  test.each(["0323", "+1", "1e3", "", "NaN", "\x1b[31m"])(
    "--expect %j is refused",
    async (expected) => {
      const result = await inspect(["Final: 1", "--expect", expected]);
      expectError(result, EXIT.usage, "is not a plain integer", "323, -7 or 0");
    },
  );
});

describe.concurrent("standard input", () => {
  test("is the text, with its line break", async () => {
    const answer = await json([], "Final: 323\n");
    expect(ids(answer)).toEqual([15519, 25, 220, 29173, 198]);
    expect(answer.score).toMatchObject({ code: "ok" });
    expect(answer.notes).toEqual([expect.stringContaining("ends with a line break")]);
    expect(await screen([], "Final: 323\n")).toContain("text  Final:·323\\n\n");
  });

  test("comes back as it is in JSON that a terminal may see", async () => {
    const text = "a\u200b\u{e0041}\x07\x9b\u202e⟨U+0041⟩\\ \uffff";
    const output = await screenless(["--format", "json"], text);
    expect(output).not.toMatch(RAW_CONTROL);
    expect(JSON.parse(output)).toMatchObject({ text });
  });

  test("without a line break needs no note", async () => {
    expect((await json([], "Final: 323")).notes).toEqual([]);
  });

  test("keeps a byte order mark", async () => {
    expect(ids(await json([], "\ufeffFinal: 1"))).toEqual([5574, 15519, 25, 220, 16]);
  });

  test("that is not UTF-8 is refused", async () => {
    expectError(await inspect([], Uint8Array.of(70, 0xff)), EXIT.data, "not valid UTF-8", "iconv");
  });

  test("of five megabytes is inspected", async () => {
    const text = "Final: 323, said the fox.\n".repeat(200_000);
    expect(await screen([], text)).toMatch(/\(truncated; 5200000 characters, 5200000 bytes;/);
  });

  test("comes back whole as tokens", async () => {
    const text = "Final: 323 said 👧\n".repeat(5000);
    const { tokens, ...rest } = await json(["--encoding", "cl100k_base"], text);
    expect(rest).toMatchObject({ text, n_bytes: Buffer.byteLength(text), n_tokens: tokens.length });
    expect(Buffer.from(tokens.map(({ bytes }) => bytes).join(""), "hex").toString()).toBe(text);
    expect(tokens.map(({ position }) => position)).toEqual([...tokens.keys()]);
  });

  test("without an end is refused", async () => {
    expectError(await inspect([], Buffer.alloc(9_000_000, "a")), EXIT.data, "longer than 8 MiB");
  });

  test("of a terminal is not waited for", async () => {
    const terminal = Object.assign((async function* () {})(), { isTTY: true });
    await expect(readText(terminal)).rejects.toMatchObject({
      kind: "usage",
      message: "no text was given, and standard input is a terminal",
    });
  });
});

describe.concurrent("escapes", () => {
  test.each([
    ["\\n", "line feed"],
    ["\\t", "tab"],
    ["\\r", "carriage return"],
  ])("a literal %s is pointed out", async (written, name) => {
    const { notes, text } = await json([`Final:${written}323`]);
    expect(text).toBe(`Final:${written}323`);
    expect(notes).toEqual([expect.stringContaining(`two characters, not a ${name}`)]);
    expect(notes[0]).toMatch(/^The shell passed a backslash.*--escapes or write \$'…'/);
    const piped = await json([], `Final:${written}323`);
    expect(piped.notes[0]).toMatch(/^The input has a backslash/);
  });

  test("--escapes reads them", async () => {
    const answer = await json(["--escapes", "Final:\\n323"]);
    expect(answer).toMatchObject({ text: "Final:\n323", notes: [] });
    expect(ids(answer)).toEqual([15519, 734, 29173]);
    expect(answer.score).toMatchObject({ code: "not_single_line" });
  });

  test.each([
    ["\\n\\t\\r\\\\", "\n\t\r\\"],
    ["\\\\n", "\\n"],
    ["\\x41\\u00e9\\u{1F600}\\ud83d\\ude00", "Aé😀😀"],
    ["\\u{10ffff}\\u{0000041}", "\u{10ffff}A"],
    ["plain", "plain"],
  ])("%s", (given, text) => {
    expect(unescaped(given)).toBe(text);
  });

  test.each([
    "\\",
    "a\\q",
    "\\x4",
    "\\xg0",
    "\\u12",
    "\\u{}",
    "\\u{110000}",
    "\\u{12",
    "\\N",
    "\\😀",
  ])("%s is none", (given) => {
    expect(() => unescaped(given)).toThrow(/^"\\.*" at character \d+ is not an escape$/u);
  });

  test("a malformed one is refused", async () => {
    const result = await inspect(["--escapes", "a\\q"]);
    expectError(result, EXIT.usage, '"\\q" at character 1 is not an escape', "\\u{X}");
  });

  test("a lone surrogate is taken for U+FFFD by the tokenizer, and that is said", async () => {
    const answer = await json(["--escapes", "a\\ud800"]);
    expect(answer.tokens.at(-1)).toMatchObject({ text: "\ufffd", bytes: "efbfbd" });
    expect(answer.notes).toEqual([expect.stringMatching(/^U\+D800 at character 1 .* U\+FFFD/)]);
    expect(answer.text).toBe("a\ud800");
  });
});

describe.concurrent("what is wrong is said", () => {
  test("an unknown encoding", async () => {
    const result = await inspect(["x", "--encoding", "cl100k"]);
    expectError(result, EXIT.usage, 'no encoding "cl100k"', "Did you mean cl100k_base?", "gpt2");
  });

  test("an unknown flag, an unknown format, two texts", async () => {
    expectError(await inspect(["x", "--expct", "3"]), EXIT.usage, "--expect");
    expectError(await inspect(["x", "--format", "xml"]), EXIT.usage, "json");
    expectError(await inspect(["Final:", "323"]), EXIT.usage, "too many arguments");
  });

  test("special tokens are text", async () => {
    expect(ids(await json(["<|endoftext|>"]))).toEqual([27, 91, 419, 1440, 919, 91, 29]);
  });

  test("its other name, and a text that begins with a dash", async () => {
    const { finished } = workspace.start(["token_inspect", "--", "--all"]);
    expect((await finished).stdout).toContain("text  --all\n");
  });
});
