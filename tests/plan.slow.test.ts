/** The 120-day plan as a learner meets it: evidence counts, words do not. */

import { rmSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIT, expectError, Workspace } from "./cli.ts";
import { PlanRoom, START, tooWide } from "./course-room.ts";

/** A room that has done phase 0 and not advanced; tests take copies. */
let done: PlanRoom;
beforeAll(async () => {
  done = await PlanRoom.make();
  await done.finishPhase0();
  done.commit(START);
});

interface Listed {
  id: string;
  status: string;
  commands?: string[];
}

describe.concurrent("a fresh workspace", () => {
  test("shows five phases with their days, and what is missing with a next step", async () => {
    const room = await PlanRoom.make();
    const status = await room.plan();
    expect(status).toMatchObject({ day: 1, phase: 0, calendar_phase: 0, days_late: 0 });
    const days = status.phases.map(({ first, last }: never) => [first, last]);
    expect(days).toEqual([
      [1, 7],
      [8, 28],
      [29, 56],
      [57, 84],
      [85, 120],
    ]);
    const [now] = status.phases;
    expect(now.criteria.map(({ status: found }: Listed) => found)).toEqual([
      ...["met", "missing", "missing", "missing"],
    ]);
    for (const one of now.criteria.slice(1)) {
      expect(one.expected && one.found && one.next, one.id).toBeTruthy();
    }
    const { stdout, code } = await room.on(START, "plan");
    expect(code).toBe(EXIT.ok);
    expect(stdout).toMatch(/^Day 1 of 120, week 1, phase 0/);
    expect(tooWide(stdout)).toEqual([]);
  });

  test("never pretends: what needs a tool that is not there says which", async () => {
    const { phases } = await done.plan();
    const help = (await done.run(["--help"])).stdout;
    for (const { criteria } of phases) {
      for (const { id, status, commands = [] } of criteria as Listed[]) {
        expect(["met", "missing", "no_tool_yet", "not_checked_yet"], id).toContain(status);
        if (status === "no_tool_yet") expect(commands, id).not.toEqual([]);
        for (const name of commands) expect(help).not.toMatch(new RegExp(`^  ${name} `, "m"));
      }
    }
    const { stdout } = await done.on(START, "plan");
    expect(stdout).toContain("no tool yet: lockedroom");
    expect(stdout.replaceAll(/no tool yet: .*/g, "")).not.toMatch(/(?<!\.\/)lockedroom [a-z]/);
  });

  test("advance is refused with what is missing, and writes nothing", async () => {
    const room = await PlanRoom.make();
    const result = await room.on(START, "plan", "advance");
    expect(result).toMatchObject({ code: 1, stderr: "" });
    expect(result.stdout.match(/^ {2}✗ /gm)).toHaveLength(3);
    expect(result.stdout).toContain("./lockedroom eval --dataset");
    expect(tooWide(result.stdout)).toEqual([]);
    expect(room.has("plan.json")).toBe(false);
  });
});

describe.concurrent("evidence after the exit", () => {
  async function advanced(): Promise<PlanRoom> {
    const room = done.copy();
    expect((await room.on(START, "plan", "advance")).code).toBe(0);
    return room;
  }

  test("that changed is named, and the record stays", async () => {
    const room = await advanced();
    const record = room.read("plan.json");
    room.write("runs/baseline/README.md", `${room.read("runs/baseline/README.md")}\nLater.\n`);
    const { changed_evidence: changed, phase } = await room.plan();
    expect(changed).toEqual([
      {
        phase: 0,
        criterion: "run_note_written",
        path: "runs/baseline/README.md",
        problem: "changed",
      },
    ]);
    expect(phase).toBe(1);
    expect(room.read("plan.json")).toBe(record);
  });

  test("that is missing is named and blocks the next exit until it is back", async () => {
    const room = await advanced();
    rmSync(room.path("runs/four-gate.json"));
    const { stdout } = await room.on(START, "plan");
    expect(stdout).toContain("runs/four-gate.json missing");
    expect(tooWide(stdout)).toEqual([]);
    const refused = await room.on(START, "plan", "advance");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/phase 0,\s+passed\s+before/);
  });
});

test("what is missing of training has a command that can be copied", async () => {
  const room = await PlanRoom.make();
  const advanced = [0, 1, 2, 3].map((phase) => ({ phase, on: START, evidence: [] }));
  room.write("plan.json", JSON.stringify({ schema: "lockedroom.plan@1", phase: 4, advanced }));
  const { stdout, code } = await room.on(START, "plan");
  expect(code).toBe(EXIT.ok);
  for (const wanted of ["rollout", "train rft", "train grpo", "sweep grpo"])
    expect(stdout).toContain(`./lockedroom ${wanted}`);
  expect(stdout).not.toContain("cannot check it yet");
  expect(stdout.match(/no tool yet: .*/g)).toEqual(Array(2).fill("no tool yet: lockedroom azure"));
  expect(tooWide(stdout)).toEqual([]);
});

describe.concurrent("places that are no workspace", () => {
  test("no marker", async () => {
    expectError(await new Workspace().run(["plan"]), EXIT.usage, "lockedroom init");
  });

  test("no history", async () => {
    const room = done.copy();
    rmSync(room.path(".git"), { recursive: true });
    expectError(await room.on(START, "plan"), EXIT.data, "git");
  });

  test("an action that is none", async () => {
    expectError(await done.on(START, "plan", "forward"), EXIT.usage, "advance");
  });

  test("below the root works", async () => {
    const room = done.copy();
    const inside = Object.assign(Object.create(room), { dir: room.path("notes") }) as PlanRoom;
    expect(await inside.plan()).toMatchObject({ day: 1 });
  });
});
