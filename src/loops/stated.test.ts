/** Completions from elsewhere: what their owner states of them, and what a provenance file says. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { evaluate } from "./eval.ts";
import { select } from "./select.ts";
import { builtInPolicy } from "./selection-policy.ts";
import type { StatedProvenance } from "./stated.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "lockedroom-stated-"));
});
const made: string[] = [];
afterAll(() => {
  for (const one of made) rmSync(one, { recursive: true, force: true });
});
const at = (name: string) => path.join(dir, name);

const dataset = [{ id: "a", prompt: "1 + 1", expected_answer: 2 }];
const stated = { policy: "mine", sampling: { temperature: 0.7, seed: 3 } };

async function evaluated(given: StatedProvenance | undefined, provenance?: object) {
  made.push(dir);
  const prompt_fingerprint = promptFingerprint("1 + 1");
  const row = { id: "a", prompt_fingerprint, completion: "Final: 2" };
  writeFileSync(at("c.jsonl"), `${JSON.stringify(row)}\n`);
  if (provenance) {
    const text = JSON.stringify({
      ...{ schema: "lockedroom.provenance@1", prompts_by_row: true, ...provenance },
    });
    writeFileSync(at("c.provenance.json"), text);
  }
  const completions = at("c.jsonl");
  const { manifest } = await evaluate({
    dataset,
    completions,
    outdir: at("run"),
    stated: given,
    force: true,
  });
  return { policy: manifest.policy, sampling: manifest.sampling };
}

describe("what is stated", () => {
  test("is recorded, by eval and selection", async () => {
    const recorded = { policy: { kind: "stated", name: "mine" }, sampling: stated.sampling };
    expect(await evaluated(stated)).toEqual(recorded);
    const samples = [{ id: "a", samples: ["Final: 2"] }];
    const policy = builtInPolicy("best");
    const run = await select({ dataset, samples, n: 1, policy, outdir: at("s"), stated });
    expect(run.manifest).toMatchObject(recorded);
  });

  test("may be half: the rest is unknown", async () => {
    expect(await evaluated({ policy: "mine" })).toMatchObject({ sampling: null });
    expect(await evaluated(undefined, {})).toEqual({ policy: null, sampling: null });
  });

  test("fills in what a provenance file leaves out", async () => {
    const file = { policy: { kind: "checkpoint", fingerprint: "f".repeat(64) } };
    expect(await evaluated({ sampling: { seed: 3 } }, file)).toEqual({
      ...{ ...file, sampling: { seed: 3 } },
    });
  });

  test("may repeat what a provenance file says, which stays as it is", async () => {
    const file = {
      policy: { kind: "openai", name: "mine" },
      sampling: { temperature: 0.7, seed: 3 },
    };
    expect(await evaluated(stated, file)).toEqual(file);
  });

  test.each([
    ["another policy", { policy: { kind: "openai", name: "other" } }, /states another policy/],
    [
      "a policy without a name",
      { policy: { kind: "checkpoint", fingerprint: "f".repeat(64) } },
      /another policy/,
    ],
    ["another seed", { sampling: { temperature: 0.7, seed: 4 } }, /states other sampling settings/],
    ["no seed", { sampling: { temperature: 0.7 } }, /states other sampling settings/],
  ])("is refused when a provenance file has %s", async (_, file, says) => {
    await expect(evaluated(stated, file)).rejects.toMatchObject({
      ...{ kind: "usage", message: expect.stringMatching(says) },
      hint: expect.stringContaining("Leave out"),
    });
  });
});
