/** The commands `verify` and `seal`: exit codes, verification.json, and where it is shown. */

import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { api, EXIT, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

const workspace = new Workspace();
const PI0 = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, stop: [], seed: 1 };

beforeAll(async () => {
  workspace.jsonl(
    "d.jsonl",
    Array.from({ length: 6 }, (_, i) => ({
      ...{ id: `e${i}`, prompt: `Compute ${i} + 2.`, expected_answer: i + 2 },
    })),
  );
  const policy = await api.openEmbeddedPolicy("pi0", { sampling: PI0 });
  const [dataset, outdir] = [workspace.path("d.jsonl"), workspace.path("rollout")];
  await api.rollout({ policy, dataset, n: 1, outdir });
  await policy.close();
});

const verify = (...flags: string[]) => workspace.run(["verify", ...flags]);

test("writes verification.json beside the run, which stays as it was", async () => {
  await workspace.prepare("run", "rollout/completions.jsonl");
  const before = workspace.snapshot("run");
  const done = await verify("run", "--sample", "3");
  expect(done, done.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(tooWide(done.stdout)).toEqual([]);
  const { "verification.json": text = "", ...after } = workspace.snapshot("run");
  expect(after).toEqual(before);
  const found = api.verificationSchema.parse(JSON.parse(text));
  expect(found).toMatchObject({ result: "verified", draw: { rows: 3 } });
  expect(done.stdout).toContain(`--draw ${found.draw?.seed}`);

  const line = "verified: files 3 of 3, data 6 of 6, answers 6 of 6, score 6 of 6,";
  expect((await workspace.run(["inspect-run", "--run", "run"])).stdout).toContain(line);
  expect((await workspace.run(["runs", "run"])).stdout).toContain(line);

  // Made again with --force, it is the same run; with other rows it is not.
  await workspace.prepare("run", "rollout/completions.jsonl", true);
  expect((await workspace.run(["runs", "run"])).stdout).toContain(line);
  workspace.jsonl("other.jsonl", [{ id: "e0", completion: "Final: 2" }]);
  await workspace.prepare("run", "other.jsonl", true);
  expect((await workspace.run(["runs", "run"])).stdout).toContain("verification out of date");
});

test("exit codes: 0 the same, 1 different, 2 out of reach, 64 wrong usage, 65 no run", async () => {
  await workspace.prepare("plain", "rollout/completions.jsonl");
  const equal = await verify("plain", "--only", "files", "score", "--format", "json");
  expect(equal.code).toBe(0);
  expect(api.verificationSchema.parse(JSON.parse(equal.stdout)).result).toBe("partly_verified");

  const results = workspace.read("plain", "results.jsonl");
  workspace.write("plain/results.jsonl", results.replace(/"reward":[01]/, '"reward":0.5'));
  const different = await verify("plain", "--only", "score");
  expect(different).toMatchObject({ code: 1, stderr: "" });
  expect(different.stdout).toMatch(
    /DIFFERS.*\n[\s\S]*e0 {2}reward\n {6}expected {2}[01]\n {6}found {5}0\.5/,
  );
  workspace.write("plain/results.jsonl", results);

  workspace.jsonl("text.jsonl", [{ id: "e0", completion: "Final: 2" }]);
  await workspace.prepare("stated", "text.jsonl");
  const unknown = await verify("stated");
  expect(unknown).toMatchObject({ code: 2, stderr: "" });
  expect(unknown.stdout).toContain("does not state which policy answered");
  expect(unknown.stdout).toContain("Use --only files data answers score to verify the rest.");
  const rest = await verify("stated", "--only", "files", "score");
  expect(rest).toMatchObject({ code: 0, stderr: "" });
  expect(rest.stdout).toMatch(/^partly verified: files, score {2}stated$/m);
  expect(rest.stdout).toMatch(/holds a fuller verification of this run, and was kept/);

  expect((await verify("plain", "--train")).code).toBe(EXIT.usage);
  expect((await verify("plain", "--only", "nothing")).code).toBe(EXIT.usage);
  expect((await verify("plain", "--draw", "abc")).code).toBe(EXIT.usage);
  expect((await verify("nowhere")).code).toBe(EXIT.data);
});

test("seal makes keys and signs, and prints no secret", async () => {
  await workspace.prepare("sealed", "rollout/completions.jsonl");
  const made = await workspace.run(["seal", "--new-key", "keys/ci"]);
  expect(made, made.stderr).toMatchObject({ code: 0, stderr: "" });
  const secret = workspace.read("keys/ci.pem").split("\n")[1] ?? "";
  const done = await workspace.run(["seal", "sealed", "--key", "keys/ci.pem"]);
  expect(done, done.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(`${made.stdout}${done.stdout}${workspace.read("sealed/seal.json")}`).not.toContain(
    secret.slice(-30),
  );
  const check = (run: string) => workspace.run(["seal", run, "--check", "keys/ci.pub.pem"]);
  const valid = await check("sealed");
  expect(valid, valid.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(valid.stdout).toMatch(/^sealed: valid seal \(checked with key [0-9a-f]{16}\)$/m);
  await workspace.prepare("unsealed", "rollout/completions.jsonl");
  expect(await check("unsealed")).toMatchObject({
    ...{ code: 1, stdout: expect.stringContaining("unsealed: no seal") },
  });
  const results = workspace.read("sealed/results.jsonl");
  workspace.write("sealed/results.jsonl", results.replace(/"reward":[01]/, '"reward":0.5'));
  expect(await check("sealed")).toMatchObject({
    ...{ code: 1, stdout: expect.stringMatching(/edited\s+since\s+the\s+run:.*results\.jsonl/s) },
  });
  workspace.write("sealed/results.jsonl", results);
  expect((await check("nowhere")).code).toBe(EXIT.data);
  expect((await workspace.run(["seal", "sealed"])).code).toBe(EXIT.usage);
  expect((await workspace.run(["seal", "--new-key", "keys/ci"])).code).toBe(EXIT.usage);
});

test("gate --verified says its cost first, and refuses what differs", async () => {
  await workspace.prepare("honest", "rollout/completions.jsonl");
  const rows = workspace
    .read("rollout/completions.jsonl")
    .replace(/"completion":"[^"]*"/, (found) =>
      found === '"completion":"Final: 2"' ? '"completion":"Final: 3"' : '"completion":"Final: 2"',
    );
  const provenance = JSON.parse(workspace.read("rollout/completions.provenance.json"));
  workspace.write("forged.jsonl", rows);
  const completions_sha256 = createHash("sha256").update(rows).digest("hex");
  workspace.write("forged.provenance.json", JSON.stringify({ ...provenance, completions_sha256 }));
  await workspace.prepare("forged", "forged.jsonl");
  const gate = (candidate: string, ...flags: string[]) =>
    workspace.run(["gate", "--baseline", "honest", "--candidate", candidate, ...flags]);
  const cost = /^Verifying honest: 6 rows to score, 6 completions to sample, about \d+ s$/m;

  const same = await gate("honest", "--verified", "--format", "json");
  expect(same.stderr).toMatch(cost);
  const report = api.gateReportSchema.parse(JSON.parse(same.stdout));
  expect(report.verified).toMatchObject({
    ...{ baseline: { result: "verified" }, candidate: { result: "verified" } },
  });
  expect(report.reasons.map(({ code }) => code)).not.toContain("verification_failed");

  const other = await gate("forged", "--verified");
  expect(other.code).toBe(3);
  expect(other.stdout).toMatch(/^verification_failed$/m);
  expect(tooWide(other.stdout)).toEqual([]);
  const scores = await gate("forged", "--verified", "--verify-only", "score");
  expect(scores.stdout).toMatch(/scores verified; completions not: they were left out/);
  expect(scores.stderr).toContain("0 completions to sample");
  expect(tooWide(scores.stdout)).toEqual([]);
  expect((await gate("honest", "--verify-sample", "2")).code).toBe(EXIT.usage);
  expect((await gate("honest", "--verify-only", "score")).code).toBe(EXIT.usage);
  expect(workspace.has("honest/verification.json")).toBe(false);
});
