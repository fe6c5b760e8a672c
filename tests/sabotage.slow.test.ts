/** The whole catalogue by the command, and the page in the docs that it makes. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { DEV, describeRun, EXIT, expectError, FROZEN, ROOT, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

/** Under a minute when nothing else runs. */
const BUSY_MACHINE_MS = 600_000;
const PATIENT = { limitMs: BUSY_MACHINE_MS };

test("everything is as the catalogue says, and docs/sabotages.md is what the command prints", {
  timeout: BUSY_MACHINE_MS,
}, async () => {
  const command = ["sabotage", "run", "--format", "markdown"];
  const result = await new Workspace().run(command, PATIENT);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  const page = readFileSync(path.join(ROOT, "docs/sabotages.md"), "utf8");
  expect(page.slice(page.indexOf("## Data"))).toBe(result.stdout);
});

test("copies of a given run are sabotaged; the run itself is left alone", async () => {
  const place = new Workspace();
  const files = ["--dataset", DEV, "--completions", FROZEN, "--outdir", "mine"];
  expect(await place.run(["eval", "--quiet", ...files])).toMatchObject({ code: EXIT.ok });
  const before = place.snapshot("mine");
  const flags = ["--run", "mine", "--outdir", "kept"];
  const result = await place.run(["sabotage", "run", "data", "statistics", "seals", ...flags]);
  expectError(result, EXIT.usage, /no sabotage or family "seals"/);
  const names = ["data", "statistics", "run-without-seal", "reward-flipped"];
  const text = await place.run(["sabotage", "run", ...names, ...flags], PATIENT);
  expect(text, describeRun(text)).toMatchObject({ code: EXIT.ok });
  expect(tooWide(text.stdout)).toEqual([]);
  expect(text.stdout).toMatch(/reward-flipped +gate: run_edited/);
  expect(place.snapshot("mine")).toEqual(before);
  expect(place.has("kept/001-baseline/results.jsonl")).toBe(true);
  expectError(await place.run(["sabotage", "run", ...flags]), EXIT.usage, /kept is not empty/);
});

test("the same sabotages give the same bytes, random scorers included", async () => {
  const names = ["random-scorer", "moody-selection", "edited-after-seal", "constant-reward"];
  const [one, two] = [new Workspace(), new Workspace()];
  const run = (place: Workspace) =>
    place.run(["sabotage", "run", ...names, "--format", "json", "--outdir", "x"], PATIENT);
  const [first, second] = [await run(one), await run(two)];
  expect(first, describeRun(first)).toMatchObject({ code: EXIT.ok });
  expect(second.stdout).toBe(first.stdout);
});

test("trainings begin with the checkpoint of a given training run, which is left alone", {
  timeout: BUSY_MACHINE_MS,
}, async () => {
  const place = new Workspace();
  const train = ["train", "grpo", "--quiet", "--init", "pi0", "--steps", "1", "--outdir", "mine"];
  const small = ["--set", "rollouts.prompts=2", "--set", "rollouts.group=2"];
  const data = ["--dataset", path.join(ROOT, "data/datasets/math_train.jsonl")];
  expect(await place.run([...train, ...small, ...data])).toMatchObject({ code: EXIT.ok });
  const before = place.snapshot("mine");
  const names = ["shifted-mask", "truncated-sampling", "weights-planted"];
  const result = await place.run(["sabotage", "run", ...names, "--train", "mine"], PATIENT);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  expect(place.snapshot("mine")).toEqual(before);
});

test("the list fits in 80 columns, and names what nothing catches", async () => {
  const { stdout } = await new Workspace().run(["sabotage", "list"]);
  expect(tooWide(stdout)).toEqual([]);
  expect(stdout).toMatch(/sandbagged-baseline\n.*\n.*\n? *caught by nothing: /);
});
