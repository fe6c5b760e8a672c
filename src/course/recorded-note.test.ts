/** The recorded part of a run note, made again from runs that were really made. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBandit, runKlTradeoff, runTwoStep } from "../learn/index.ts";
import { builtInPolicy, evaluate, select } from "../loops/index.ts";
import { openRun, type Run } from "../runs/index.ts";
import { mathFinalLine } from "../scorers/index.ts";
import { alteredLine, recordedFacts } from "./recorded-note.ts";

const home = mkdtempSync(path.join(tmpdir(), "lockedroom-note-"));
afterAll(() => rmSync(home, { recursive: true }));
const outdir = (name: string) => path.join(home, name);
const noteOf = (run: Run) => readFileSync(path.join(run.dir, "README.md"), "utf8");

const dataset = "data/datasets/math_dev.jsonl";
const MAKE: Readonly<Record<string, () => Promise<unknown>>> = {
  eval: () =>
    evaluate({
      ...{ dataset, completions: "data/rollouts/frozen_rollouts_dev.jsonl" },
      ...{ scorer: mathFinalLine, outdir: outdir("eval") },
    }),
  selection: () =>
    select({
      ...{ dataset, samples: "data/rollouts/selection_pack_dev.jsonl", n: 4 },
      ...{ scorer: mathFinalLine, policy: builtInPolicy("best"), outdir: outdir("selection") },
    }),
  bandit: () =>
    runBandit({ steps: 50, seed: 0, lr: -0.5, baseline: true, outdir: outdir("bandit") }),
  "two-step": () =>
    runTwoStep({
      ...{ steps: 50, seed: 0, lr: 0.5, baseline: true, credit: "last" },
      outdir: outdir("two-step"),
    }),
  kl: () => runKlTradeoff({ outdir: outdir("kl") }),
};

test.each(Object.keys(MAKE))("the note of a run of %s says what its files say", async (name) => {
  await MAKE[name]?.();
  const run = await openRun(outdir(name));
  const facts = await recordedFacts(run);
  expect(facts.happened).not.toBe("");
  expect(alteredLine(noteOf(run), facts)).toBeUndefined();
});

describe("a note of an evaluation", () => {
  let note: string;
  let altered: (from: string | RegExp, to: string) => ReturnType<typeof alteredLine>;
  beforeAll(async () => {
    const run = await openRun(outdir("eval"));
    const facts = await recordedFacts(run);
    note = noteOf(run);
    altered = (from, to) => {
      expect(note.replace(from, to)).not.toBe(note);
      return alteredLine(note.replace(from, to), facts);
    };
  });

  test("may be wrapped, and filled in", () => {
    expect(altered(/, mean_reward/, ",\n  mean_reward")).toBeUndefined();
    expect(altered(/_yours to write[^_]*_/g, "words of a person")).toBeUndefined();
  });

  test("must keep its numbers, its loop, its hashes and its rows", () => {
    expect(altered(/pass_rate 0\.\d+/, "pass_rate 0.99")).toMatchObject({
      label: "What happened (numbers)",
      recorded: expect.stringMatching(/^pass_rate 0\.5958 \(143 of 240\)/),
    });
    expect(altered("**Loop:** A", "**Loop:** C")?.label).toBe("Loop");
    expect(altered(/sha256 `\w{6}/, "sha256 `000000")?.label).toBe("Locked Room evidence");
    expect(altered(/`dev-\d+`/, "`dev-9999`")?.label).toBe("Two concrete examples");
    expect(altered(/- \*\*Locked Room evidence[\s\S]*?(?=- \*\*What I)/, "")?.label).toBe(
      "Locked Room evidence",
    );
    expect(altered("- **Loop:**", "- **Loop:** C\n- **Loop:**")?.label).toBe("Loop");
  });
});
