/** Which code a run can have loaded: only what it was scored by, and never before that is known. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { gate } from "../gate/gate.ts";
import { evaluate } from "../loops/eval.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { artifactJson } from "../runs/run-folder.ts";
import type { Manifest } from "../runs/schemas.ts";
import { loadScorer } from "../scorers/load.ts";
import { verifyBoth } from "./gate-checks.ts";
import { openRecordedScorer } from "./recorded-scorer.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-recorded-scorer-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (name: string) => path.join(root, name);
const globals = globalThis as Record<string, unknown>;
beforeEach(() => {
  globals.loaded = undefined;
});

/** Says when it is run. */
const scorerText = (mark: string, more = "") => `${more}
globalThis.loaded = ${JSON.stringify(mark)};
export const name = "s", version = "1", spec = "x";
export const score = (example, completion) => ({
  reward: completion.includes("1") ? 1 : 0, code: "c", details: {},
});
`;

function written(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

async function identityOf(file: string) {
  const { identity } = await loadScorer(file);
  globals.loaded = undefined;
  return identity;
}

const open = async (recorded: Manifest["scorer"], scorer?: string) => {
  const opened = await openRecordedScorer(recorded, { scorer }, undefined);
  await opened.close();
  return opened.identity;
};

test("a file with other code is not run; the recorded one is", async () => {
  const file = written("a.mjs", scorerText("honest"));
  const recorded = await identityOf(file);
  const evil = written("evil.mjs", scorerText("evil"));
  await expect(open({ ...recorded, path: evil })).rejects.toThrow(
    /evil\.mjs, or a file that it reads, is not the recorded/,
  );
  expect(globals.loaded).toBeUndefined();
  expect((await open(recorded)).name).toBe("s");
  expect(globals.loaded).toBe("honest");
});

test("a scorer that reads a file is known by its code before it runs", async () => {
  const reads = (mark: string) =>
    scorerText(
      mark,
      `import { readFileSync } from "node:fs";
readFileSync(new URL("./rule.txt", import.meta.url));`,
    );
  written("rule.txt", "strict");
  const file = written("reads.mjs", reads("honest"));
  const recorded = await identityOf(file);
  expect(recorded.code_sha256).not.toBe(recorded.source_sha256);
  expect((await open(recorded)).source_sha256).toBe(recorded.source_sha256);
  written("rule.txt", "lenient");
  await expect(open(recorded)).rejects.toThrow(/not the recorded one/);
  written("rule.txt", "strict");
  globals.loaded = undefined;
  written("reads.mjs", reads("evil"));
  await expect(open(recorded)).rejects.toThrow(/not the recorded one/);
  expect(globals.loaded).toBeUndefined();
});

test("a built-in is itself, whatever file the run names", async () => {
  const evil = written("evil.mjs", scorerText("evil"));
  const { identity } = await loadScorer("math_final_line");
  expect((await open({ ...identity, path: evil })).path).toBeNull();
  await expect(open({ ...identity, path: evil, source_sha256: "0".repeat(64) })).rejects.toThrow();
  expect(globals.loaded).toBeUndefined();
});

test("the gate runs the baseline's file for both, and no file of the candidate's choice", async () => {
  const file = written("both.mjs", scorerText("honest"));
  const evil = written("evil.mjs", scorerText("evil"));
  const dataset = written(
    "data.jsonl",
    [1, 2].map((n) => `${JSON.stringify({ id: `e${n}`, prompt: `p${n}` })}\n`).join(""),
  );
  const answers = (name: string, text: string) =>
    written(name, ["e1", "e2"].map((id) => `{"id":"${id}","completion":"${text}"}\n`).join(""));
  const run = async (name: string, text: string, scorer: string) => {
    const completions = answers(`${name}.jsonl`, text);
    await evaluate({ dataset, completions, scorer, outdir: at(name) });
    return at(name);
  };
  const baseline = await run("before", "0", file);
  const verdictFor = (candidate: string) =>
    gate({
      baseline,
      candidate,
      further: (one, other) => verifyBoth(one, other, { only: ["score"] }),
    });
  const codes = async (candidate: string) =>
    (await verdictFor(candidate)).reasons.map((r) => r.code);

  const honest = await run("after", "1", file);
  expect(await codes(honest)).not.toContain("verification_impossible");
  const moved = await run("moved", "1", file);
  renamed(moved, evil);
  globals.loaded = undefined;
  expect(await codes(moved)).not.toContain("verification_impossible");
  expect(globals.loaded).toBe("honest");

  const chosen = await run("chosen", "1", evil);
  globals.loaded = undefined;
  expect(await codes(chosen)).toContain("verification_impossible");
  expect(globals.loaded).toBe("honest");
});

/** Names another file in the manifest of a run; the hash of the code stays. */
function renamed(dir: string, scorer: string): void {
  const file = path.join(dir, "manifest.json");
  const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
  const changed = { ...manifest, scorer: { ...manifest.scorer, path: scorer } };
  writeFileSync(file, artifactJson(changed));
  expect(manifestFingerprint(changed)).toBe(manifestFingerprint(manifest));
  const builtIn = { ...manifest, scorer: { ...manifest.scorer, path: null } };
  expect(manifestFingerprint(builtIn)).not.toBe(manifestFingerprint(manifest));
}
