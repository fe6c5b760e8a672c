/** A user's own scorer: TypeScript or JavaScript, any JSON, named by its code; or a sentence why not. */

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EXIT, expectError, scorerSource, sums, Workspace } from "./cli.ts";

const FINE = 'return { reward: 1, code: "fine", details: {} };';

describe.concurrent("a file that is no scorer", () => {
  const header = 'export const name = "n"; export const version = "1"; export const spec = "s";';
  const score = "export const score = () => ({ reward: 1, code: 'x', details: {} });";

  test.each([
    ["a syntax error", "export const name = ;", /s\.ts does not load: /],
    ["a line that throws", 'throw new Error("at load");', /s\.ts does not load: at load/],
    ["a missing helper", 'import "./nowhere.ts";', /s\.ts does not load: .*nowhere/],
    ["nothing in it", "", /s\.ts is not a scorer: .*`score`/],
    ["no score", header, /s\.ts is not a scorer: .*`score`/],
    ["no name", `${header.replace("name", "nom")} ${score}`, /s\.ts is not a scorer: `name`/],
    [
      "no version",
      `${header.replace("version", "v")} ${score}`,
      /s\.ts is not a scorer: `version`/,
    ],
    ["no spec", `${header.replace("spec", "rule")} ${score}`, /s\.ts is not a scorer: `spec`/],
    ["a number for a version", `${header.replace('"1"', "1")} ${score}`, /`version`/],
    ["a default export of null", "export default null;", /`score`/],
    ["codes that are no list", `${header} ${score} export const codes = "x";`, /`codes`/],
  ])("%s", async (_, source, says) => {
    const workspace = sums(1);
    workspace.write("s.ts", source);
    const result = await workspace.eval("run", ["--scorer", "s.ts"]);
    expectError(result, EXIT.data, says);
    expect(workspace.has("run")).toBe(false);
  });

  test("a missing file and a folder", async () => {
    const workspace = sums(1);
    workspace.write("folder/x", "");
    const missing = await workspace.eval("run", ["--scorer", "nowhere.ts"]);
    expectError(missing, EXIT.usage, /no scorer "nowhere\.ts"/, /math_final_line/);
    const folder = await workspace.eval("run", ["--scorer", "folder"]);
    expectError(folder, EXIT.usage, /folder is a folder/);
  });
});

describe.concurrent("a user's scorer", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  test("is named in the manifest by the hash of its file", async () => {
    const workspace = sums(2);
    const source = scorerSource(FINE);
    workspace.write("lib/s.ts", source);
    const { manifest } = await workspace.made("run", ["--scorer", "lib/s.ts"]);
    expect(manifest.scorer).toEqual({
      name: "mine",
      version: "1.0.0",
      spec: "as the test says",
      source_sha256: sha256(source),
      path: "lib/s.ts",
    });
  });

  test("is another one when a file it imports changes, however it is imported", async () => {
    const workspace = sums(2);
    workspace.write(
      "s.ts",
      scorerSource(
        'return { reward: full * half(2), code: "x", details: {} };',
        'import { full } from "./lib/full.js"; import { half } from "./lib";',
      ),
    );
    const files: [name: string, before: string, after: string][] = [
      ["lib/full.ts", "export const full: number = 1;", "export const full: number = 0.5;"],
      ["lib/index.ts", 'export * from "./deep";', 'export * from "./deep"; // again'],
      [
        "lib/deep.ts",
        "export const half = (n: number) => n / 2;",
        "export const half = () => 0.5;",
      ],
    ];
    for (const [name, before] of files) workspace.write(name, before);
    const first = await workspace.made("first", ["--scorer", "s.ts"]);
    expect(first.rows.map(({ reward }) => reward)).toEqual([1, 1]);
    const hashes = new Set([first.manifest.scorer.source_sha256]);
    for (const [index, [name, , after]] of files.entries()) {
      workspace.write(name, after);
      const { manifest } = await workspace.made(`run${index}`, ["--scorer", "s.ts"]);
      hashes.add(manifest.scorer.source_sha256);
    }
    expect(hashes.size).toBe(4);

    const gate = await workspace.run([
      "gate",
      "--baseline",
      "first",
      "--candidate",
      "run0",
      "--format",
      "json",
    ]);
    expect(gate.code).toBe(3);
    expect(gate.stdout).toContain("instrument_changed_without_version_bump");
    const inspect = await workspace.run(["inspect-run", "--run", "first"]);
    expect(inspect.stdout.replaceAll("\n", " ")).toMatch(
      /^! The code of s\.ts changed since this run/,
    );
  });

  test("may be a default export, JavaScript, or use the built-in's names", async () => {
    const forms: Record<string, string> = {
      "default.ts": `export default { name: "mine", version: "2", spec: "s", bonus: 1,
        score(this: any) { return { reward: this.bonus, code: "x", details: {} }; } };`,
      "class.ts": `class Mine { name = "mine"; version = "2"; spec = "s";
        score() { return { reward: 1, code: "x", details: {} }; } }
        export default new Mine();`,
      "plain.mjs": `export const name = "mine", version = "2", spec = "s";
        export const score = () => ({ reward: 1, code: "x", details: {} });`,
      "common.cjs": `module.exports = { name: "mine", version: "2", spec: "s",
        score: () => ({ reward: 1, code: "x", details: {} }) };`,
      "names.ts": `export const SCORER_NAME = "mine", SCORER_VERSION = "2", REWARD_SPEC = "s";
        export const score = () => ({ reward: 1, code: "x" });`,
    };
    const workspace = sums(2);
    for (const [file, source] of Object.entries(forms)) {
      workspace.write(file, source);
      const { manifest, rows } = await workspace.made(`run-${file}`, ["--scorer", file]);
      expect(manifest.scorer, file).toMatchObject({ name: "mine", version: "2", spec: "s" });
      expect(rows, file).toEqual(
        rows.map((row) => ({ ...row, reward: 1, outcome_code: "x", details: {} })),
      );
    }
  });

  test("sees any JSON as expected_answer, extra fields, and modern TypeScript", async () => {
    const expected = [null, true, -1.5, "text", [1, [2]], { a: { b: [] } }, 1e300];
    const workspace = new Workspace();
    workspace.jsonl("d.jsonl", [
      ...expected.map((expected_answer, n) => ({
        id: `e${n}`,
        prompt: "p",
        expected_answer,
        metadata: { n },
        rubric: ["x", n],
      })),
      { id: "none", prompt: "p" },
    ]);
    workspace.jsonl(
      "c.jsonl",
      [...expected.keys()]
        .map((n) => ({ id: `e${n}`, completion: JSON.stringify(expected[n]) }))
        .concat({ id: "none", completion: "" }),
    );
    workspace.write(
      "s.ts",
      `import type { Whatever } from "./types.ts";
enum Code { Same = "same", Other = "other" }
interface Row { id: string; expected_answer?: unknown; rubric?: [string, number]; metadata?: { n: number } }
export const name = "json_equal" as const;
export const version = "1.0.0" satisfies string;
export const spec = "the completion is the expected JSON";
export function score(example: Row, completion: string): Whatever {
  const { expected_answer: expected = "absent", rubric, metadata } = example;
  const same = JSON.stringify(expected) === completion;
  return { reward: +same, code: same ? Code.Same : Code.Other, details: { expected, extra: rubric?.[1] ?? null, n: metadata?.n ?? null } };
}
`,
    );
    workspace.write(
      "types.ts",
      "export type Whatever = { reward: number; code: string; details: object };",
    );
    const { rows } = await workspace.made("run", ["--scorer", "s.ts"]);
    expect(rows.slice(0, -1)).toEqual(
      expected.map((expected_answer, n) => ({
        id: `e${n}`,
        prompt: "p",
        expected_answer,
        completion: JSON.stringify(expected_answer),
        reward: 1,
        outcome_code: "same",
        details: { expected: expected_answer, extra: n, n },
      })),
    );
    expect(rows.at(-1)).toMatchObject({
      id: "none",
      reward: 0,
      outcome_code: "other",
      details: { expected: "absent", extra: null, n: null },
    });
  });

  test("that gives partial credit is averaged, and only full marks pass", async () => {
    const workspace = sums(4);
    workspace.write(
      "s.ts",
      scorerSource(
        "return { reward: Number(example.id.slice(1)) / 3 - 0.25, code: 'x', details: {} };",
      ),
    );
    const { summary } = await workspace.made("run", ["--scorer", "s.ts"]);
    expect(summary.metrics).toMatchObject({ n_pass: 0, n_fail: 4, pass_rate: 0 });
    expect(summary.metrics.mean_reward).toBeCloseTo(0.25, 12);
  });
});
