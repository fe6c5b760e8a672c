/** The whole track as a diligent learner walks it, sabotages included. Solutions live only here. */

import { expect } from "vitest";
import { EXPLAINED } from "./explained.ts";
import type { Learner } from "./learner.ts";

const DEV = "data/datasets/math_dev.jsonl";
const WORDS =
  "These are words of my own about what I saw in the artifacts and why it happened as it did. The manifest names the data, the scorer and its version, and whoever compares two numbers has to look there first, because a number without its conditions says nothing at all about a policy.";

/** Another paragraph for every blank, as a person would write. */
const PARAGRAPHS = [
  WORDS,
  "What I saw surprised me at first: the figure moved although nobody had touched the policy, and only the hashes of the inputs told me where to look. Since then I read the manifest before I read any number, and I write down in advance what I expect to see and why.",
  "A change of this kind looks harmless on paper. It feeds on itself, however, because every later decision is taken on ground that the earlier one prepared, and whoever measures only the end cannot say which of many small steps was the one that went wrong.",
  "I would now defend the opposite view. The rule that seemed pedantic is what keeps two experiments comparable, and dropping it buys a prettier curve today for a result that no colleague could reproduce, explain or trust tomorrow morning.",
  "Three observations support this: the log shows the sign of each advantage, the summary counts every outcome by its code, and repeating the command gives the same bytes again. None of them depends on anyone's good intentions or memory.",
  "The mechanism is simple once it is named. An optimiser follows the slope it is given; if the slope points at a loophole it will walk there, patiently, and arrive, and nothing in the curve will announce that the goal has been left behind on the way.",
  "In the end I repaired the cause and not the symptom, wrote a test which fails when the cause returns, and kept the broken run in the history as a reminder of how convincing a wrong figure can look when it happens to be larger than before.",
];

/** The commands of a stage without the commits and the tests, which each walk does itself. */
function paste(learner: Learner, level: string, stage: string): void {
  const block = learner
    .commandsOf(level, stage)
    .split("\n")
    .filter((line) => !/^(?:git|npm|cat|head|#)/.test(line) && !line.includes("goodhart-demo"))
    .join("\n");
  // A verdict that is no promotion, and an audit that does not trust, have other exit codes than 0.
  const verdicts = /(\.\/lockedroom (?:gate[\s\S]*?--report|judge-audit[\s\S]*?--outdir) \S+)/g;
  learner.shell(block.replace(verdicts, "{ $1 || true; }"));
}

function fill(learner: Learner, file: string): void {
  let heading = "";
  let next = 0;
  const text = learner.read(file);
  learner.write(
    file,
    text
      .split("\n")
      .map((line) => {
        heading = /^## (.*)$/.exec(line)?.[1] ?? heading;
        return /Replace every/.test(line)
          ? line
          : line.replace(
              /_yours to write[^_]*_/,
              () => EXPLAINED[heading] ?? (PARAGRAPHS[next++ % PARAGRAPHS.length] as string),
            );
      })
      .join("\n"),
  );
}

/** Fills in the note of a run: what is free text with a paragraph, the rest as the note asks. */
function fillNote(learner: Learner, run: string, knob: string, change: string): void {
  const file = `runs/${run}/README.md`;
  const fields: Record<string, string> = {
    "Knob turned (pick one)": knob,
    "Single change since the last run": change,
    "Failure type(s)": "model, spec",
    "Next change (exactly one)": "go back to the settings of the build",
  };
  for (const [label, text] of Object.entries(fields)) {
    learner.edit(
      file,
      new RegExp(`(\\*\\*${label.replace(/[()]/g, "\\$&")}:\\*\\*).*`),
      `$1 ${text}`,
    );
  }
  fill(learner, file);
}

export function level0(learner: Learner): void {
  paste(learner, "0", "Build");
  learner.commit("L0 build");
  learner.shell(
    `sed '4s/"expected_answer":18/"expected_answer":113/' ${DEV} > data/datasets/math_dev_TAMPERED.jsonl`,
  );
  const evaluation = learner.commandsOf("0", "Sabotage").split("\n").slice(2).join("\n");
  learner.shell(evaluation);
  paste(learner, "0", "Reflect");
  fillNote(
    learner,
    "l0_sabotage_eval_tampered",
    "environment",
    "one expected answer in a copy of the data set",
  );
  learner.commit("L0 sabotage");
  learner.edit(
    "assignments/kata_01.ts",
    /\{\s*void outcomeCode[\s\S]*\}\s*$/,
    `{
  if (outcomeCode === "wrong_answer") return "model_math";
  if (outcomeCode === "invalid_example") return "data_invalid";
  return FORMAT.includes(outcomeCode) ? "model_format" : "unknown";
}

const FORMAT = [
  "not_single_line", "missing_prefix", "extra_whitespace", "missing_integer",
  "plus_sign_disallowed", "missing_digits", "non_digit_characters",
  "negative_zero_disallowed", "leading_zeros",
];
`,
  );
  learner.write(
    "tests/kata_01.test.ts",
    `import assert from "node:assert/strict";
import test from "node:test";
import { classify } from "../assignments/kata_01.ts";

test("a wrong number is arithmetic", () => assert.equal(classify("wrong_answer"), "model_math"));
test("a missing prefix is format", () => assert.equal(classify("missing_prefix"), "model_format"));
test("a broken example is data", () => assert.equal(classify("invalid_example"), "data_invalid"));
test("anything else is unknown", () => assert.equal(classify("who knows"), "unknown"));
`,
  );
  fill(learner, "notes/mental_map_v1.md");
  learner.edit(
    "notes/mental_map_v1.md",
    /$/,
    "\n```text\nLoop A: measurement instrument\nLoop B: selection compute\nLoop C: policy\n```\n",
  );
  learner.commit("L0 fix");
}

const RANDOM_KEY = "[Math.random(), sample.completion]";
const TIE_BREAK = `[
    sample.sum_logprob === null ? 1 : 0,
    -(sample.sum_logprob ?? 0),
    sample.completion.length,
    sample.completion,
  ]`;

export function level0_5(learner: Learner): void {
  const policy = "assignments/selection_policy.ts";
  paste(learner, "0.5", "Build");
  learner.commit("L0.5 build");
  learner.edit(policy, "[sample.index]", RANDOM_KEY);
  learner.commit("L0.5 sabotage");
  paste(learner, "0.5", "Sabotage");
  fillNote(learner, "l0_5_sabotage_sel_random_1", "selection compute", "the tie-break is random");
  learner.commit("L0.5 sabotage runs");
  learner.edit(policy, RANDOM_KEY, TIE_BREAK);
  learner.write(
    "tests/selection_policy.test.ts",
    `import assert from "node:assert/strict";
import test from "node:test";
import { tieBreakKey } from "../assignments/selection_policy.ts";

const sample = (completion: string, sum_logprob: number | null, index = 0) =>
  ({ index, completion, sum_logprob, reward: 1 });
const before = (a: (string | number)[], b: (string | number)[]) => {
  const at = a.findIndex((x, i) => x !== b[i]);
  return at >= 0 && (a[at] as number) < (b[at] as number);
};

test("the same sample always has the same key", () => {
  for (let i = 0; i < 20; i++) assert.deepEqual(tieBreakKey(sample("x", -1)), tieBreakKey(sample("x", -1)));
});
test("the likelier sample wins", () => {
  assert.ok(before(tieBreakKey(sample("x", -1, 1)), tieBreakKey(sample("x", -2, 0))));
});
test("then the shorter one", () => {
  assert.ok(before(tieBreakKey(sample("x", -1, 1)), tieBreakKey(sample("xx", -1, 0))));
});
test("then the one that comes first in the alphabet", () => {
  assert.ok(before(tieBreakKey(sample("a", -1, 1)), tieBreakKey(sample("b", -1, 0))));
});
`,
  );
  learner.commit("L0.5 fix");
  paste(learner, "0.5", "Repair and lock");
  learner.commit("L0.5 fix, with its runs");
}

export function level1(learner: Learner): void {
  paste(learner, "1", "Build");
  learner.commit("L1 build");
  paste(learner, "1", "Sabotage");
  paste(learner, "1", "Reflect");
  fillNote(learner, "l1_sabotage_lrneg", "policy", "a learning rate of -0.5, not 0.5");
  learner.commit("L1 sabotage");
  const log = learner
    .read("runs/l1_build_slow/log.jsonl")
    .trim()
    .split("\n")
    .slice(4, 14)
    .map((line) => JSON.parse(line));
  const rows = log.map(({ step, action, reward, baseline, advantage }) => {
    const [sign, must] =
      advantage > 0
        ? ["positive", "up"]
        : advantage < 0
          ? ["negative", "down"]
          : ["zero", "unchanged"];
    return `| ${step} | ${"ABCD"[action]} | ${reward} | ${baseline.toFixed(4)} | ${advantage.toFixed(4)} | ${sign} | ${must} |`;
  });
  learner.edit(
    "notes/reinforce_forensics.md",
    "|---|---|---|---|---|---|---|\n",
    `|---|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
  );
  fill(learner, "notes/reinforce_forensics.md");
  learner.commit("L1 fix");
}

const NUDGE = `
function nudge(logits: readonly number[], action: number, advantage: number, lr: number) {
  const p = softmax(logits);
  return logits.map((z, i) => z + lr * advantage * ((i === action ? 1 : 0) - (p[i] ?? 0)));
}
`;
const SECOND =
  "second: policy.second.map((z, i) => (i === episode.first ? nudge(z, episode.second, episode.advantage, episode.lr) : z)),";
export const BOTH = `return {
    first: nudge(policy.first, episode.first, episode.advantage, episode.lr),
    ${SECOND}
  };`;
export const LAST = `return {
    first: policy.first,
    ${SECOND}
  };`;

const WORLD = `return draw < (PAYS[first]?.[second] ?? 0) ? 1 : 0;
}

const PAYS = [
  [0.1, 0.3],
  [0.2, 0.9],
];`;
const SAMPLE = `let left = draw;
  return softmax(logits).findIndex((p) => (left -= p) < 0);
}`;
const TRAIN = `let policy = START;
  let sum = 0;
  return draws.map((drawn, i) => {
    const first = sample(policy.first, drawn.first);
    const logits = policy.second[first] ?? [];
    const second = sample(logits, drawn.second);
    const earned = reward(first, second, drawn.reward);
    const mean = baseline && i > 0 ? sum / i : 0;
    const before = {
      first_probabilities_before: softmax(policy.first),
      second_probabilities_before: softmax(logits),
    };
    sum += earned;
    const advantage = earned - mean;
    policy = update(policy, { first, second, advantage, lr });
    return {
      step: i + 1,
      ...before,
      first,
      second,
      reward: earned,
      baseline: mean,
      advantage,
      policy_after: policy,
    };
  });
}`;

/** The assignment with every part filled in. */
export function twoStepProgram(template: string, update: string): string {
  const parts = {
    update: `${update}\n}\n${NUDGE}`,
    reward: WORLD,
    sample: SAMPLE,
    train: TRAIN,
  };
  let text = template;
  for (const [name, body] of Object.entries(parts)) {
    text = text.replace(
      new RegExp(`void \\[[^\\]]*\\];\\n {2}throw new Error\\("${name} is not[^\\n]*\\n\\}`),
      () => body,
    );
  }
  return text;
}

export function level2(learner: Learner): void {
  const demo = "assignments/two_step_mdp_demo.ts";
  learner.write(demo, twoStepProgram(learner.read(demo), BOTH));
  learner.commit("L2 build");
  paste(learner, "2", "Build");
  learner.commit("L2 build run");
  learner.edit(demo, BOTH, LAST);
  learner.commit("L2 sabotage");
  paste(learner, "2", "Sabotage");
  fillNote(learner, "l2_sabotage_no_credit_step1", "policy", "no update of the first decision");
  learner.edit(demo, LAST, BOTH);
  learner.commit("L2 fix");
  paste(learner, "2", "Repair and lock");
  fill(learner, "notes/credit_assignment.md");
  learner.edit(
    "notes/credit_assignment.md",
    /$/,
    "\n```text\ntokens -> detokenize -> text -> parse -> reward\n```\n",
  );
  learner.commit("L2 fix, with its run and note");
}

const CANDIDATES = `[
  { name: "reference", reward: 0.2, kl: 0 },
  { name: "careful", reward: 0.45, kl: 0.1 },
  { name: "bold", reward: 0.7, kl: 0.6 },
  { name: "daring", reward: 0.8, kl: 1.0 },
  { name: "wild", reward: 0.9, kl: 2.5 },
  { name: "unhinged", reward: 1.0, kl: 6.0 },
]`;

export function level3(learner: Learner): void {
  const script = "assignments/kl_regularized_choice.ts";
  learner.do("kl-tradeoff-demo --plot --outdir runs/l3_build_kl_demo --quiet");
  learner.edit(script, "readonly Candidate[] = []", `readonly Candidate[] = ${CANDIDATES}`);
  learner.edit(
    script,
    /void \[[^\]]*\];\n {2}throw new Error\("choose is not[^\n]*/,
    `const value = (c: Candidate) => c.reward - beta * c.kl;
  return [...candidates].sort((a, b) => value(b) - value(a) || a.kl - b.kl)[0] as Candidate;`,
  );
  fillNote(learner, "l3_build_kl_demo", "none", "none: the first run of its kind");
  learner.commit("L3 build");
  learner.shell(`./lockedroom run ${script} > runs/l3_build_kl_choice.txt`);
  learner.edit(script, "BETAS = [0.1, 1.0]", "BETAS = [0]");
  learner.commit("L3 sabotage");
  learner.shell(`./lockedroom run ${script} > runs/l3_sabotage_no_kl.txt`);
  learner.edit(script, "BETAS = [0]", "BETAS = [0.1, 1.0]");
  fill(learner, "notes/kl_tradeoff.md");
  learner.commit("L3 fix");
}

const PROBES: readonly [string, string, string][] = [
  ["Final: 323", "ok", "ok"],
  ["Final:  323", "extra_whitespace", "extra_whitespace"],
  ["Final: 0323", "leading_zeros", "leading_zeros"],
  ["Final:\n323", "extra_whitespace", "not_single_line"],
  ["323", "missing_prefix", "missing_prefix"],
  ["Final: +323", "plus_sign_disallowed", "plus_sign_disallowed"],
  ["Final: 324", "wrong_answer", "wrong_answer"],
  ["Final: 323.", "non_digit_characters", "non_digit_characters"],
];

function probeTable(withActual: boolean): string {
  const rows = PROBES.map(
    ([text, predicted, actual]) =>
      `| \`${JSON.stringify(text)}\` | ${predicted} | ${withActual ? actual : ""} |`,
  );
  return `|---|---|---|\n${rows.join("\n")}\n`;
}

const STRICT =
  "const IN_SPEC = /^[ \\t\\n\\r\\v\\f]*Final: (0|-?[1-9][0-9]*)[ \\t\\n\\r\\v\\f]*$/;";
const LENIENT =
  "const IN_SPEC = /^[ \\t\\n\\r\\v\\f]*Final:[ \\t]+(0|-?[1-9][0-9]*)[ \\t\\n\\r\\v\\f]*$/;";

export function level4(learner: Learner): void {
  const note = "notes/reward_spec_blackbox.md";
  fill(learner, note);
  learner.edit(note, "|---|---|---|\n", probeTable(false));
  paste(learner, "4", "Build");
  learner.commit("L4 build");
  learner.edit("scoring.ts", STRICT, LENIENT);
  learner.commit("L4 sabotage");
  const [validation = "", evaluation = ""] = learner
    .commandsOf("4", "Sabotage")
    .split(/\n(?=\.\/lockedroom)/)
    .slice(1);
  learner.shell(`${validation} || true`);
  learner.shell(evaluation);
  fillNote(learner, "l4_sabotage_eval", "measurement instrument", "a scorer with one looser rule");
  learner.edit("scoring.ts", LENIENT, STRICT);
  learner.edit(note, probeTable(false), probeTable(true));
  learner.write(
    "tests/reward_regressions.test.ts",
    `import assert from "node:assert/strict";
import test from "node:test";
import { score } from "../scoring.ts";

const example = { id: "t", prompt: "", expected_answer: 42 };
const cases: [string, number][] = [
  ["Final: 42", 1], ["  Final: 42\\n", 1],
  ["Final:  42", 0], ["Final:\\t42", 0], ["Final: 042", 0], ["Final: 42\\nFinal: 41", 0],
];
for (const [text, reward] of cases) {
  test(JSON.stringify(text), () => assert.equal(score(example, text).reward, reward));
}
`,
  );
  const [first = ""] = learner.read(DEV).split("\n");
  const { id, expected_answer: answer } = JSON.parse(first);
  const spaces = ["   ", "    ", "\t", "\t\t", " \t "];
  const exploits = spaces.map((space) =>
    JSON.stringify({
      completion: `Final:${space}${answer}`,
      expected_reward: 0,
      id,
      note: "more white space",
    }),
  );
  learner.write("data/golden/golden_exploits_extra.jsonl", `${exploits.join("\n")}\n`);
  learner.commit("L4 fix");
  learner.shell(learner.commandsOf("4", "Repair and lock").split("\n").slice(2).join("\n"));
  learner.commit("L4 fix, with its report");
}

export const HACKS = [
  { expected: 42, completion: "40 41 42 43 44" },
  { expected: 42, completion: "Final: 41\nFinal: 42" },
  { expected: 42, completion: "The answer is not 42, I promise." },
  { expected: 7, completion: "Final: 6 or 7" },
  { expected: 7, completion: '{"guesses": [5, 6, 7]}' },
];

export function level5(learner: Learner): void {
  const demo = "assignments/hackable_scorer_demo.ts";
  learner.shell(learner.commandsOf("5", "Build").split("\n").slice(0, 4).join("\n"));
  learner.edit(
    demo,
    /void \[[^\]]*\];\n {2}throw new Error\("naive is not[^\n]*/,
    "return completion.includes(String(expected)) ? 1 : 0;",
  );
  learner.do(`run ${demo}`);
  fillNote(learner, "l5_build_eval_context", "none", "none");
  learner.commit("L5 build");
  learner.edit(
    demo,
    "HACKS: readonly Case[] = []",
    `HACKS: readonly Case[] = ${JSON.stringify(HACKS)}`,
  );
  learner.commit("L5 sabotage");
  learner.edit(
    demo,
    "return naive(expected, completion);",
    "return completion.trim() === 'Final: ' + expected ? 1 : 0;",
  );
  learner.write(
    "tests/hackable_scorer_demo.test.ts",
    `import assert from "node:assert/strict";
import test from "node:test";
import { HACKS, HONEST, patched } from "../assignments/hackable_scorer_demo.ts";

test("hacks lose", () => {
  for (const { expected, completion } of HACKS) assert.equal(patched(expected, completion), 0);
});
test("honest answers win", () => {
  for (const { expected, completion } of HONEST) assert.equal(patched(expected, completion), 1);
});
`,
  );
  fill(learner, "notes/red_team_report.md");
  learner.edit(
    "notes/red_team_report.md",
    "## Why they worked",
    `${HACKS.map(({ completion }) => `- \`${JSON.stringify(completion).slice(1, -1)}\``).join("\n")}\n\n## Why they worked`,
  );
  learner.commit("L5 fix");
}

export function level6(learner: Learner): void {
  paste(learner, "6", "Sabotage");
  learner.commit("L6 traps");
  paste(learner, "6", "Reflect");
  const tampered = JSON.parse(learner.read("runs/l0_sabotage_eval_tampered/manifest.json"));
  const trap = (number: number, lines: Record<string, string>) =>
    `## Trap ${number}\n\n${Object.entries(lines)
      .map(([label, text]) => `- ${label}: ${text}`)
      .join("\n")}\n`;
  learner.write(
    "notes/promotion_memo.md",
    `# Promotion memo

${trap(1, { Loop: "A", Knob: "environment", "Comparison valid": "no", Verdict: "REJECT", Evidence: `the data set is \`${tampered.inputs[0].sha256}\`` })}
${trap(2, { Loop: "B", Knob: "selection compute", "Comparison valid": "yes", Verdict: "REJECT", Evidence: '`"n": 4` against `"n": 1`' })}
${trap(3, { Loop: "C", Knob: "policy", "Comparison valid": "yes", Verdict: "PROMOTE", Evidence: '`"steps": 200`' })}
## What I would promote today

${WORDS}
`,
  );
  fillNote(learner, "l6_trap_sel_n4", "selection compute", "four samples to select from");
  learner.commit("L6 memo");
}

/** A rubric that the audit trusts. */
const RUBRIC = `- It names the customer's problem.
- It says what happens next, and by when.
- It apologises or thanks, once.
- It promises nothing that the customer's message does not support.
- It is at most 60 words long.
`;

export function level7(learner: Learner): void {
  paste(learner, "7", "Build");
  learner.commit("L7 build");
  paste(learner, "7", "Sabotage");
  learner.commit("L7 sabotage");
  expect(learner.shell(learner.commandsOf("7", "Reflect"))).toContain('"name":"control"');
  learner.write("rubrics/replies.md", RUBRIC);
  paste(learner, "7", "Repair and lock");
  const found = ["build_audit", "sabotage_judge", "sabotage_rubric", "fixed_audit"].map((name) => {
    const { judge, trusted } = JSON.parse(learner.read(`runs/l7_${name}/audit.json`));
    return `- ${name}: ${trusted}, the judge is \`${judge.fingerprint.slice(0, 12)}\``;
  });
  learner.edit(
    "notes/judge_report.md",
    "_yours to write_\n\n## Why",
    `${found.join("\n")}\n\n## Why`,
  );
  fill(learner, "notes/judge_report.md");
  learner.commit("L7 fix");
}

/** In the order of the track; the last is extra. */
export const WALK: readonly (readonly [string, (learner: Learner) => void])[] = [
  ["0", level0],
  ["0.5", level0_5],
  ["1", level1],
  ["2", level2],
  ["3", level3],
  ["4", level4],
  ["5", level5],
  ["6", level6],
  ["7", level7],
];
