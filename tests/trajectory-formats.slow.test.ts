import path from "node:path";
import { expect, test } from "vitest";
import { EXIT, ROOT, Workspace } from "./cli.ts";

const RECORDED = path.join(ROOT, "tests/fixtures/trajectory-formats/trajectories.jsonl");
const to = (format: string, outfile: string) => ["--format", format, "--outfile", outfile];
const exported = ["export", "trajectories", RECORDED];

test("out and in again gives the same bytes, and says what was lost or unknown", async () => {
  const w = new Workspace();
  const art = await w.run([...exported, ...to("art", "art.jsonl"), "--report", "done.json"]);
  expect(art).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(art.stdout).toContain("Wrote art.jsonl: 7 episodes for art, 5 lines");
  expect(art.stdout).toContain("1 without a reward; ART needs a number");
  expect(JSON.parse(w.read("done.json"))).toMatchObject({ trajectories: 7, unscored: 1 });
  const from = ["--format", "art", "--outdir", "back"];
  const back = await w.run(["import", "trajectories", "art.jsonl", ...from]);
  expect(back).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(back.stdout).toContain("The origin is unknown");
  const given = new Workspace();
  given.write("t.jsonl", w.read("back", "trajectories.jsonl"));
  const again = await given.run(["export", "trajectories", "t.jsonl", ...to("atif", "a.jsonl")]);
  expect(again.code).toBe(EXIT.ok);
  const atif = await w.run([...exported, ...to("atif", "atif.jsonl")]);
  expect(atif.stdout).toContain("1 failed rollout left out");
  for (const { stdout } of [art, back, atif])
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("quiet prints nothing; a file that is there is kept", async () => {
  const w = new Workspace();
  const first = await w.run([...exported, ...to("trl", "t.jsonl"), "--quiet"]);
  expect(first).toMatchObject({ code: EXIT.ok, stdout: "", stderr: "" });
  const second = await w.run([...exported, ...to("trl", "t.jsonl")]);
  expect(second.code).toBe(EXIT.usage);
  expect(second.stderr).toContain("t.jsonl exists already");
  const forced = await w.run([...exported, ...to("trl", "t.jsonl"), "--force"]);
  expect(forced.code).toBe(EXIT.ok);
});

test("a file cut in the middle names its line, and nothing is left behind", async () => {
  const w = new Workspace();
  await w.run([...exported, ...to("verifiers", "whole.jsonl")]);
  w.write("cut.jsonl", w.read("whole.jsonl").slice(0, -100));
  const cut = ["import", "trajectories", "cut.jsonl", "--format", "verifiers", "--outdir", "in"];
  const result = await w.run(cut);
  expect(result.code).toBe(EXIT.data);
  expect(result.stderr).toMatch(/cut\.jsonl:8: not valid JSON/);
  expect(w.has("in")).toBe(false);
});

test.each([
  [["export", "trajectories", "missing", ...to("art", "x")], EXIT.data],
  [["export", "trajectories", RECORDED, ...to("parquet", "x")], EXIT.usage],
  [["export", "games", RECORDED, ...to("art", "x")], EXIT.usage],
  [["export", "trajectories", RECORDED, "--format", "art"], EXIT.usage],
  [["import", "trajectories", "missing", "--format", "art", "--outdir", "x"], EXIT.data],
])("%j exits with a sentence", async (args, code) => {
  const w = new Workspace();
  const result = await w.run(args);
  expect(result.code).toBe(code);
  expect(result.stderr).not.toContain("    at ");
  expect(w.has("x")).toBe(false);
});
