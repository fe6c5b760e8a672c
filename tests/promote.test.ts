/** An alias names a policy only after a verdict of the gate about that very policy, and can go back. */

import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fingerprint } from "../src/core/fingerprint.ts";
import { TINY_POLICY } from "../src/engine/tiny-policy.contract.ts";
import { type GateOptions, gate } from "../src/gate/gate.ts";
import { loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../src/policy/embedded.ts";
import { aliasPlace, readAlias } from "../src/runs/alias-history.ts";
import type { LocatedPolicy } from "../src/runs/aliased-policy.ts";
import { artifactJson } from "../src/runs/run-folder.ts";
import { promote, rollback } from "../src/verify/promote.ts";
import { verdictToShow } from "../src/verify/verdict.ts";
import { firstRight, forge, makeRun } from "./gate-runs.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-alias-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Three policies, and how many of 40 examples each answers right. */
const RIGHT = { old: 10, new: 30, best: 39 };
type Name = keyof typeof RIGHT;
const runs = {} as Record<Name, string>;

async function policyAt(source: string): Promise<LocatedPolicy> {
  const { fingerprint } = await loadCheckpoint(source);
  return { source, identity: { kind: "checkpoint", fingerprint } };
}

beforeAll(async () => {
  for (const [i, name] of (Object.keys(RIGHT) as Name[]).entries()) {
    const parameters = TINY_POLICY.parameters.map((x) => x * (1 + i));
    await saveCheckpoint(path.join(root, name), { ...TINY_POLICY, parameters });
    const { identity: policy } = await policyAt(path.join(root, name));
    const right = firstRight(40, RIGHT[name]);
    runs[name] = await makeRun(root, { right, provenance: { policy, seeds_tried: 1 } });
  }
});

let count = 0;
let place = aliasPlace("production");
beforeEach(() => {
  place = aliasPlace(path.join(root, `aliases-${count++}`, "production"));
});

/** The verdict as gate --report writes it. */
async function verdictOf(
  baseline: Name,
  candidate: Name,
  options: Partial<GateOptions> = {},
): Promise<string> {
  const report = await gate({ ...options, baseline: runs[baseline], candidate: runs[candidate] });
  const file = path.join(root, `verdict-${count++}.json`);
  writeFileSync(file, artifactJson(report));
  return file;
}

const promoted = async (name: Name, verdict?: string) =>
  promote({ place, policy: await policyAt(path.join(root, name)), verdict });
const forced = async (name: Name) =>
  promote({ place, policy: await policyAt(path.join(root, name)), force: true, reason: "trial" });
const back = (to?: number) => rollback({ place, reason: "worse", to, identify: policyAt });
const history = () => readAlias(place).map(({ action, source }) => [action, path.basename(source)]);

describe("promote", () => {
  test("a judged policy is what the alias names, and is used by that name", async () => {
    const entry = await promoted("new", await verdictOf("old", "new"));
    expect(entry).toMatchObject({ number: 1, action: "promote", rollback_to: null, forced: null });
    expect(entry.verdict).toMatchObject({ decision: "PROMOTE", candidate: runs.new });
    expect(entry.source).toBe("../../new"); // Relative: a moved workspace keeps its aliases.
    const sampling = { temperature: 0, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };
    const policy = await openEmbeddedPolicy(`alias:${place.dir}`, { sampling });
    await policy.close();
    expect(policy.identity.fingerprint).toBe(entry.policy.fingerprint);
    expect(policy.place?.path).toBe(path.join(root, "new"));
  });

  test("PASS for no regression promotes too", async () => {
    const verdict = await verdictOf("old", "new", { claim: "no-regression", margin: 0.1 });
    expect((await promoted("new", verdict)).verdict?.decision).toBe("PASS");
  });

  test.each([
    ["no verdict", async () => promoted("new"), /no verdict of the gate/],
    [
      "a verdict REJECT",
      async () => promoted("old", await verdictOf("new", "old")),
      /says REJECT, which promotes nothing/,
    ],
    [
      "a verdict about another policy",
      async () => promoted("best", await verdictOf("old", "new")),
      /is not about .*best .*is of checkpoint/,
    ],
    [
      "a verdict that was edited",
      async () => {
        const file = await verdictOf("new", "old");
        const report = JSON.parse(readFileSync(file, "utf8"));
        const edited = { ...report, decision: "PROMOTE", exit_code: 0 };
        writeFileSync(file, JSON.stringify(edited));
        return promoted("old", file);
      },
      /it decides REJECT; what differs: decision/,
    ],
    [
      "a run that was edited after the verdict",
      async () => {
        const [run, verdict] = [runs.new, await verdictOf("old", "new")];
        const copy = `${run}-copy`;
        cpSync(run, copy, { recursive: true });
        try {
          forge(run, { row: (row) => ({ ...row, reward: 0, outcome_code: "wrong_answer" }) });
          return await promoted("new", verdict);
        } finally {
          rmSync(run, { recursive: true });
          cpSync(copy, run, { recursive: true });
        }
      },
      /is not what the gate finds in these runs/,
    ],
    [
      "force without a reason",
      async () => {
        const policy = await policyAt(path.join(root, "old"));
        return promote({ place, policy, force: true });
      },
      /--force needs --reason/,
    ],
  ])("%s is refused, and the history stays as it was", async (_, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
    expect(history()).toEqual([]);
  });

  test("an improvement that does not come from the policy is refused", async () => {
    const { identity: policy } = await policyAt(path.join(root, "new"));
    const made = (right: number) =>
      makeRun(root, { right: firstRight(40, right), provenance: { policy, seeds_tried: 1 } });
    const [baseline, candidate] = [await made(10), await made(35)];
    const selection = { rule: "best_of_n", n: 4 };
    forge(candidate, { manifest: (manifest) => ({ ...manifest, selection }) });
    const file = path.join(root, "selection.json");
    const verdict = await gate({ baseline, candidate });
    expect(verdict.decision).toBe("PROMOTE");
    writeFileSync(file, artifactJson(verdict));
    await expect(promoted("new", file)).rejects.toThrow(
      /a change of selection, not of the policy alone/,
    );
  });

  test("no regression of a policy with another prompt is none of the policy alone", async () => {
    const { identity: policy } = await policyAt(path.join(root, "new"));
    const prompt = { form: "text", system_sha256: "c".repeat(64) };
    const right = firstRight(40, 39);
    const candidate = await makeRun(root, {
      right,
      provenance: { policy, prompt, seeds_tried: 1 },
    });
    const file = path.join(root, "prompt.json");
    const verdict = await gate({
      ...{ baseline: runs.old, candidate, claim: "no-regression", margin: 0.1 },
    });
    expect(verdict.decision).toBe("PASS");
    writeFileSync(file, artifactJson(verdict));
    await expect(promoted("new", file)).rejects.toThrow(/of policy and prompt, not of the policy/);
  });

  test("a verdict with axes is asked for again with their margins", async () => {
    const sides = await Promise.all(
      (["old", "new"] as const).map(async (name) => {
        const { identity: policy } = await policyAt(path.join(root, name));
        const right = firstRight(40, RIGHT[name]);
        const axes = [{ name: "safety", scorer: "safety" }];
        return makeRun(root, { right, axes, provenance: { policy, seeds_tried: 1 } });
      }),
    );
    const [baseline = "", candidate = ""] = sides;
    const verdict = await gate({ baseline, candidate, axisMargins: { safety: 0.2 } });
    expect(verdict.axes?.values).toMatchObject([{ name: "safety", margin: 0.2 }]);
    const file = path.join(root, "axes.json");
    writeFileSync(file, artifactJson(verdict));
    const edited = structuredClone(verdict);
    for (const one of edited.axes?.values ?? []) one.baseline = 0;
    const other = path.join(root, "axes-edited.json");
    writeFileSync(other, artifactJson(edited));
    await expect(promoted("new", other)).rejects.toThrow(/what differs: axes/);
    expect((await promoted("new", file)).verdict).toMatchObject({
      decision: "PROMOTE",
      axes: [{ name: "safety", margin: 0.2, delta: 0, state: "loss_ruled_out" }],
    });
  });

  test("a verdict against another policy than the present one is refused", async () => {
    await promoted("best", await verdictOf("old", "best"));
    await expect(promoted("new", await verdictOf("old", "new"))).rejects.toThrow(
      /the verdict compares with checkpoint .*, and production is checkpoint .* \(entry 1\)/,
    );
    await expect(promoted("best", await verdictOf("old", "best"))).rejects.toThrow(/already is/);
  });

  test("a shown loss that a wide margin passes needs force, and the entry keeps its figures", async () => {
    await forced("new");
    const options = { claim: "policy", margin: 0.99, allowUnknownHistory: true } as const;
    const verdict = await verdictOf("new", "old", options);
    await expect(promoted("old", verdict)).rejects.toThrow(
      /shows that the policy is worse: -0\.5000 .*within the margin of 0\.99/,
    );
    expect(history()).toHaveLength(1);
    const policy = await policyAt(path.join(root, "old"));
    const entry = await promote({ place, policy, verdict, force: true, reason: "cheaper" });
    expect(entry.forced).toMatch(/shows that the policy is worse/);
    expect(entry.verdict).toMatchObject({
      ...{ decision: "PASS", claim: "policy", margin: 0.99, alpha: 0.05, delta: -0.5 },
      allowed: ["history_unknown"],
    });
    expect(entry.verdict?.ci?.high).toBeLessThan(0);
    const better = await promoted("best", await verdictOf("old", "best", options));
    expect(better).toMatchObject({ forced: null, verdict: { decision: "PASS", margin: 0.99 } });
  });

  test.each([
    ["p_value", { p_value: 1e-12 }],
    ["ci", { ci: { low: 0.4, high: 0.6, confidence: 0.95 } }],
    ["flips", { flips: { gained: 40, lost: 0, first: [] } }],
    ["allowed", { allowed: ["history_unknown"] }],
    ["reasons", { reasons: [{ code: "invented", message: "x", baseline: null, candidate: null }] }],
  ])("a verdict with another %s is neither promoted nor shown", async (key, edit) => {
    const file = await verdictOf("old", "new");
    const report = JSON.parse(readFileSync(file, "utf8"));
    expect((await verdictToShow(file)).decision).toBe("PROMOTE");
    writeFileSync(file, JSON.stringify({ ...report, ...edit }));
    const message = new RegExp(`what differs: ${key}`);
    await expect(promoted("new", file)).rejects.toThrow(message);
    await expect(verdictToShow(file)).rejects.toThrow(message);
  });

  test("seals and notes of a file are not shown as found", async () => {
    const file = await verdictOf("old", "new");
    const report = JSON.parse(readFileSync(file, "utf8"));
    const seals = { key: "a".repeat(64), baseline: "valid", candidate: "valid" };
    writeFileSync(file, JSON.stringify({ ...report, seals, notes: ["Audited by nobody."] }));
    const shown = await verdictToShow(file);
    expect(shown.seals).toBeUndefined();
    expect(shown.notes).not.toContain("Audited by nobody.");
    expect(shown.notes.at(-1)).toMatch(/^Stated in the file, not checked again: seals of key aaaa/);
    const gone = { ...report, candidate: { ...report.candidate, run: path.join(root, "gone") } };
    writeFileSync(file, JSON.stringify({ ...gone, seals }));
    const unchecked = await verdictToShow(file);
    expect(unchecked.seals).toBeUndefined();
    expect(unchecked.notes[0]).toMatch(/^Nothing of this verdict was checked, .*gone/);
  });

  test("a verdict that a missing seal refused is shown with that reason", async () => {
    const refusal = { code: "seal_missing", message: "x", baseline: "a", candidate: "b" };
    const further = async () => ({ reasons: [refusal] });
    const file = await verdictOf("old", "new", { further });
    expect(await verdictToShow(file)).toMatchObject({ decision: "REJECT", reasons: [refusal] });
  });

  test("a forced promotion records what it lacked and why", async () => {
    const policy = await policyAt(path.join(root, "old"));
    const verdict = await verdictOf("new", "old");
    const entry = await promote({ place, policy, verdict, force: true, reason: "hotfix" });
    expect(entry.reason).toBe("hotfix");
    expect(entry.forced).toMatch(/says REJECT/);
    expect(entry.verdict).toBeNull();
  });

  test("what uses the alias is kept until it is stated anew", async () => {
    const policy = await policyAt(path.join(root, "old"));
    const stated = { usedBy: ["support bot"], traffic: 0.1 };
    await promote({ place, policy, force: true, reason: "first", ...stated });
    await promoted("new", await verdictOf("old", "new"));
    const { stated: kept } = await back();
    expect(kept).toEqual({ used_by: ["support bot"], traffic: 0.1 });
  });
});

describe("rollback", () => {
  test("goes back policy by policy, and says when there is none before", async () => {
    await forced("old");
    await promoted("new", await verdictOf("old", "new"));
    await promoted("best", await verdictOf("new", "best"));
    expect(await back()).toMatchObject({ number: 4, restores: 2, reason: "worse" });
    expect(await back()).toMatchObject({ number: 5, restores: 1 });
    await expect(back()).rejects.toThrow(/no policy before entry 5/);
    expect(await back(3)).toMatchObject({ number: 6, restores: 3 });
    expect(history().map(([, name]) => name)).toEqual(["old", "new", "best", "new", "old", "best"]);
  });

  test("refuses a checkpoint that is gone or has changed; so does every use", async () => {
    const copy = path.join(root, "copy");
    cpSync(path.join(root, "old"), copy, { recursive: true });
    await promote({ place, policy: await policyAt(copy), force: true, reason: "first" });
    await promoted("new", await verdictOf("old", "new"));
    rmSync(copy, { recursive: true });
    await expect(back()).rejects.toThrow(/cannot return to entry 1, .*copy: /);
    cpSync(path.join(root, "best"), copy, { recursive: true });
    await expect(back()).rejects.toThrow(/copy has changed since it was promoted/);
    rmSync(copy, { recursive: true });
    cpSync(path.join(root, "old"), copy, { recursive: true });
    await back();
    rmSync(copy, { recursive: true });
    cpSync(path.join(root, "best"), copy, { recursive: true });
    await expect(loadCheckpoint(`alias:${place.dir}`)).rejects.toThrow(/has changed since/);
  });

  test("an alias without a history is refused", async () => {
    await expect(back()).rejects.toThrow(/names no policy/);
    await expect(loadCheckpoint(`alias:${place.dir}`)).rejects.toThrow(/names no policy/);
  });
});

describe("the history", () => {
  test("of twelve at once each gets a number of its own, in one chain", async () => {
    const names: Name[] = ["old", "new", "best"];
    const entries = await Promise.all(
      Array.from({ length: 12 }, (_, i) => forced(names[i % 3] as Name)),
    );
    expect(entries.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
    expect(history()).toHaveLength(12);
    expect(readdirSync(place.dir).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("of two verdicts against the same policy only the first promotes", async () => {
    await forced("old");
    const verdicts = [await verdictOf("old", "new"), await verdictOf("old", "best")] as const;
    const ended = await Promise.allSettled([
      promoted("new", verdicts[0]),
      promoted("best", verdicts[1]),
    ]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(history()).toHaveLength(2);
  });

  test.each([
    [
      "an edited entry",
      /0001\.json is damaged or was edited: its hash is another/,
      (file: string) => {
        const edited = { ...JSON.parse(readFileSync(file, "utf8")), reason: "another" };
        writeFileSync(file, JSON.stringify(edited));
      },
    ],
    [
      "another entry in its place",
      /0002\.json is damaged or was edited: the entry before it is not the one/,
      (file: string) => {
        const { sha256: _, ...content } = {
          ...JSON.parse(readFileSync(file, "utf8")),
          reason: "x",
        };
        writeFileSync(file, JSON.stringify({ ...content, sha256: fingerprint(content) }));
      },
    ],
    ["half an entry", /0001\.json is damaged/, (file: string) => writeFileSync(file, '{"schema":')],
    ["a missing entry", /0001\.json is missing/, (file: string) => rmSync(file)],
    [
      "a link in its place, which is not followed",
      /0001\.json is damaged or was edited: it is not a regular file/,
      (file: string) => {
        renameSync(file, `${file}.away`);
        symlinkSync(`${file}.away`, file);
      },
    ],
    [
      "a pipe in its place",
      /0001\.json is damaged or was edited: it is not a regular file/,
      (file: string) => {
        rmSync(file);
        execFileSync("mkfifo", [file]);
      },
    ],
  ])("%s is found", async (_, message, damage) => {
    await forced("old");
    await forced("new");
    damage(path.join(place.dir, "0001.json"));
    expect(() => readAlias(place)).toThrow(message);
    await expect(back()).rejects.toThrow(message);
    await expect(forced("best")).rejects.toThrow(message);
  });

  test.each(["", "a b", "..", "-x", "a/../..", "alias:x"])("%j is no name", (name) => {
    expect(() => aliasPlace(name)).toThrow(/not the name of an alias/);
  });
});
