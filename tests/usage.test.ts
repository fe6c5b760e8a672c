/** The command line as a person meets it: help, mistakes, colours, width, and exit codes. */

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import {
  BIN,
  DEV,
  describeRun,
  EXIT,
  EXPLOITS,
  expectError,
  type Finished,
  FROZEN,
  GOLDEN,
  ROOT,
  scorerSource,
  start,
  sums,
  Workspace,
} from "./cli.ts";
import { tooWide } from "./width.ts";

/** Every command that the help lists, so that a new one is held to the same rules. */
const { stdout: help } = await start(process.execPath, [BIN, "--help"], ROOT).finished;
const COMMANDS = [...help.matchAll(/^ {2}([a-z-]+) +\S/gm)]
  .map(([, name = ""]) => name)
  .filter((name) => name !== "help");
const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as { version: string };
const ESC = "\u001b";

/** A workspace with two runs, "old" and "new", that the gate compares and rejects. */
const workspace = sums(40);
beforeAll(async () => {
  await workspace.prepare("old");
  workspace.write("c2.jsonl", workspace.read("c.jsonl").replaceAll("Final: ", "Final:  "));
  await workspace.prepare("new", "c2.jsonl");
});

test("the help lists the commands of Loop A", () => {
  expect(COMMANDS).toEqual(
    expect.arrayContaining(["tour", "eval", "inspect-run", "validate-scorer", "gate"]),
  );
});

test("the help groups the commands by what they are for", () => {
  expect(help.match(/^[A-Z][\w ]+:(?=\n)/gm)).toEqual([
    ...["Options:", "Start here:", "Measure:", "Select:", "Learn:", "Serve:"],
    "Learn by the track:",
  ]);
  expect(help).toMatch(/^Measure:\n {2}eval /m);
});

describe.concurrent("help", () => {
  test.each(COMMANDS)("%s, with _: options, examples that use them, 80 columns", async (name) => {
    const result = await workspace.run([name.replaceAll("-", "_"), "--help"]);
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
    const [options = "", examples = ""] = result.stdout.split(/^Examples?:$/m);
    expect(options).toMatch(new RegExp(`^Usage: lockedroom ${name}`));
    expect(examples).toMatch(new RegExp(`^ {2}lockedroom ${name}\\b`, "m"));
    for (const [flag] of examples.matchAll(/--[a-z-]+/g)) expect(options).toContain(flag);
    expect(tooWide(result.stdout)).toEqual([]);
  });

  test("of everything: with --help, -h, help, and nothing at all", async () => {
    const forms = [["--help"], ["-h"], ["help"], []];
    const results = await Promise.all(forms.map((args) => workspace.run(args)));
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      expect({ code, stderr }, `${forms[index]}`).toEqual({ code: EXIT.ok, stderr: "" });
      for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
      expect(tooWide(stdout)).toEqual([]);
    }
  });

  test.each(["eval", "inspect-run"])("help %s, with - or _", async (name) => {
    const direct = await workspace.run([name, "--help"]);
    for (const spelling of new Set([name, name.replaceAll("-", "_")])) {
      const result = await workspace.run(["help", spelling]);
      expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
      expect(result.stdout).toBe(direct.stdout);
    }
  });

  test("--version", async () => {
    for (const flag of ["--version", "-V"]) {
      const result = await workspace.run([flag]);
      expect(result).toMatchObject({ code: EXIT.ok, stdout: `${version}\n`, stderr: "" });
    }
  });
});

describe.concurrent("both spellings do the same", () => {
  test.each([
    ["inspect-run", ["--run", "old"]],
    ["validate-scorer", ["--dataset", DEV, "--golden", GOLDEN]],
  ])("%s", async (name, args) => {
    const dashed = await workspace.run([name, ...args]);
    const underscored = await workspace.run([name.replaceAll("-", "_"), ...args]);
    expect(dashed.code).toBe(EXIT.ok);
    expect(underscored).toEqual(dashed);
  });
});

describe.concurrent("mistakes are usage errors with a suggestion", () => {
  test.each([
    ["evl", "eval"],
    ["evaluate", "eval"],
    ["inspectrun", "inspect-run"],
    ["inspect_runs", "inspect-run"],
    ["validate-score", "validate-scorer"],
    ["gates", "gate"],
    ["tuor", "tour"],
  ])("%s", async (typed, meant) => {
    for (const args of [[typed], [typed, "--help"], ["help", typed]]) {
      expectError(await workspace.run(args), EXIT.usage, typed.replaceAll("_", "-"), meant);
    }
  });

  test("a command that resembles none", async () => {
    expectError(await workspace.run(["xyzzy"]), EXIT.usage, "xyzzy", "--help");
  });

  test.each([
    [["eval", "--datset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "x"], "--dataset"],
    [["eval", "--dataset", "d.jsonl", "--completion", "c.jsonl", "--outdir", "x"], "--completions"],
    [
      ["eval", "--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "x", "--job", "2"],
      "--jobs",
    ],
    [
      [
        "eval",
        "--dataset",
        "d.jsonl",
        "--completions",
        "c.jsonl",
        "--outdir",
        "x",
        "--max_examples",
        "2",
      ],
      "--max-examples",
    ],
    [["inspect-run", "--run", "old", "--only-fail"], "--only-fails"],
    [["inspect-run", "--runs", "old"], "--run"],
    [["validate-scorer", "--dataset", DEV, "--goldn", GOLDEN], "--golden"],
    [["gate", "--baseline", "old", "--candidate", "new", "--mindelta", "1"], "--min-delta"],
    [["gate", "--baselin", "old", "--candidate", "new"], "--baseline"],
    [["tour", "--outdirs", "x"], "--outdir"],
    [["--versoin"], "--version"],
  ])("%j", async (args, meant) => {
    const result = await workspace.run(args);
    expectError(result, EXIT.usage, new RegExp(`[Dd]id you mean.* ${meant}\\b`));
    expect(workspace.has("x")).toBe(false);
  });

  const evalWith = (...flags: string[]) => [
    "eval",
    "--dataset",
    "d.jsonl",
    "--completions",
    "c.jsonl",
    "--outdir",
    "x",
    ...flags,
  ];
  const gateWith = (...flags: string[]) => [
    "gate",
    "--baseline",
    "old",
    "--candidate",
    "new",
    ...flags,
  ];
  test.each([
    [["eval"], "--outdir"],
    [["eval", "--outdir", "x"], "--dataset"],
    [["eval", "--dataset", "d.jsonl", "--outdir", "x"], "--completions"],
    [["eval", "--dataset", "d.jsonl", "--completions", "c.jsonl"], "--outdir"],
    [["inspect-run"], "--run"],
    [["gate", "--candidate", "new"], "--baseline"],
    [["inspect-run", "--run"], "--run"],
    [evalWith("stray"), "argument"],
    [evalWith("--jobs", "0"), "--jobs"],
    [evalWith("--jobs", "1.5"), "--jobs"],
    [evalWith("--max-examples", "0"), "--max-examples"],
    [evalWith("--scorer-timeout", ""), "--scorer-timeout"],
    [["inspect-run", "--run", "old", "--top-k", "0"], "--top-k"],
    [["inspect-run", "--run", "old", "--show", "many"], "--show"],
    [gateWith("--min-delta", "-0.1"), "--min-delta"],
    [gateWith("--alpha", "0"), "--alpha"],
    [gateWith("--format", "xml"), "text"],
    [gateWith("--claim", "luck"), "policy"],
  ])("%j", async (args, says) => {
    expectError(await workspace.run(args), EXIT.usage, says);
    expect(workspace.has("x")).toBe(false);
  });
});

describe.concurrent("output fits 80 columns", () => {
  async function expectNarrow(...commands: string[][]): Promise<void> {
    const results = await Promise.all(commands.map((args) => workspace.run(args)));
    const wide = results.flatMap(({ stdout, stderr }) => [...tooWide(stdout), ...tooWide(stderr)]);
    expect(wide).toEqual([]);
    expect(results.every(({ stdout, stderr }) => (stdout + stderr).length > 20)).toBe(true);
  }

  test("with the embedded data", async () => {
    await workspace.made("dev", ["--dataset", DEV, "--completions", FROZEN]);
    await expectNarrow(
      ["eval", "--dataset", DEV, "--completions", FROZEN, "--outdir", "dev2"],
      ["inspect-run", "--run", "dev"],
      ["inspect-run", "--run", "dev", "--show", "50", "--only-fails"],
      ["inspect-run", "--run", "dev", "--id", "dev-0003"],
      ["validate-scorer", "--dataset", DEV, "--golden", GOLDEN],
      ["validate-scorer", "--dataset", DEV, "--golden", EXPLOITS],
      ["gate", "--baseline", "old", "--candidate", "new"],
      ["gate", "--baseline", "old", "--candidate", "dev"],
      ["gate", "--baseline", "old", "--candidate", "old", "--claim", "policy"],
    );
  });

  /** Two runs of rows whose every text is one of these; the second one's scorer throws them. */
  async function runsOf(texts: readonly string[]): Promise<Workspace> {
    const place = new Workspace();
    const rows = (field: (text: string) => object) =>
      texts.map((text, index) => ({ id: `row-${index}`, ...field(text) }));
    place.jsonl(
      "d.jsonl",
      rows((text) => ({ prompt: text, expected_answer: text })),
    );
    place.jsonl(
      "c.jsonl",
      rows((completion) => ({ completion })),
    );
    place.jsonl(
      "g.jsonl",
      rows((text) => ({ completion: text, expected_reward: 1, note: text })),
    );
    await place.prepare("one");
    place.write("s.ts", scorerSource("throw new Error(completion);"));
    place.jsonl(
      "e.jsonl",
      rows((text) => ({ prompt: text, expected_answer: `${text}!` })),
    );
    await place.made("two", ["--dataset", "e.jsonl", "--scorer", "s.ts"]);
    return place;
  }

  const VALIDATE = ["validate-scorer", "--dataset", "d.jsonl", "--golden", "g.jsonl"];
  test.each([
    { name: "inspect-run", args: ["inspect-run", "--run", "two"], code: 0 },
    { name: "gate", args: ["gate", "--baseline", "one", "--candidate", "two"], code: 3 },
    { name: "validate-scorer", args: VALIDATE, code: 1 },
    { name: "validate-scorer and a bad one", args: [...VALIDATE, "--scorer", "s.ts"], code: 1 },
  ])("with long text: $name", async ({ args, code }) => {
    longText ??= runsOf(["lorem ipsum ".repeat(30), "x".repeat(300), "\u202e".repeat(60)]);
    const result = await (await longText).run(args);
    expect(result.code).toBe(code);
    expect(tooWide(result.stdout).map((line) => line.slice(0, 120))).toEqual([]);
  });
  let longText: Promise<Workspace> | undefined;

  test("with characters two columns wide", async () => {
    const place = await runsOf(["長い文章です".repeat(30)]);
    const { stdout } = await place.run(["inspect-run", "--run", "one"]);
    expect(stdout).toContain("長い文章");
    expect(tooWide(stdout)).toEqual([]);
  });

  test("when it is an error", async () => {
    await expectNarrow(
      [
        "eval",
        "--dataset",
        "data/datasets/math_dev.jsonl",
        "--completions",
        "c.jsonl",
        "--outdir",
        "runs/first",
      ],
      ["eval", "--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "old"],
      ["gate", "--baseline", "old", "--candidate", "new", "--claim", "luck"],
      ["gate", "--baseline", "old", "--candidate", "new", "--format", "xml"],
      ["gate", "--baseline", "old", "--candidate", "new", "--alpha", "7"],
      ["gate", "--baseline", "old", "--candidate", "new", "--alpha", "0.21"],
      ["gate", "--baseline", "old", "--candidate", "new", "--claim", "unknown"],
      ["inspect-run", "--run", "old", "--id", "an-id-that-is-somewhat-long-and-that-nobody-has"],
      [
        "eval",
        "--dataset",
        "d.jsonl",
        "--completions",
        "c.jsonl",
        "--outdir",
        "x",
        "--scorer",
        "scorers/of/mine.ts",
      ],
    );
  });
});

describe.concurrent("colours and quiet", () => {
  const COLOURFUL = ["gate", "--baseline", "old", "--candidate", "new"];

  test("none without a terminal; FORCE_COLOR asks for them, NO_COLOR refuses them", async () => {
    const run = (env: Record<string, string>) => workspace.run(COLOURFUL, { env });
    expect((await run({})).stdout).not.toContain(ESC);
    expect((await run({ FORCE_COLOR: "1" })).stdout).toContain(ESC);
    expect((await run({ FORCE_COLOR: "0" })).stdout).not.toContain(ESC);
    expect((await run({ NO_COLOR: "1", FORCE_COLOR: "1" })).stdout).not.toContain(ESC);
  });

  test("a report for a machine has none, whatever is asked for", async () => {
    for (const format of ["json", "markdown"]) {
      const env = { FORCE_COLOR: "1" };
      const result = await workspace.run([...COLOURFUL, "--format", format], { env });
      expect(result.stdout).not.toContain(ESC);
    }
  });

  test("eval --quiet says nothing and does everything", async () => {
    const result = await workspace.eval("quiet", ["--quiet"]);
    expect(result).toMatchObject({ code: EXIT.ok, stdout: "", stderr: "" });
    expect(workspace.readRun("quiet").rows).toHaveLength(40);
    expectError(await workspace.eval("quiet", ["--quiet"]), EXIT.usage, /finished evaluation/);
  });

  test("validate-scorer --quiet prints only what disagrees", async () => {
    const golden = [
      { id: "s0", completion: "Final: 0", expected_reward: 1, note: "agrees" },
      { id: "s1", completion: "Final: 2", expected_reward: 0, note: "disagrees" },
    ];
    workspace.jsonl("g.jsonl", golden);
    const args = ["validate-scorer", "--dataset", "d.jsonl", "--golden", "g.jsonl"];
    const loud = await workspace.run(args);
    const quiet = await workspace.run([...args, "--quiet"]);
    expect([loud.code, quiet.code]).toEqual([1, 1]);
    expect(loud.stdout).toMatch(/^ok +s0/m);
    expect(quiet.stdout).not.toMatch(/^ok +s0/m);
    expect(quiet.stdout).toMatch(/^FP +s1/m);
  });

  test("eval without a terminal draws no progress bar", async () => {
    const result = await sums(25_000).eval("run");
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(result.stdout).not.toMatch(/\r/);
  });
});

/** Under script(1), which gives the command a terminal for all three streams. */
async function onTerminal(place: Workspace, args: string[], env = {}): Promise<Finished> {
  const command = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(" ");
  return start("script", ["-qec", command, "/dev/null"], place.dir, { env }).finished;
}

describe.concurrent("on a terminal", () => {
  const hasScript = start("script", ["--version"], ROOT).finished.then(
    ({ stdout }) => stdout.includes("util-linux"),
    () => false,
  );

  test("a long evaluation draws a progress bar, and clears it", async ({ skip }) => {
    if (!(await hasScript)) skip("no script(1) of util-linux to make a terminal with");
    const place = sums(25_000);
    const flags = ["eval", "--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir"];
    const drawn = await onTerminal(place, [...flags, "run"]);
    expect(drawn.code).toBe(EXIT.ok);
    expect(drawn.stdout).toMatch(/\rScoring .*%, \d+ s left/);
    expect(drawn.stdout).toContain(`\r${ESC}[K`);
    const bars = drawn.stdout.split("\r").filter((part) => part.startsWith("GuardedScorer"));
    expect(tooWide(bars.map((part) => part.replaceAll(`${ESC}[K`, "")).join("\n"))).toEqual([]);
    const quiet = await onTerminal(place, [...flags, "quiet", "--quiet"]);
    expect(quiet).toMatchObject({ code: EXIT.ok, stdout: "" });
  });

  test("colours, unless NO_COLOR", async ({ skip }) => {
    if (!(await hasScript)) skip("no script(1) of util-linux to make a terminal with");
    const args = ["gate", "--baseline", "old", "--candidate", "new"];
    expect((await onTerminal(workspace, args)).stdout).toContain(`${ESC}[`);
    expect((await onTerminal(workspace, args, { NO_COLOR: "1" })).stdout).not.toContain(ESC);
  });
});

describe.concurrent("a reader that has seen enough", () => {
  /** Closes stdout before a word is written. */
  async function withDeafReader(args: readonly string[]): Promise<Finished> {
    const { child, finished } = workspace.start(args);
    child.stdout?.destroy();
    return finished;
  }

  test("is no failure of a command that succeeds", async () => {
    const result = await withDeafReader(["inspect-run", "--run", "old"]);
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test("does not turn a refusal into a promotion", async () => {
    const args = ["gate", "--baseline", "old", "--candidate", "new"];
    const refused = await workspace.run(args);
    expect(refused.code).toBe(1);
    expect(await withDeafReader(args)).toMatchObject({ code: 1, stderr: "" });
  });

  test("does not turn a bad scorer into a valid one", async () => {
    workspace.jsonl("bad.jsonl", [
      { id: "s0", completion: "Final: 0", expected_reward: 0, note: "" },
    ]);
    const args = ["validate-scorer", "--dataset", "d.jsonl", "--golden", "bad.jsonl"];
    expect((await workspace.run(args)).code).toBe(1);
    expect(await withDeafReader(args)).toMatchObject({ code: 1, stderr: "" });
  });
});

describe.concurrent("inspect-run", () => {
  test("groups, filters and limits", async () => {
    const place = new Workspace();
    const flags = ["--dataset", DEV, "--completions", FROZEN];
    const { summary, rows } = await place.made("run", flags);
    const inspect = async (...more: string[]) => {
      const result = await place.run(["inspect-run", "--run", "run", ...more]);
      expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
      return result.stdout;
    };
    const groups = (text: string) =>
      [...text.matchAll(/^([a-z_]+) {2}(\d+) rows?\b/gm)].map(([, code, count]) => [
        code,
        Number(count),
      ]);
    const all = groups(await inspect());
    expect(Object.fromEntries(all)).toEqual(summary.outcomes.counts);
    const fails = await inspect("--only-fails", "--top-k", "2", "--show", "1");
    expect(groups(fails)).toEqual(all.filter(([code]) => code !== "ok").slice(0, 2));
    expect(fails.match(/^ {4}completion/gm)).toHaveLength(2);
    expect(fails).toMatch(/less common codes not shown/);
    expect((await inspect("--show", "0")).match(/completion/g)).toBeNull();
    const row = rows[2];
    const whole = await inspect("--id", String(row?.id));
    expect(whole).toContain(row?.prompt);
    expect(whole).toContain(row?.outcome_code);
  });

  test("shows invisible characters and the reason", async () => {
    const place = sums(1);
    place.jsonl("c.jsonl", [{ id: "s0", completion: "Final:\u00a00\u200b" }]);
    await place.made("run");
    const { stdout } = await place.run(["inspect-run", "--run", "run"]);
    expect(stdout).toContain("Final:⟨U+00A0⟩0⟨U+200B⟩");
    expect(stdout).toMatch(/reason +\S+/);
  });
});

describe("GITHUB_STEP_SUMMARY", () => {
  const args = ["gate", "--baseline", "old", "--candidate", "new"];

  test("gets the verdict appended, and the exit code stays the gate's", async () => {
    const { code } = await workspace.run(args);
    workspace.write("step.md", "before\n");
    const result = await workspace.run(args, {
      env: { GITHUB_STEP_SUMMARY: workspace.path("step.md") },
    });
    expect(result.code).toBe(code);
    expect(workspace.read("step.md")).toMatch(/^before\n## Gate: REJECT[\s\S]*\| pass rate \|/);
  });

  test("that cannot be written is told", async () => {
    const result = await workspace.run(args, {
      env: { GITHUB_STEP_SUMMARY: workspace.path("no/such/step.md") },
    });
    expect(result.code).toBe(EXIT.io);
    expect(result.stderr).toContain("GITHUB_STEP_SUMMARY");
  });
});
