/** A sample of the catalogue, and a runner that can say no. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { sabotageReportSchema } from "../runs/sabotage-report.ts";
import { sabotagesNamed } from "./catalogue/index.ts";
import type { Finding, Outcome } from "./finding.ts";
import { sabotageCounts, verdictOf } from "./render.ts";
import { runSabotages } from "./run.ts";
import type { Sabotage } from "./sabotage.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-laboratory-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

const played = (sabotages: readonly Sabotage[]) =>
  runSabotages({ dir: path.join(root, String(folders++)), sabotages });

/** One of most families, and those that take little time. */
const SAMPLE = [
  ...["answer-key-edited", "copies-of-problems", "other-prompts-same-ids", "same-version-edited"],
  ...["cooler-candidate", "policy-not-stated", "best-of-20-seeds", "lucky-seed-for-both"],
  ...["reward-flipped", "rewards-rehashed", "answers-hash-stale", "run-without-seal"],
  ...["forged-provenance", "generous-alpha", "sandbagged-baseline", "shifted-mask"],
];

test("a sample is caught as the catalogue says, and the twins are not", async () => {
  const report = await played(sabotagesNamed(SAMPLE));
  expect(sabotageReportSchema.parse(report)).toEqual(report);
  expect(report.results.map(({ name }) => name).sort()).toEqual([...SAMPLE].sort());
  for (const result of report.results) {
    expect(result, `${result.name}: ${verdictOf(result)}`).toMatchObject({ as_expected: true });
    expect(result.twin.verdict, result.name).not.toBe("refused");
  }
  expect(report.as_expected).toBe(true);
  expect(sabotageCounts(report.results)).toBe(
    "16 sabotages: 15 caught, 1 of them only by verify; 1 not caught, as the catalogue says.",
  );
});

const finding = (check: Finding["check"], code: string): Finding => ({
  ...{ check, code, message: "" },
});

/** A sabotage whose two pipelines come to what is given. */
function invented(
  caught: Sabotage["caught"],
  cheated: readonly Finding[],
  twin: readonly Finding[] = [],
): Sabotage {
  return {
    ...{ name: "invented", family: "data", trick: "None.", honest: "None.", caught },
    play: async (_, cheat): Promise<Outcome> => ({
      ...{ verdict: "done", findings: cheat ? cheated : twin },
    }),
  };
}

const GATE = { check: "gate", code: "seeds_differ" } as const;
const VERIFY = { check: "verify", code: "sample_differs" } as const;
const NOTHING = { check: "nothing", because: "it is only a test" } as const;
const seeds = finding("gate", "seeds_differ");
const other = finding("gate", "run_edited");
const sample = finding("verify", "sample_differs");

test.each<[string, Sabotage, boolean, string]>([
  ["caught", invented(GATE, [other, seeds]), true, "gate: seeds_differ"],
  ["not caught at all", invented(GATE, []), false, "nothing, expected gate: seeds_differ"],
  [
    "caught for another reason",
    invented(GATE, [other]),
    false,
    "gate: run_edited, expected gate: seeds_differ",
  ],
  [
    "caught with an honest twin that is refused too",
    invented(GATE, [seeds], [seeds]),
    false,
    "gate: seeds_differ, and the honest twin is refused too",
  ],
  [
    "of a twin with another objection",
    invented(GATE, [seeds], [other]),
    true,
    "gate: seeds_differ",
  ],
  ["caught by verify alone", invented(VERIFY, [sample]), true, "verify: sample_differs"],
  [
    "caught by the gate where only verify should see it",
    invented(VERIFY, [other, sample]),
    false,
    "verify: sample_differs, and before it gate: run_edited",
  ],
  ["not caught, as stated", invented(NOTHING, []), true, "nothing"],
  [
    "caught although nothing should",
    invented(NOTHING, [other]),
    false,
    "gate: run_edited, expected nothing",
  ],
])("a sabotage that is %s", async (_, sabotage, expected, words) => {
  const { results, as_expected } = await played([sabotage]);
  expect(as_expected).toBe(expected);
  expect(results.map(verdictOf)).toEqual([words]);
});

test("a folder that is no run is refused before anything is made", async () => {
  const dir = path.join(root, "none");
  await expect(runSabotages({ dir, run: root, sabotages: [] })).rejects.toThrow(/unfinished/);
});
