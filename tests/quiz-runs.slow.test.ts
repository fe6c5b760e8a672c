/** The quiz on runs that are missing, edited or copied: it says so, and marks nothing. */

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Workspace } from "./cli.ts";
import { DEV, evaluate, init, quiz, RIGHT, report, roomWith, tooWide } from "./quiz-room.ts";

let room: Workspace;
beforeAll(async () => {
  room = await roomWith([
    ...["l0_build_eval", "l0_sabotage_eval_tampered", "l1_build_bandit"],
    ...["l2_fixed_two_step", "l3_build_kl_demo", "l5_goodhart"],
  ]);
});

describe("runs that are not there, or not as they were made", () => {
  /** A copy of the workspace that only has some of its runs. */
  function workspaceWith(...runs: string[]): Workspace {
    const workspace = new Workspace();
    cpSync(room.dir, workspace.dir, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => {
        const [folder, run] = path.relative(room.dir, file).split(path.sep);
        return folder !== "runs" || run === undefined || runs.includes(run);
      },
    });
    return workspace;
  }
  const right = RIGHT["0"] as string[];

  test("a whole copy is as good as the original", async () => {
    const workspace = workspaceWith("l0_build_eval", "l0_sabotage_eval_tampered");
    expect(await report(workspace, "0", right)).toMatchObject({ code: 0 });
  });

  test("a missing run skips its questions and says the command, which makes it", async () => {
    const workspace = workspaceWith();
    const before = await report(workspace, "0", right);
    expect(before.code).toBe(1);
    expect(before.score).toEqual({ questions: 7, right: 1, wrong: 0, skipped: 6 });
    const [first] = before.questions;
    expect(first).toMatchObject({ right: null, answer: null, skipped: { code: "run_missing" } });
    const [, command = ""] = /^Run:\n([\s\S]+)$/.exec(first?.skipped?.next ?? "") ?? [];
    execFileSync("sh", ["-c", command], { cwd: workspace.dir, stdio: "ignore" });
    const after = await report(workspace, "0", right);
    expect(after.score).toEqual({ questions: 7, right: 3, wrong: 0, skipped: 4 });
    const text = await quiz(workspace, "0", right);
    expect(text.stdout).toContain("change one expected answer in the copy, then:");
    expect(tooWide(text.stdout)).toEqual([]);
  });

  const edit = (name: string, from: string | RegExp, to: string) => (workspace: Workspace) => {
    const file = `runs/l0_build_eval/${name}`;
    const text = workspace.read(file);
    expect(text).toMatch(from);
    workspace.write(file, text.replace(from, to));
  };
  test.each([
    ["rows", edit("results.jsonl", '"reward":0', '"reward":1')],
    ["the manifest", edit("manifest.json", '"version": "1.0.0"', '"version": "1.0.1"')],
    ["the rate in the summary", edit("summary.json", /("pass_rate": )0\.59\d+/, "$10.9")],
    ["a count in the summary", edit("summary.json", /("leading_zeros": )7/, "$10")],
    ["half of the summary", edit("summary.json", /[\s\S]{200}$/, "")],
  ])("edited: %s", async (_what, change) => {
    const workspace = workspaceWith("l0_build_eval", "l0_sabotage_eval_tampered");
    change(workspace);
    const { code, questions } = await report(workspace, "0", right);
    expect(code).toBe(1);
    const refused = questions.filter(({ id }) => id !== "unseen-code");
    for (const one of refused) {
      expect(one).toMatchObject({ right: null, answer: null, skipped: { code: "run_invalid" } });
      expect(one.skipped?.message).toContain("l0_build_eval");
    }
  });

  test.each([
    ["1", 5, "l1_build_bandit", /("final_probabilities": \[[^\]]*)0\.98\d+/, "$10.99"],
    ["2", 5, "l2_fixed_two_step", /("first_probabilities": \[[^\]]*)0\.99\d+/, "$10.98"],
    ["3", 4, "l3_build_kl_demo", /("kl": )2\.96\d+/, "$12.5"],
    ["5", 4, "l5_goodhart", /("true_reward": )0$/m, "$10.5"],
  ])("level %s, question %i: an edited summary of %s", async (level, at, run, from, to) => {
    const workspace = workspaceWith(run);
    const answers = RIGHT[level] as string[];
    const file = `runs/${run}/summary.json`;
    expect(workspace.read(file)).toMatch(from);
    workspace.write(file, workspace.read(file).replace(from, to));
    const { questions } = await report(workspace, level, answers);
    expect(questions[at]).toMatchObject({ right: null, skipped: { code: "run_invalid" } });
  });

  test("a copy under another name", async () => {
    const workspace = workspaceWith("l0_sabotage_eval_tampered");
    const from = workspace.path("runs/l0_sabotage_eval_tampered");
    cpSync(from, workspace.path("runs/l0_build_eval"), { recursive: true });
    const { questions } = await report(workspace, "0", right);
    expect(questions[0]?.skipped).toMatchObject({ code: "run_invalid" });
  });
});

test("the answer of level 4 that is about an edit is what the edit does", async () => {
  const workspace = new Workspace();
  await init(workspace);
  const args = (run: string) => [...evaluate(DEV), "--outdir", run];
  expect(await workspace.run(args("runs/strict"))).toMatchObject({ code: 0 });
  const strict = workspace.read("scoring.ts");
  const loose = strict.replace(
    /(export function score\(\w+: \w+, )(\w+)(: string\): \w+ \{)/,
    "$1typed$3\n  const $2 = String(typed).replace(/(Final: -?)0+(?=[0-9])/, '$$1');",
  );
  expect(loose).not.toBe(strict);
  workspace.write("scoring.ts", loose);
  expect(await workspace.run(args("runs/loose"))).toMatchObject({ code: 0 });
  const gate = ["gate", "--baseline", "runs/strict", "--candidate", "runs/loose"];
  expect((await workspace.run(gate)).stdout).toContain("instrument_changed_without_version_bump");
});
