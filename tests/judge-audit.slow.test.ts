/** The command judge-audit: exit codes, files, what other commands make of them, and bad input. */

import { expect, test } from "vitest";
import { EXIT, Workspace } from "./cli.ts";

const at = new Workspace();
const audit = (judge: string, outdir: string, ...more: string[]) =>
  at.run(["judge-audit", "--judge", judge, "--outdir", outdir, ...more]);

test("says which fault a judge has, within 80 columns, and the other commands open the run", async () => {
  const { code, stdout, stderr } = await audit("embedded:position", "biased", "--limit", "40");
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(/position bias .*● *.*convicted/);
  expect(stdout).toContain("NOT TRUSTED. Shown: position bias.");
  for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(80);
  expect((await at.run(["runs", "biased"])).stdout).toMatch(/^judge audit +finished/);
  const inspected = await at.run(["inspect-run", "--run", "biased"]);
  expect(inspected.stderr).toMatch(/a judge audit[\s\S]*report --run biased/);
  await at.run(["report", "--run", "biased", "--outfile", "page.html"]);
  expect(at.read("page.html")).toContain("position bias");
}, 60_000);

test("a repeated audit comes from the cache, with the same bytes", async () => {
  await audit("embedded", "first", "--limit", "10", "--split", "dev");
  const price = ["--judge-price", "1000,2000"];
  const { code, stdout } = await audit(
    ...(["embedded", "again", "--limit", "10", "--split", "dev", ...price] as const),
  );
  expect(code).toBe(2);
  const { prompt_tokens: read, completion_tokens: written } = JSON.parse(
    at.read("again", "audit.json"),
  ).tokens;
  const dollars = (0.001 * read + 0.002 * written).toFixed(2);
  expect(stdout).toContain(`The judge: ${read} tokens read, ${written} written, $${dollars}.`);
  expect(stdout).toContain("UNDECIDED");
  for (const name of ["audit.json", "judgements.jsonl", "summary.json"])
    expect(at.read("again", name), name).toBe(at.read("first", name));
  const volatile = JSON.parse(at.read("again", "manifest.json")).volatile;
  expect(volatile.judge).toMatchObject({ requests: 0 });
  const third = await audit("embedded", "again", "--limit", "10", "--split", "dev");
  expect(third).toMatchObject({ code: EXIT.usage });
  expect(third.stderr).toContain("already holds a finished judge audit");
}, 60_000);

test("bad input gets a sentence and a next step", async () => {
  const pair = (i: number) => ({
    id: `p${i}`,
    prompt: "Why?",
    a: "So.",
    b: `Snow ${i}.`,
    better: "b",
  });
  at.jsonl("few.jsonl", [0, 1, 2].map(pair));
  at.jsonl("bad.jsonl", [pair(0), { ...pair(1), better: "c" }]);
  at.write("empty.md", "\n");
  for (const [flags, code, words] of [
    [["--pairs", "few.jsonl"], EXIT.data, "3 different labelled pairs are too few"],
    [["--pairs", "bad.jsonl"], EXIT.data, 'bad.jsonl:2: the field better is neither "a" nor "b"'],
    [["--pairs", "none.jsonl"], EXIT.data, "none.jsonl"],
    [["--pairs", "few.jsonl", "--split", "dev"], EXIT.usage, "cannot be given together"],
    [["--rubric", "empty.md"], EXIT.data, "has no rubric in it"],
    [["--limit", "0"], EXIT.usage, "whole number"],
  ] as const) {
    const found = await audit("embedded", "never", ...flags);
    expect([found.code, found.stderr.replace(/\s+/g, " ")]).toEqual([
      code,
      expect.stringContaining(words),
    ]);
    expect(at.has("never")).toBe(false);
  }
  const none = await at.run(["judge-audit", "--outdir", "never"]);
  expect([none.code, none.stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining("no judge is given"),
  ]);
  const keyless = await at.run(["judge-audit", "--judge", "openai:m", "--outdir", "never"]);
  expect(keyless.stderr).toContain("JUDGE_API_KEY");
}, 60_000);
