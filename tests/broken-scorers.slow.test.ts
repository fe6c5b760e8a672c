/** A broken scorer is reported as scorer_error or as a sentence; it is never a zero and never a success. */

import { describe, expect, test } from "vitest";
import {
  describeRun,
  EXIT,
  expectError,
  type Finished,
  type RunFiles,
  scorerSource,
  sums,
  Workspace,
} from "./cli.ts";

const FINE = 'return { reward: 1, code: "fine", details: {} };';

/** What `score` does on a row of this name, and what the row's message says then. */
const MISDEEDS: Record<string, [body: string, says: RegExp]> = {
  throws: ['throw new Error("my own bug")', /threw: my own bug/],
  "throws nothing": ["throw undefined", /threw/],
  "throws null": ["throw null", /threw/],
  "throws something unprintable": ["throw { toString() { throw 1 } }", /threw/],
  "throws an object without a prototype": ["throw Object.create(null)", /threw/],
  "overflows the stack": ["return (function f(): any { return [f()] })()", /threw: .*stack/],
  "answers nothing": ["return undefined", /undefined/],
  "answers null": ["return null", /null/],
  "answers a number": ["return 1", /number/],
  "answers text": ['return "ok"', /string/],
  "promises NaN": ["return Promise.resolve({ ...good, reward: NaN })", /reward is NaN/],
  "promises nothing": ["return Promise.resolve()", /returned a undefined/],
  "answers a promise that fails": ['return Promise.reject(new Error("late"))', /threw: late/],
  "answers a promise that never settles": ["return new Promise(() => {})", /did not return within/],
  "answers a thenable": ["return { then() {} }", /reward/],
  "rewards NaN": ["return { ...good, reward: NaN }", /reward is NaN/],
  "rewards Infinity": ["return { ...good, reward: Infinity }", /reward is Infinity/],
  "rewards -Infinity": ["return { ...good, reward: -Infinity }", /reward is -Infinity/],
  "rewards null": ["return { ...good, reward: null }", /reward/],
  "rewards text": ['return { ...good, reward: "1" }', /reward is string/],
  "rewards true": ["return { ...good, reward: true }", /reward is boolean/],
  "rewards a bigint": ["return { ...good, reward: 1n }", /reward is bigint/],
  "has no code": ["return { reward: 1, details: {} }", /code/],
  "has an empty code": ['return { ...good, code: "" }', /code/],
  "has a number for a code": ["return { ...good, code: 3 }", /code/],
  "has an array for a code": ['return { ...good, code: ["ok"] }', /code/],
  "claims our error": ['return { ...good, code: "scorer_error" }', /scorer_error.* belongs to/],
  "claims a missing completion": ['return { ...good, code: "missing_completion" }', /belongs to/],
  "details NaN": ["return { ...good, details: { a: [NaN] } }", /a\[0\] is NaN/],
  "details a function": ["return { ...good, details: { f() {} } }", /f is a function/],
  "details a bigint": ["return { ...good, details: { n: 1n } }", /n is a bigint/],
  "details a cycle": ["const a: any = {}; a.a = a; return { ...good, details: a }", /nested|cycl/],
  "has a getter that throws": ['return { get reward() { throw new Error("trap") } }', /trap/],
  "is a trap": ['return new Proxy({}, { get() { throw new Error("trap") } })', /trap/],
};

/** One row per misdeed, a good row before and after each. */
function misdeeds(): Workspace {
  const names = Object.keys(MISDEEDS).flatMap((name) => [`before ${name}`, name, `after ${name}`]);
  const workspace = new Workspace();
  workspace.jsonl(
    "d.jsonl",
    names.map((id) => ({ id, prompt: "p", expected_answer: null })),
  );
  workspace.jsonl(
    "c.jsonl",
    names.map((id) => ({ id, completion: "c" })),
  );
  const cases = Object.entries(MISDEEDS).map(
    ([name, [body]]) => `case ${JSON.stringify(name)}: { ${body}; }\n`,
  );
  workspace.write(
    "s.ts",
    scorerSource(
      `const good = { reward: 1, code: "fine", details: {} };
      switch (example.id) { ${cases.join("")} }
      return good;`,
    ),
  );
  return workspace;
}

describe.concurrent("a row that breaks the scorer", () => {
  const made = (() => {
    let run: Promise<RunFiles> | undefined;
    return () => {
      run ??= misdeeds().made("run", ["--scorer", "s.ts"]);
      return run;
    };
  })();

  test.each(Object.entries(MISDEEDS))("%s", async (name, [, says]) => {
    const row = (await made()).rows.find(({ id }) => id === name);
    expect(row).toMatchObject({ reward: null, outcome_code: "scorer_error" });
    expect(JSON.stringify(row?.details)).toMatch(says);
  });

  test("is counted apart, and its neighbours are scored", async () => {
    const { rows, summary } = await made();
    const broken = Object.keys(MISDEEDS).length;
    expect(rows.filter(({ id }) => !(id in MISDEEDS)).map(({ reward }) => reward)).toEqual(
      Array(2 * broken).fill(1),
    );
    expect(summary.metrics).toMatchObject({
      n_examples: 3 * broken,
      n_scored: 2 * broken,
      n_pass: 2 * broken,
      n_fail: 0,
      n_missing: 0,
      n_scorer_error: broken,
      pass_rate: 1,
      mean_reward: 1,
    });
    expect(summary.outcomes.counts).toEqual({ fine: 2 * broken, scorer_error: broken });
  });

  test("is the same on threads", async () => {
    const one = await made();
    const two = await misdeeds().made("run", ["--scorer", "s.ts", "--jobs", "3"]);
    expect(two.results).toBe(one.results);
    expect(two.summaryText).toBe(one.summaryText);
  });

  test("is told aloud, and the gate refuses the run", async () => {
    const workspace = sums(4);
    workspace.write("s.ts", scorerSource(`if (example.id === "s2") throw 1; ${FINE}`));
    const result = await workspace.eval("run", ["--scorer", "s.ts"]);
    expect(result.code).toBe(EXIT.ok);
    expect(result.stdout).toMatch(/! 1 rows? could not be scored/);
    expect(workspace.read("run", "summary.md")).toMatch(/1 rows? could not be scored/);
    const gate = await workspace.run([
      "gate",
      "--baseline",
      "run",
      "--candidate",
      "run",
      "--format",
      "json",
    ]);
    expect(gate.code).toBe(3);
    expect(JSON.parse(gate.stdout)).toMatchObject({ comparable: false, decision: "REJECT" });
    expect(gate.stdout).toContain('"scorer_errors"');
  });

  test("with a code outside the scorer's closed set", async () => {
    const workspace = sums(3);
    workspace.write(
      "s.ts",
      scorerSource(
        'return { reward: 1, code: example.id === "s1" ? "other" : "fine", details: {} };',
        'export const codes = ["fine"];',
      ),
    );
    const { rows } = await workspace.made("run", ["--scorer", "s.ts"]);
    expect(rows.map((row) => row.outcome_code)).toEqual(["fine", "scorer_error", "fine"]);
    expect(JSON.stringify(rows[1]?.details)).toMatch(/other.*closed set/);
  });
});

/** Codes of a run of `count` sums. */
async function codes(count: number, source: string, ...flags: string[]): Promise<string[]> {
  const workspace = sums(count);
  workspace.write("s.ts", source);
  const { rows } = await workspace.made("run", ["--scorer", "s.ts", ...flags]);
  for (const { outcome_code: code, reward } of rows) {
    expect(reward === null, "no reward for a scorer_error").toBe(code === "scorer_error");
  }
  return rows.map((row) => row.outcome_code);
}

const LIMIT = ["--scorer-timeout", "200"] as const;

describe.concurrent("a scorer that never returns", () => {
  test.each([
    ["a loop", "for (;;) {}"],
    [
      "a loop that catches everything",
      "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
    ],
    ["a catastrophic regular expression", `/^(a+)+$/.test("${"a".repeat(40)}!")`],
    ["waiting", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"],
  ])("on one row: %s", async (_, loop) => {
    const source = scorerSource(`if (example.id === "s3") ${loop}; ${FINE}`);
    const found = await codes(6, source, ...LIMIT);
    expect(found).toEqual(["fine", "fine", "fine", "scorer_error", "fine", "fine"]);
  });

  test("on every row: it is given up after a few, and the run ends soon", async () => {
    const workspace = sums(5000);
    workspace.write("s.ts", scorerSource(`for (;;) {} ${FINE}`));
    const started = Date.now();
    const { rows, summary } = await workspace.made("run", ["--scorer", "s.ts", ...LIMIT]);
    expect(Date.now() - started).toBeLessThan(25_000);
    expect(summary.metrics).toMatchObject({
      n_scorer_error: 5000,
      n_scored: 0,
      n_pass: 0,
      n_fail: 0,
      pass_rate: null,
      mean_reward: null,
    });
    const messages = new Set(rows.map(({ details }) => (details as { message: string }).message));
    expect([...messages]).toEqual([
      expect.stringMatching(/did not return within 200 ms/),
      expect.stringMatching(/not scored/),
    ]);
  });

  test("on every row of validate-scorer", async () => {
    const workspace = sums(5);
    workspace.write("s.ts", scorerSource(`for (;;) {} ${FINE}`));
    workspace.jsonl("g.jsonl", [{ id: "s0", completion: "x", expected_reward: 1, note: "" }]);
    const result = await workspace.run([
      ...["validate-scorer", "--dataset", "d.jsonl", "--golden", "g.jsonl"],
      ...["--scorer", "s.ts", ...LIMIT],
    ]);
    expect(result, describeRun(result)).toMatchObject({ code: 1, stderr: "" });
    expect(result.stdout).toMatch(/scorer errors on golden rows +1$/m);
    expect(result.stdout).toMatch(/did not return within 200 ms/);
  });

  test("a slow scorer within the limit is not a broken one", async () => {
    const slow = "const end = Date.now() + 50; while (Date.now() < end) {}";
    const found = await codes(12, scorerSource(`${slow} ${FINE}`), "--scorer-timeout", "500");
    expect(found).toEqual(Array(12).fill("fine"));
  });

  test.each(["4294967296"])("a limit of %s ms is refused or kept, no bug", async (ms) => {
    const workspace = sums(1);
    workspace.write("s.ts", scorerSource(FINE));
    const result = await workspace.eval("run", ["--scorer", "s.ts", "--scorer-timeout", ms]);
    if (result.code !== EXIT.ok) expectError(result, EXIT.usage, /--scorer-timeout/);
  });
});

describe.concurrent("a non-deterministic scorer", () => {
  test("at random", async () => {
    const found = await codes(
      60,
      scorerSource('return { reward: Math["random"](), code: "x", details: {} };'),
    );
    expect(found).toEqual(Array(60).fill("scorer_error"));
  });

  test("at random between pass and fail", async () => {
    const found = await codes(
      200,
      scorerSource('return { reward: Math["random"]() < 0.5 ? 1 : 0, code: "x", details: {} };'),
    );
    expect(found.filter((code) => code === "scorer_error").length).toBeGreaterThan(50);
  });

  test.each([
    ["how often it was called", 'return { reward: calls++ % 2, code: "x" };', 20, 20],
    ["it in its details", 'return { reward: 1, code: "x", details: { n: calls++ } };', 20, 20],
    ["it, on a single row", 'return { reward: calls++, code: "x" };', 1, 1],
    [
      "the row before",
      'const was = last; last = example.id; return { reward: was < last ? 1 : 0, code: "x" };',
      20,
      10,
    ],
  ])("by memory of %s", async (_, body, count, least) => {
    const found = await codes(count, scorerSource(body, 'let calls = 0; let last = "";'));
    expect(found.filter((code) => code === "scorer_error").length).toBeGreaterThanOrEqual(least);
  });

  test("in validate-scorer", async () => {
    const workspace = sums(3);
    workspace.write("s.ts", scorerSource('return { reward: n++ % 2, code: "x" };', "let n = 0;"));
    workspace.jsonl("g.jsonl", [{ id: "s0", completion: "x", expected_reward: 0, note: "" }]);
    const args = [
      "validate-scorer",
      "--dataset",
      "d.jsonl",
      "--golden",
      "g.jsonl",
      "--scorer",
      "s.ts",
    ];
    const result = await workspace.run(args);
    expect(result.code, describeRun(result)).toBe(1);
    expect(result.stdout).toMatch(/NOT VALID/);
  });
});

test.concurrent("a scorer that changes the example changes nothing", async () => {
  const workspace = new Workspace();
  const data = ["a", "b", "c"].map((id) => ({
    id,
    prompt: `p ${id}`,
    expected_answer: { deep: [1] },
    metadata: { kind: "k" },
  }));
  workspace.jsonl("d.jsonl", data);
  workspace.jsonl(
    "c.jsonl",
    data.map(({ id }) => ({ id, completion: "c" })),
  );
  workspace.write(
    "s.ts",
    scorerSource(`
      try { example.prompt = "mine"; } catch {}
      try { example.expected_answer.deep[0] = 2; } catch {}
      try { example.id = "mine"; } catch {}
      try { delete example.metadata.kind; } catch {}
      try { Object.assign(example, { extra: 1 }); } catch {}
      ${FINE}`),
  );
  const { rows, manifest } = await workspace.made("run", ["--scorer", "s.ts"]);
  expect(rows.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer }))).toEqual(
    data.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer })),
  );
  workspace.write("s.ts", scorerSource(FINE));
  const tame = await workspace.made("tame", ["--scorer", "s.ts"]);
  expect(manifest.examples).toEqual(tame.manifest.examples);
});

/** Success is a finished run and nothing else. */
function expectNoFalseSuccess(workspace: Workspace, rows: number, result: Finished): void {
  expect(result.signal, `it ended by itself\n${describeRun(result)}`).toBe(null);
  if (workspace.has("run", "summary.json")) {
    expect(result.code, describeRun(result)).toBe(EXIT.ok);
    expect(workspace.readRun("run").rows).toHaveLength(rows);
  } else expectError(result, EXIT.data);
}

const AT_LARGE: readonly [name: string, body: string, before: string][] = [
  ["ends the process while scoring", "process.exit(0);", ""],
  ["ends the process while it loads", "", "process.exit(0);"],
  ["ends the process a moment later", "", "setImmediate(() => process.exit(0));"],
  ["rejects a promise on the side", 'Promise.reject(new Error("stray"));', ""],
  ["throws on the side", 'setImmediate(() => { throw new Error("stray"); });', ""],
  ["keeps a timer", "", "setInterval(() => {}, 1000);"],
  ["waits for ever while it loads", "", "await new Promise(() => {});"],
];

/** With threads, enough for several batches: there is still work to do when a thread is gone. */
describe.concurrent.each([
  { jobs: 1, rows: 3, misdeeds: AT_LARGE },
  { jobs: 2, rows: 5000, misdeeds: AT_LARGE.filter(([name]) => !/loads$/.test(name)) },
])("with --jobs $jobs, a scorer that", ({ jobs, rows, misdeeds }) => {
  test.each(misdeeds)("%s", async (_, body, before) => {
    const workspace = sums(rows);
    workspace.write("s.ts", scorerSource(`${body} ${FINE}`, before));
    const flags = ["--scorer", "s.ts", "--jobs", String(jobs)];
    const result = await workspace.eval("run", flags, { limitMs: 15_000 });
    expectNoFalseSuccess(workspace, rows, result);
  });
});

describe.concurrent("validate-scorer finds nothing valid in a scorer that", () => {
  test.each(AT_LARGE.slice(0, 2))("%s", async (_, body, before) => {
    const workspace = sums(3);
    workspace.write("s.ts", scorerSource(`${body} ${FINE}`, before));
    workspace.jsonl("g.jsonl", [{ id: "s0", completion: "x", expected_reward: 1, note: "" }]);
    const result = await workspace.run(
      ["validate-scorer", "--dataset", "d.jsonl", "--golden", "g.jsonl", "--scorer", "s.ts"],
      { limitMs: 15_000 },
    );
    expect(result.signal).toBe(null);
    expect(result.code === 0, describeRun(result)).toBe(/^VALID$/m.test(result.stdout));
  });
});
