/** Same inputs, same bytes: whatever the order, the number of threads, the place or the time. */

import { cpSync, mkdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { api, EXIT, type RunFiles, scorerSource, sums, Workspace } from "./cli.ts";

/** Enough for several batches, with every kind of row. */
const ROWS = 4500;
let workspace: Workspace;
const shuffle = <T>(items: readonly T[]): T[] => api.shuffled(items, api.rngAt("determinism"));
const toLines = (text: string): string[] => text.trimEnd().split("\n");
const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

const SCORERS: Record<string, string> = {
  "plain.ts": scorerSource(`
    const right = completion === "Final: " + example.expected_answer;
    return { reward: right ? 1 : 0.1 * completion.length, code: right ? "right" : "wrong",
      details: { z: completion.length, a: { y: [example.id], b: 1 / 3 } } };`),
  "hanging.ts": scorerSource(`
    if (["s1000", "s1001", "s3200", "s3201"].includes(example.id)) for (;;) {}
    return { reward: 1, code: "fine", details: {} };`),
};

beforeAll(() => {
  workspace = sums(ROWS);
  for (const [file, source] of Object.entries(SCORERS)) workspace.write(file, source);
  const answers = toLines(workspace.read("c.jsonl")).map((line, n) => {
    const row = JSON.parse(line);
    const logprobs = { sum_logprob: -n / 7, sum_ref_logprob: n % 2 ? -n / 8 : null };
    return JSON.stringify(n % 4 === 0 ? row : { ...row, ...logprobs });
  });
  const strangers = ["x", "y", "z"].map((id) => JSON.stringify({ id, completion: "" }));
  // One row in fifty is missing; a few are nobody's.
  const kept = [...answers.filter((_, n) => n % 50 !== 49), ...strangers];
  workspace.write("c.jsonl", toText(kept));
  workspace.write("shuffled.jsonl", toText(shuffle(kept)));
});

const bases = new Map<string, Promise<RunFiles>>();

/** The run, made once, that others are held against. */
function base(flags: readonly string[]): Promise<RunFiles> {
  const name = `base-${flags.join("")}`;
  const run = bases.get(name) ?? workspace.made(name, flags);
  bases.set(name, run);
  return run;
}

const bytes = ({ results, summaryText }: RunFiles) => ({ results, summaryText });

const ONE_AFTER_ANOTHER = [
  ["again", 1],
  ["two", 2],
  ["three", 3],
] as const;

describe.concurrent.each<
  [name: string, flags: string[], rounds: readonly (readonly [string, number])[]]
>([
  ["the built-in scorer", [], ONE_AFTER_ANOTHER],
  ["a user's TypeScript scorer", ["--scorer", "plain.ts"], ONE_AFTER_ANOTHER],
  [
    "a scorer that hangs on some rows",
    ["--scorer", "hanging.ts", "--scorer-timeout", "500"],
    [["three", 3]],
  ],
])("%s", (name, flags, rounds) => {
  test(`gives the same bytes: ${rounds.map(([label]) => label).join(", ")}`, async () => {
    const first = await base(flags);
    expect(first.results.split("\n")).toHaveLength(ROWS + 1);
    expect(first.summary.metrics.n_missing).toBe(ROWS / 50);
    expect(first.summary.metrics.n_scorer_error > 0).toBe(/hangs/.test(name));
    for (const [label, jobs] of rounds) {
      const other = await workspace.made(`${name} ${label}`, [...flags, "--jobs", String(jobs)]);
      expect(bytes(other), label).toEqual(bytes(first));
    }
  });
});

describe.concurrent("the place and the time", () => {
  const fixed = ({ volatile: _, ...rest }: RunFiles["manifest"]) => rest;

  test("only the manifest's volatile block may differ on a re-run", async () => {
    const [one, two] = [await base([]), await workspace.made("two", ["--jobs", "2"])];
    expect(fixed(two.manifest)).toEqual(fixed(one.manifest));
    expect(two.manifest.volatile).not.toEqual(one.manifest.volatile);
    expect(workspace.read("two", "summary.md")).toBe(workspace.read("base-", "summary.md"));
    expect(workspace.read("two", "README.md")).toBe(workspace.read("base-", "README.md"));
  });

  test("the same files in another folder give the same bytes", async () => {
    const elsewhere = new Workspace();
    mkdirSync(elsewhere.path("deep/er"), { recursive: true });
    for (const file of ["d.jsonl", "c.jsonl", "plain.ts"]) {
      cpSync(workspace.path(file), elsewhere.path("deep/er", file));
    }
    const there = await elsewhere.made("run", [
      ...["--dataset", elsewhere.path("deep/er/d.jsonl")],
      ...["--completions", "deep/er/c.jsonl", "--scorer", "./deep/er/plain.ts"],
    ]);
    expect(bytes(there)).toEqual(bytes(await base(["--scorer", "plain.ts"])));
  });

  test("a time zone, a locale and colours change nothing", async () => {
    const env = { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", FORCE_COLOR: "1" };
    expect((await workspace.eval("exotic", [], { env })).code).toBe(EXIT.ok);
    expect(bytes(workspace.readRun("exotic"))).toEqual(bytes(await base([])));
  });
});

describe.concurrent("the order of completions", () => {
  test("changes no row and no number", async () => {
    const [inOrder, outOfOrder] = [
      await base([]),
      await workspace.made("out-of-order", ["--completions", "shuffled.jsonl"]),
    ];
    expect(outOfOrder.results).toBe(inOrder.results);
    expect(outOfOrder.summary.metrics).toEqual(inOrder.summary.metrics);
    expect(outOfOrder.summary.outcomes).toEqual(inOrder.summary.outcomes);
    expect(outOfOrder.summary.unknown_completions.count).toBe(3);
  });

  test("reversed, with a user's scorer on threads", async () => {
    workspace.write("reversed.jsonl", toText(toLines(workspace.read("c.jsonl")).reverse()));
    const reversed = await workspace.made("backward", [
      ...["--scorer", "plain.ts", "--jobs", "2"],
      ...["--completions", "reversed.jsonl"],
    ]);
    expect(reversed.results).toBe((await base(["--scorer", "plain.ts"])).results);
  });

  test("rows come in the data set's order, which is part of its identity", async () => {
    const inOrder = await base([]);
    workspace.write("d2.jsonl", toText(shuffle(toLines(workspace.read("d.jsonl")))));
    const moved = await workspace.made("moved", ["--dataset", "d2.jsonl"]);
    const idsOf = (text: string) => toLines(text).map((line) => JSON.parse(line).id);
    expect(idsOf(moved.results)).toEqual(idsOf(workspace.read("d2.jsonl")));
    expect(toLines(moved.results).sort()).toEqual(toLines(inOrder.results).sort());
    expect(moved.manifest.examples.sha256).not.toBe(inOrder.manifest.examples.sha256);
  });

  test("the order of keys and white space in the data do not count, its bytes do", async () => {
    const sorted = await base([]);
    const turned = toLines(workspace.read("d.jsonl")).map((line) => {
      const { id, prompt, expected_answer } = JSON.parse(line);
      return JSON.stringify({ expected_answer, prompt, id }, null, 1).replaceAll("\n", " ");
    });
    workspace.write("d3.jsonl", toText(turned));
    const other = await workspace.made("keys-turned", ["--dataset", "d3.jsonl"]);
    expect(other.results).toBe(sorted.results);
    expect(other.manifest.examples).toEqual(sorted.manifest.examples);
    expect(other.manifest.inputs[0]?.sha256).not.toBe(sorted.manifest.inputs[0]?.sha256);
  });
});
