/** The command `harden`: its files, its exit codes, and the project's own scorer under attack. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { hardenReportSchema } from "../src/runs/harden-report.ts";
import { DEV, EXIT, EXPLOITS, expectError, GOLDEN, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

const workspace = new Workspace();
const golden = ["--golden", GOLDEN, "--golden", EXPLOITS];
const harden = (...flags: string[]) => workspace.run(["harden", "--dataset", DEV, ...flags]);
const report = (dir: string) =>
  hardenReportSchema.parse(JSON.parse(workspace.read(path.join(dir, "report.json"))));

test("the built-in scorer withstands it, and its golden rows notice every mutant that matters", async () => {
  const result = await harden(...golden, "--inputs", "15000", "--outdir", "own");
  expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(result.stdout).toMatch(/with 15000 inputs[\s\S]*\nNo finds\.\n$/);
  expect(tooWide(result.stdout)).toEqual([]);
  const { finds, mutation, lenient, search } = report("own");
  expect([finds, lenient]).toEqual([[], []]);
  expect(mutation).toMatchObject({ survived: 0, score: 1 });
  expect(mutation?.killed).toBeGreaterThan(40);
  expect(search.code_reached).toBeGreaterThan(0.6);
});

const LAST_INTEGER = `export const name = "last_integer";
export const version = "1.0.0";
export const spec = "The last integer in the text counts.";
export function score(example: { expected_answer: number }, text: string) {
  const right = text.match(/-?\\d+/g)?.at(-1) === String(example.expected_answer);
  return { reward: right ? 1 : 0, code: right ? "ok" : "wrong_answer", details: {} };
}
`;

test("the same command gives the same bytes, and its golden rows fail the scorer that it attacked", async () => {
  workspace.write("lenient.ts", LAST_INTEGER);
  const flags = ["--scorer", "lenient.ts", ...golden, "--inputs", "5000"];
  const one = await harden(...flags, "--outdir", "one");
  expect(one.code).toBe(1);
  expect(tooWide(one.stdout)).toEqual([]);
  expect((await harden(...flags, "--outdir", "two")).code).toBe(1);
  const files = readdirSync(path.join(workspace.dir, "one")).sort();
  expect(files).toEqual([
    "boundary.jsonl",
    "golden.jsonl",
    "report.json",
    "summary.md",
    "survivors.jsonl",
  ]);
  for (const file of files) {
    const [a, b] = ["one", "two"].map((dir) => readFileSync(path.join(workspace.dir, dir, file)));
    expect(a?.equals(b as Buffer), file).toBe(true);
  }
  const checked = await workspace.run([
    ...["validate-scorer", "--dataset", DEV, "--golden", "one/golden.jsonl", "--quiet"],
    ...["--scorer", "lenient.ts"],
  ]);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toMatch(/: 0 of \d+ golden rows agree/);
  // The strict scorer agrees with every row that was written.
  const strict = ["validate-scorer", "--dataset", DEV, "--golden", "one/golden.jsonl", "--quiet"];
  expect((await workspace.run(strict)).code).toBe(EXIT.ok);
});

test("surviving mutants, forms that are not used and the missing score are said", async () => {
  workspace.write("last.ts", LAST_INTEGER.replace("/-?", "/^Final: -?").replace("/g)", "$/g)"));
  const few = ["--scorer", "last.ts", "--inputs", "300", "--form", "\\boxed{}"];
  const alone = await harden(...few, "--outdir", "alone");
  expect(alone.stdout).toMatch(/did not pass in --form\s\\boxed\{\}/);
  expect(alone.stdout).toContain("The mutation score was not measured");
  const strict = await harden("--golden", GOLDEN, "--inputs", "300", "--outdir", "strict");
  expect(strict.stdout).toMatch(/\nNo finds; \d+ mutants survive\.\n$/);
  const { inputs } = report("strict");
  const numbers = [...strict.stdout.matchAll(/^ {2}[a-z ]+? {2,}(\d+)/gm)].map(([, n]) =>
    Number(n),
  );
  expect(numbers.reduce((sum, n) => sum + n, 0)).toBe(inputs.all);
  expect(tooWide(alone.stdout + strict.stdout)).toEqual([]);
});

test("an upper limit in seconds is named in the report", async () => {
  const result = await harden("--inputs", "900000000", "--seconds", "1", "--outdir", "timed");
  expect(result.code).toBe(EXIT.ok);
  expect(result.stdout).toContain("Stopped by --seconds");
  expect(report("timed").stopped).toBe("time");
});

test("mistakes are sentences", async () => {
  workspace.write("there/file.txt", "x");
  expectError(await harden("--outdir", "there"), EXIT.usage);
  expectError(await harden("--outdir", "n", "--skip", "nothing"), EXIT.usage);
  expectError(await harden("--outdir", "n", "--scorer", "none.ts"), EXIT.usage);
  workspace.write("accept.txt", "not a mutant");
  expectError(await harden("--outdir", "n", "--accept", "accept.txt"), EXIT.data);
  workspace.write("relations.ts", "export const other = 1;");
  expectError(
    await harden("--outdir", "n", "--inputs", "500", "--relations", "relations.ts"),
    EXIT.data,
  );
});
