/** The mastery track from `init` to level 6 as a learner walks it, and every way around it. */

import { createHash } from "node:crypto";
import { cpSync, existsSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Learner } from "./track/learner.ts";
import { WALK } from "./track/walk.ts";

const MINUTE = 60_000;
let walked: Learner;
const copies: Learner[] = [];
afterAll(() => {
  for (const learner of [walked, ...copies]) learner?.leave();
});

beforeAll(() => {
  const started = Date.now();
  walked = Learner.begin();
  for (const [, walk] of WALK) walk(walked);
  const { levels } = walked.check();
  const failed = levels.flatMap(({ level, checks }) =>
    checks.filter(({ holds }) => !holds).map(({ id, lack }) => `${level} ${id}: ${lack?.found}`),
  );
  expect(failed).toEqual([]);
  expect(levels.filter(({ passed }) => passed)).toHaveLength(WALK.length);
  // From init to the last check; a test that grows past this is a track that nobody would walk.
  expect(Date.now() - started).toBeLessThan(3 * MINUTE);
}, 4 * MINUTE);

/** A copy of the walked workspace in another folder, to be spoiled. */
function copy(): Learner {
  const learner = walked.copy();
  copies.push(learner);
  return learner;
}

test(
  "a workspace that was cloned to another place passes as before",
  () => {
    const learner = copy();
    learner.shell("git clone -q . ../cloned");
    const cloned = new Learner(`${learner.dir}/../cloned`);
    expect(cloned.check().passed).toBe(true);
    // The link to the program is not part of the history; the launcher says how to make it.
    expect(learner.shell("cd ../cloned && ./lockedroom level 2>&1 || true")).toContain("init .");
    expect(cloned.do("init .")).toContain("linked to this installation");
    expect(learner.shell("cd ../cloned && ./lockedroom level | head -1")).toContain(
      "mastery track",
    );
  },
  2 * MINUTE,
);

type Cheat = readonly [
  level: string,
  check: string,
  found: RegExp,
  name: string,
  spoil: (learner: Learner) => void,
];

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Copies a run and gives the copy the name that it should have been made with. */
function forge(learner: Learner, from: string, to: string): void {
  rmSync(learner.file(`runs/${to}`), { recursive: true, force: true });
  cpSync(learner.file(`runs/${from}`), learner.file(`runs/${to}`), { recursive: true });
  const manifest = `runs/${to}/manifest.json`;
  learner.edit(manifest, `"folder": "${from}"`, `"folder": "${to}"`);
  learner.edit(manifest, /"started_at": "[^"]*"/, `"started_at": "${new Date().toISOString()}"`);
}

/** Edits results.jsonl and writes the hash that the summary should then have. */
function editResults(learner: Learner, run: string, from: string | RegExp, to: string): void {
  const file = `runs/${run}/results.jsonl`;
  learner.edit(file, from, to);
  learner.edit(
    `runs/${run}/summary.json`,
    /"results_sha256": "\w+"/,
    `"results_sha256": "${sha256(learner.read(file))}"`,
  );
}

const KATA = "assignments/kata_01.ts";
const POLICY = "assignments/selection_policy.ts";
const TWO_STEP = "assignments/two_step_mdp_demo.ts";
const HACKABLE = "assignments/hackable_scorer_demo.ts";
const PASSING_TESTS = `import test from "node:test";\n${[1, 2, 3, 4, 5, 6].map((i) => `test("${i}", () => {});`).join("\n")}\n`;

const CHEATS: readonly Cheat[] = [
  [
    "0",
    "build",
    /no such folder/,
    "the run is not there",
    (l) => rmSync(l.file("runs/l0_build_eval"), { recursive: true }),
  ],
  [
    "0",
    "build",
    /results.jsonl changed/,
    "a row was edited",
    (l) => l.edit("runs/l0_build_eval/results.jsonl", '"reward":0', '"reward":1'),
  ],
  [
    "0",
    "build",
    /other metrics|other results/,
    "a row was edited and the hash made to fit",
    (l) =>
      editResults(
        l,
        "l0_build_eval",
        '"outcome_code":"wrong_answer"',
        '"outcome_code":"leading_zeros"',
      ),
  ],
  [
    "0",
    "build",
    /other metrics/,
    "the pass rate was improved by hand",
    (l) => l.edit("runs/l0_build_eval/summary.json", /"pass_rate": [0-9.]+/, '"pass_rate": 0.9'),
  ],
  [
    "0",
    "build",
    /manifest.json changed/,
    "the manifest was edited",
    (l) => l.edit("runs/l0_build_eval/manifest.json", '"version": "1.0.0"', '"version": "9.0.0"'),
  ],
  [
    "0",
    "build",
    /unfinished/,
    "the run was interrupted",
    (l) => rmSync(l.file("runs/l0_build_eval/summary.json")),
  ],
  [
    "0",
    "build",
    /another content/,
    "the shipped data set was changed",
    (l) => l.edit("data/datasets/math_dev.jsonl", '"expected_answer":18', '"expected_answer":19'),
  ],
  [
    "0",
    "tampered-data",
    /^.*found 0$/,
    "nothing was tampered with",
    (l) => l.shell("cp data/datasets/math_dev.jsonl data/datasets/math_dev_TAMPERED.jsonl"),
  ],
  [
    "0",
    "tampered-data",
    /found 2/,
    "two answers were altered",
    (l) =>
      l.edit(
        "data/datasets/math_dev_TAMPERED.jsonl",
        '"expected_answer":60',
        '"expected_answer":61',
      ),
  ],
  [
    "0",
    "tampered-data",
    /other changes/,
    "a prompt was altered too",
    (l) => l.edit("data/datasets/math_dev_TAMPERED.jsonl", "Compute 25 + 35", "Compute 25 plus 35"),
  ],
  [
    "0",
    "tampered-data",
    /not JSON/,
    "the file is damaged",
    (l) => l.edit("data/datasets/math_dev_TAMPERED.jsonl", "{", "<<<<<<< HEAD\n{"),
  ],
  [
    "0",
    "sabotage",
    /copied or renamed/,
    "the clean run was copied",
    (l) => {
      rmSync(l.file("runs/l0_sabotage_eval_tampered"), { recursive: true });
      l.shell("cp -r runs/l0_build_eval runs/l0_sabotage_eval_tampered");
    },
  ],
  [
    "0",
    "sabotage",
    /other content/,
    "the clean run was copied and renamed inside",
    (l) => forge(l, "l0_build_eval", "l0_sabotage_eval_tampered"),
  ],
  [
    "0",
    "gate",
    /no such file/,
    "the gate was never asked",
    (l) => rmSync(l.file("runs/l0_gate.json")),
  ],
  [
    "0",
    "gate",
    /PROMOTE/,
    "the verdict was rewritten",
    (l) => l.edit("runs/l0_gate.json", '"REJECT"', '"PROMOTE"'),
  ],
  [
    "0",
    "gate",
    /something else/,
    "the report is made up",
    (l) => l.write("runs/l0_gate.json", '{"decision":"REJECT"}'),
  ],
  [
    "0",
    "run-note",
    /yours to write/,
    "the run note has a blank",
    (l) =>
      l.edit(
        "runs/l0_sabotage_eval_tampered/README.md",
        "**Repair plan:**",
        "**Repair plan:** _yours to write_",
      ),
  ],
  [
    "0",
    "kata",
    /"unknown"/,
    "one code is forgotten",
    (l) => {
      l.edit(KATA, '"leading_zeros",', "");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata",
    /no answer within/,
    "the code never ends",
    (l) => {
      l.edit(KATA, /\): FailureClass \{/, "): FailureClass {\n  for (;;);");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata",
    /ended by itself/,
    "the code eats all memory",
    (l) => {
      l.edit(
        KATA,
        /\): FailureClass \{/,
        "): FailureClass {\n  for (const all: unknown[] = []; ; ) all.push(new Array(1e6).fill(all.length));",
      );
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata",
    /ended by itself/,
    "the code leaves",
    (l) => {
      l.edit(KATA, /\): FailureClass \{/, "): FailureClass {\n  process.exit(0);");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata",
    /does not load/,
    "the file is in conflict",
    (l) => {
      l.edit(KATA, /^/, "<<<<<<< HEAD\n");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata-tests",
    /all of them pass/,
    "the tests test nothing",
    (l) => {
      l.write("tests/kata_01.test.ts", PASSING_TESTS);
      l.commit("L0 tests");
    },
  ],
  [
    "0",
    "kata-tests",
    /1 of 4 failed/,
    "the tests fail",
    (l) => {
      l.edit("tests/kata_01.test.ts", '"model_math")', '"unknown")');
      l.commit("L0 tests");
    },
  ],
  [
    "0",
    "mental-map",
    /no such section/,
    "a term is missing",
    (l) => l.edit("notes/mental_map_v1.md", "## Loss", "## Cost"),
  ],
  [
    "0",
    "mental-map",
    /no Loop B/,
    "a loop is not drawn",
    (l) => l.edit("notes/mental_map_v1.md", "Loop B:", "Loop D:"),
  ],
  [
    "0",
    "budget",
    /scoring.ts \(commit/,
    "the scorer was changed in a commit of level 0",
    (l) => {
      l.edit("scoring.ts", "1.0.0", "1.0.1");
      l.commit("L0 more");
    },
  ],
  [
    "6",
    "budget",
    /scoring.ts \(not committed/,
    "the scorer waits to be changed",
    (l) => l.edit("scoring.ts", "1.0.0", "1.0.1"),
  ],
  [
    "6",
    "budget",
    /1 files that are not/,
    "evidence is not committed",
    (l) => l.write("notes/more.md", "more"),
  ],
  [
    "0.5",
    "sabotage",
    /the same for/,
    "one random run was copied",
    (l) => forge(l, "l0_5_sabotage_sel_random_1", "l0_5_sabotage_sel_random_2"),
  ],
  [
    "0.5",
    "sabotage",
    /is no such row/,
    "a row was edited to look random",
    (l) =>
      editResults(l, "l0_5_sabotage_sel_random_3", '"selected":{"index":', '"selected":{"index":7'),
  ],
  [
    "0.5",
    "random-policy",
    /the same keys/,
    "five committed policies that are not random",
    (l) => fiveRules(l),
  ],
  [
    "0.5",
    "tie-break",
    /other way round/,
    "the tie-break ignores the log-prob",
    (l) => {
      l.edit(POLICY, "-(sample.sum_logprob ?? 0),", "");
      l.commit("L0.5 fix");
    },
  ],
  [
    "0.5",
    "fixed",
    /copied or renamed/,
    "the second fixed run is a copy",
    (l) => {
      rmSync(l.file("runs/l0_5_fixed_sel_n4_again"), { recursive: true });
      l.shell("cp -r runs/l0_5_fixed_sel_n4 runs/l0_5_fixed_sel_n4_again");
    },
  ],
  [
    "0.5",
    "fixed",
    /the version of commit/,
    "the policy changed after the fixed runs",
    (l) => {
      l.edit(POLICY, "sample.completion.length", "sample.completion.length + 0");
      l.commit("L0.5 fix");
    },
  ],
  [
    "0.5",
    "tests",
    /all of them pass/,
    "the tests test nothing",
    (l) => {
      l.write("tests/selection_policy.test.ts", PASSING_TESTS);
      l.commit("L0.5 tests");
    },
  ],
  [
    "1",
    "l1_sabotage_lr2",
    /other .*metrics/,
    "the build run was copied",
    (l) => forge(l, "l1_build_bandit", "l1_sabotage_lr2"),
  ],
  [
    "1",
    "l1_sabotage_lrneg",
    /no such folder/,
    "a sabotage was skipped",
    (l) => rmSync(l.file("runs/l1_sabotage_lrneg"), { recursive: true }),
  ],
  [
    "1",
    "ten-steps",
    /positive|negative/,
    "a sign is wrong",
    (l) => l.edit("notes/reinforce_forensics.md", "| positive | up", "| negative | up"),
  ],
  [
    "1",
    "ten-steps",
    /up|down/,
    "a direction is wrong",
    (l) => l.edit("notes/reinforce_forensics.md", /\| positive \| up/, "| positive | down"),
  ],
  [
    "1",
    "ten-steps",
    /9/,
    "one step is missing",
    (l) => l.edit("notes/reinforce_forensics.md", /\n\| 14 .*/, ""),
  ],
  [
    "1",
    "ten-steps",
    /row 2/,
    "the steps are not consecutive",
    (l) => l.edit("notes/reinforce_forensics.md", "\n| 6 |", "\n| 7 |"),
  ],
  [
    "2",
    "sabotage",
    /copied or renamed/,
    "the sabotage is a copy of the build",
    (l) => {
      rmSync(l.file("runs/l2_sabotage_no_credit_step1"), { recursive: true });
      l.shell("cp -r runs/l2_build_two_step runs/l2_sabotage_no_credit_step1");
    },
  ],
  [
    "2",
    "sabotage",
    /found .*first|\[/,
    "the sabotage is a copy with its name made to fit",
    (l) => forge(l, "l2_build_two_step", "l2_sabotage_no_credit_step1"),
  ],
  [
    "2",
    "fixed",
    /history does not have/,
    "the run was made with code that is not committed",
    (l) => {
      l.edit(TWO_STEP, "export function update", "// once\nexport function update");
      l.do(`run ${TWO_STEP} --steps 200 --seed 0 --baseline --outdir runs/other`);
      forge(l, "other", "l2_fixed_two_step");
    },
  ],
  [
    "2",
    "update",
    /logits/,
    "the update has the wrong sign",
    (l) => {
      l.edit(TWO_STEP, "z + lr", "z - lr");
      l.commit("L2 fix");
    },
  ],
  [
    "2",
    "note",
    /no code block/,
    "the diagram is missing",
    (l) => l.edit("notes/credit_assignment.md", /```[\s\S]*```/, ""),
  ],
  [
    "3",
    "build",
    /no committed version prints/,
    "the output was written by hand",
    (l) => l.edit("runs/l3_build_kl_choice.txt", "careful", "daring"),
  ],
  [
    "3",
    "sabotage",
    /no such file/,
    "the leash was never dropped",
    (l) => rmSync(l.file("runs/l3_sabotage_no_kl.txt")),
  ],
  [
    "3",
    "choose",
    /"name"/,
    "choose ignores beta",
    (l) => {
      l.edit("assignments/kl_regularized_choice.ts", "- beta * c.kl", "");
      l.commit("L3 fix");
    },
  ],
  [
    "4",
    "blackbox",
    /not_single_line|extra/,
    "an actual code is wrong",
    (l) =>
      l.edit(
        "notes/reward_spec_blackbox.md",
        "extra_whitespace | extra_whitespace",
        "extra_whitespace | ok",
      ),
  ],
  [
    "4",
    "sabotage",
    /false positives|another version/,
    "the report of the sabotage was edited",
    (l) => l.edit("runs/l4_sabotage_exploits.json", /"false_positive": \d+/, '"false_positive": 1'),
  ],
  [
    "4",
    "tests",
    /all of them pass/,
    "the regressions test nothing",
    (l) => {
      l.write("tests/reward_regressions.test.ts", PASSING_TESTS);
      l.commit("L4 tests");
    },
  ],
  [
    "4",
    "exploits",
    /found 0/,
    "the new exploits have nothing to do with the loophole",
    (l) =>
      l.write(
        "data/golden/golden_exploits_extra.jsonl",
        ["a", "b", "c", "d", "e"]
          .map((c) => `{"id":"dev-0001","completion":"${c}","expected_reward":0}`)
          .join("\n"),
      ),
  ],
  [
    "4",
    "exploits",
    /are new/,
    "the new exploits are old",
    (l) =>
      l.shell(
        "head -n 8 data/golden/golden_exploits.jsonl > data/golden/golden_exploits_extra.jsonl",
      ),
  ],
  [
    "4",
    "version",
    /version 1.0.1/,
    "the version was bumped for nothing",
    (l) => {
      l.edit("scoring.ts", "1.0.0", "1.0.1");
      l.commit("L4 fix");
    },
  ],
  [
    "4",
    "version",
    /version 1.0.0/,
    "behaviour changed and the version did not",
    (l) => {
      l.edit("scoring.ts", "(0|-?[1-9][0-9]*)", "(0|[-+]?[1-9][0-9]*)");
      l.commit("L4 fix");
    },
  ],
  [
    "4",
    "restored",
    /disagree|, such as/,
    "the loophole is still open",
    (l) => {
      l.edit("scoring.ts", "*Final: (", "*Final:[ \\t]+(");
      l.commit("L4 fix");
    },
  ],
  [
    "5",
    "class",
    /found 1/,
    "the patch knows the five strings",
    (l) => {
      l.edit(
        HACKABLE,
        /return completion\.trim\(\)[^;]*;/,
        "return HACKS.some((h) => h.completion === completion) ? 0 : naive(expected, completion);",
      );
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "class",
    /found 1/,
    "the patch takes the last number",
    (l) => {
      l.edit(
        HACKABLE,
        /return completion\.trim\(\)[^;]*;/,
        "return Number(completion.match(/-?[0-9]+/g)?.at(-1)) === expected ? 1 : 0;",
      );
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "class",
    /found 0/,
    "the patch pays for nothing",
    (l) => {
      l.edit(HACKABLE, /return completion\.trim\(\)[^;]*;/, "return 0;");
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "hacks",
    /3 that differ/,
    "the hacks differ in digits only",
    (l) => {
      l.edit(
        HACKABLE,
        /HACKS: readonly Case\[\] = \[[\s\S]*?\];/,
        'HACKS: readonly Case[] = [1, 2, 3, 4, 5].map((n) => ({ expected: n, completion: ["1 2 3 4 5 6", n + " or 9", "not " + n][n % 3] as string }));',
      );
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "sabotage-first",
    /win in commit/,
    "the hacks never won",
    (l) => {
      l.shell("git checkout -q --orphan new && git reset -q");
      l.commit("Start");
    },
  ],
  [
    "5",
    "report",
    /without/,
    "an exploit is not in the report",
    (l) => l.edit("notes/red_team_report.md", "40 41 42 43 44", "numbers"),
  ],
  [
    "6",
    "memo",
    /found "PROMOTE"/,
    "the memo promotes a selection",
    (l) => l.edit("notes/promotion_memo.md", /(Trap 2[\s\S]*?Verdict: )REJECT/, "$1PROMOTE"),
  ],
  [
    "6",
    "memo",
    /`math_final_line`/,
    "the evidence is the same in both manifests",
    (l) => l.edit("notes/promotion_memo.md", '`"n": 4` against `"n": 1`', "`math_final_line`"),
  ],
  [
    "6",
    "memo",
    /found 7\d\d/,
    "the memo is longer than a page",
    (l) => l.edit("notes/promotion_memo.md", /$/, "word ".repeat(620)),
  ],
  [
    "6",
    "trap-2",
    /PROMOTE/,
    "the gate was asked without the claim",
    (l) =>
      l.try(
        "gate --baseline runs/l6_trap_sel_n1 --candidate runs/l6_trap_sel_n4 --report runs/l6_gate_trap2.json",
      ),
  ],
  [
    "6",
    "commits",
    /L6 traps/,
    "the memo was not committed as such",
    (l) => l.shell("git -c user.name=A -c user.email=a@b commit -q --amend -m 'L6 done'"),
  ],
];

/** Five deterministic policies, each committed and run once: different hashes, no dice. */
function fiveRules(learner: Learner): void {
  const rules = [
    "sample.index",
    "-sample.index",
    "sample.completion.length",
    "-sample.completion.length",
    "-(sample.sum_logprob ?? 0)",
  ];
  for (const [i, rule] of rules.entries()) {
    learner.edit(POLICY, /return [\s\S]*;/, `return [${rule}];`);
    learner.commit("L0.5 sabotage");
    learner.do(
      `selection-demo --dataset data/datasets/math_dev.jsonl --samples data/rollouts/selection_pack_dev.jsonl --n 4 --force --quiet --outdir runs/l0_5_sabotage_sel_random_${i + 1}`,
    );
  }
}

describe("what is skipped or faked is caught", () => {
  test.each(CHEATS)(
    "level %s, %s: found %s when %s",
    async (level, check, found, _name, spoil) => {
      const learner = copy();
      spoil(learner);
      const evidence = await learner.evidence(level, check);
      learner.leave();
      expect(evidence).not.toMatch(/^holds/);
      expect(evidence).toMatch(found);
    },
    MINUTE,
  );
});

test("the checks change nothing in the workspace", () => {
  expect(walked.shell("git status --porcelain")).toBe("");
  expect(existsSync(walked.file("node_modules/.cache"))).toBe(false);
});
