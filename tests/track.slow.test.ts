/** The mastery track from `init` to level 6, and the extra level 7, as a learner walks it, and every way around it. */

import { createHash } from "node:crypto";
import { cpSync, existsSync, rmSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ResultRow } from "../src/runs/index.ts";
import { course, Learner } from "./track/learner.ts";
import { WALK } from "./track/walk.ts";

const MINUTE = 60_000;
let walked: Learner;
const copies: Learner[] = [];
afterAll(() => {
  for (const learner of [walked, ...copies]) learner?.leave();
});

beforeAll(() => {
  const started = Date.now();
  const busy = (loadavg()[0] ?? 0) > 1.5 * availableParallelism();
  walked = Learner.begin();
  for (const [, walk] of WALK) walk(walked);
  const report = walked.check();
  expect(report.levels.map(({ level }) => level)).toEqual(course.TRACK_IDS);
  const levels = [...report.levels, ...report.extra];
  const failed = levels.flatMap(({ level, checks }) =>
    checks
      .filter(({ passed }) => !passed)
      .map(({ id, failure }) => `${level} ${id}: ${failure?.found}`),
  );
  expect(failed).toEqual([]);
  expect(levels.filter(({ passed }) => passed)).toHaveLength(WALK.length);
  // From init to the last check. A machine that is busy with other work says nothing about the track.
  if (busy) console.warn("The machine is busy: the three minutes of the track were not measured.");
  else expect(Date.now() - started).toBeLessThan(3 * MINUTE);
}, 8 * MINUTE);

/** A copy of the walked workspace in another folder, to be spoiled. */
function copy(): Learner {
  const learner = walked.copy();
  copies.push(learner);
  return learner;
}

test(
  "a workspace that was cloned to another place passes as before",
  async () => {
    const learner = copy();
    learner.shell("git clone -q . ../cloned");
    const cloned = new Learner(`${learner.dir}/../cloned`);
    // One check of each kind: runs made again, a program, a scorer's version, the memo, the history.
    for (const [level, check] of [
      ["0.5", "fixed"],
      ["2", "fixed"],
      ["4", "measured"],
      ["6", "memo"],
      ["6", "budget"],
    ] as const)
      expect(await cloned.evidence(level, check)).toMatch(/^passed/);
    // The link to the program is not part of the history; the launcher says how to make it.
    expect(learner.shell("cd ../cloned && ./lockedroom level 2>&1 || true")).toContain("init .");
    expect(cloned.do("init .")).toContain("linked to this installation");
    expect(learner.shell("cd ../cloned && ./lockedroom level | head -1")).toContain(
      "mastery track",
    );
  },
  2 * MINUTE,
);

test("a key that sends samples without a log-prob to the end by infinity is as right as any", async () => {
  const learner = copy();
  learner.edit(
    POLICY,
    /return \[[\s\S]*?\];/,
    "return [sample.sum_logprob === null ? Infinity : -sample.sum_logprob, sample.completion.length, sample.completion];",
  );
  learner.commit("L0.5 fix");
  expect(await learner.evidence("0.5", "tie-break")).toMatch(/^passed/);
});

test("steps that went into one commit can be taken apart as --next says", () => {
  const learner = copy();
  const start = learner.shell("git rev-list --max-parents=0 HEAD").trim();
  learner.shell(`git reset -q ${start}`);
  // Of the extra level, and outside of what level 0 may change.
  learner.shell("rm -r rubrics");
  learner.commit("L0 build");
  const advice = learner.do("level 0 --next").split("Do now\n")[1] ?? "";
  expect(advice).toContain("git reset HEAD~1");
  const commands = advice.split("\n").filter((line) => line.startsWith("git "));
  learner.shell(
    commands.join("\n").replaceAll("git commit", "git -c user.name=A -c user.email=a@b commit -q"),
  );
  expect(learner.shell("git log --reverse --format=%s").trim().split("\n")).toEqual([
    ...["Start", "L0 build", "L0 sabotage", "L0 fix"],
  ]);
  expect(learner.do("level 0 --next")).toContain("Level 0 is passed");
});

/** Back to a commit of the walk, as if the learner had come no further. */
function backTo(subject: string): Learner {
  const learner = copy();
  const commit = learner.shell(`git log --format=%h --grep='^${subject}$' | tail -n 1`).trim();
  learner.shell(`git reset -q --hard ${commit} && git clean -qfd`);
  return learner;
}

/** A text with one function as it is in the template. */
function blanked(text: string, template: string, name: string): string {
  const form = new RegExp(`export function ${name}\\([\\s\\S]*?\\n\\}\\n`);
  return text.replace(form, () => form.exec(template)?.[0] ?? "");
}

describe("--next asks for all work of a step, then for its commit", { timeout: 5 * MINUTE }, () => {
  test("level 0: the kata, its tests, the map, the commit, the quiz", () => {
    const learner = backTo("L0 sabotage");
    const restore = (file: string) => learner.write(file, walked.read(file));
    expect(learner.do("level 0 --next")).toContain("its comment lists every code");
    restore(KATA);
    expect(learner.do("level 0 --next")).toMatch(/Do now\nWrite tests\/kata_01\.test\.ts/);
    // What `check` says to do now is the same.
    expect(learner.try("check 0").stdout).toMatch(/Do now:\nWrite tests\/kata_01\.test\.ts/);
    restore("tests/kata_01.test.ts");
    expect(learner.do("level 0 --next")).toMatch(/Do now\nWrite notes\/mental_map_v1\.md/);
    restore("notes/mental_map_v1.md");
    // Labelled with letters only.
    learner.edit("notes/mental_map_v1.md", /Loop (?=[ABC]:)/g, "");
    expect(learner.do("level 0 --next")).toContain('Do now\ngit add -A && git commit -m "L0 fix"');
    learner.commit("L0 fix");
    for (const command of ["check 0", "level 0 --next"]) {
      const said = learner.do(command);
      expect(said).toMatch(/Level 0 (?:is )?passed/);
      expect(said).toMatch(/^Next: \S+ quiz 0 .*\nThen: \S+ level 0\.5$/m);
    }
  });

  test("level 0.5: the tie-break, its tests, the commit", () => {
    const learner = backTo("L0.5 sabotage runs");
    learner.write(POLICY, walked.read(POLICY));
    expect(learner.do("level 0.5 --next")).toMatch(
      /Do now\nWrite tests\/selection_policy\.test\.ts/,
    );
    learner.write("tests/selection_policy.test.ts", walked.read("tests/selection_policy.test.ts"));
    expect(learner.do("level 0.5 --next")).toContain('git commit -m "L0.5 fix"');
  });

  test("level 2: the parts of the program one after the other, then the commit", () => {
    const learner = backTo("L1 fix");
    const [whole, template] = [walked.read(TWO_STEP), learner.read(TWO_STEP)];
    const parts = ["update", "reward", "sample", "train"];
    for (const part of parts) {
      expect(learner.do("level 2 --next")).toMatch(
        new RegExp(`Do now\\nWrite ${part} in assignments`),
      );
      const later = parts.slice(parts.indexOf(part) + 1);
      learner.write(
        TWO_STEP,
        later.reduce((text, name) => blanked(text, template, name), whole),
      );
    }
    expect(learner.do("level 2 --next")).toContain(
      'Do now\ngit add -A && git commit -m "L2 build"',
    );
    learner.commit("L2 build");
    expect(learner.do("level 2 --next")).toContain("Do now\nWith the program committed:");
  });

  test("level 2: the sabotage in words, though the build has the same file", () => {
    const learner = backTo("L2 build");
    learner.shell(`cp -r ${walked.file("runs/l2_build_two_step")} runs/`);
    expect(learner.do("level 2 --next")).toMatch(/Do now\nUpdate only the second decision/);
  });

  test("level 4: the restored rule, its tests, the exploits, the commit", () => {
    const learner = backTo("L4 sabotage");
    const restore = (file: string) => learner.write(file, walked.read(file));
    restore("notes/reward_spec_blackbox.md");
    restore("runs/l4_sabotage_exploits.json");
    learner.shell(`cp -r ${walked.file("runs/l4_sabotage_eval")} runs/`);
    restore("scoring.ts");
    expect(learner.do("level 4 --next")).toMatch(/Do now\nWrite tests\/reward_regressions/);
    restore("tests/reward_regressions.test.ts");
    expect(learner.do("level 4 --next")).toMatch(/Do now\nWrite data\/golden\/golden_exploits_ex/);
    restore("data/golden/golden_exploits_extra.jsonl");
    expect(learner.do("level 4 --next")).toContain('git commit -m "L4 fix"');
  });
});

test("level 0.5 numbers the SHA-256 of each result, and the shown command prints the same", async () => {
  const shown = walked.shell(walked.commandsOf("0.5", "Reflect"));
  const lines = shown.trimEnd().split("\n");
  expect(lines).toHaveLength(5);
  for (const [i, line] of lines.entries()) {
    const results = walked.read(`runs/l0_5_sabotage_sel_random_${i + 1}/results.jsonl`);
    expect(line).toBe(`run ${i + 1}  ${sha256(results)}`);
  }
  expect(await walked.evidence("0.5", "sabotage")).toBe(`passed: ${shown.trimEnd()}`);
  // With the indent of `check`, a line of the fixed runs fits as well.
  const fixed = (await walked.evidence("0.5", "fixed")).split("\n");
  expect(fixed[1]).toMatch(/^n4_again {2}[0-9a-f]{64}$/);
});

test("work after the track may have new files; the files of the track stay as they are", async () => {
  const learner = copy();
  learner.write("recipes/mine.json", "{}");
  expect(await learner.evidence("6", "budget")).toMatch(/^passed/);
  learner.commit("A training of my own");
  expect(await learner.evidence("6", "budget")).toMatch(/^passed/);
  learner.edit("scoring.ts", "1.0.0", "1.0.1");
  learner.commit("A looser scorer");
  expect(await learner.evidence("6", "budget")).toMatch(/scoring\.ts/);
});

test("the memo may call changed data a changed instrument, and is told what the gate calls it", async () => {
  const learner = copy();
  learner.edit("notes/promotion_memo.md", "Knob: environment", "Knob: measurement instrument");
  expect(await learner.evidence("6", "memo")).toMatch(
    /^passed: REJECT, REJECT, PROMOTE\ntrap 1: measurement instrument is accepted.*The gate says environment/,
  );
  expect(await walked.evidence("6", "memo")).toBe("passed: REJECT, REJECT, PROMOTE");
  // A changed scorer is a changed instrument, and nothing else.
  learner.edit("runs/l4_sabotage_eval/README.md", "measurement instrument", "environment");
  expect(await learner.evidence("4", "run-note")).toMatch(/found environment/);
});

test("the track has a branch, and main keeps the workspace as it was made", async () => {
  expect(walked.shell("git branch --show-current").trim()).toBe("mastery-track");
  expect(walked.shell("git log --format=%s main").trim()).toBe("Start");
  const learner = copy();
  learner.shell("git checkout -q main && git merge -q --ff-only mastery-track");
  expect(await learner.evidence("6", "branch"), "merged").toMatch(/^passed: up to commit/);
  learner.shell("git branch -q -D mastery-track");
  expect(learner.do("level 6 --next")).toContain("Do now\nStart the branch here");
});

test("the extra level's check sends on to its quiz and to the plan", () => {
  expect(walked.do("check 7")).toMatch(/^Next: \S+ quiz 7 .*\nThen: \S+ plan$/m);
});

test("the last level's check sends on to its quiz and to the plan", () => {
  expect(walked.do("check 6")).toMatch(/^Next: \S+ quiz 6 .*\nThen: \S+ plan$/m);
});

test("kata 1 names every code, so that nobody has to open the scorer", () => {
  const begun = backTo("Start");
  const kata = begun.read(KATA);
  const codes = begun.read("scoring.ts").match(/OUTCOME_CODES = \[([^\]]*)\]/)?.[1] ?? "";
  const names = codes.match(/\w+/g) ?? [];
  expect(names).toHaveLength(12);
  expect(names.filter((code) => !kata.includes(code))).toEqual([]);
});

type Cheat = readonly [
  level: string,
  check: string,
  found: RegExp,
  name: string,
  spoil: (learner: Learner) => void,
];

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Back to the build of level 2, before there was a sabotage, with one thing wrong in the program. */
function rebuild(learner: Learner, from: string, to: string): void {
  learner.shell(
    "git reset -q --hard $(git log --format=%h --grep='^L2 build$' | tail -n 1) && git clean -qfd",
  );
  learner.edit(TWO_STEP, from, to);
  learner.commit("L2 build");
}

const SABOTAGE_NOTE = "runs/l0_sabotage_eval_tampered/README.md";

/** What a person wrote after a label of the note of level 0. */
function rewrite(learner: Learner, label: string, text: string): void {
  learner.edit(SABOTAGE_NOTE, new RegExp(`(\\*\\*${label}[^*]*\\*\\*).*`), `$1 ${text}`);
}

/** Copies a run and gives the copy the name that it should have been made with. */
function forge(learner: Learner, from: string, to: string): void {
  rmSync(learner.file(`runs/${to}`), { recursive: true, force: true });
  cpSync(learner.file(`runs/${from}`), learner.file(`runs/${to}`), { recursive: true });
  const manifest = `runs/${to}/manifest.json`;
  learner.edit(manifest, `"folder": "${from}"`, `"folder": "${to}"`);
  learner.edit(manifest, /"started_at": "[^"]*"/, `"started_at": "${new Date().toISOString()}"`);
}

/** Edits results.jsonl and makes every hash and count of the summary fit, as a careful forger would. */
function editResults(
  learner: Learner,
  run: string,
  edit: (row: ResultRow) => void,
  only = 1,
): void {
  const file = `runs/${run}/results.jsonl`;
  let left = only;
  const rows = learner
    .read(file)
    .trimEnd()
    .split("\n")
    .map((line) => {
      const row = JSON.parse(line);
      if (left <= 0) return { line, row };
      const before = JSON.stringify(row);
      edit(row);
      if (JSON.stringify(row) === before) return { line, row };
      left--;
      return { line: JSON.stringify(row), row };
    });
  learner.write(file, `${rows.map(({ line }) => line).join("\n")}\n`);
  const summary = JSON.parse(learner.read(`runs/${run}/summary.json`));
  const passed = rows.filter(({ row }) => row.reward === 1).length;
  const first = rows.filter(({ row }) => row.baseline?.reward === 1).length;
  const counts: Record<string, number> = {};
  for (const { row } of rows) counts[row.outcome_code] = (counts[row.outcome_code] ?? 0) + 1;
  Object.assign(summary, { results_sha256: sha256(learner.read(file)), outcomes: { counts } });
  Object.assign(summary.metrics, {
    ...{ n_pass: passed, n_fail: rows.length - passed, pass_rate: passed / rows.length },
    mean_reward: passed / rows.length,
    ...(summary.loop === "B" && {
      ...{ pass_at_1: first / rows.length, pass_at_n: passed / rows.length },
      rescued: rows.filter(({ row }) => row.reward === 1 && row.baseline.reward !== 1).length,
      lost: rows.filter(({ row }) => row.reward !== 1 && row.baseline.reward === 1).length,
    }),
  });
  learner.write(`runs/${run}/summary.json`, `${JSON.stringify(summary, null, 2)}\n`);
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
    /results.jsonl/,
    "a row was edited",
    (l) => l.edit("runs/l0_build_eval/results.jsonl", '"reward":0', '"reward":1'),
  ],
  [
    "0",
    "build",
    /summary.json|other/,
    "a row was edited and the hash made to fit",
    (l) =>
      editResults(l, "l0_build_eval", (row) => {
        if (row.outcome_code === "wrong_answer") {
          Object.assign(row, { outcome_code: "ok", reward: 1 });
        }
      }),
  ],
  [
    "0",
    "build",
    /summary.json changed/,
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
    /other content/,
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
    /the placeholder/,
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
    "run-note",
    /the knob that differs.*found policy/,
    "the note names another knob than the gate finds",
    (l) => rewrite(l, "Knob turned", "policy"),
  ],
  [
    "0",
    "run-note",
    /one of measurement instrument.*found policy or environment/,
    "the note does not pick one knob",
    (l) => rewrite(l, "Knob turned", "policy or environment"),
  ],
  [
    "0",
    "run-note",
    /exactly one change.*found 2: "restore the data" and "change the prompt"/,
    "there are two next changes",
    (l) => rewrite(l, "Next change", "restore the data and change the prompt"),
  ],
  [
    "0",
    "run-note",
    /exactly one change.*found none/,
    "there is no next change",
    (l) => rewrite(l, "Next change", "none"),
  ],
  [
    "0",
    "run-note",
    /What happened.*the run says pass_rate 0\.\d{4} \(\d+ of 240\)/,
    "the recorded pass rate was falsified",
    (l) => l.edit(SABOTAGE_NOTE, /pass_rate [\d.]+/, "pass_rate 0.99"),
  ],
  [
    "0",
    "run-note",
    /Locked Room evidence.*the run says dataset/,
    "the recorded evidence was deleted",
    (l) => l.edit(SABOTAGE_NOTE, /- \*\*Locked Room evidence[\s\S]*?(?=- \*\*What I)/, ""),
  ],
  [
    "0",
    "run-note",
    /\d+ rows failed.*found none/,
    "rows failed, and the note says that nothing did",
    (l) => rewrite(l, "Failure type", "none"),
  ],
  [
    "0",
    "mental-map",
    /the text of "## Reward"/,
    "every term has the same sentence",
    (l) => {
      const loops = "Loop A: measurement, Loop B: selection, Loop C: policy";
      const filler = "this term means that the reward of one completion is what its scorer says";
      const terms = ["Reward", "Metric", "Objective", "Loss", "Policy", "Environment"];
      l.write(
        "notes/mental_map_v1.md",
        `${terms.map((term) => `## ${term}\n\n${term} ${filler} ${term}\n`).join("\n")}\n## The three loops\n\n${loops}\n`,
      );
    },
  ],
  [
    "2",
    "program",
    /import only softmax.*found TWO_STEP_UPDATES from "lockedroom\/learn"/,
    "the program is the reference solution, imported",
    (l) => {
      l.edit(TWO_STEP, "  softmax,", "  softmax,\n  TWO_STEP_UPDATES,\n  trainOnDraws,");
      l.edit(
        TWO_STEP,
        /let policy = START;[\s\S]*?\n {2}\}\);/,
        "return [...trainOnDraws(draws, { lr, baseline }, TWO_STEP_UPDATES.both)];",
      );
      l.shell("rm -r runs/l2_build_two_step");
    },
  ],
  [
    "2",
    "restored",
    /import only softmax.*found actionAt from "lockedroom\/learn"/,
    "the restored program samples with the reference solution",
    (l) => {
      l.edit(TWO_STEP, "  softmax,", "  softmax,\n  actionAt,");
      l.edit(TWO_STEP, /let left = draw;\n.*\n/, "return actionAt(softmax(logits), draw);\n");
      l.commit("L2 fix");
    },
  ],
  [
    "0",
    "run-note",
    /one or two of model, verifier, spec, data.*found bad luck/,
    "the failure has no type",
    (l) => rewrite(l, "Failure type", "bad luck"),
  ],
  [
    "0",
    "run-note",
    /at most one knob.*found environment and measurement/,
    "two knobs were turned at once",
    (l) => {
      l.edit("scoring.ts", "1.0.0", "1.0.1");
      l.do(
        "eval --dataset data/datasets/math_dev_TAMPERED.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl --force --quiet --outdir runs/l0_sabotage_eval_tampered",
      );
    },
  ],
  [
    "4",
    "measured",
    /the version of commit/,
    "the run was scored by the scorer as it was shipped",
    (l) =>
      l.do(
        "eval --dataset data/datasets/math_dev.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl --force --quiet --outdir runs/l4_sabotage_eval",
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
    /did not end within/,
    "the code never ends",
    (l) => {
      l.edit(KATA, /\): FailureClass \{/, "): FailureClass {\n  for (;;);");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "kata",
    /used more than|ended by itself/,
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
    "0.5",
    "sabotage",
    /the same for/,
    "one random run was copied",
    (l) => forge(l, "l0_5_sabotage_sel_random_1", "l0_5_sabotage_sel_random_2"),
  ],
  [
    "0.5",
    "sabotage",
    /does not select/,
    "a row was edited to look random",
    (l) =>
      editResults(l, "l0_5_sabotage_sel_random_3", (row) => {
        const worse = (row.samples ?? []).slice(0, 4).findIndex(({ reward }) => reward === 0);
        const sample = row.samples?.[worse];
        if (row.reward !== 1 || !sample) return;
        const { completion, reward, outcome_code } = sample;
        Object.assign(row, { completion, reward, outcome_code });
        row.selected = { index: worse, reward, outcome_code };
      }),
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
    /the reverse/,
    "the tie-break ignores the log-prob",
    (l) => {
      l.edit(POLICY, "-(sample.sum_logprob ?? 0),", "");
      l.commit("L0.5 fix");
    },
  ],
  [
    "0.5",
    "tie-break",
    /null\); found the reverse\. .*a log-prob of 0 is a probability of 1.*Missing is not zero/,
    "a missing log-prob counts as 0",
    (l) => {
      l.edit(POLICY, "sample.sum_logprob === null ? 1 : 0,", "");
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
    /expected sign of step \d+ that follows from reward . and baseline [\d.]+; found negative/,
    "a sign is wrong",
    (l) => l.edit("notes/reinforce_forensics.md", "| positive | up", "| negative | up"),
  ],
  [
    "1",
    "ten-steps",
    /expected must of step \d+ that follows .*sign of the learning rate; found down/,
    "a direction is wrong",
    (l) => l.edit("notes/reinforce_forensics.md", /\| positive \| up/, "| positive | down"),
  ],
  [
    "1",
    "ten-steps",
    /expected action of step \d+ as --slow prints it, a letter from A to D; found 3/,
    "an arm is given by its number in the log",
    (l) => l.edit("notes/reinforce_forensics.md", /\| D \|/, "| 3 |"),
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
    /not in the history/,
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
    /first logits|\[/,
    "the update has the wrong sign",
    (l) => rebuild(l, "z + lr", "z - lr"),
  ],
  [
    "2",
    "world",
    /found 1|found 0/,
    "the world pays the wrong path",
    (l) => rebuild(l, "[0.1, 0.3]", "[0.9, 0.3]"),
  ],
  [
    "2",
    "sampling",
    /found 1|found 0/,
    "the likelier option is always chosen",
    (l) => rebuild(l, "(left -= p) < 0", "p >= 0.5 && left === draw"),
  ],
  [
    "2",
    "program",
    /expected baseline .*in step \d+, with a baseline; found/,
    "a reward is part of its own baseline",
    (l) => rebuild(l, "i > 0 ? sum / i : 0", "i > 0 ? (sum + earned) / (i + 1) : 0"),
  ],
  [
    "2",
    "program",
    /policy_after .*in step \d+/,
    "the loop does not use the update",
    (l) =>
      rebuild(
        l,
        "policy = update(policy, { first, second, advantage, lr });",
        "policy = { ...policy };",
      ),
  ],
  [
    "2",
    "restored",
    /policy_after/,
    "the update has the wrong sign after the fix",
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
    "1",
    "order",
    /the same start time|found 2/,
    "the build was made after the sabotage",
    (l) => {
      l.do(
        "bandit-train --steps 200 --seed 0 --lr 0.5 --baseline --outdir runs/l1_build_bandit --force --quiet",
      );
    },
  ],
  [
    "3",
    "fixed",
    /found \[0\]/,
    "the leash was not put back",
    (l) => {
      l.edit("assignments/kl_regularized_choice.ts", "BETAS = [0.1, 1.0]", "BETAS = [0]");
      l.commit("L3 fix");
    },
  ],
  [
    "3",
    "build",
    /no line for this beta|no committed version/,
    "the program prints nothing",
    (l) => {
      const script = "assignments/kl_regularized_choice.ts";
      l.edit(script, /\/\/ Runs only when[\s\S]*$/, "");
      l.commit("L3 build");
      l.write("runs/l3_build_kl_choice.txt", "");
    },
  ],
  [
    "4",
    "build",
    /agree|another version/,
    "the report of the build was edited",
    (l) => l.edit("runs/l4_build_exploits.json", /"agrees": \d+/, '"agrees": 1'),
  ],
  [
    "4",
    "build",
    /other content/,
    "the shipped scorer was doctored from the start",
    (l) =>
      l.shell(
        "git filter-branch -f --tree-filter 'sed -i s/1.0.0/0.9.0/ scoring.ts' >/dev/null 2>&1",
      ),
  ],
  [
    "5",
    "naive",
    /found 0|found 1/,
    "naive wants the number at the end",
    (l) => {
      l.edit(
        HACKABLE,
        "completion.includes(String(expected))",
        "completion.endsWith(String(expected))",
      );
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "class",
    /found 1/,
    "the patch wants the prefix and one number",
    (l) => {
      l.edit(
        HACKABLE,
        /return completion\.trim\(\)[^;]*;/,
        'return completion.startsWith("Final:") && completion.match(/-?[0-9]+/g)?.join() === String(expected) ? 1 : 0;',
      );
      l.commit("L5 fix");
    },
  ],
  [
    "5",
    "tests",
    /all of them pass/,
    "the tests test nothing",
    (l) => {
      l.write("tests/hackable_scorer_demo.test.ts", PASSING_TESTS);
      l.commit("L5 tests");
    },
  ],
  [
    "0",
    "kata-tests",
    /0|failed without/,
    "the counts are printed, and there is no test",
    (l) => {
      l.write(
        "tests/kata_01.test.ts",
        'import { existsSync } from "node:fs";\nconsole.log("# tests 3\\n# fail " + Number(existsSync("assignments/kata_01.original.ts")));\n',
      );
      l.commit("L0 tests");
    },
  ],
  [
    "0",
    "kata-tests",
    /did not end|all of them pass|0/,
    "a grandchild holds the output",
    (l) => {
      l.write(
        "tests/kata_01.test.ts",
        'import { spawn } from "node:child_process";\nspawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit", detached: true }).unref();\n',
      );
      l.commit("L0 tests");
    },
  ],
  [
    "0",
    "kata",
    /"unknown"|expected/,
    "the code answers in our place",
    (l) => {
      l.edit(KATA, /^/, "process.send?.(null);\nprocess.send?.([{ value: 1 }]);\n");
      l.edit(KATA, '"leading_zeros",', "");
      l.commit("L0 kata");
    },
  ],
  [
    "0",
    "mental-map",
    /not a plain file/,
    "a note is a pipe",
    (l) => l.shell("rm notes/mental_map_v1.md && mkfifo notes/mental_map_v1.md"),
  ],
  [
    "0",
    "build",
    /a link or a file/,
    "a run lies elsewhere",
    (l) =>
      l.shell(
        "mv runs/l0_build_eval ../elsewhere_run && ln -s ../../elsewhere_run runs/l0_build_eval",
      ),
  ],
  [
    "2",
    "fixed",
    /other .*results|other .*metrics|not in the history/,
    "the run does not use the program that is checked",
    (l) => {
      l.edit(
        TWO_STEP,
        "program: train,",
        "program: (draws, training) => train(draws, training).map((line) => ({ ...line, policy_after: { first: [-9, 9], second: [[0, 0], [-9, 9]] } })),",
      );
      l.commit("L2 fix");
      l.do(
        `run ${TWO_STEP} --steps 200 --seed 0 --baseline --force --outdir runs/l2_fixed_two_step`,
      );
    },
  ],
  [
    "6",
    "memo",
    /found "policy, not selection"/,
    "the memo names two knobs",
    (l) =>
      l.edit("notes/promotion_memo.md", "Knob: selection compute", "Knob: policy, not selection"),
  ],
  [
    "7",
    "build",
    /another judgements\.jsonl/,
    "a score of the judge was edited, and the hash as well",
    (l) => {
      const run = "runs/l7_build_audit";
      const before = sha256(l.read(`${run}/judgements.jsonl`));
      l.edit(`${run}/judgements.jsonl`, /"score":0\.\d+/, '"score":0.9999');
      l.edit(`${run}/summary.json`, before, sha256(l.read(`${run}/judgements.jsonl`)));
    },
  ],
  [
    "7",
    "biased-judge",
    /another audit\.json/,
    "the audit is of the honest judge",
    (l) =>
      l.shell("rm -r runs/l7_sabotage_judge && cp -r runs/l7_build_audit runs/l7_sabotage_judge"),
  ],
  [
    "7",
    "poor-rubric",
    /convicted of nothing/,
    "the rubric of the sabotage is the repaired one",
    (l) =>
      l.shell("rm -r runs/l7_sabotage_rubric && cp -r runs/l7_fixed_audit runs/l7_sabotage_rubric"),
  ],
  [
    "7",
    "fixed",
    /not in the history/,
    "the rubric of the audit was never committed",
    (l) => {
      l.write("other.md", "- It names the customer's problem.\n- It is at most 60 words long.\n");
      l.try(
        "judge-audit --judge embedded --limit 120 --no-cache --rubric other.md --force --outdir runs/l7_fixed_audit",
      );
    },
  ],
  [
    "7",
    "fixed",
    /another audit\.json/,
    "the margins of the audit are wide",
    (l) =>
      l.do(
        "judge-audit --judge embedded --limit 120 --no-cache --rubric rubrics/replies.md --margin 0.5 --force --outdir runs/l7_fixed_audit",
      ),
  ],
  [
    "7",
    "report",
    /a text without it/,
    "the report names no judge",
    (l) => l.edit("notes/judge_report.md", /`[0-9a-f]{12}`/, "`some judge`"),
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

/** Ways to cheat that concern many checks alike; each is done once, and every check looks at it. */
const GENERAL: readonly (readonly [
  name: string,
  checks: (id: string, title: string) => boolean,
  found: RegExp,
  spoil: (learner: Learner) => void,
])[] = [
  [
    "the steps have other names",
    (id) => id.startsWith("commit-"),
    /no such commit|without it|in "/,
    (l) => l.shell("git filter-branch -f --msg-filter 'sed s/^L/M/' >/dev/null 2>&1"),
  ],
  [
    "the work is on another branch",
    (id) => id === "branch",
    /found it on elsewhere/,
    (l) => l.shell("git branch -m mastery-track elsewhere"),
  ],
  [
    "evidence was changed after its commit",
    (id) => id === "evidence",
    /other content/,
    (l) => l.shell("for f in notes/*.md assignments/*.ts; do echo >> $f; done"),
  ],
  [
    "evidence is ignored by git",
    (id) => id === "evidence",
    /never added, or is ignored/,
    (l) => {
      l.shell("echo runs/ >> .git/info/exclude && echo notes/ >> .git/info/exclude");
      l.shell(
        "git rm -rq --cached runs notes assignments && git -c user.name=A -c user.email=a@b commit -qm gone",
      );
    },
  ],
  [
    "a file outside of the budget was changed",
    (id) => id === "budget",
    /package.json \(commit/,
    (l) => {
      for (const [level] of WALK) {
        l.write("package.json", `${l.read("package.json")}\n`);
        l.commit(`L${level} more`);
      }
    },
  ],
  [
    "a file with an odd name hides in a commit with an odd subject",
    (id) => id === "budget",
    /a"b.*\(commit/,
    (l) => {
      for (const [level] of WALK) {
        l.write(`lib/a"b ${level}.ts`, "");
        l.commit(`L${level} more \u001f\u001e`);
      }
    },
  ],
  [
    "every run is gone",
    (_, title) => /^runs\/|repeatable|hash|random|contradicts|trap \d: the gate/.test(title),
    /no such/,
    (l) => rmSync(l.file("runs"), { recursive: true }),
  ],
  [
    "numbers of the summaries were invented",
    (_, title) => /repeat|learned|did not learn|lr .*steps|honest failures/.test(title),
    /other metrics|changed afterwards/,
    (l) => {
      for (const file of l.shell("grep -l metrics runs/*/summary.json").trim().split("\n")) {
        l.edit(file, '"metrics": {', '"metrics": {\n    "forged": 1,');
      }
    },
  ],
  [
    "the notes are as they were given",
    (_, title) => /^notes\/|run note|why the sabotage|annotated/.test(title),
    /yours to write|placeholder|0|no such/,
    (l) => {
      l.shell("git checkout -q $(git rev-list --max-parents=0 HEAD) -- notes");
      l.shell(
        "sed -i 's/\\*\\*What I expected:\\*\\*.*/**What I expected:** _yours to write_/' runs/*/README.md",
      );
    },
  ],
];

/** Checks that a general way of cheating concerns, as "level id". */
function concerned(checks: (id: string, title: string) => boolean): [string, string][] {
  return [...course.LEVELS, ...course.EXTRA_LEVELS].flatMap((level) =>
    level.checks
      .filter(({ id, title }) => checks(id, title))
      .map(({ id }): [string, string] => [level.id, id]),
  );
}

describe.each(GENERAL)("when %s", (_, checks, found, spoil) => {
  let learner: Learner;
  beforeAll(() => {
    learner = copy();
    spoil(learner);
  });
  test.each(concerned(checks))(
    "level %s, %s notices",
    async (level, check) => {
      const evidence = await learner.evidence(level, check);
      expect(evidence).not.toMatch(/^passed/);
      expect(evidence).toMatch(found);
    },
    MINUTE,
  );
});

test("every check of every level is tried by some cheat", () => {
  const tried = new Set([
    ...CHEATS.map(([level, check]) => `${level} ${check}`),
    ...GENERAL.flatMap(([, checks]) => concerned(checks).map((pair) => pair.join(" "))),
  ]);
  const all = concerned(() => true).map((pair) => pair.join(" "));
  expect(all.filter((pair) => !tried.has(pair))).toEqual([]);
});

/** Of several cheats on one check the first: each takes seconds. ALL_CHEATS=1 tries every one. */
const TRIED = process.env.ALL_CHEATS
  ? CHEATS
  : CHEATS.filter(
      ([level, check], i) =>
        i === CHEATS.findIndex((other) => other[0] === level && other[1] === check),
    );

describe("what is skipped or faked is caught", () => {
  test.each(TRIED)(
    "level %s, %s: found %s when %s",
    async (level, check, found, _name, spoil) => {
      const learner = copy();
      spoil(learner);
      const evidence = await learner.evidence(level, check);
      learner.leave();
      expect(evidence).not.toMatch(/^passed/);
      expect(evidence).toMatch(found);
    },
    MINUTE,
  );
});

test("the checks change nothing in the workspace", () => {
  expect(walked.shell("git status --porcelain")).toBe("");
  expect(existsSync(walked.file("node_modules/.cache"))).toBe(false);
});
