/** A matrix of prompts and models, run by the command against an endpoint of this machine. */

import { expect, test } from "vitest";
import { EXIT, expectError, sums } from "./cli.ts";
import { chat, completionOf, FakeEndpoint } from "./endpoint.ts";

const MATRIX = `dataset: d.jsonl
prompts:
  plain:
  careful: { system: Think first. }
models:
  one: openai:one
  two: openai:two
sampling: { max_tokens: 16 }
`;

/** The model two gets everything right when it is told to think; all others err now and then. */
const start = () =>
  FakeEndpoint.start((asked) => {
    const thinks = asked.body.messages[0]?.content === "Think first." && asked.body.model === "two";
    const [a = 0, b = 0] = asked.prompt.match(/\d+/g)?.map(Number) ?? [];
    return { body: chat(thinks ? `Final: ${a + b}` : completionOf(asked)) };
  });

test("every cell is a run, the table compares them, and finished cells are not paid again", async () => {
  const endpoint = await start();
  const workspace = sums(60);
  workspace.write("matrix.yaml", MATRIX);
  const args = ["matrix", "run", "matrix.yaml", "--outdir", "m"];
  const first = await workspace.run(args, { env: endpoint.env });
  expect(first, first.stderr).toMatchObject({ code: EXIT.ok });
  expect(endpoint.asked).toHaveLength(4 * 60);
  const cells = ["plain.one", "plain.two", "careful.one", "careful.two"];
  for (const cell of cells) expect(workspace.readRun(`m/${cell}/run`).rows).toHaveLength(60);
  expect(workspace.readRun("m/careful.two/run").summary.metrics.pass_rate).toBe(1);
  const { baseline, runs } = JSON.parse(workspace.read("m/matrix.json"));
  expect(baseline.run).toBe("m/plain.one/run");
  expect(runs.map(({ changed }: { changed: string[] }) => changed.join())).toEqual([
    "policy",
    "prompt",
    "policy,prompt",
  ]);
  const markdown = workspace.read("m/matrix.md");
  expect(markdown).toContain("| plain.one (baseline) |");
  expect(markdown).toContain("| careful.two | 1.0000 |");
  expect(markdown, "cells are named, not their folders").not.toContain("m/");
  expect(first.stdout).toMatch(/careful\.two +1\.0000 \+0\.\d{4} .*\n {4}changed: policy, prompt/);
  expect(Math.max(...first.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);

  const again = await workspace.run(args, { env: endpoint.env });
  expect(endpoint.asked, "nothing was asked again").toHaveLength(4 * 60);
  expect(again.stdout.match(/: kept/g)).toHaveLength(4);
  const table = (text: string) => text.slice(text.indexOf("\nrun "));
  expect(table(again.stdout)).toBe(table(first.stdout));

  workspace.write(
    "matrix.yaml",
    `${MATRIX}n: 1\n`.replace("  two:", "  three: openai:three\n  two:"),
  );
  expect(await workspace.run(args, { env: endpoint.env })).toMatchObject({ code: EXIT.ok });
  expect(endpoint.asked, "only the new model is asked").toHaveLength(6 * 60);
}, 120_000);

test("an interrupted matrix goes on where it was", async () => {
  const endpoint = await start();
  const { behave } = endpoint;
  endpoint.behave = (asked, nth) => (nth >= 100 ? { status: 401 } : behave(asked, nth));
  const workspace = sums(60);
  workspace.write("matrix.yaml", MATRIX);
  const args = ["matrix", "run", "matrix.yaml", "--outdir", "m", "--quiet"];
  const broken = await workspace.run(args, { env: endpoint.env });
  expect(broken.code).not.toBe(EXIT.ok);
  const before = endpoint.asked.filter((_, nth) => nth < 100).length;
  endpoint.asked.length = 0;
  endpoint.behave = behave;
  expect(await workspace.run(args, { env: endpoint.env })).toMatchObject({ code: EXIT.ok });
  expect(endpoint.asked.length).toBeLessThanOrEqual(4 * 60 - before);
  expect(workspace.has("m/matrix.md")).toBe(true);
}, 120_000);

test("a matrix of one cell has its table too", async () => {
  const endpoint = await start();
  const workspace = sums(4);
  workspace.write(
    "matrix.yaml",
    "dataset: d.jsonl\nprompts: { careful: { system: Think first. } }\nmodels: { two: openai:two }\n",
  );
  const args = ["matrix", "run", "matrix.yaml", "--outdir", "m", "--scorer-concurrency", "2"];
  const result = await workspace.run(args, { env: endpoint.env });
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok });
  expect(workspace.read("m/matrix.md")).toContain("| careful.two | 1.0000 | 4 |");
  expect(JSON.parse(workspace.read("m/matrix.json"))).toMatchObject({
    baseline: { run: "m/careful.two/run", pass_rate: 1, n_scored: 4 },
    runs: [],
  });
  expect(result.stdout).toContain("careful.two: pass rate 1.0000 of 4; one cell");
}, 60_000);

test.each([
  ["models: { a: pi0 }\nprompts: { p: }", /dataset/],
  ["dataset: d.jsonl\nmodels: {}\nprompts: { p: }", /no models/],
  ["dataset: d.jsonl\nmodels: { 'a/b': pi0 }\nprompts: { p: }", /cannot name a folder/],
  ["dataset: d.jsonl\nmodels: { a: pi0 }\nprompts: { p: }\nbaseline: p.b", /no cell p\.b/],
])("%j is refused", async (text, says) => {
  const workspace = sums(3);
  workspace.write("matrix.yaml", text);
  const result = await workspace.run(["matrix", "run", "matrix.yaml", "--outdir", "m"]);
  expectError(result, [EXIT.data, EXIT.usage], says);
});
