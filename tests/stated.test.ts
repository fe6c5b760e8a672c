/** `--policy` and `--sampling` for completions from elsewhere. */

import { describe, expect, test } from "vitest";
import { EXIT, expectError, sums } from "./cli.ts";

const STATED = ["--policy", "mine-v2", "--sampling", "temperature=0.7, top_p=1,seed=3"];

describe.concurrent("eval", () => {
  test("records the policy and the sampling settings that it is told", async () => {
    const { manifest } = await sums(3).made("run", STATED);
    expect(manifest.policy).toEqual({ kind: "stated", name: "mine-v2" });
    expect(manifest.sampling).toEqual({ temperature: 0.7, top_p: 1, seed: 3 });
  });

  test.each([
    ["an unknown key", "heat=1", /Unknown key heat; known keys: temperature, top_p/],
    ["a value that is no number", "seed=three", /seed=three: the value must be a number\./],
    ["no value", "seed=", /seed=: the value must be a number\./],
    ["no key", "0.7", /"0\.7" is not key=number; known keys: temperature/],
    ["a key twice", "seed=1,seed=2", /seed is given twice\./],
    ["an infinite number", "temperature=Infinity", /temperature=Infinity: the value must/],
    ["nothing", "", /It is empty; known keys: temperature, top_p, top_k, min_p, max_tokens/],
  ])("refuses %s, and says why", async (_, settings, why) => {
    const workspace = sums(1);
    const result = await workspace.eval("run", ["--sampling", settings]);
    expectError(result, EXIT.usage, why);
    expect(workspace.has("run")).toBe(false);
  });

  test("refuses what contradicts the provenance file beside the completions", async () => {
    const workspace = sums(1);
    const provenance = { schema: "lockedroom.provenance@1", policy: { kind: "x", name: "other" } };
    workspace.write("c.provenance.json", JSON.stringify(provenance));
    const result = await workspace.eval("run", STATED);
    expectError(result, EXIT.usage, /c\.provenance\.json states another policy/);
    expect(workspace.has("run", "summary.json")).toBe(false);
  });
});

test("selection-demo has the same, under names that leave --policy to the selection", async () => {
  const workspace = sums(2);
  const samples = ["s0", "s1"].map((id) => ({ id, samples: ["Final: 1"] }));
  const result = await workspace.run([
    ...["selection-demo", "--dataset", "d.jsonl", "--n", "1", "--outdir", "run"],
    ...["--samples", workspace.jsonl("p.jsonl", samples)],
    ...["--policy-name", "mine-v2", "--sampling", "seed=3"],
  ]);
  expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
  const { manifest } = workspace.readRun("run");
  expect(manifest).toMatchObject({
    ...{ policy: { kind: "stated", name: "mine-v2" }, sampling: { seed: 3 } },
  });
});
