/** The gate with --verified and --require-seal: what it refuses, and the honest pair beside it. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import { gate } from "../gate/gate.ts";
import { gateMarkdown } from "../gate/render.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { gateReportSchema } from "../runs/gate-report.ts";
import { openRun } from "../runs/reader.ts";
import type { PartName } from "../runs/verification.ts";
import { costOf } from "./cost.ts";
import { whereToLook } from "./find-input.ts";
import { checkSeals, verifyBoth } from "./gate-checks.ts";
import { keyFingerprint, makeKeys, sealRun } from "./seal.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-gate-checks-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);
const DATASET = at("data.jsonl");
const N = 20;
const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, stop: [], seed: 0 };

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const linesIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function measured(name: string, checkpoint: string): Promise<void> {
  const policy = await openEmbeddedPolicy(checkpoint, { sampling });
  const outdir = at(`${name}-rollout`);
  const { answers } = await rollout({ policy, dataset: DATASET, n: 1, outdir });
  await policy.close();
  await evaluate({ dataset: DATASET, completions: answers, outdir: at(name) });
}

beforeAll(async () => {
  const examples = Array.from({ length: N }, (_, i) => ({
    ...{ id: `ex-${i}`, prompt: `Compute ${i} + 3.`, expected_answer: i + 3 },
  }));
  writeFileSync(DATASET, jsonl(examples));
  const pi0 = await loadCheckpoint("pi0");
  const parameters = pi0.parameters.map((value) => value * 0.9);
  await saveCheckpoint(at("other"), { ...pi0, parameters });
  await measured("baseline", "pi0");
  await measured("candidate", at("other"));
});

/** Moves with the runs as a person would name them: everything they need lies below the root. */
const verified = (baseline: string, candidate: string, only?: PartName[]) =>
  gate({
    ...{ baseline: at(baseline), candidate: at(candidate) },
    further: (before, after) => verifyBoth(before, after, { from: root, only }),
  });

const codesOf = ({ reasons }: { reasons: readonly { code: string }[] }) =>
  reasons.map(({ code }) => code).filter((code) => /^(verification|seal)_/.test(code));

test("two honest runs are verified, and the report says what was made again", async () => {
  const report = await verified("baseline", "candidate");
  expect(gateReportSchema.parse(report)).toEqual(report);
  expect(codesOf(report)).toEqual([]);
  expect(report.verified?.baseline.result).toBe("verified");
  const parts = report.verified?.candidate.parts ?? [];
  expect(parts.map(({ part, status }) => [part, status])).toEqual(
    expect.arrayContaining([
      ["score", "equal"],
      ["sample", "equal"],
    ]),
  );
  const plain = await gate({ baseline: at("baseline"), candidate: at("candidate") });
  const { verified: _, ...rest } = report;
  expect(rest).toEqual(plain);
});

test("completions written under a checkpoint's provenance are refused, by name", async () => {
  const folder = at("candidate-rollout");
  const rows = linesIn(path.join(folder, "completions.jsonl"));
  const text = jsonl(rows.map((row, i) => ({ ...row, completion: `Final: ${i + 3}` })));
  writeFileSync(at("forged.jsonl"), text);
  const provenance = JSON.parse(
    readFileSync(path.join(folder, "completions.provenance.json"), "utf8"),
  );
  writeFileSync(
    at("forged.provenance.json"),
    JSON.stringify({ ...provenance, completions_sha256: sha256(text) }),
  );
  await evaluate({ dataset: DATASET, completions: at("forged.jsonl"), outdir: at("forged") });
  const unverified = await gate({ baseline: at("baseline"), candidate: at("forged") });
  expect(codesOf(unverified)).toEqual([]);
  const report = await verified("baseline", "forged");
  expect(report).toMatchObject({ decision: "REJECT", exit_code: 3 });
  expect(codesOf(report)).toEqual(["verification_failed"]);
  expect(report.reasons.find(({ code }) => code === "verification_failed")).toMatchObject({
    ...{ baseline: "verified", candidate: "differs", message: expect.stringContaining("ex-0") },
  });
  expect(report.reasons.find(({ code }) => code === "verification_failed")?.message).toMatch(
    /^Re-running the candidate gave different results\. Either the run was edited, or its manifest does not describe how it was made\./,
  );
});

test("a run whose checkpoint is gone cannot be verified, and is refused", async () => {
  cpSync(at("candidate"), at("moved"), { recursive: true });
  cpSync(at("other"), at(".away"), { recursive: true });
  rmSync(at("other"), { recursive: true });
  const report = await verified("baseline", "moved");
  cpSync(at(".away"), at("other"), { recursive: true });
  expect(report).toMatchObject({ decision: "REJECT", exit_code: 3 });
  expect(codesOf(report)).toEqual(["verification_impossible"]);
  // The flags of verify, --from and --checkpoint, are not the gate's.
  expect(JSON.stringify(report.reasons)).not.toMatch(/--checkpoint|--from/);
  expect(whereToLook({ forGate: true })).toContain("or name one with --verify-from.");
});

describe("right answers written by hand, as a policy that is no checkpoint", () => {
  beforeAll(async () => {
    const rows = linesIn(at("candidate-rollout", "completions.jsonl"));
    const text = jsonl(rows.map((row, i) => ({ ...row, completion: `Final: ${i + 3}` })));
    writeFileSync(at("by-hand.jsonl"), text);
    const { prompt } = JSON.parse(readFileSync(at("baseline", "manifest.json"), "utf8"));
    const policy = { kind: "stated", name: "my-model" };
    writeFileSync(
      at("by-hand.provenance.json"),
      JSON.stringify({ schema: "lockedroom.provenance@1", policy, prompt, sampling }),
    );
    await evaluate({ dataset: DATASET, completions: at("by-hand.jsonl"), outdir: at("by-hand") });
    const unverified = await gate({ baseline: at("baseline"), candidate: at("by-hand") });
    expect(unverified.decision).toBe("PROMOTE");
  });

  test("cannot be verified: one word does not skip a part", async () => {
    const report = await verified("baseline", "by-hand");
    expect(report).toMatchObject({ decision: "REJECT", exit_code: 3 });
    expect(codesOf(report)).toEqual(["verification_impossible"]);
    const [reason] = report.reasons;
    expect(reason).toMatchObject({ baseline: "verified", candidate: "not verified" });
    expect(reason?.message).toContain("my-model is not a checkpoint");
    expect(reason?.message).toContain("--verify-only files data answers score");
  });

  test("are compared with their scores verified only if the caller says so, and the report does", async () => {
    const report = await verified("baseline", "by-hand", ["score"]);
    expect(gateReportSchema.parse(report)).toEqual(report);
    expect(report.decision).toBe("PROMOTE");
    expect(report.verified).toMatchObject({
      only: ["score"],
      caution: "scores verified; completions not: my-model is not a checkpoint",
      ...{ baseline: { result: "partly_verified" }, candidate: { result: "partly_verified" } },
    });
    expect(gateMarkdown(report)).toContain(
      "scores verified; completions not: my-model is not a checkpoint",
    );
    const own = await verified("baseline", "candidate", ["score", "files"]);
    expect(own.verified?.caution).toBe(
      "files and scores verified; completions not: they were left out by the caller",
    );
  });

  test("an edited reward is still found, and nothing is then called verified", async () => {
    cpSync(at("by-hand"), at("edited"), { recursive: true });
    const file = at("edited", "results.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace('"reward":1', '"reward":0'));
    const report = await verified("baseline", "edited", ["score"]);
    expect(codesOf(report)).toEqual(["verification_failed"]);
    expect(report.verified?.caution).toBeUndefined();
  });
});

test("a forged verification.json changes nothing", async () => {
  cpSync(at("forged"), at("claimed"), { recursive: true });
  const { verification } = { verification: { result: "verified" } };
  writeFileSync(at("claimed", "verification.json"), JSON.stringify(verification));
  expect(codesOf(await verified("baseline", "claimed"))).toEqual(["verification_failed"]);
});

test("the cost is known before: rows, completions, seconds", async () => {
  const cost = await costOf(await openRun(at("baseline")), { sample: 5 });
  expect(cost).toMatchObject({ rows: N, completions: 5 });
  expect(cost.seconds).toBeGreaterThan(0);
});

test("seals are required of both runs, by the right key and of these files", async () => {
  await makeKeys(at("ci"));
  await makeKeys(at("me"));
  for (const name of ["baseline", "candidate"])
    cpSync(at(name), at(`${name}-s`), { recursive: true });
  const sealed = () =>
    gate({
      ...{ baseline: at("baseline-s"), candidate: at("candidate-s") },
      further: (before, after) => checkSeals(before, after, at("ci.pub.pem")),
    });
  const none = await sealed();
  expect(codesOf(none)).toEqual(["seal_missing"]);
  expect(none.reasons[0]).toMatchObject({
    message:
      "The baseline and the candidate have no seal. Sign them where the key is: lockedroom seal RUN --key KEY",
    ...{ baseline: "no seal", candidate: "no seal" },
  });
  await sealRun(at("baseline-s"), at("ci.pem"));
  const one = await sealed();
  expect(one.reasons[0]).toMatchObject({
    message: "The candidate has no seal. Sign it where the key is: lockedroom seal RUN --key KEY",
    baseline: "valid seal",
  });
  await sealRun(at("candidate-s"), at("me.pem"));
  const other = await sealed();
  expect(codesOf(other)).toEqual(["seal_by_another_key"]);
  expect(other.reasons[0]?.candidate).toMatch(/^seal of another key, [0-9a-f]{16}$/);
  await sealRun(at("candidate-s"), at("ci.pem"));

  const both = await sealed();
  expect(gateReportSchema.parse(both)).toEqual(both);
  expect(codesOf(both)).toEqual([]);
  const key = await keyFingerprint(at("ci.pub.pem"));
  expect(both.seals).toEqual({ key, baseline: "valid", candidate: "valid" });
  expect(gateMarkdown(both)).toContain(
    `seals of key ${key.slice(0, 16)}: baseline valid, candidate valid`,
  );
  expect(other.seals).toEqual({ key, baseline: "valid", candidate: "seal_by_another_key" });

  const summary = at("candidate-s", "summary.json");
  writeFileSync(summary, readFileSync(summary, "utf8").replace('"n_pass": ', '"n_pass": 1'));
  expect(codesOf(await sealed())).toEqual(["seal_invalid"]);
});
