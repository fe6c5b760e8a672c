/** Bad input ends in a sentence, the right exit code, and nothing written; odd input is accepted. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXIT, expectError, scorerSource, sums, Workspace } from "./cli.ts";

const example = (id: string) => ({ id, prompt: `Compute ${id}.`, expected_answer: 1 });
const completion = (id: string) => ({ id, completion: "Final: 1" });
const lines = (...values: unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** Both input files of `eval`, each with a row that is good for it. */
const ROLES = [
  { file: "d.jsonl", good: example },
  { file: "c.jsonl", good: completion },
] as const;

interface Case {
  readonly name: string;
  content(good: (id: string) => object): string | Uint8Array;
  /** What is said after the file's name. */
  readonly says: RegExp;
  /** The two files are read by the same code: for one of them is enough. */
  readonly once?: true;
}

const long = `{"id": "a", "prompt": "${"word ".repeat(5000)}`;

const CASES: readonly Case[] = [
  {
    name: "invalid JSON in the middle",
    content: (good) => `${lines(good("a"), good("b"))}{"id": "c",,}\n${lines(good("d"))}`,
    says: /:3: not valid JSON [^{]*\{"id": "c",,\}/,
  },
  {
    name: "a line that was cut off at the end of the file",
    content: (good) => `${lines(good("a"))}{"id": "b", "prom`,
    says: /:2: not valid JSON/,
  },
  {
    once: true,
    name: "a blank line before the bad one",
    content: (good) => `${lines(good("a"))}\n\r\n{oops}\n`,
    says: /:4: not valid JSON/,
  },
  ...["[1]", "null", '"text"'].map((text) => ({
    once: true as const,
    name: `${text} in place of an object`,
    content: (good: (id: string) => object) => `${lines(good("a"))}${text}\n`,
    says: /:2: not a JSON object/,
  })),
  {
    name: "a missing id",
    content: (good) => lines(good("a"), { ...good("b"), id: undefined }),
    says: /:2: .*"id" is missing/,
  },
  {
    name: "an empty id",
    content: (good) => lines({ ...good("a"), id: "" }),
    says: /:1: .*"id" must be a non-empty string/,
  },
  {
    name: "an id that is a number",
    content: (good) => lines({ ...good("a"), id: 7 }),
    says: /:1: .*"id" must be a non-empty string, found 7/,
  },
  {
    name: "a duplicate id next to the first",
    content: (good) => lines(good("a"), good("a")),
    says: /: .*"a" appears more than once/,
  },
  {
    name: "a duplicate id far from the first",
    content: (good) => lines(...Array.from({ length: 5000 }, (_, n) => good(`x${n}`)), good("x0")),
    says: /: .*"x0" appears more than once/,
  },
  {
    name: "__proto__ twice",
    content: (good) => lines(good("__proto__"), good("b"), good("__proto__")),
    says: /: .*"__proto__" appears more than once/,
  },
  { name: "no bytes", content: () => "", says: / is empty/ },
  { once: true, name: "nothing but blank lines", content: () => "\n\r\n  \n", says: / is empty/ },
  { once: true, name: "nothing but a byte order mark", content: () => "\ufeff", says: / is empty/ },
  {
    name: "invalid UTF-8",
    content: (good) =>
      Buffer.concat([
        Buffer.from(lines(good("a"), good("b"))),
        Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]),
        Buffer.from(lines(good("c"))),
      ]),
    says: /:3: not valid UTF-8/,
  },
  {
    once: true,
    name: "invalid UTF-8 far into the file",
    content: (good) =>
      Buffer.concat([
        Buffer.from(lines(...Array.from({ length: 6000 }, (_, n) => good(`é${n}`)))),
        Buffer.from([0xc3, 0x28, 0x0a]),
      ]),
    says: /:6001: not valid UTF-8/,
  },
  {
    once: true,
    name: "a character cut off at the end of the file",
    content: (good) =>
      Buffer.concat([Buffer.from(lines(good("a"))), Buffer.from([0x22, 0xe2, 0x82])]),
    says: /:2: not valid UTF-8/,
  },
  {
    once: true,
    name: "UTF-16",
    content: (good) =>
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(lines(good("a")), "utf16le")]),
    says: /:1: not valid UTF-8/,
  },
  {
    name: "a 50 MB line that is JSON",
    content: (good) => `${lines(good("a"))}${JSON.stringify({ ...good("b"), x: mb(50) })}\n`,
    says: /:2: the line is longer than \d+ MiB/,
  },
  {
    once: true,
    name: "50 MB without a line feed",
    content: () => mb(50),
    says: /:1: the line is longer than \d+ MiB/,
  },
];

function mb(count: number): string {
  return "x".repeat(count * 1_000_000);
}

function workspaceWith(file: string, content: string | Uint8Array): Workspace {
  const workspace = new Workspace();
  workspace.jsonl("d.jsonl", [example("a"), example("b")]);
  workspace.jsonl("c.jsonl", [completion("a"), completion("b")]);
  workspace.write(file, content);
  return workspace;
}

describe.concurrent.each(ROLES)("$file", ({ file, good }) => {
  test.each(CASES.filter(({ once }) => !once || file === "d.jsonl"))(
    "$name",
    async ({ content, says }) => {
      const workspace = workspaceWith(file, content(good));
      const result = await workspace.eval("run");
      expectError(result, EXIT.data, new RegExp(file.replace(".", "\\.") + says.source));
      expect(workspace.has("run"), "nothing is left behind").toBe(false);
    },
  );

  test("a long bad line is shown shortened", async () => {
    const result = await workspaceWith(file, long).eval("run");
    expectError(result, EXIT.data, `${file}:1: not valid JSON`, '{"id": "a", "prompt": "word', "…");
    expect(result.stderr.length).toBeLessThan(300);
  });

  test("a missing file", async () => {
    const workspace = sums(2);
    const flag = file === "d.jsonl" ? "--dataset" : "--completions";
    const result = await workspace.eval("run", [flag, "nowhere.jsonl"]);
    expectError(result, EXIT.data, /nowhere\.jsonl: no such file/);
    expect(workspace.has("run")).toBe(false);
  });

  test("a folder in place of the file", async () => {
    const workspace = sums(2);
    mkdirSync(workspace.path("folder"));
    const flag = file === "d.jsonl" ? "--dataset" : "--completions";
    const result = await workspace.eval("run", [flag, "folder"]);
    expectError(result, EXIT.data, /folder: it is a folder, not a file/);
    expect(workspace.has("run")).toBe(false);
  });
});

describe.concurrent("fields", () => {
  test.each([
    ["d.jsonl", { id: "a" }, '"prompt" is missing'],
    ["d.jsonl", { id: "a", prompt: 3 }, '"prompt" must be a string, found 3'],
    ["c.jsonl", { id: "a" }, '"completion" is missing'],
    ["c.jsonl", { id: "a", samples: ["x"] }, '"completion" is missing'],
    ["c.jsonl", { id: "a", completion: null }, '"completion" must be a string, found null'],
    ["c.jsonl", { ...completion("a"), sum_logprob: "-1" }, '"sum_logprob" must be a number'],
  ])("%s %j", async (file, row, says) => {
    const result = await workspaceWith(file, lines(row)).eval("run");
    expectError(result, EXIT.data, `${file}:1: ${says}`);
  });

  test("packs in place of completions: the command that scores them is named", async () => {
    const result = await workspaceWith("c.jsonl", lines({ id: "a", samples: ["x"] })).eval("run");
    expectError(
      result,
      EXIT.data,
      "this file has packs of samples",
      "selection-demo --samples c.jsonl",
    );
  });

  test.each([
    ["built-in", []],
    ["a user's scorer", ["--scorer", "mine.ts"]],
    ["a user's scorer on threads", ["--scorer", "mine.ts", "--jobs", "2"]],
  ])("a value nested 50,000 deep, %s", async (_, flags) => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const row = `{"id":"a","prompt":"p","expected_answer":${deep}}\n`;
    const workspace = workspaceWith("d.jsonl", row);
    workspace.write("mine.ts", scorerSource('return { reward: 1, code: "x", details: {} };'));
    expectError(await workspace.eval("run", flags), EXIT.data, /"a".*nested/);
  });

  test("a number that no double can hold is never rounded in silence", async () => {
    const workspace = workspaceWith(
      "d.jsonl",
      '{"id":"a","prompt":"p","expected_answer":9007199254740993}\n',
    );
    workspace.jsonl("c.jsonl", [{ id: "a", completion: "Final: 9007199254740992" }]);
    const { rows } = await workspace.made("run");
    expect(rows[0]).toMatchObject({ outcome_code: "invalid_example", reward: null });
    expect(JSON.stringify(rows[0]?.details)).toMatch(/safe integer range/);
    workspace.write("d.jsonl", '{"id":"a","prompt":"p","expected_answer":1e999}\n');
    expectError(await workspace.eval("huge"), EXIT.data, /"a"/, /expected_answer/);
  });
});

describe.concurrent("accepted all the same", () => {
  const plain = [example("a"), { ...example("é"), prompt: "l'été" }, example("c")];
  const answers = plain.map(({ id }) => completion(id));
  const FORMS: readonly [name: string, form: (text: string) => string][] = [
    ["CRLF", (text) => text.replaceAll("\n", "\r\n")],
    ["a byte order mark", (text) => `\ufeff${text}`],
    ["both", (text) => `\ufeff${text.replaceAll("\n", "\r\n")}`],
    ["no line feed at the end", (text) => text.trimEnd()],
    ["blank lines", (text) => `\n${text.replaceAll("\n", "\n \n\n")}`],
  ];

  test.each(FORMS)("%s gives the rows of the plain files", async (_, form) => {
    const workspace = new Workspace();
    workspace.write("d.jsonl", lines(...plain));
    workspace.write("c.jsonl", lines(...answers));
    const before = await workspace.prepare("plain");
    workspace.write("d.jsonl", form(lines(...plain)));
    workspace.write("c.jsonl", form(lines(...answers)));
    const after = await workspace.made("odd");
    expect(after.results).toBe(before.results);
    expect(after.summary.metrics).toEqual(before.summary.metrics);
    expect(after.manifest.examples).toEqual(before.manifest.examples);
    expect(before.rows.map(({ id }) => id)).toEqual(["a", "é", "c"]);
  });

  test("a row larger than a read buffer", async () => {
    const prompt = "é".repeat(1_000_000);
    const workspace = workspaceWith("d.jsonl", lines({ ...example("a"), prompt }, example("b")));
    const { rows } = await workspace.made("run");
    expect(rows.map(({ id, prompt: { length } }) => [id, length])).toEqual([
      ["a", 1_000_000],
      ["b", "Compute b.".length],
    ]);
  });

  test("completions for unknown ids are counted and reported", async () => {
    const workspace = sums(3);
    const known = workspace.read("c.jsonl");
    const unknown = Array.from({ length: 7 }, (_, n) => completion(`stranger-${n}`));
    workspace.write(
      "c.jsonl",
      `${lines(...unknown.slice(0, 4))}${known}${lines(...unknown.slice(4))}`,
    );
    const result = await workspace.eval("run");
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
    const { summary, rows } = workspace.readRun("run");
    expect(summary.unknown_completions).toEqual({
      count: 7,
      first_ids: [0, 1, 2, 3, 4].map((n) => `stranger-${n}`),
    });
    expect(rows.map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
    expect(summary.metrics).toMatchObject({ n_examples: 3, n_scored: 3, n_pass: 2, n_fail: 1 });
    for (const text of [
      result.stdout,
      workspace.read("run", "summary.md"),
      workspace.read("run", "README.md"),
    ]) {
      expect(text.replaceAll(/\s+/g, " ")).toMatch(
        /name no example of the data set: 7 .*stranger-0/,
      );
    }
  });

  test("an example without a completion is missing, not failed", async () => {
    const workspace = sums(3);
    workspace.write("c.jsonl", lines({ id: "s1", completion: "Final: 2" }));
    const result = await workspace.eval("run");
    expect(result.code).toBe(EXIT.ok);
    expect(result.stdout).toMatch(/Examples without a completion: 2/);
    const { summary, rows } = workspace.readRun("run");
    expect(rows.map((row) => [row.outcome_code, row.reward, row.completion])).toEqual([
      ["missing_completion", null, null],
      ["ok", 1, "Final: 2"],
      ["missing_completion", null, null],
    ]);
    expect(summary.metrics).toMatchObject({
      n_examples: 3,
      n_scored: 1,
      n_pass: 1,
      n_fail: 0,
      n_missing: 2,
      pass_rate: 1,
    });
  });

  test("--max-examples uses the first so many and still checks the rest", async () => {
    const workspace = sums(5);
    const { rows, summary } = await workspace.made("run", ["--max-examples", "2"]);
    expect(rows.map(({ id }) => id)).toEqual(["s0", "s1"]);
    expect(summary.unknown_completions.count).toBe(0);
    workspace.write("d.jsonl", `${workspace.read("d.jsonl")}{oops}\n`);
    const result = await workspace.eval("other", ["--max-examples", "2"]);
    expectError(result, EXIT.data, /d\.jsonl:6: not valid JSON/);
  });
});

describe.concurrent("provenance", () => {
  const file = "c.provenance.json";
  const good = { schema: "lockedroom.provenance@1", sampling: { temperature: 0.7 } };

  test("what is said about the completions is in the manifest", async () => {
    const workspace = sums(2);
    workspace.write(file, JSON.stringify({ ...good, policy: { name: "tiny" } }));
    const { manifest } = await workspace.made("run");
    expect(manifest).toMatchObject({ sampling: { temperature: 0.7 }, policy: { name: "tiny" } });
  });

  test.each([
    ["not JSON", "{oops", /not a provenance file/],
    ["of another shape", JSON.stringify({ ...good, sampling: 3 }), /sampling/],
    ["with a misspelt field", JSON.stringify({ ...good, samplng: {} }), /samplng/],
    [
      "of another file",
      JSON.stringify({ ...good, completions_sha256: "0".repeat(64) }),
      /describes another version of c\.jsonl/,
    ],
  ])("%s", async (_, text, says) => {
    const workspace = sums(2);
    workspace.write(file, text);
    const result = await workspace.eval("run");
    expectError(result, EXIT.data, /c\.provenance\.json/, says);
    expect(result.stderr.trimEnd().split("\n").length, result.stderr).toBeLessThanOrEqual(4);
    expect(workspace.has("run")).toBe(false);
  });
});

describe.concurrent("validate-scorer", () => {
  const golden = { id: "a", completion: "Final: 1", expected_reward: 1, note: "plain" };

  test.each([
    ["no rows", "", /g\.jsonl is empty/],
    ["invalid JSON", "{oops}\n", /g\.jsonl:1: not valid JSON/],
    [
      "no expected_reward",
      lines({ ...golden, expected_reward: undefined }),
      /g\.jsonl:1: .*"expected_reward" is missing/,
    ],
    [
      "an id that no example has",
      lines(golden, { ...golden, id: "z" }),
      /g\.jsonl: .*not in d\.jsonl \(z\)/,
    ],
  ])("a golden file with %s", async (_, text, says) => {
    const workspace = workspaceWith("g.jsonl", text);
    const result = await workspace.run([
      "validate-scorer",
      "--dataset",
      "d.jsonl",
      "--golden",
      "g.jsonl",
    ]);
    expectError(result, EXIT.data, says);
  });

  test("a missing golden file and a missing data set", async () => {
    const workspace = workspaceWith("g.jsonl", lines(golden));
    const flags = (dataset: string, file: string) => [
      "validate-scorer",
      "--dataset",
      dataset,
      "--golden",
      file,
    ];
    expectError(
      await workspace.run(flags("d.jsonl", "no.jsonl")),
      EXIT.data,
      /no\.jsonl: no such file/,
    );
    expectError(
      await workspace.run(flags("no.jsonl", "g.jsonl")),
      EXIT.data,
      /no\.jsonl: no such file/,
    );
  });

  test("disagreements are counted apart and exit 1", async () => {
    const rows = [
      golden,
      { ...golden, completion: "Final: 2", note: "should pass" },
      { ...golden, expected_reward: 0, note: "should fail" },
      { ...golden, id: "b", expected_reward: 0, note: "should fail as well" },
    ];
    const workspace = workspaceWith("g.jsonl", lines(...rows));
    const result = await workspace.run([
      "validate-scorer",
      "--dataset",
      "d.jsonl",
      "--golden",
      "g.jsonl",
    ]);
    expect(result).toMatchObject({ code: 1, stderr: "" });
    expect(result.stdout).toMatch(/1 of 4 golden rows agree/);
    expect(result.stdout).toMatch(/false positives.* 2$/m);
    expect(result.stdout).toMatch(/false negatives.* 1$/m);
    expect(result.stdout).toMatch(/scorer errors on golden rows +0$/m);
    for (const { note } of rows.slice(1)) expect(result.stdout).toContain(note);
  });
});

test("a file that may not be read", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("only root can become somebody who may not");
  const workspace = sums(1);
  chmodSync(workspace.dir, 0o777);
  writeFileSync(workspace.path("secret.jsonl"), lines(example("a")), { mode: 0o600 });
  const result = await workspace.eval("run", ["--dataset", "secret.jsonl"], { uid: 65534 });
  expectError(result, EXIT.data, /secret\.jsonl: permission denied/);
});
