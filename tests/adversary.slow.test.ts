/** Attacks that once gave a better number without a better policy, or lost data. */

import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXIT, expectError, gate, sums, Workspace } from "./cli.ts";

const STRICT = "completion === 'Final: ' + example.expected_answer";
const scorer = (rule: string, before = "") => `${before}
export const name = "mine", version = "1", spec = "s";
export const score = (example, completion) => ({ reward: ${rule} ? 1 : 0, code: "c", details: {} });`;

describe("an instrument that depends on more than its code", () => {
  test("is caught by the same completion scored twice differently", async () => {
    const workspace = sums(40);
    workspace.write("s.ts", scorer(`process.env.LOOSE || ${STRICT}`));
    await workspace.made("a", ["--scorer", "s.ts"]);
    expect((await workspace.eval("b", ["--scorer", "s.ts"], { env: { LOOSE: "1" } })).code).toBe(
      EXIT.ok,
    );
    const report = await gate(workspace, "a", "b");
    expect(report).toMatchObject({ comparable: false, exit_code: 3 });
    expect(report.codes).toContain("instrument_inconsistent");
  });

  test.each([
    ["a comment inside the import", "import { rule } from /* x */ './h.ts';", "h.ts"],
    ["an escape", "import { rule } from './\\u0068.ts';", "h.ts"],
    ["a computed import", "const { rule } = await import(['./h', 'ts'].join('.'));", "h.ts"],
    [
      "a native require",
      "import { createRequire } from 'node:module'; const get = createRequire(import.meta.url); const { rule } = get('./h.cjs');",
      "h.cjs",
    ],
    ["an index.mjs", "import { rule } from './lib/index.mjs';", "lib/index.mjs"],
  ])("is another source when its helper changes, through %s", async (_, line, file) => {
    const workspace = sums(12);
    const helper = (rule: string) =>
      file.endsWith(".cjs") ? `exports.rule = ${rule};` : `export const rule = ${rule};`;
    workspace.write("s.ts", scorer("rule(example, completion)", line));
    workspace.write(file, helper(`(example, completion) => ${STRICT}`));
    const strict = await workspace.made("a", ["--scorer", "s.ts"]);
    workspace.write(file, helper("() => true"));
    const loose = await workspace.made("b", ["--scorer", "s.ts"]);
    expect(loose.manifest.scorer.source_sha256).not.toBe(strict.manifest.scorer.source_sha256);
    expect((await gate(workspace, "a", "b")).codes).toContain(
      "instrument_changed_without_version_bump",
    );
  });

  test("is caught when it draws its mood once, while it loads", async () => {
    const workspace = sums(40);
    workspace.write(
      "s.ts",
      scorer(
        "[...(example.id + completion)].reduce((h, c) => (h * 31 + c.charCodeAt(0) * mood * 1e3) % 1e6, mood) % 2 < 1",
        "const mood = Math.random();",
      ),
    );
    const { summary } = await workspace.made("a", ["--scorer", "s.ts"]);
    expect(summary.metrics.n_scorer_error).toBeGreaterThan(0);
  });
});

test("the same completions in another file are the same policy", async () => {
  const workspace = sums(12);
  workspace.write("spaced.jsonl", `${workspace.read("c.jsonl").replaceAll(",", ", ")}\n\n`);
  await workspace.made("a");
  await workspace.made("b", ["--completions", "spaced.jsonl"]);
  expect((await gate(workspace, "a", "b")).knobs).toEqual([]);
});

describe("selection", () => {
  const pack = (workspace: Workspace, name: string, text: string) =>
    workspace.jsonl(
      name,
      Array.from({ length: 12 }, (_, n) => ({
        id: `s${n}`,
        samples: [text.replace("N", String(2 * n)), `${n} a`, `${n * n} bb`, "x".repeat(n)],
      })),
    );
  const select = (
    workspace: Workspace,
    samples: string,
    n: string,
    outdir: string,
    ...more: string[]
  ) =>
    workspace.run([
      "selection-demo",
      "--quiet",
      "--dataset",
      "d.jsonl",
      "--samples",
      samples,
      "--n",
      n,
      "--outdir",
      outdir,
      ...more,
    ]);

  test("from other samples of the same named policy is refused", async () => {
    const workspace = sums(12);
    pack(workspace, "p.jsonl", "no");
    pack(workspace, "q.jsonl", "Final: N");
    for (const name of ["p", "q"]) {
      workspace.write(
        `${name}.provenance.json`,
        JSON.stringify({ schema: "lockedroom.provenance@1", policy: { name: "m" }, sampling: {} }),
      );
    }
    await select(workspace, "p.jsonl", "1", "a");
    await select(workspace, "q.jsonl", "3", "b");
    expect((await gate(workspace, "a", "b", "--claim", "selection")).codes).toContain(
      "samples_differ",
    );
  });

  test.each([
    [
      "salted once",
      "const salt = Math.random(); export const tieBreakKey = (s) => [[...s.completion].reduce((h, c) => (h * 31 + c.charCodeAt(0) * salt * 1e3) % 1e6, salt)];",
    ],
    [
      "remembers its first whim",
      "const seen = new Map(); export const pickBest = (e, s) => { if (!seen.has(e.id)) seen.set(e.id, s[Math.floor(Math.random() * s.length)].index); return s.find((x) => x.index === seen.get(e.id)); };",
    ],
  ])("by a policy that is %s is flagged", async (_, source) => {
    const workspace = sums(12);
    pack(workspace, "p.jsonl", "no");
    workspace.write("policy.ts", source);
    await select(workspace, "p.jsonl", "3", "a", "--policy", "policy.ts");
    expect(workspace.readRun("a").summary.alarms.map(({ code }) => code)).toContain(
      "nondeterministic_selection",
    );
    const summary = workspace
      .read("a/summary.json")
      .replace(/"alarms": \[[\s\S]*?\],/, '"alarms": [],');
    workspace.write("a/summary.json", summary);
    await select(workspace, "p.jsonl", "1", "b");
    expect((await gate(workspace, "b", "a")).codes).toContain("nondeterministic_selection");
  });

  test("cannot write into what it is shown", async () => {
    const workspace = sums(12);
    pack(workspace, "p.jsonl", "Final: N");
    workspace.write(
      "policy.ts",
      `export function pickBest(e, s) {
        for (const change of [() => (e.expected_answer = 9), () => (s[1].reward = 1), () => (s[0].details.parsed = "9")]) { try { change(); } catch {} }
        return 0;
      }`,
    );
    await select(workspace, "p.jsonl", "1", "plain");
    await select(workspace, "p.jsonl", "1", "forged", "--policy", "policy.ts");
    expect(workspace.read("forged/results.jsonl")).toBe(workspace.read("plain/results.jsonl"));
  });
});

test("rows dropped or repeated are an edit even when the summary is sealed again", async () => {
  const workspace = sums(12);
  await workspace.made("a");
  await workspace.made("b");
  const rows = workspace.read("b/results.jsonl").trimEnd().split("\n");
  workspace.write("b/results.jsonl", `${[...rows.slice(0, 6), ...rows.slice(0, 6)].join("\n")}\n`);
  const { createHash } = await import("node:crypto");
  const sha256 = createHash("sha256").update(workspace.read("b/results.jsonl")).digest("hex");
  workspace.write(
    "b/summary.json",
    workspace
      .read("b/summary.json")
      .replace(/"results_sha256": ".*"/, `"results_sha256": "${sha256}"`),
  );
  expect((await gate(workspace, "a", "b")).codes).toContain("run_edited");
});

test("a part of the data set is said to be one", async () => {
  const workspace = sums(12);
  await workspace.made("a", ["--max-examples", "6"]);
  expect((await gate(workspace, "a", "a")).notes.join()).toContain(
    "Only the first 6 of the data set's 12 examples",
  );
});

describe("the output folder", () => {
  test("a planted link is not followed", async () => {
    const workspace = sums(3);
    workspace.write("precious.txt", "mine");
    mkdirSync(workspace.path("run"));
    writeFileSync(workspace.path("run/.running"), "999999\n");
    symlinkSync("../precious.txt", workspace.path("run/results.jsonl.partial"));
    await workspace.made("run");
    expect(workspace.read("precious.txt")).toBe("mine");
    expect(lstatSync(workspace.path("run/results.jsonl")).isSymbolicLink()).toBe(false);
  });

  test("is not where the inputs are, even with --force", async () => {
    const workspace = sums(3);
    await workspace.made("run");
    const before = workspace.snapshot("run");
    const result = await workspace.eval("run", ["--completions", "run/results.jsonl", "--force"]);
    expectError(result, EXIT.usage, /lies in the output folder/);
    expect(workspace.snapshot("run")).toEqual(before);
  });

  test("keeps nothing of the run that was replaced", async () => {
    const workspace = sums(3);
    expect(
      (await workspace.run(["bandit-train", "--quiet", "--steps", "5", "--outdir", "run"])).code,
    ).toBe(EXIT.ok);
    await workspace.made("run", ["--force"]);
    for (const name of ["log.jsonl", "probabilities.svg", "reward.png"])
      expect(existsSync(workspace.path("run", name))).toBe(false);
  });
});

describe("a scorer does not decide the exit code or what is printed when it", () => {
  const quietly = (code: string) => `try { ${code} } catch {}`;
  test.each([
    ["listens for the end", "process.on('exit', () => { process.exitCode = 0; });", 1],
    ["replaces exit", quietly("const e = process.exit; process.exit = () => e(0);"), 1],
    [
      "replaces the exit below it",
      quietly("const r = process.reallyExit; process.reallyExit = () => r.call(process, 0);"),
      1,
    ],
    [
      "replaces what prints",
      quietly("const w = process.stdout.write; process.stdout.write = () => w('VALID\\n');"),
      1,
    ],
    ["ends the process below all listeners", "process.reallyExit(0);", EXIT.data],
  ])("%s", async (_, before, code) => {
    const workspace = sums(3);
    workspace.write("s.ts", scorer("true", before));
    workspace.jsonl("g.jsonl", [{ id: "s0", completion: "x", expected_reward: 0, note: "" }]);
    const flags = ["--dataset", "d.jsonl", "--golden", "g.jsonl", "--scorer", "s.ts"];
    const result = await workspace.run(["validate-scorer", ...flags]);
    expect(result.code).toBe(code);
    expect(result.stdout).not.toMatch(/^VALID$/m);
    expect(result.stdout !== "").toBe(code === 1);
  });
});

test.each([
  [["bandit-train", "--steps", "99999999999", "--outdir", "r"], "200000"],
  [["bandit-train", "--steps", "5", "--seeds", "99999999999", "--outdir", "r"], "10000"],
  [["bandit-train", "--steps", "5", "--seed", "9007199254740991", "--outdir", "r"], "2147483647"],
])("%j is refused before it fills the memory", async (args, limit) => {
  expectError(await new Workspace().run(args), EXIT.usage, limit);
});

test("numbers beyond measure are data errors, not bugs", async () => {
  const workspace = sums(1);
  workspace.jsonl("c.jsonl", [
    { id: "s0", completion: "x", sum_logprob: 1e308, sum_ref_logprob: -1e308 },
  ]);
  expectError(await workspace.eval("run"), EXIT.data, /c\.jsonl:1/, /sum_logprob/);
});

test("an id cannot write into the run note", async () => {
  const workspace = sums(1);
  const id = "x`\n- **What happened (numbers):** pass_rate 1.0000\u001b[2J";
  workspace.jsonl("d.jsonl", [{ id, prompt: "p", expected_answer: 1 }]);
  workspace.jsonl("c.jsonl", [{ id, completion: "`\n# forged" }]);
  await workspace.made("run");
  const note = workspace.read("run/README.md");
  expect(note.match(/What happened/g)).toHaveLength(2);
  expect(
    note.split("\n").filter((line) => line.includes("**What happened") && line.startsWith("- ")),
  ).toHaveLength(1);
  expect(note).not.toMatch(/[^\P{C}\n]/u);
});
