/** `sweep` as a person uses it: what it refuses, and what it says of a knob that turns nothing. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tradeoffSchema } from "../src/runs/sweep-schema.ts";
import { DEV, describeRun, EXIT, expectError, ROOT, Workspace } from "./cli.ts";
import { expectRunNote } from "./run-notes.ts";

const TRAIN = path.join(ROOT, "data/datasets/math_train.jsonl");
const room = new Workspace();
room.write("dev.jsonl", readFileSync(DEV, "utf8").split("\n").slice(0, 4).join("\n"));

function sweep(over: string, ...more: string[]) {
  const files = ["--init", "pi0", "--dataset", TRAIN, "--dev", "dev.jsonl", "--outdir", "sw"];
  const tiny = ["--steps", "1", "--set", "rollouts.prompts=2", "--set", "rollouts.group=2"];
  return room.run(["sweep", "grpo", "--over", over, ...files, ...tiny, ...more]);
}

test.each([
  ["kl.coefficient=0,0.1", [], "kl.coefficient has no effect while kl.mode is none", "=fixed"],
  ["kl.target=1,2", ["--set", "kl.mode=fixed"], "kl.target has no effect", "kl.mode=adaptive"],
  ["kl.diagnostic_share=0.5,1", ["--set", "kl.mode=fixed"], "on all rows", "kl.mode=none"],
])("over %s %j, which has no effect, is refused before anything is trained", async (...args) => {
  const [over, flags, ...says] = args;
  expectError(await sweep(over, ...flags), EXIT.usage, ...says);
  expect(room.has("sw")).toBe(false);
});

test("says which values gave the same policy, and what is written", async () => {
  const all = await sweep("kl.target=1,2", "--set", "kl.mode=adaptive");
  expect(all, describeRun(all)).toMatchObject({ code: EXIT.ok });
  expect(all.stdout).toContain("! all values gave the same policy: the setting had no effect\n");
  expect(all.stdout).toMatch(
    /^Runs, sweep\.json, tradeoff\.json, tradeoff\.svg and tradeoff\.png written to sw\nNext: \S+ report --run sw\/\*\/ --outfile sw\.html\n$/m,
  );
  for (const file of ["sweep.json", "tradeoff.json", "tradeoff.svg", "tradeoff.png"]) {
    expect(room.has("sw", file)).toBe(true);
  }
  expect(room.read("sw/tradeoff.svg")).toMatch(
    /paint-order="stroke"><text [^>]*>1, 2<\/text><\/g>/,
  );
  expectRunNote(
    room.read("sw/README.md"),
    ...["2 runs over `kl.target`", "algorithm `grpo`", "initial policy: `"],
    "see the note in `kl.target=1/`",
  );
  const trained = room.read("sw/kl.target=1/README.md");
  expectRunNote(
    trained,
    ...["**Loop:** C", "1 steps, loss", "reward scorer `math_final_line`"],
    "kl: mode `adaptive`\n  - all other settings: the defaults",
  );
  // What a person wrote stays beside the note of the sweep that is run again.
  room.write("sw/README.md", trained.replace("_yours to write_", "no effect at all"));
  await sweep("kl.target=1,2", "--set", "kl.mode=adaptive");
  expect(room.read("sw/README.kept-1.md")).toContain("no effect at all");
  const some = await sweep("rate.peak=0,0.01", "--outdir", "turned");
  expect(some.stdout).not.toContain("same policy");
  const page = await room.run([
    "report",
    "--run",
    "turned/rate.peak=0",
    "turned/rate.peak=0.01",
    "--outfile",
    "turned.html",
  ]);
  expect(page, describeRun(page)).toMatchObject({ code: EXIT.ok });
  expect(room.read("turned.html")).toMatch(/differ in <code>rate\.peak<\/code> alone/);
});

test("an unknown measure is refused before anything is trained; known ones are in the curve's file", async () => {
  const refused = await sweep("rate.peak=0,0.01", "--tradeoff", "reward:beauty", "--outdir", "no");
  expectError(refused, EXIT.usage, 'no measure "beauty"', "length, truncated, tokens");
  expect(room.has("no")).toBe(false);
  const made = await sweep("rollouts.group=2,3", "--tradeoff", "reward:tokens", "--outdir", "cost");
  expect(made, describeRun(made)).toMatchObject({ code: EXIT.ok });
  const curve = tradeoffSchema.parse(JSON.parse(room.read("cost/tradeoff.json")));
  expect(curve).toMatchObject({ over: "rollouts.group", x: { name: "tokens", better: "lower" } });
  const [small, large] = curve.points;
  expect(small?.run).toBe("rollouts.group=2");
  expect(large?.x).toBeGreaterThan(small?.x ?? Infinity);
  expect(curve.points.some(({ pareto }) => pareto)).toBe(true);
  expect(made.stdout).toMatch(/^rollouts\.group +reward +tokens +Pareto$/m);
});

test("a measure that no run would have is refused before anything is trained", async () => {
  const traded = (tradeoff: string, outdir: string, ...more: string[]) =>
    sweep("rate.peak=0,0.01", "--tradeoff", tradeoff, "--outdir", outdir, ...more);
  const one = await traded("reward/nope:tokens", "none");
  expectError(one, EXIT.usage, "reward/nope", "only where there are several", "proxy_reward");
  expectError(await traded("reward:cost/mean", "none"), EXIT.usage, "--cost-scorer FILE");
  room.write(
    "brief.ts",
    `export const name = "brief", version = "1", spec = "short";
export const score = (_: unknown, text: string) =>
  ({ reward: text.length < 40 ? 1 : 0, code: "length", details: {} });
`,
  );
  const both = ["--scorer", "math_final_line", "--scorer", "brief.ts"];
  const unknown = await traded("reward/nope:tokens", "none", ...both);
  expectError(unknown, EXIT.usage, "the scorers are math_final_line, brief", "reward/brief");
  expect(room.has("none")).toBe(false);
  const made = await traded("reward/brief:tokens", "brief", ...both);
  expect(made, describeRun(made)).toMatchObject({ code: EXIT.ok });
  const { points } = tradeoffSchema.parse(JSON.parse(room.read("brief/tradeoff.json")));
  expect(points.map(({ y }) => y)).not.toContain(null);
});
