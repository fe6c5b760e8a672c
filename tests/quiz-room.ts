/** A workspace with the runs that the quizzes ask about, and ways to give answers. */

import { expect } from "vitest";
import { describeRun, type Finished, Workspace } from "./cli.ts";
import { BOTH, LAST, twoStepProgram } from "./track/walk.ts";

export const DEV = "data/datasets/math_dev.jsonl";
const TAMPERED = "data/datasets/math_dev_TAMPERED.jsonl";
const select = (n: number, policy: string) => [
  ...["selection-demo", "--quiet", "--dataset", DEV, "--n", `${n}`, "--policy", policy],
  ...["--samples", "data/rollouts/selection_pack_dev.jsonl"],
];
export const evaluate = (dataset: string) => [
  ...["eval", "--quiet", "--dataset", dataset],
  ...["--completions", "data/rollouts/frozen_rollouts_dev.jsonl"],
];
const train = (steps: number, seed: number, lr: string) => [
  ...["bandit-train", "--quiet", "--baseline", "--steps", `${steps}`, "--seed", `${seed}`],
  ...["--lr", lr],
];
const twoStep = (file: string) => ["run", file, "--steps", "200", "--seed", "0", "--baseline"];

export const RUNS: Record<string, string[]> = {
  l0_build_eval: evaluate(DEV),
  l0_sabotage_eval_tampered: evaluate(TAMPERED),
  l0_5_build_sel_n4: select(4, "assignments/selection_policy.ts"),
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((i) => [`l0_5_sabotage_sel_random_${i}`, select(4, "random.ts")]),
  ),
  l0_5_fixed_sel_n4: select(4, "fixed.ts"),
  l0_5_fixed_sel_n4_again: select(4, "fixed.ts"),
  l1_build_bandit: train(200, 0, "0.5"),
  l1_sabotage_lrneg: train(200, 0, "-0.5"),
  l1_build_slow: train(30, 0, "0.5"),
  l2_sabotage_no_credit_step1: twoStep("no_credit.ts"),
  l2_fixed_two_step: twoStep("credit.ts"),
  l3_build_kl_demo: ["kl-tradeoff-demo", "--quiet"],
  l5_goodhart: ["goodhart-demo", "--quiet"],
  l6_trap_sel_n1: select(1, "fixed.ts"),
  l6_trap_sel_n4: select(4, "fixed.ts"),
  l6_trap_untrained: train(0, 1, "0.5"),
  l6_trap_learning: train(200, 1, "0.5"),
};

/** By hand: from what the commands print, from the README, or with pencil and paper. */
export const RIGHT: Record<string, string[]> = {
  "0": ["0.5958", "56", "unknown", "expected_answer_altered", "3", "d", "c"],
  "0.5": ["0.4125", "0", "0.7857", "nondeterministic_selection", "6", "0", "c"],
  "1": ["down", "up", "-0.8", "0.1875", "0.075", "0.9844", "A"],
  "2": ["extra_whitespace", "not_single_line", "-2.408", "0.5", "0.6", "0.9956", "b"],
  "3": ["improved", "polished", "hack", "0.273", "2.9660", "0.511", "0"],
  "4": ["ok", "plus_sign_disallowed", "b", "5", "instrument_changed_without_version_bump", "a"],
  "5": ["1", "non_digit_characters", "0.25", "0", "0", "b", "c"],
  "6": ["REJECT", "selection", "PROMOTE", "claim_mismatch", "d", "PROMOTE", "2"],
  "7": ["0.16", "4", "undecided", "judge_differs", "judged_apart", "c", "b"],
};
/** A workspace with these runs, made by the commands that a learner types. */
export async function roomWith(names: readonly string[]): Promise<Workspace> {
  const room = new Workspace();
  await init(room);
  room.write(TAMPERED, room.read(DEV).replace('"expected_answer":18,', '"expected_answer":113,'));
  const key = (body: string) =>
    `export function tieBreakKey(sample: any): any[] { return ${body}; }\n`;
  room.write("random.ts", key("[crypto.getRandomValues(new Uint32Array(1))[0]]"));
  room.write("fixed.ts", key("[-sample.sum_logprob, sample.completion.length, sample.completion]"));
  const assignment = room.read("assignments/two_step_mdp_demo.ts");
  room.write("credit.ts", twoStepProgram(assignment, BOTH));
  room.write("no_credit.ts", twoStepProgram(assignment, LAST));
  const made = names.map(async (name) => {
    const args = RUNS[name] as string[];
    const result = await room.run([...args, "--outdir", `runs/${name}`]);
    expect(result, `${name} ${describeRun(result)}`).toMatchObject({ code: 0, stderr: "" });
  });
  await Promise.all(made);
  return room;
}

export async function init(workspace: Workspace): Promise<void> {
  const result = await workspace.run(["init", "."]);
  expect(result, describeRun(result)).toMatchObject({ code: 0 });
}

/** The quiz with answers from standard input, which ends after them. */
export async function quiz(
  workspace: Workspace,
  level: string,
  answers: readonly string[],
  ...flags: string[]
): Promise<Finished> {
  const { child, finished } = workspace.start(["quiz", level, ...flags]);
  child.stdin?.on("error", () => {}); // Refused before everything was read.
  child.stdin?.end(answers.map((answer) => `${answer}\n`).join(""));
  return finished;
}

interface Report {
  readonly schema: string;
  readonly score: Record<string, number>;
  readonly questions: {
    id: string;
    given: string | null;
    right: boolean | null;
    answer: string | null;
    skipped: { code: string; message: string; next: string | null } | null;
  }[];
}

export async function report(workspace: Workspace, level: string, answers: readonly string[]) {
  const result = await quiz(workspace, level, answers, "--format", "json");
  expect(result.stderr).toBe("");
  return { code: result.code, ...(JSON.parse(result.stdout) as Report) };
}

export function tooWide(text: string): string[] {
  return text.split("\n").filter((line) => [...line].length > 80);
}
