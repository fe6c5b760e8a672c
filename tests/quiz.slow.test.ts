/** The quiz as a learner meets it: own runs, answers by hand, mistakes, odd input, a terminal. */

import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import {
  BIN,
  describeRun,
  EXIT,
  expectError,
  RAW_CONTROL,
  start,
  until,
  Workspace,
} from "./cli.ts";
import { quiz, RIGHT, RUNS, report, roomWith, tooWide } from "./quiz-room.ts";

/** What somebody might well believe instead. */
const WRONG: Record<string, string[]> = {
  "0": ["0.6000", "97", "model_format", "dataset_bytes_differ", "1", "a", "a"],
  "0.5": ["0.8167", "99", "0.5", "scorer_errors_in_samples", "7", "1", "b"],
  "1": ["up", "down", "0.8", "0.25", "0.15", "0.7941", "D"],
  "2": ["ok", "missing_prefix", "-0.09", "0.9956", "0.9", "0.5", "d"],
  "3": ["bold", "improved", "bold", "0.15", "0.7783", "0.368", "1"],
  "4": ["extra_whitespace", "leading_zeros", "a", "2", "scorer_version_differs", "b"],
  "5": ["0", "wrong_answer", "0.05", "1", "0.992", "c", "b"],
  "6": ["PROMOTE", "policy", "REJECT", "no_difference", "b", "INCONCLUSIVE", "3"],
  "7": ["0.18", "2", "acquitted", "judge_not_audited", "judge_differs", "a", "a"],
};
const LEVELS = Object.keys(RIGHT);

let room: Workspace;
beforeAll(async () => {
  room = await roomWith(Object.keys(RUNS));
});

describe.each(LEVELS)("level %s", (level) => {
  const right = RIGHT[level] as string[];

  test("right answers give 0", async () => {
    const result = await quiz(room, level, right);
    expect(result, describeRun(result)).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain(`${right.length} of ${right.length} right.`);
    expect(result.stdout).toMatch(/Open questions.*\n- .*(?:\n {2}.*)*chapter \d\d-/);
    expect(tooWide(result.stdout)).toEqual([]);
  });

  test("likely mistakes are wrong, each of them", async () => {
    const { code, schema, questions } = await report(room, level, WRONG[level] as string[]);
    expect({ code, schema }).toEqual({ code: 1, schema: "lockedroom.quiz@1" });
    expect(questions.map((one) => one.right)).toEqual(right.map(() => false));
    expect(questions.map((one) => one.given)).toEqual(WRONG[level]);
  });
});

test("without answers the questions are printed, and no answer", async () => {
  const result = await quiz(room, "0.5", []);
  expect(result).toMatchObject({ code: 1, stderr: "" });
  expect(result.stdout).toContain("quiz 0.5 --answers answers.txt");
  expect(result.stdout).not.toMatch(/The answer is|^ {3}(?:right|wrong|skipped)$/m);
  expect(tooWide(result.stdout)).toEqual([]);
});

test("without answers, as JSON: no answer either", async () => {
  const { code, questions } = await report(room, "0", []);
  expect(code).toBe(1);
  for (const { answer, right } of questions) expect([answer, right]).toEqual([null, null]);
});

describe("one wrong answer among right ones", () => {
  const right = RIGHT["0"] as string[];

  test.each([...right.keys()])("number %i gives 1 and is named", async (at) => {
    const answers = right.with(at, (WRONG["0"] as string[])[at] as string);
    const { code, stdout } = await quiz(room, "0", answers);
    expect(code).toBe(1);
    const [, id = ""] = new RegExp(`^${at + 1}\\. (\\S+)$`, "m").exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`^Wrong: ${at + 1} ${id}$`, "m"));
    expect(stdout.match(/The answer is/g)).toHaveLength(1);
    expect(stdout).toMatch(/Read chapter \d\d-[a-z-]+: .*lockedroom manual/);
  });
});

describe("ways to give answers", () => {
  const right = RIGHT["6"] as string[];

  test("a file, with the other line ends, a mark in front and blank lines behind", async () => {
    room.write("answers.txt", `\uFEFF${right.join("\r\n")}\r\n\r\n \n`);
    const result = await room.run(["quiz", "6", "--answers", "answers.txt"]);
    expect(result, describeRun(result)).toMatchObject({ code: 0, stderr: "" });
  });

  test("loosely typed", async () => {
    const typed = [" reject ", "Selection", "`promote`", "claim mismatch", "D)", "PROMOTE", "2.0"];
    expect(await quiz(room, "6", typed)).toMatchObject({ code: 0 });
  });

  test("an end in the middle: the rest is not answered", async () => {
    const { code, score, questions } = await report(room, "6", right.slice(0, 3));
    expect({ code, score }).toEqual({
      code: 1,
      score: { questions: 7, right: 3, wrong: 0, skipped: 4 },
    });
    expect(questions[3]).toMatchObject({ right: null, skipped: { code: "not_answered" } });
  });

  test("- skips one, and then not everything is right", async () => {
    const { code, stdout } = await quiz(room, "6", right.with(1, "-"));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^6 of 7 right\.\nSkipped: 2 trap-2-knob$/m);
  });

  test("more answers than questions are refused, and nothing is marked", async () => {
    expectError(await quiz(room, "6", [...right, "x"]), EXIT.data, /8 answers for the 7 questions/);
  });

  test("no such file, and a folder", async () => {
    const none = await room.run(["quiz", "6", "--answers", "nowhere.txt"]);
    expectError(none, EXIT.usage, "nowhere.txt");
    expectError(await room.run(["quiz", "6", "--answers", "runs"]), EXIT.usage, "runs");
  });

  test.each([["8"], ["0.50"], [""], ["0", "1"]])("%j is no level", async (...levels) => {
    expectError(await room.run(["quiz", ...levels]), EXIT.usage);
  });

  test("outside of a workspace", async () => {
    expectError(await new Workspace().run(["quiz", "0"]), EXIT.usage, "lockedroom init");
  });
});

describe("hostile answers", () => {
  test("control characters and long lines are wrong, shown, and not obeyed", async () => {
    const odd = ["\u001b[2J\u001b[31m0.5958", "9".repeat(100_000), "\u0000", "‮3", "💥", "d", "c"];
    const { code, stdout, stderr } = await quiz(room, "0", odd);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toContain("2 of 7 right.");
    expect(stdout).toContain("⟨U+001B⟩");
    expect(stdout).toContain("at most 200 characters");
    expect(stdout).not.toMatch(RAW_CONTROL);
    expect(tooWide(stdout)).toEqual([]);
    const json = await quiz(room, "0", odd, "--format", "json");
    expect(json.stdout).not.toMatch(RAW_CONTROL);
    expect(json.stdout.length).toBeLessThan(20_000);
  });

  test("megabytes are refused", async () => {
    const flood = Array.from({ length: 3000 }, () => "y".repeat(1000));
    expectError(await quiz(room, "0", flood), EXIT.data, /larger than 1 MiB/);
  });
});

/** util-linux's `script` gives a command a terminal. */
const canPlay =
  process.platform === "linux" && spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe.skipIf(!canPlay)("on a terminal (needs util-linux's script)", () => {
  function play(level: string) {
    const typed = `'${process.execPath}' '${BIN}' quiz ${level}`;
    const env = { TERM: "dumb", NO_COLOR: "1" };
    const running = start("script", ["-qec", typed, "/dev/null"], room.dir, { env });
    let seen = "";
    running.child.stdout?.on("data", (text: string) => {
      seen += text;
    });
    const answer = async (number: number, text: string) => {
      await until(
        () => new RegExp(`^${number}\\. [\\s\\S]* > `, "m").test(seen),
        `question ${number}`,
      );
      running.child.stdin?.write(text);
    };
    return { answer, finished: running.finished };
  }

  test("one question at a time, feedback at once, Ctrl-D ends with the score", async () => {
    const { answer, finished } = play("6");
    await answer(1, "reject\n");
    await answer(2, "\npolicy\n");
    await answer(3, "\u0004");
    const { code, stdout } = await finished;
    expect(code).toBe(1);
    const text = stdout.replaceAll("\r", "");
    expect(text).toMatch(/^ {3}right\n[\s\S]*^ {3}wrong\n {3}The answer is selection\./m);
    expect(text).toMatch(/^1 of 7 right\.\nWrong: 2 trap-2-knob\nSkipped: 3 trap-2-unclaimed, 4/m);
    expect(text).not.toMatch(/^4\. /m);
  });

  test("all right", async () => {
    const { answer, finished } = play("6");
    for (const [i, text] of (RIGHT["6"] as string[]).entries()) await answer(i + 1, `${text}\n`);
    const { code, stdout } = await finished;
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("7 of 7 right.");
  });
});
