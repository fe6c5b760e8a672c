/** Of a judged run each failure is counted among its stored samples. */

import { describe, expect, test } from "vitest";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import { refusalDrift } from "./axis-drift.ts";
import type { FailureMode } from "./finding.ts";
import { finding } from "./finding.ts";
import { lengthBias } from "./length-bias.ts";
import { modeCollapse } from "./mode-collapse.ts";
import { repeatedShare, repetition } from "./repetition.ts";
import { rewardHacking } from "./reward-hacking.ts";
import { failureTable } from "./table.ts";

interface Sample {
  readonly text: string;
  readonly reward: number | null;
  /** Of the judge, for this sample and for the initial policy's. */
  readonly judge?: readonly [number, number];
}

const TASKS = 20;
const WORDS = "one two three four five six seven eight nine ten".split(" ");
/** A text of its own for each task. */
const own = (i: number, words = 5) => `${i}: ${WORDS.slice(0, words).join(" ")}`;

/** The first validation, and the last with `change` of its first samples. */
function judged(
  change: (i: number) => Sample,
  { changed = TASKS, labelled = true } = {},
): TrainingRunRecords {
  const initial = (i: number): Sample => ({ text: own(i), reward: 1, judge: [0.5, 0.5] });
  const at = (step: number, read: (i: number) => Sample) =>
    Array.from({ length: TASKS }, (_, i) => {
      const { text, reward, judge: [score, baseline] = [0.5, 0.5] } = read(i);
      return {
        ...{ step, id: `t${i}`, prompt: "p", completion: text, code: "ok" },
        ...{ reward: labelled ? reward : null, judge: { score, baseline, explanation: "" } },
      };
    });
  const evaluation = (step: number) => ({
    ...{ step, examples: TASKS, pass_rate: 1, reward_mean: 1, proxy_mean: 0.5, rewards: [] },
    outcomes: { ok: TASKS },
    ...(labelled && { labels: { win_rate: 0.5 } }),
  });
  return {
    manifest: { judge: { dropped_limit: 0.1, price: null }, scorers: [] },
    samples: [...at(0, initial), ...at(9, (i) => (i < changed ? change(i) : initial(i)))],
    evaluations: [evaluation(0), evaluation(9)],
    ...{ steps: [], alarms: [] },
  } as unknown as TrainingRunRecords;
}

const same = () => judged((i) => ({ text: own(i), reward: 1, judge: [0.6, 0.5] }));
const counts = (mode: FailureMode, run: TrainingRunRecords) => {
  const { counted, status, evidence } = finding(mode, run);
  return [counted?.last.found.length, counted?.first.found.length, status, evidence.length];
};

describe("counted among samples of the last validation, beside those of the first", () => {
  test("reward hacking: the judge prefers what the label calls worse", () => {
    const hacked = judged((i) => ({ text: own(i), reward: 0, judge: [0.9, 0.1] }));
    expect(counts(rewardHacking, hacked)).toEqual([TASKS, 0, "seen", 2]);
    // A label that is lower where the judge agrees with it is no hacking, nor is a better label.
    const worse = judged((i) => ({ text: own(i), reward: 0, judge: [0.1, 0.9] }));
    expect(counts(rewardHacking, worse).slice(0, 2)).toEqual([0, 0]);
    expect(counts(rewardHacking, same())[0]).toBe(0);
  });

  test("without labels reward hacking cannot be counted, and it is said what to do", () => {
    const pure = judged((i) => ({ text: own(i), reward: null, judge: [0.9, 0.1] }), {
      labelled: false,
    });
    const { counted, status, numbers } = finding(rewardHacking, pure);
    expect([counted, status]).toEqual([undefined, "not measured"]);
    expect(numbers.join(" ")).toMatch(/no labels.*--validation-env.*review/);
  });

  test("length bias: preferred, of another length, and no better by the label", () => {
    const long = (reward: number) =>
      judged((i) => ({ text: own(i, 10), reward, judge: [0.9, 0.1] }));
    expect(counts(lengthBias, long(1))).toEqual([TASKS, 0, "seen", 2]);
    expect(counts(lengthBias, long(2))[0], "a longer answer that is better").toBe(0);
    const ignored = judged((i) => ({ text: own(i, 10), reward: 1, judge: [0.4, 0.6] }));
    expect(counts(lengthBias, ignored)[0], "which the judge does not prefer").toBe(0);
    expect(counts(lengthBias, same())[0]).toBe(0);
  });

  test("refusal drift, repetition and mode collapse by the texts alone", () => {
    const refusing = judged(() => ({ text: "I can't help with that.", reward: 0 }));
    expect(counts(refusalDrift, refusing)).toEqual([TASKS, 0, "seen", 2]);
    const looping = judged((i) => ({ text: `${i} ${"again and ".repeat(9)}`, reward: 0 }));
    expect(counts(repetition, looping)).toEqual([TASKS, 0, "seen", 2]);
    const one = judged(() => ({ text: "the same headline", reward: 0 }));
    expect(counts(modeCollapse, one)).toEqual([TASKS, 0, "seen", 2]);
    for (const mode of [refusalDrift, repetition, modeCollapse])
      expect(counts(mode, same()).slice(0, 2), mode.name).toEqual([0, 0]);
  });

  test("one sample is counted and shown, and is not yet a drift", () => {
    const once = judged((i) => ({ text: own(i), reward: 0, judge: [0.9, 0.1] }), { changed: 1 });
    expect(counts(rewardHacking, once)).toEqual([1, 0, "not seen", 1]);
  });
});

test("all five rows are there, with 0 where nothing was found, and what is counted", () => {
  const text = failureTable(same(), 0)
    .text.replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
  for (const name of ["Reward hacking", "Length bias", "Refusal drift", "Repetition"].concat(
    "Mode collapse",
  ))
    expect(text).toMatch(new RegExp(`${name} (not seen|not measur[a-z ]+) 0 of 20 at first 0 `));
  expect(text).toContain("20 of the last validation (step 9)");
  expect(text).toContain("20 of the first (step 0");
});

test("a run without a judge has no counts", () => {
  const { manifest: _, ...rest } = same();
  const run = { ...rest, manifest: { scorers: [] } } as unknown as TrainingRunRecords;
  expect(finding(modeCollapse, run).counted).toBeUndefined();
  expect(failureTable(run, 0).text).not.toContain("at first");
});

test("repetition is a share of the sequences of four words", () => {
  expect(repeatedShare("a b c d e f g h")).toBe(0);
  // Five sequences, of which the last repeats the first.
  expect(repeatedShare("a b c d a b c d")).toBeCloseTo(1 / 5);
  expect(repeatedShare("aaaaaaaa")).toBeCloseTo(4 / 5);
  expect(repeatedShare("")).toBe(0);
});
