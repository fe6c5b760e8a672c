/** Whatever data holds is treated as data: by the join, by the files, and by the terminal. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  api,
  describeRun,
  EXIT,
  expectError,
  type Finished,
  RAW_CONTROL,
  scorerSource,
  sums,
  Workspace,
} from "./cli.ts";

const ESC = "\u001b";
/** Colours, clears and beeps a terminal, turns the direction of writing, and forges a line. */
const EVIL = `${ESC}[31m${ESC}[2J\u0007\u009b31m\u202e\nFORGED\r\u0000`;

const HOSTILE_IDS = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "prototype",
  "../../etc/passwd",
  "--force",
  " ",
  "a\nb",
  "tab\there",
  "`|<b>&\"'\\",
  "\ud800 lone",
  `evil ${EVIL}`,
  "x".repeat(5000),
];

const answers = (ids: readonly string[]) => ids.map((id) => ({ id, completion: "Final: 1" }));
const examples = (ids: readonly string[]) =>
  ids.map((id) => ({ id, prompt: `p ${id}`, expected_answer: 1 }));

/** All at once, so that one command's slip does not hide another's. */
function expectHarmless(...results: Finished[]): void {
  const harmful = results.filter(({ stdout, stderr }) =>
    [stdout, stderr].some((text) => RAW_CONTROL.test(text) || /^FORGED/m.test(text)),
  );
  expect(harmful.length, harmful.map(describeRun).join("\n\n")).toBe(0);
}

describe.concurrent("hostile ids", () => {
  test("are joined whatever the order, once each, and missed when they are missing", async () => {
    const workspace = new Workspace();
    workspace.jsonl("d.jsonl", examples(HOSTILE_IDS));
    workspace.jsonl("c.jsonl", answers(HOSTILE_IDS.toReversed()));
    const { rows, summary } = await workspace.made("run");
    expect(rows.map(({ id }) => id)).toEqual(HOSTILE_IDS);
    expect(summary.metrics).toMatchObject({ n_pass: HOSTILE_IDS.length, n_missing: 0 });

    workspace.jsonl("c.jsonl", answers(["nothing"]));
    const none = await workspace.made("none");
    expect(none.summary.metrics).toMatchObject({ n_scored: 0, n_missing: HOSTILE_IDS.length });
  });

  test.each(HOSTILE_IDS.slice(0, 2))("%s is found by --id", async (id) => {
    const workspace = new Workspace();
    workspace.jsonl("d.jsonl", examples([id, "other"]));
    workspace.jsonl("c.jsonl", answers([id]));
    await workspace.prepare("run");
    const found = await workspace.run(["inspect-run", "--run", "run", "--id", id]);
    expect(found).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(found.stdout).toMatch(/ok, reward 1/);
    expect(found.stdout).toContain(`p ${id}`);
  });

  test.each(["constructor", "__proto__"])("--scorer %s is no built-in", async (name) => {
    const result = await sums(1).eval("run", ["--scorer", name]);
    expectError(result, EXIT.usage, `there is no scorer "${name}"`);
  });
});

describe.concurrent("the terminal is sent no control characters by", () => {
  const id = `evil ${EVIL}`;

  async function evilRun(name: string, workspace = new Workspace()): Promise<Workspace> {
    workspace.jsonl("d.jsonl", [{ id, prompt: EVIL, expected_answer: 1 }, ...examples(["b"])]);
    workspace.jsonl("c.jsonl", [{ id, completion: `Final: 1${EVIL}` }, ...answers(["b"])]);
    await workspace.prepare(name);
    return workspace;
  }

  test("inspect-run", async () => {
    const workspace = await evilRun("run");
    const all = await workspace.run(["inspect-run", "--run", "run"]);
    expect(all.stdout).toContain("⟨U+001B⟩");
    expectHarmless(all, await workspace.run(["inspect-run", "--run", "run", "--id", "b"]));
    const path = await workspace.run(["inspect-run", "--run", "run", "--id", `${ESC}none`]);
    expectError(path, EXIT.data);
  });

  test("eval, about unknown ids", async () => {
    const workspace = sums(1);
    workspace.jsonl("c.jsonl", answers([id, "s0"]));
    const result = await workspace.eval("run");
    expect(result.stdout).toMatch(/name no example of the data set: 1/);
    expectHarmless(result);
  });

  test("eval, about an outcome code", async () => {
    const workspace = sums(1);
    const source = `return { reward: 1, code: ${JSON.stringify(EVIL)}, details: {} };`;
    workspace.write("s.ts", scorerSource(source));
    expectHarmless(
      await workspace.eval("run", ["--scorer", "s.ts"]),
      await workspace.run(["inspect-run", "--run", "run"]),
      await workspace.run(["inspect-run", "--run", "run", "--id", "s0"]),
    );
  });

  test("eval, about what a scorer threw", async () => {
    const workspace = sums(1);
    workspace.write("s.ts", scorerSource(`throw new Error(${JSON.stringify(EVIL)});`));
    workspace.write("load.ts", `throw new Error(${JSON.stringify(EVIL)});`);
    const load = await workspace.eval("other", ["--scorer", "load.ts"]);
    expectHarmless(
      await workspace.eval("run", ["--scorer", "s.ts"]),
      await workspace.run(["inspect-run", "--run", "run"]),
      load,
    );
    expectError(load, EXIT.data, /load\.ts does not load/);
  });

  test("eval, about a scorer's name", async () => {
    const workspace = sums(1);
    const source = scorerSource('return { reward: 1, code: "x", details: {} };');
    workspace.write("s.ts", source.replace('"mine"', JSON.stringify(`mine${EVIL}`)));
    expectHarmless(
      await workspace.eval("run", ["--scorer", "s.ts"]),
      await workspace.run(["inspect-run", "--run", "run"]),
    );
  });

  test.each([
    ["a bad token", `{"id": ${ESC}[31m}\n`],
    ["a bad line", `{"id": "${ESC}[31m"\n`],
    ["a C1 control and a direction mark in a bad value", '{"id": ["\u009b31m\u202e"]}\n'],
    ["a duplicate id", `${JSON.stringify({ id, prompt: "" })}\n`.repeat(2)],
  ])("eval, about %s", async (_, text) => {
    const workspace = sums(1);
    workspace.write("d.jsonl", text);
    const result = await workspace.eval("run");
    expect(result.code).toBe(EXIT.data);
    expectHarmless(result);
  });

  test("gate", async () => {
    const workspace = await evilRun("before");
    workspace.jsonl("d.jsonl", [{ id, prompt: "", expected_answer: EVIL }, ...examples(["b"])]);
    await workspace.prepare("after");
    const args = ["gate", "--baseline", "before", "--candidate", "after", "--format"];
    const results = await Promise.all(
      ["text", "markdown", "junit"].map((format) => workspace.run([...args, format])),
    );
    expect(results.map(({ code }) => code)).toEqual([3, 3, 3]);
    expectHarmless(...results);
  });

  test("report, and no page holds one", async () => {
    const workspace = await evilRun("run");
    const page = async (...args: string[]) => {
      const result = await workspace.run(["report", ...args, "-o", "r.html", "--force"]);
      expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
      expectHarmless(result);
      expect(workspace.read("r.html").replaceAll("⇥\t", "")).not.toMatch(RAW_CONTROL);
    };
    await page("--run", "run");
    await page("--baseline", "run", "--candidate", "run");
    expectHarmless(
      await workspace.run(["report", "--run", `${ESC}[31m`, "-o", "r.html", "--force"]),
    );
  });

  test("validate-scorer", async () => {
    const workspace = new Workspace();
    workspace.jsonl("d.jsonl", examples([id]));
    const row = { id, completion: EVIL, expected_reward: 1, note: EVIL, exploit_class: EVIL };
    workspace.jsonl("g.jsonl", [row]);
    const args = ["validate-scorer", "--dataset", "d.jsonl", "--golden", "g.jsonl"];
    const wrong = await workspace.run(args);
    workspace.jsonl("d.jsonl", examples(["b"]));
    const unknown = await workspace.run(args);
    workspace.jsonl("d.jsonl", examples([id, id]));
    const twice = await workspace.run(args);
    expect([wrong, unknown, twice].map(({ code }) => code)).toEqual([1, EXIT.data, EXIT.data]);
    expectHarmless(wrong, unknown, twice);
  });
});

test("any text and any JSON come back from results.jsonl as they went in", async () => {
  const text = fc.string({ unit: "binary", maxLength: 30 });
  const row = fc.record({
    prompt: text,
    completion: text,
    expected_answer: fc.jsonValue({ maxDepth: 3 }),
    extra: fc.jsonValue({ maxDepth: 2 }),
    key: text,
  });
  const sample = fc.sample(row, { seed: 2, numRuns: 400 });
  const workspace = new Workspace();
  workspace.jsonl(
    "d.jsonl",
    sample.map(({ prompt, expected_answer, extra, key }, n) => ({
      [key]: extra,
      id: `${n} ${key}`,
      prompt,
      expected_answer,
    })),
  );
  workspace.jsonl(
    "c.jsonl",
    sample.map(({ completion, key }, n) => ({ id: `${n} ${key}`, completion })),
  );
  workspace.write(
    "s.ts",
    scorerSource(`
      const same = JSON.stringify(example.expected_answer) === completion;
      const code = same ? "ok" : "other";
      return { reward: same ? 1 : 0, code, details: { saw: completion, example } };`),
  );
  const written = sample.map(({ prompt, completion, expected_answer, key }, n) => ({
    id: `${n} ${key}`,
    prompt,
    completion,
    expected_answer,
  }));
  for (const flags of [[], ["--scorer", "s.ts"]]) {
    const { results } = await workspace.made(`run${flags.length}`, flags);
    const read = results
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ id, prompt, completion, expected_answer }) => ({
        id,
        prompt,
        completion,
        expected_answer,
      }));
    expect(read.map(api.canonicalJson)).toEqual(written.map(api.canonicalJson));
  }
});
