/**
 * The gate on honest pairs: two policies that are one and the same function with different weights,
 * sampled independently on the same examples with different numbers of threads. No pair may be refused,
 * and no more may be promoted than the level allows.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Example } from "../src/core/records.ts";
import { rngAt, shuffled } from "../src/core/rng.ts";
import { gate } from "../src/gate/gate.ts";
import { evaluate } from "../src/loops/eval.ts";
import { rollout } from "../src/loops/rollout.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { type EmbeddedPolicy, openEmbeddedPolicy } from "../src/policy/embedded.ts";
import type { GateReport } from "../src/runs/gate-report.ts";
import { openScorer } from "../src/scorers/open.ts";

const PAIRS = 200;
const EXAMPLES = 60;
const ALPHA = 0.05;

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-pairs-"));
const at = (...names: (string | number)[]) => path.join(root, ...names.map(String));
const held = ["dev", "holdout"].flatMap((split) =>
  readFileSync(path.join("data", "datasets", `math_${split}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Example),
);
const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 32, stop: [], seed: 0 };

/** By number of threads less one: machines differ in it. */
const policies: Record<"baseline" | "candidate", EmbeddedPolicy[]> = {
  baseline: [],
  candidate: [],
};
const reports: GateReport[] = [];

/** The inner units of every layer in another order: the same function, up to rounding. */
function reordered({ placed, parameters, architecture }: Checkpoint): Float32Array {
  const { inner, width } = architecture;
  const changed = Float32Array.from(parameters);
  for (const { name, offset } of placed) {
    const byRow = /mlp\.(gate|up)_proj\.weight$/.test(name);
    if (!byRow && !/mlp\.down_proj\.weight$/.test(name)) continue;
    for (let unit = 0; unit < inner; unit++) {
      for (let i = 0; i < width; i++) {
        const place = (from: number) => offset + (byRow ? from * width + i : i * inner + from);
        changed[place(unit)] = parameters[place(inner - 1 - unit)] as number;
      }
    }
  }
  return changed;
}

/** A run of one side on examples whose ids no other pair has: so every draw is a new one. */
async function measured(side: keyof typeof policies, pair: number, dataset: string) {
  const policy = policies[side][(pair + (side === "baseline" ? 0 : 1)) % 3] as EmbeddedPolicy;
  const { answers } = await rollout({ policy, dataset, n: 1, outdir: at(side, pair) });
  const { dir } = await evaluate({
    ...{ dataset, completions: answers, outdir: at(`${side}-scored`, pair), scorer },
  });
  return dir;
}

let scorer: Awaited<ReturnType<typeof openScorer>>;

beforeAll(async () => {
  scorer = await openScorer();
  const pi0 = await loadCheckpoint("pi0");
  await saveCheckpoint(at("twin"), { ...pi0, parameters: reordered(pi0) });
  for (const threads of [1, 2, 3]) {
    policies.baseline.push(await openEmbeddedPolicy("pi0", { sampling, threads }));
    policies.candidate.push(await openEmbeddedPolicy(at("twin"), { sampling, threads, step: 1 }));
  }
  for (let pair = 0; pair < PAIRS; pair++) {
    const chosen = shuffled(held, rngAt("honest pairs", pair)).slice(0, EXAMPLES);
    const rows = chosen.map((example) =>
      JSON.stringify({ ...example, id: `${pair} ${example.id}` }),
    );
    const dataset = at(`${pair}.jsonl`);
    writeFileSync(dataset, `${rows.join("\n")}\n`);
    const baseline = await measured("baseline", pair, dataset);
    const candidate = await measured("candidate", pair, dataset);
    reports.push(await gate({ baseline, candidate, claim: "policy", alpha: ALPHA }));
  }
}, 600_000);

afterAll(async () => {
  for (const policy of [...policies.baseline, ...policies.candidate]) await policy.close();
  await scorer.close();
  rmSync(root, { recursive: true, force: true });
});

test("no honest pair is refused, and each is what it is: a change of policy", () => {
  expect(reports.filter(({ comparable }) => !comparable)).toEqual([]);
  expect(new Set(reports.map(({ knobs }) => knobs.join()))).toEqual(new Set(["policy"]));
});

test("the pairs differ, so that there was something to be mistaken about", () => {
  const flips = reports.map(({ flips: found }) => (found?.gained ?? 0) + (found?.lost ?? 0));
  expect(Math.min(...flips)).toBeGreaterThan(5);
});

test("identical policies are promoted, and rejected, at most at the stated rate", () => {
  const share = (decision: string) =>
    reports.filter((report) => report.decision === decision).length / PAIRS;
  expect(share("PROMOTE")).toBeLessThanOrEqual(ALPHA / 2);
  expect(share("REJECT")).toBeLessThanOrEqual(ALPHA / 2);
});
