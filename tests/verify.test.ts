/** The commands `verify` and `seal`: exit codes, verification.json, and where it is shown. */

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

  const line = "verified: rows scored again 6 of 6, sampled again 3 of 6";
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
  expect(api.verificationSchema.parse(JSON.parse(equal.stdout)).result).toBe("verified");

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
  expect((await workspace.run(["seal", "sealed"])).code).toBe(EXIT.usage);
  expect((await workspace.run(["seal", "--new-key", "keys/ci"])).code).toBe(EXIT.usage);
});
