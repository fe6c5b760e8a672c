/** `plan reproduce`: the documented steps in a clean folder, and what the capstone makes of them. */

import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { BIN, EXIT, expectError, start, Workspace } from "./cli.ts";
import { PlanRoom, prose, START } from "./course-room.ts";

const STUDY = "portfolio/case_study/README.md";
const RECORD = "portfolio/reproduction.json";
const STEP =
  "./lockedroom eval --dataset data/datasets/math_dev.jsonl \\\n  --completions data/rollouts/frozen_rollouts_dev.jsonl --outdir runs/first";

/** A case study about runs/first, which is committed. */
let room: PlanRoom;
beforeAll(async () => {
  room = await PlanRoom.make();
  await room.evaluate("runs/first");
  document(room, STEP);
});

function document(place: PlanRoom, ...steps: string[]): void {
  const block = `\`\`\`sh\n${steps.join("\n")}\n\`\`\``;
  const text = `# Study\n\n[first](../../runs/first) ${prose(200)}\n\n## Reproduce\n\n${block}\n`;
  place.write(STUDY, text);
  place.commit(START);
}

const found = async (place: PlanRoom) => (await place.criterion("capstone_reproduction")).found;

test("the steps of the case study give its figures again", async () => {
  const place = room.copy();
  expect(await found(place)).toMatch(/not run in a clean folder/);
  const { code, stdout } = await place.on(START, "plan", "reproduce");
  expect(code, stdout).toBe(EXIT.ok);
  expect(stdout).toMatch(/1 step in a clean folder made 1 run again.*runs\/first/s);
  expect(await place.criterion("capstone_reproduction")).toMatchObject({ status: "met" });
  document(place, `${STEP} --max-examples 40`);
  expect(await found(place), "the steps have changed").toMatch(/have changed since/);
});

test("steps that give other figures, fail, or do not make the run record nothing", async () => {
  const place = room.copy();
  const attempt = async (...steps: string[]) => {
    document(place, ...steps);
    const { code, stdout } = await place.on(START, "plan", "reproduce");
    expect(place.has(RECORD)).toBe(false);
    return `${code} ${stdout.replaceAll(/\s+/g, " ")}`;
  };
  expect(await attempt(`${STEP} --max-examples 40`)).toMatch(/^1 .*runs\/first has other figures/);
  expect(await attempt(`${STEP} --scorer only-here.ts`)).toMatch(/^1 .*ended with \d+ in a clean/);
  expect(await attempt("./lockedroom validate-scorer --help")).toMatch(/^1 .*make no run/);
  document(place, "make all");
  const refused = await place.on(START, "plan", "reproduce");
  expectError(refused, EXIT.data, "make all", "lockedroom command");
});

test("a run that the steps do not make is named", async () => {
  const place = room.copy();
  await place.select("runs/four", 4);
  place.edit(STUDY, "[first]", "[four](../../runs/four) [first]");
  place.commit(START);
  expect((await place.on(START, "plan", "reproduce")).code).toBe(EXIT.ok);
  expect(await found(place)).toMatch(/do not make runs\/four/);
});

test.each([
  ["lockedroom run cheat.ts", "runs a program"],
  [STEP.replace("runs/first", "HERE/runs/first --force"), "outside of the"],
])("the step %s is refused, and the workspace stays as it is", async (step, why) => {
  const place = room.copy();
  const before = place.read("runs/first/summary.json");
  document(place, step.replace("HERE", place.dir));
  expectError(await place.on(START, "plan", "reproduce"), EXIT.data, why);
  expect(place.read("runs/first/summary.json")).toBe(before);
});

const ODD = STEP.replace("runs/first", "runs/odd --scorer odd.ts");

test.each(["SIGTERM", "SIGINT"] as const)("%s removes the clean folder", async (signal) => {
  const place = room.copy();
  place.write("odd.ts", "while (true);");
  document(place, ODD);
  const temporary = new Workspace();
  const { child, finished } = start(process.execPath, [BIN, "plan", "reproduce"], place.dir, {
    env: { TMPDIR: temporary.dir },
  });
  const made = () => readdirSync(temporary.dir).filter((name) => /reproduce/.test(name));
  child.stderr?.on("data", async () => {
    await sleep(500);
    expect(made()).toHaveLength(1);
    child.kill(signal);
  });
  expect(await finished).toMatchObject({ signal });
  expect(made()).toEqual([]);
});
