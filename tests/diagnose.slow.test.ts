/** `diagnose` as a learner meets it: curves without a name, an answer, and what the run was. */

import { beforeAll, describe, expect, test } from "vitest";
import { CAUSES, caseCount, openCase } from "../src/course/diagnose/index.ts";
import { EXIT, expectError, Workspace } from "./cli.ts";
import { PlanRoom, tooWide } from "./course-room.ts";

let room: PlanRoom;
beforeAll(async () => {
  room = await PlanRoom.make();
});

const one = openCase(3, 0);
const accepted = ["--answer", one.cause, "--ablation", CAUSES[one.cause].ablation];
const wrong = ["--answer", one.cause === "no-reward" ? "wrong-sign" : "no-reward"];

describe("a case", () => {
  test("is shown without its name, in 80 columns, and writes nothing", async () => {
    const { stdout, code } = await room.run(["diagnose", "--case", "3"]);
    expect(code).toBe(EXIT.ok);
    expect(tooWide(stdout)).toEqual([]);
    for (const curve of ["reward", "validation", "KL", "entropy", "length", "clip fraction"])
      expect(stdout).toMatch(new RegExp(`^${curve}, .* → `, "m"));
    expect(stdout).not.toContain(one.name);
    expect(stdout).toContain("--answer CAUSE --ablation KNOB");
    expect(room.has("diagnoses")).toBe(false);
    const json = await room.run(["diagnose", "--case", "3", "--format", "json"]);
    expect(json.stdout).not.toContain(one.cause);
  });

  test("is answered, scored, revealed and kept; the first answer counts", async () => {
    const answer = (...flags: string[]) => room.run(["diagnose", "--case", "3", ...flags]);
    const guess = await answer(...wrong, "--ablation", "clip-range");
    expect(guess.code).toBe(1);
    expect(guess.stdout).toMatch(/^✗ cause/m);
    expect(guess.stdout).toContain(one.name);
    expect(tooWide(guess.stdout)).toEqual([]);
    const right = await answer(...accepted);
    expect(right.code).toBe(EXIT.ok);
    expect(right.stdout).toMatch(/^✓ cause.*\n✓ ablation/m);
    expect(right.stdout).toContain("has your first answer, and now its correction");
    const kept = JSON.parse(room.read(`diagnoses/${one.name}.json`));
    expect(kept).toMatchObject({ name: one.name, cause_right: false });
    const list = await room.run(["diagnose"]);
    expect(list.stdout.match(/^ {2}case/gm)).toHaveLength(caseCount());
    expect(list.stdout).toMatch(/case {2}3 .*wrong cause, corrected/);
  });

  test("outside of a workspace is scored and not kept; its picture is written", async () => {
    const place = new Workspace();
    const flags = ["diagnose", "--case", "3", "--outfile", "curves.svg"];
    const { stdout, code } = await place.run([...flags, ...accepted]);
    expect(code).toBe(EXIT.ok);
    expect(stdout).toContain("Not kept");
    expect(place.read("curves.svg")).toMatch(/^<svg /);
  });

  test("that is revealed without an answer counts as not answered", async () => {
    const place = room.copy();
    const { stdout, code } = await place.run(["diagnose", "--case", "4", "--reveal"]);
    expect(code).toBe(EXIT.ok);
    expect(stdout).toContain(openCase(4, 0).name);
    await place.run(["diagnose", "--case", "4", "--answer", "no-reward", "--ablation", "reward"]);
    expect((await place.run(["diagnose"])).stdout).toMatch(/case {2}4 .*revealed without/);
  });
});

test("wrong usage says what is accepted", async () => {
  const place = new Workspace();
  const bad = (...flags: string[]) => place.run(["diagnose", ...flags]);
  expectError(await bad("--case", "99"), EXIT.usage, "1 to");
  expectError(await bad("--answer", "no-reward"), EXIT.usage, "--case");
  expectError(await bad("--case", "1", "--answer", "no-reward"), EXIT.usage, "--ablation");
  expectError(await bad("--case", "1", "--ablation", "seed"), EXIT.usage, "--answer");
  expectError(await bad("--case", "1", "--answer", "gremlins"), EXIT.usage, "wrong-sign");
});
