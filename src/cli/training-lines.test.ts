import { expect, test } from "vitest";
import { columns } from "../core/visible.ts";
import type { TrainingRunRecords } from "../runs/read-training-run.ts";
import { type HeldOut, judgeLines, scratchLines, validationLines } from "./training-lines.ts";

const sample = (completion: string) => ({
  ...{ step: 4, id: "a", prompt: "1+1=", completion, reward: 0, code: "wrong" },
});
const record = {
  ...{ step: 4, examples: 5, pass_rate: 0.4, reward_mean: 0.4, proxy_mean: 0.4, kl_exact: null },
  ...{ entropy: 1, length_mean: 3, truncated: 0, repeated: 0.2, rewards: [1, 1, 0, 0, 0] },
  outcomes: { ok: 2, wrong: 3 },
};

test("a validation has its codes, commonest first, two samples, and a loss if there is one", () => {
  const samples = [sample("2"), sample("3\u0007"), sample("4")];
  const lines = validationLines(record, samples).join("\n");
  expect(lines).toMatch(/validation at step 4: pass rate 0\.4000; wrong 3, ok 2\n/);
  expect(lines.match(/→/g)).toHaveLength(2);
  expect(lines).toContain('"1+1=" → "2" wrong');
  expect(lines).not.toContain("\u0007");
  expect(validationLines({ ...record, loss: 0.25 }, samples)[0]).toContain("held-out loss 0.2500");
});

test("the first validation says how it samples", () => {
  const sampling = { temperature: 0.7, max_tokens: 32 };
  expect(validationLines(record, [], sampling)[0]).toContain(
    "validation at step 4 (temperature 0.7, at most 32 tokens): pass rate 0.4000",
  );
});

const compared = {
  ...{ win_rate: 0.91875, score_mean: 0.9, baseline_mean: 0.3, groups: 80, dropped: 3 },
  ...{ prompt_tokens: 608_212, completion_tokens: 173_608 },
};

test("of a judged run the win rate of the judge stands beside pass rate and labels", () => {
  const hybrid = { ...record, judge: compared, labels: { win_rate: 0.30625 } };
  expect(validationLines(hybrid, [])[0]).toMatch(
    /pass rate 0\.4000; win rate judge 0\.919, labels 0\.306;\s/,
  );
  // Without labels the pass rate is the judge's own preference, and not said twice.
  const [pure = ""] = validationLines({ ...record, judge: compared }, []);
  expect(pure).toContain("win rate judge 0.919");
  expect(pure).not.toMatch(/pass rate|labels/);
});

test("at the end of a judged run stand its win rates, tokens and dollars, one line each", () => {
  const run = (price: object | null) =>
    ({
      manifest: { judge: { dropped_limit: 0.1, price } },
      steps: [{ step: 1, values: { "judge/groups": 16, "judge/prompt_tokens": 1_000_000 } }],
      evaluations: [{ ...record, judge: compared, labels: { win_rate: 0.30625 } }],
    }) as unknown as TrainingRunRecords;
  const lines = judgeLines(run({ prompt: 2, completion: 10 }));
  expect(lines).toEqual([
    "  win rate    judge 0.919, labels 0.306, against the initial policy",
    "  judge       96 groups, 3 dropped; 1608212 tokens read, 173608 written, $4.95",
  ]);
  expect(lines.filter((line) => columns(line) > 80)).toEqual([]);
  expect(judgeLines(run(null)).join()).not.toContain("$");
});

test("a held-out loss is advised only where there is one", () => {
  const policy = {
    ...{ texts: 800, tokens: 1e4, alphabet: "ab", longest: 20, vocabulary: 5, context: 24 },
    ...{ size: "nano" as const, parameters: 5000 },
  };
  const advice = (heldOut: HeldOut) =>
    scratchLines(policy, { steps: 100, batch: 8, heldOut }).join(" ").replace(/\s+/g, " ");
  expect(advice("loss")).toContain("end where the held-out loss no longer falls");
  for (const none of ["no completion", "no rows"] as const)
    expect(advice(none)).not.toContain("no longer falls");
  expect(advice("no completion")).toContain("the rows of --dev have no completion");
  expect(advice("no rows")).toContain("as --dev");
});

test("lines fit into 80 columns, whatever the data", () => {
  const outcomes = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`some_outcome_code_${i}`, i]),
  );
  const alphabet = Array.from({ length: 300 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  const lines = [
    ...validationLines({ ...record, outcomes, loss: 1 }, [sample("x".repeat(500))]),
    ...scratchLines(
      {
        ...{ texts: 1e7, tokens: 1e9, alphabet, longest: 5000, vocabulary: 303, context: 5008 },
        ...{ size: "small" as const, parameters: 5_000_000 },
      },
      { steps: 1e6, batch: 65_536 },
    ),
  ].flatMap((line) => line.split("\n"));
  expect(lines.filter((line) => columns(line) > 80)).toEqual([]);
});
