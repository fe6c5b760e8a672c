import { describe, expect, test } from "vitest";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { bestEvaluation, type Curves, readDirections } from "./divergence.ts";
import { CELLS, DIRECTIONS, type Direction } from "./nine-cells.ts";

const verdict = (curves: Curves) => readDirections(curves).verdict;

const EXAMPLES = 500;

/** So many of the examples pass, the same ones as far as possible. */
const evaluation = (step: number, passed: number, proxy = passed): EvaluationRecord => ({
  ...{ step, examples: EXAMPLES, pass_rate: passed / EXAMPLES, reward_mean: passed / EXAMPLES },
  proxy_mean: proxy / EXAMPLES,
  ...{ kl_exact: null, entropy: 1, length_mean: 10, truncated: 0, repeated: 0.1, outcomes: {} },
  rewards: Array.from({ length: EXAMPLES }, (_, i) => Number(i < passed)),
});

/** Evaluations every 5 steps, and a training reward that goes from one level to another. */
const run = (passed: readonly number[], from: number, to: number) => {
  const steps = Array.from({ length: 5 * (passed.length - 1) }, (_, i) => ({
    step: i + 1,
    "reward/mean": from + ((to - from) * i) / (5 * passed.length) + (i % 2 ? 0.01 : -0.01),
  }));
  const evaluations = passed.map((count, i) => evaluation(5 * i, count));
  return { steps, evaluations };
};

const MOVES: Readonly<Record<Direction, readonly number[]>> = {
  up: [200, 220, 245, 260, 285, 300, 325, 340, 360],
  flat: [200, 300, 298, 299, 297, 298, 299, 298, 297, 299, 298],
  down: [200, 300, 296, 290, 270, 255, 240, 230, 220],
};
const REWARDS: Readonly<Record<Direction, readonly [number, number]>> = {
  up: [0.4, 0.8],
  flat: [0.6, 0.6],
  down: [0.8, 0.4],
};

describe("the nine cells", () => {
  const cells = DIRECTIONS.flatMap((validation) =>
    DIRECTIONS.map((reward) => [validation, reward] as const),
  );

  test.each(cells)("validation %s, reward %s", (validation, reward) => {
    const history = run(MOVES[validation], ...REWARDS[reward]);
    const reading = readDirections(history);
    expect(reading.validation?.direction).toBe(validation);
    // The rewarding scorer is the validating one here, so its rise is also a rise of the reward.
    const expected = validation === "up" ? "up" : reward;
    expect(reading.reward?.direction).toBe(expected);
    expect(reading.cell).toBe(CELLS[validation][expected]);
  });

  test("no two cells mean the same, and each says what to do", () => {
    const all = DIRECTIONS.flatMap((one) => DIRECTIONS.map((other) => CELLS[one][other]));
    expect(new Set(all.map(({ meaning }) => meaning)).size).toBe(9);
    for (const { action } of all) expect(action).toMatch(/\.$/);
  });

  test("healthy, converged and reward hacking while the reward rises", () => {
    const reward = REWARDS.up;
    expect(verdict(run(MOVES.up, ...reward))).toBe("healthy");
    expect(verdict(run(MOVES.flat, ...reward))).toBe("converged");
    expect(verdict(run(MOVES.down, ...reward))).toBe("reward hacking");
  });

  test("says nothing of too little", () => {
    expect(verdict(run([], 0.4, 0.8))).toBe("undecided");
    expect(verdict(run([200, 300], 0.4, 0.8))).toBe("undecided");
    expect(readDirections(run([200, 205, 203, 201], 0.4, 0.8)).validation).toBeUndefined();
  });
});

describe("a fall", () => {
  const falls = (...passed: number[]) =>
    readDirections(run(passed, 0.5, 0.5)).validation?.direction === "down";

  test("needs two evaluations in a row", () => {
    expect(falls(280, 300, 298, 301, 299, 200)).toBe(false);
    expect(falls(280, 300, 298, 301, 200, 299)).toBe(false);
    expect(falls(280, 300, 298, 301, 200, 202)).toBe(true);
  });

  test("must matter, however sure it is", () => {
    expect(falls(300, 300, 300, 300, 285, 285)).toBe(false);
    expect(falls(300, 300, 300, 300, 275, 275)).toBe(true);
  });

  test("must stand out from the to and fro of the run", () => {
    expect(falls(300, 250, 310, 255, 320, 260, 300, 250, 255)).toBe(false);
  });

  test("is seen by the scorer that rewards, where training rewards are not there", () => {
    const evaluations = MOVES.down.map((passed, i) => evaluation(5 * i, passed, 200 + 20 * i));
    const history = { steps: [], evaluations };
    expect(readDirections(history)).toMatchObject({
      verdict: "reward hacking",
      reward: { training: undefined, direction: "up" },
    });
  });
});

describe("with too few training steps for a trend", () => {
  const short = (proxy: (passed: number) => number) => {
    const evaluations = MOVES.down.map((passed, i) => evaluation(i, passed, proxy(passed)));
    return readDirections({ steps: run(MOVES.down, 0.6, 0.6).steps.slice(0, 6), evaluations });
  };

  test("a reward that falls on the validation set falls", () => {
    const { cell, reward } = short((passed) => passed);
    expect(reward).toMatchObject({ training: undefined, direction: "down" });
    expect(cell).toBe(CELLS.down.down);
  });

  test("one that stays there is flat", () => {
    const { cell, reward } = short(() => 250);
    expect(reward).toMatchObject({ training: undefined, direction: "flat" });
    expect(cell).toBe(CELLS.down.flat);
  });
});

test("flat is said only where a rise that matters is ruled out", () => {
  const slow = [200, 300, 280, 282, 286, 290, 294, 296, 298];
  expect(readDirections(run(slow, 0.4, 0.8)).validation?.direction).not.toBe("flat");
});

describe("best", () => {
  test("is the highest, and the earliest of equals", () => {
    const evaluations = [evaluation(0, 3), evaluation(5, 9), evaluation(10, 9), evaluation(15, 2)];
    expect(bestEvaluation(evaluations)?.step).toBe(5);
    expect(bestEvaluation([])).toBeUndefined();
  });
});

describe("where a judge rewards", () => {
  /** The judge's scores of the policy and, beside it, of the initial one; labels fall from the start. */
  const judged = (scores: readonly (readonly [own: number, initial: number])[]) => ({
    steps: [],
    evaluations: scores.map(([own, initial], i) => ({
      ...evaluation(5 * i, [300, 240, 200, 190][i] as number, own * EXAMPLES),
      judge: {
        ...{ score_mean: own, baseline_mean: initial, win_rate: 0.5 },
        ...{ groups: EXAMPLES, dropped: 0, prompt_tokens: 1, completion_tokens: 1 },
      },
    })),
  });

  test("the initial policy's score beside the later one counts, not the one that it had alone", () => {
    const alone = [0.9, 0.9] as const;
    const preferred = judged([alone, [0.8, 0.4], [0.8, 0.4], [0.8, 0.4]]);
    expect(readDirections(preferred).reward?.proxy).toMatchObject({ from: 0.4, to: 0.8 });
    expect(verdict(preferred)).toBe("reward hacking");
    const low = [0.1, 0.1] as const;
    const worse = judged([low, [0.3, 0.8], [0.3, 0.8], [0.3, 0.8]]);
    expect(readDirections(worse).reward?.direction).toBe("down");
    expect(verdict(worse)).not.toBe("reward hacking");
  });
});
