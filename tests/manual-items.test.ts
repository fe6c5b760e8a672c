/** What the manual must say: questions, scenarios, terms, repairs and tasks that no command prints. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LEVEL_1 } from "../src/course/levels/level-1.ts";

const page = (name: string) =>
  readFileSync(new URL(`../docs/manual/${name}.md`, import.meta.url), "utf8");

/** The text under a heading, up to the next heading of the same or a higher rank. */
function section(name: string, heading: string): string {
  const [, marks = "", rest = ""] =
    new RegExp(`^(#+) ${heading}$([\\s\\S]*)`, "m").exec(page(name)) ?? [];
  expect(marks, `${name}: ${heading}`).not.toBe("");
  return rest.split(new RegExp(`^#{1,${marks.length}} `, "m"))[0] ?? "";
}

/** The cells of each table row whose first cell is among these, in the order of the page. */
function rowsOf(text: string, firsts: readonly string[]): string[][] {
  return [...text.matchAll(/^\| (.+) \|$/gm)]
    .map(([, cells = ""]) => cells.split(" | "))
    .filter(([first = ""]) => firsts.includes(first));
}

test("the checklist asks five questions", () => {
  const asked = [...page("26-checklist").matchAll(/^(\d)\. \*\*(.+\?)\*\* .{20,}$/gm)];
  expect(asked.map(([, number, question]) => `${number} ${question}`)).toEqual([
    "1 Which loop am I in?",
    "2 What changed since the last run?",
    "3 Where did the reward come from?",
    "4 What would a lazy optimiser exploit?",
    "5 What exactly do I claim?",
  ]);
});

const SCENARIOS = [
  "1. Tool calls in strict JSON",
  "2. Code that must pass tests",
  "3. Answers with citations",
  "4. Safety without uselessness",
  "5. Iterating with comparable measurements",
];

test("each of five scenarios has its reward and what each loop can do", () => {
  expect(page("15-scenarios").match(/^## \d.*$/gm)).toEqual(SCENARIOS.map((one) => `## ${one}`));
  for (const scenario of SCENARIOS) {
    const told = section("15-scenarios", scenario).matchAll(/^- \*\*(.+?)\.\*\* .{15,}$/gm);
    expect(
      [...told].map(([, part]) => part),
      scenario,
    ).toEqual(["Reward", "Loop A", "Loop B", "Loop C"]);
  }
});

test("the usual order of work has five steps", () => {
  const steps = section("15-scenarios", "The usual order").match(/^\d\. .+$/gm) ?? [];
  expect(steps).toHaveLength(5);
  for (const [i, word] of ["work", "verifier", "selection", "Train", "regression test"].entries())
    expect(steps[i]).toContain(word);
});

/** In the glossary's order. */
const TERMS = `action, advantage A, bandit, baseline b, best-of-N, beta β, completion, coverage,
credit assignment, deterministic, distribution, distribution shift, drift, entropy, environment,
episode, exploit, exploration, false negative, false positive, filtering, fingerprint,
frozen rollouts, gate, golden rows, Goodhart's law, holdout, horizon, judge, KL, knob, learning,
locked room, log-prob, logit, loss, manifest, metric, objective J, on-policy, outcome code, pass@k,
policy π, proxy, reference, REINFORCE, return G, reward r, reward hacking, RLHF, rollout, scorer,
seed, selection, softmax, specification, termination, token, trajectory, verifier`.split(/,\s+/);

test("the glossary has each term, its meaning and its chapter", () => {
  const rows = page("16-glossary").matchAll(
    /^\| ([^|]+) \| [^|]{15,} \| \[\d+\]\([^)]+\)(?:, \[\d+\]\([^)]+\))* \|$/gm,
  );
  const terms = [...rows].map(([, term]) => term?.split(",")[0]);
  expect(TERMS.filter((term) => !terms.includes(term))).toEqual([]);
});

test("a parse failure has three possible causes, each with its own repair", () => {
  const rows = rowsOf(page("13-debugging-by-class"), [
    "parser bug",
    "spec unclear",
    "model, format",
  ]);
  expect(rows.map(([cause]) => cause)).toEqual(["parser bug", "spec unclear", "model, format"]);
  const [bug = "", spec = "", model = ""] = rows.map(([, , repair]) => repair);
  for (const step of ["golden correct", "fix the rule", "simple and deterministic", "version"])
    expect(bug).toContain(step);
  expect(spec).toMatch(/in the prompt and in the spec.*golden row/);
  expect(model).toMatch(/strict.*\(B\).*\(C\)/);
});

test("a low score has five classes, and an order of work before any repair", () => {
  const classes = ["model", "verifier", "data", "spec", "measurement"];
  const text = page("13-debugging-by-class");
  const rows = rowsOf(text, classes).filter((cells) => cells.length === 3);
  expect(rows.map(([name]) => name)).toEqual(classes);
  expect(text).toMatch(
    /raw completion.*scorer's reason.*[Rr]eproduce.*expected answer.*class.*repair/,
  );
});

test("drill A: one row in two sentences, with a solved row for each class", () => {
  const drill = section("13-debugging-by-class", "One row in two sentences");
  expect(drill).toMatch(/write two sentences: what the row shows .*, and which class .* and why/);
  expect(drill).toMatch(/a row of your own, write its two sentences in `notes\/mental_map\.md`/);
  const solved = [...drill.matchAll(/^\| `\w+` dev-\d+ \| .+\. \*\*(\w+)\*\*: .+\. \|$/gm)];
  expect(solved.map(([, name]) => name)).toEqual(["Model", "Data", "Spec", "Verifier"]);
});

test("drill B: why pass@4 is higher, in one sentence with both given phrases", () => {
  const drill = section("07-selection-filtering-learning", "Drill");
  const [task = ""] = /^Explain in one sentence why pass@4 is higher .*$/m.exec(drill) ?? [];
  expect(task).toContain("*same policy distribution*");
  expect(task).toContain("*different decision rule over samples*");
});

test("drill C: which arm becomes most likely, and which of two runs is less noisy", () => {
  const drill = section("06-baseline-and-advantage", "Drill");
  expect(drill).toMatch(/Each has a `summary\.md`; open both\./);
  expect(drill).toMatch(/^Which arm becomes most likely, and which run is less noisy\? .{40,}$/m);
});

test("the KL drill asks for reward, drift, and what drift looks like in outputs", () => {
  const drill = section("09-kl", "Drill");
  expect(drill).toMatch(/what happens to the expected reward, and what happens to the drift\? \w+/);
  const outputs = section("09-kl", "What drift looks like");
  expect(outputs).toMatch(/^\*\*Question\.\*\* What does drift look like in these outputs.*\?$/m);
  expect(outputs).toMatch(/^\*\*Check\.\*\* .{200,}$/m);
});

/** One row for each statement: its chapter, and the words without which it is not made. */
const STATEMENTS: readonly (readonly [string, string, RegExp])[] = [
  ["read, run, explain", "README", /^\*\*Read\*\* .*\n\n\*\*Run\*\* .*\n\n\*\*Explain\*\* /m],
  ["learning changes the policy and its data", "01-three-loops", /^\*\*Loop C, .*so is the data/m],
  ["macro: a bandit", "03-bandit-and-sequence", /^\*\*Macro: a contextual bandit\.\*\* .*prompt/m],
  ["micro: a sequence", "03-bandit-and-sequence", /^\*\*Micro: a sequence\.\*\* .*one token/m],
  ["episode", "03-bandit-and-sequence", /\*\*episode\*\*.*\*\*termination\*\*.*\*\*horizon\*\*/],
  [
    "tokens and text",
    "04-tokens-and-completions",
    /policy samples tokens\. The verifier reads text/,
  ],
  ["no gradient", "04-tokens-and-completions", /No gradient passes through that program/],
  ["log-probs are at most 0", "05-log-probs-and-signs", /log-probs are at most 0.*closer to zero/],
  ["logs make sums", "05-log-probs-and-signs", /^Logs are used because .*product.*sum/m],
  ["−0.8", "06-baseline-and-advantage", /baseline 0\.8 and reward 0, the advantage is −0\.8/],
  ["coverage", "08-frozen-rollouts", /No rule can select what is not in the pack/],
  ["the proxy gap", "12-goodhart", /\*\*proxy gap\*\*.*arithmetic.*helpfulness.*wide/],
  ["three exploits", "12-goodhart", /Three invented examples: .+; .+; .+\./],
];

test.each(STATEMENTS)("the manual says it: %s", (_, name, words) => {
  expect(page(name)).toMatch(words);
});

test("tables of methods, families and ways to stop have all their rows", () => {
  const has = (name: string, firsts: readonly string[]) =>
    expect([...new Set(rowsOf(page(name), firsts).map(([first]) => first))], name).toEqual(firsts);
  has("07-selection-filtering-learning", ["selection", "filtering", "learning"]);
  has("14-rlvr-and-rlhf", ["defined by", "fails by", "drifts", "audited by", "covers"]);
  has("21-when-to-stop", ["verifiable", "judge alone", "hybrid", "supervised"]);
  const rewards =
    /^\| verifiable: .*\n\| judged: .*\n\| hybrid: .* falls while the reward rises \|$/m;
  expect(page("21-when-to-stop")).toMatch(rewards);
  expect(page("14-rlvr-and-rlhf")).toMatch(/\| covers \| what a program can decide \| helpfulness/);
});

test("the chapter on judges: kinds of domains, what is measured, and what to do when judge and labels part", () => {
  const has = (heading: string, firsts: readonly string[]) =>
    expect(
      rowsOf(section("28-judges", heading), firsts).map(([first]) => first),
      heading,
    ).toEqual(firsts);
  has("When no rule can score", ["verifiable", "non-verifiable", "hybrid"]);
  has("What a judge is worth", [
    ...["order", "self-agreement", "length", "self-praise", "injection", "labels"],
    "Kendall's tau",
  ]);
  const cells = rowsOf(section("28-judges", "Hybrid: learn from the judge, stop by labels"), [
    ...["rises", "flat", "falls"],
  ]);
  expect(cells).toHaveLength(5);
  expect(cells.find(([judge, labels]) => judge === "rises" && labels === "fall")).toEqual([
    ...["rises", "fall", "reward hacking"],
    expect.stringMatching(/^stop, keep the best checkpoint by labels/),
  ]);
  expect(page("28-judges")).toMatch(/convicted of anything in at most 5 % of audits\./);
});

test("the chapter on graders: every type, and how each is hacked", () => {
  const types = [
    ...["string_check", "text_similarity", "score_model", "label_model", "python", "multi"],
    "endpoint",
  ].map((type) => `\`${type}\``);
  const rows = rowsOf(section("29-graders", "What each kind measures"), types);
  expect(rows.map(([first]) => first)).toEqual(types);
  const hacks = section("29-graders", "How graders are hacked").match(/^- \*\*.*?\.\*\*/gm);
  expect(hacks).toEqual([
    "- **The answer anywhere.**",
    "- **Similarity padded with the reference.**",
    "- **Template injection.**",
    "- **A sum of parts.**",
  ]);
});

test("words that the drills need are explained before the first of them", () => {
  const words = section("README", "Before you start").matchAll(
    /^- An? \*\*(\w+)\*\* |^- \*\*(\w+)\*\* /gm,
  );
  expect([...words].map(([, one, other]) => one ?? other)).toEqual([
    ...["command", "run", "JSONL", "distribution", "Deterministic", "seed", "expectation", "test"],
  ]);
});

test("the method table says which row was tuned after a look at the holdout", () => {
  const told = section("22-choosing-a-method", "What we measured");
  expect(told).toMatch(/KTO was first measured with a learning rate of 1e-5\..*holdout.*3e-6/);
  const recipe = readFileSync(new URL("../recipes/methods/README.md", import.meta.url), "utf8");
  expect(recipe).toMatch(/row of KTO may be too good.*after that figure had been seen/);
});

test("chapter 5 does not print the answers to the steps that level 1 asks for", () => {
  const seedOf = (command: string) => /--seed (\d+)/.exec(command)?.[1];
  const steps = LEVEL_1.stages.Reflect?.commands ?? [];
  const asked = steps.filter((one) => one.includes("--slow"));
  expect(asked.map(seedOf)).toEqual(["0", "0"]);
  const [shown = ""] =
    /\$ .*bandit-train(?:.*\\\n)*.*--reveal/.exec(page("05-log-probs-and-signs")) ?? [];
  expect(shown).toContain("--slow");
  expect(asked.map(seedOf)).not.toContain(seedOf(shown));
});
