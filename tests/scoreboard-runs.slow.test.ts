/** Which runs the scoreboard quotes: whole ones, in their place, that a scorer confirms. */

import { rmSync, symlinkSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIT, expectError, Workspace } from "./cli.ts";
import { PlanRoom, tooWide } from "./course-room.ts";

let room: PlanRoom;
beforeAll(async () => {
  room = await PlanRoom.make();
  await room.evaluate("runs/first");
  await room.select("runs/four", 4);
  await room.well("kl-tradeoff-demo", "--outdir", "runs/kl");
});

const add = (week: number, ...flags: string[]) =>
  room.run(["scoreboard", "add", "--week", String(week), ...flags]);

describe.concurrent("a run that is no evidence", () => {
  const broken = (name: string, from: string | RegExp, to: string, file = "results.jsonl") => {
    const run = `runs/${name}`;
    for (const [part, content] of Object.entries(room.snapshot("runs/first")))
      room.write(`${run}/${part}`, Buffer.from(content, "latin1"));
    const before = room.read(run, file);
    expect(before).toMatch(from);
    room.write(`${run}/${file}`, before.replace(from, to));
    return run;
  };

  test("edited results", async () => {
    const run = broken("edited", "wrong_answer", "ok");
    expectError(await add(21, "--run", run), EXIT.data, run, "edited");
  });

  test("an edited summary", async () => {
    const run = broken("praised", /"pass_rate": [\d.]+/, '"pass_rate": 0.99', "summary.json");
    expectError(await add(21, "--run", run), EXIT.data, run, "edited");
  });

  test("rewards set by hand, with hashes and figures that fit", async () => {
    const place = room.copy();
    place.forge("runs/first");
    const flags = ["scoreboard", "add", "--week", "1", "--run", "runs/first"];
    expectError(await place.run(flags), EXIT.data, "runs/first", /its scorer gives \w+ with 0/);
    expect(place.has("scoreboard/week-01.json")).toBe(false);
  });

  test("copied or renamed", async () => {
    const run = broken("copied", "{", "{");
    expectError(await add(21, "--run", run), EXIT.data, run, /made as first, then copied/);
  });

  test("unfinished", async () => {
    const run = broken("half", "{", "{");
    rmSync(room.path(run, "summary.json"));
    expectError(await add(21, "--run", run), EXIT.data, run, "unfinished");
  });

  test("scorer errors and missing answers", async () => {
    room.write(
      "bad.ts",
      'export const name = "b", version = "1", spec = "s";\nexport function score() { throw new Error("no"); }\n',
    );
    const files = ["--dataset", "data/datasets/math_dev.jsonl", "--max-examples", "3"];
    const frozen = ["--completions", "data/rollouts/frozen_rollouts_dev.jsonl"];
    await room.run(["eval", ...files, ...frozen, "--scorer", "bad.ts", "--outdir", "runs/bad"]);
    expectError(await add(21, "--run", "runs/bad"), EXIT.data, "runs/bad", /scorer failed/);
    room.jsonl("few.jsonl", [{ id: "dev-0001", completion: "Final: 1" }]);
    await room.run(["eval", ...files, "--completions", "few.jsonl", "--outdir", "runs/few"]);
    expectError(await add(21, "--run", "runs/few"), EXIT.data, "runs/few", /have no completion/);
  });

  test("none at all, or one outside", async () => {
    expectError(await add(21, "--run", "runs/gone"), EXIT.usage, "runs/gone");
    const outside = new Workspace();
    outside.write("x.md", "x");
    symlinkSync(outside.dir, room.path("runs/linked"));
    expectError(await add(21, "--run", "runs/linked"), EXIT.usage, "outside");
    expectError(await add(21, "--build", outside.path("x.md")), EXIT.usage, "outside");
    expectError(await add(21, "--blog", "runs/linked/x.md"), EXIT.usage, "outside");
    expect(room.has("scoreboard/week-21.json")).toBe(false);
  });
});

describe("scoring again", () => {
  const addedTo = async (name: string, change: (copy: PlanRoom) => void) => {
    const copy = room.copy();
    change(copy);
    const stdout = await copy.well("scoreboard", "add", "--week", "1", "--run", `runs/${name}`);
    const { run } = JSON.parse(copy.read("scoreboard/week-01.json"));
    const shown = await copy.well("scoreboard", "show");
    expect(tooWide(stdout + shown)).toEqual([]);
    return { copy, stdout, shown, rescored: run.rescored };
  };

  test("confirms evaluations and selections, also where the workspace has moved", async () => {
    for (const name of ["first", "four"]) {
      const { stdout, shown, rescored } = await addedTo(name, () => {});
      expect(rescored).toBe(true);
      expect(stdout + shown).not.toContain("not scored again");
    }
  });

  test.each<[string, string, RegExp, (copy: PlanRoom) => void]>([
    [
      "first",
      "another scorer",
      /another version of the scorer/,
      (copy) => copy.disown("runs/first"),
    ],
    [
      "first",
      "a scorer that was edited since",
      /another version of the scorer/,
      (copy) => copy.write("scoring.ts", `${copy.read("scoring.ts")}\n// later\n`),
    ],
    [
      "first",
      "other data",
      /its data set is not here/,
      (copy) => copy.edit("data/datasets/math_dev.jsonl", "dev-0001", "dev-0000"),
    ],
  ])("%s with %s is counted, and said not to be scored again", async (name, _, why, change) => {
    const { stdout, shown, rescored } = await addedTo(name, change);
    expect(rescored).toBe(false);
    expect(stdout).toMatch(new RegExp(`success +[\\d.]+ +\\(not scored again: ${why.source}`));
    expect(shown).toMatch(/^ +1 .*\d\*/m);
    expect(shown).toMatch(new RegExp(`^\\* not scored again: ${why.source}`, "m"));
  });

  test("a microscope's reward is no task success, and its text no output", async () => {
    const { stdout, rescored } = await addedTo("kl", () => {});
    expect(rescored).toBe(false);
    expect(stdout).toMatch(/success +not measured$/m);
    expect(stdout).toMatch(/length +not measured$/m);
    expect(stdout).toMatch(/KL.* \d/);
  });

  test("names a run that was forged after it was measured, hashes in the week's file too", async () => {
    const { copy } = await addedTo("first", () => {});
    copy.forge("runs/first");
    const { summary } = copy.readRun("runs/first");
    copy.edit(
      "scoreboard/week-01.json",
      /"results_sha256": "\w+"/,
      `"results_sha256": "${summary.results_sha256}"`,
    );
    expect(await copy.well("scoreboard")).toMatch(/! week 1: runs\/first: It was edited/);
  });
});

test("details of a scorer that happen to be called kl are no KL", async () => {
  const place = room.copy();
  place.write(
    "scoring.ts",
    'export const name = "k", version = "1", spec = "s";\nexport const score = () => ({ reward: 1, code: "ok", details: { kl: 9 } });\n',
  );
  await place.select("runs/k", 2);
  await place.well("scoreboard", "add", "--week", "9", "--run", "runs/k");
  expect(JSON.parse(place.read("scoreboard/week-09.json")).metrics.kl).toBeNull();
});
