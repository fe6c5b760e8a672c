/** The 120-day plan as a learner meets it: evidence counts, words do not. */

import { renameSync, rmSync, symlinkSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { advancePlan } from "../src/course/plan/index.ts";
import { api, describeRun, EXIT, expectError, Workspace } from "./cli.ts";
import { prose, Room, START, tooWide } from "./course-room.ts";

/** A room that has done phase 0 and not advanced; tests take copies. */
let done: Room;
beforeAll(async () => {
  done = await Room.make();
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
    const room = await Room.make();
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
        expect(["met", "missing", "no_tool_yet"], id).toContain(status);
        if (status === "no_tool_yet") expect(commands, id).not.toEqual([]);
        for (const name of commands) expect(help).not.toMatch(new RegExp(`^  ${name} `, "m"));
      }
    }
    const { stdout } = await done.on(START, "plan");
    expect(stdout).toContain("no tool yet: lockedroom");
  });

  test("advance is refused with what is missing, and writes nothing", async () => {
    const room = await Room.make();
    const result = await room.on(START, "plan", "advance");
    expect(result).toMatchObject({ code: 1, stderr: "" });
    expect(result.stdout.match(/^ {2}✗ /gm)).toHaveLength(3);
    expect(result.stdout).toContain("lockedroom eval --dataset");
    expect(tooWide(result.stdout)).toEqual([]);
    expect(room.has("plan.json")).toBe(false);
  });
});

describe("the exit of phase 0", () => {
  test("holds with all the evidence; advancing records it with hashes", async () => {
    const room = done.copy();
    const result = await room.on("2026-03-07", "plan", "advance");
    expect(result, describeRun(result)).toMatchObject({ code: 0, stderr: "" });
    const record = JSON.parse(room.read("plan.json"));
    expect(record).toMatchObject({ schema: "lockedroom.plan@1", phase: 1 });
    const [{ phase, on, evidence }] = record.advanced;
    expect({ phase, on }).toEqual({ phase: 0, on: "2026-03-07" });
    expect(new Set(evidence.map(({ criterion }: { criterion: string }) => criterion)).size).toBe(4);
    for (const { path, sha256 } of evidence) expect(api.sha256(room.read(path))).toBe(sha256);
    const again = await room.on("2026-03-08", "plan", "advance");
    expect(again).toMatchObject({ code: 1 });
    expect(again.stdout).toContain("no tool yet");
    expect(JSON.parse(room.read("plan.json"))).toEqual(record);
  });

  test("holds after the workspace has moved, reports that name their runs outright included", async () => {
    const room = done.copy();
    const gated = ["--baseline", room.path("runs/one"), "--candidate", room.path("runs/four")];
    await room.run(["gate", ...gated, "--report", "runs/four-gate.json"]);
    const moved = room.copy();
    rmSync(room.dir, { recursive: true });
    expect(await moved.criterion("second_run_compared")).toMatchObject({ status: "met" });
    expect((await moved.on(START, "plan", "advance")).code).toBe(0);
  });

  test.each<[string, string, (room: Room) => unknown]>([
    [
      "scorer_agrees",
      "a scorer that rewards everything",
      (room) => room.write("scoring.ts", weakScorer),
    ],
    [
      "scorer_agrees",
      "golden rows edited to please it",
      (room) => {
        room.write("scoring.ts", weakScorer);
        for (const suite of ["golden_correct", "golden_exploits"]) {
          const [first = ""] = room.read(`data/golden/${suite}.jsonl`).split("\n");
          const pleased = { ...JSON.parse(first), expected_reward: 1 };
          room.jsonl(`data/golden/${suite}.jsonl`, [pleased]);
        }
      },
    ],
    ["scorer_agrees", "no scorer", (room) => rmSync(room.path("scoring.ts"))],
    [
      "scorer_agrees",
      "a scorer that does not load",
      (room) => room.write("scoring.ts", "export const = 1"),
    ],
    [
      "baseline_measured",
      "edited results",
      (room) => room.edit("runs/baseline/results.jsonl", "wrong_answer", "ok"),
    ],
    [
      "baseline_measured",
      "an edited summary",
      (room) => room.edit("runs/baseline/summary.json", /"pass_rate": [\d.]+/, '"pass_rate": 0.99'),
    ],
    [
      "baseline_measured",
      "a half-written run",
      (room) => rmSync(room.path("runs/baseline/summary.json")),
    ],
    [
      "run_note_written",
      "a note as the program wrote it",
      (room) =>
        room.edit("runs/baseline/README.md", "about two thirds would pass", "_yours to write_"),
    ],
    [
      "run_note_written",
      "a note whose fields were taken out",
      (room) => room.write("runs/baseline/README.md", `# Run note\n\n${prose(50)}\n`),
    ],
    [
      "second_run_compared",
      "results cut in half",
      (room) =>
        room.write("runs/four/results.jsonl", room.read("runs/four/results.jsonl").slice(0, 999)),
    ],
    ["second_run_compared", "no report", (room) => rmSync(room.path("runs/four-gate.json"))],
    [
      "second_run_compared",
      "an edited verdict",
      (room) => room.edit("runs/four-gate.json", '"PROMOTE"', '"INCONCLUSIVE"'),
    ],
    [
      "second_run_compared",
      "a report of runs that are gone",
      (room) => rmSync(room.path("runs/one"), { recursive: true }),
    ],
    [
      "second_run_compared",
      "a comparison of a run with itself",
      (room) => room.compare("runs/one", "runs/one", "runs/four-gate.json"),
    ],
    [
      "second_run_compared",
      "runs that lie outside, behind a link",
      (room) => {
        const outside = new Workspace();
        renameSync(room.path("runs/one"), outside.path("one"));
        symlinkSync(outside.path("one"), room.path("runs/one"));
      },
    ],
  ])("%s fails on %s", async (id, _, damage) => {
    const room = done.copy();
    await damage(room);
    const { missing } = await advancePlan({ dir: room.dir, today: START, commands: [] });
    expect(missing.map(({ criterion }) => criterion.id)).toContain(id);
    expect(room.has("plan.json")).toBe(false);
  });
});

const weakScorer = `export const name = "weak";
export const version = "1.0.0";
export const spec = "everything is right";
export const score = () => ({ reward: 1, code: "ok", details: {} });
`;

describe.concurrent("evidence after the exit", () => {
  async function advanced(): Promise<Room> {
    const room = done.copy();
    expect((await room.on(START, "plan", "advance")).code).toBe(0);
    return room;
  }

  test("that changed is named, and the record stays", async () => {
    const room = await advanced();
    const record = room.read("plan.json");
    room.write("runs/baseline/README.md", `${room.read("runs/baseline/README.md")}\nLater.\n`);
    const { drifted, phase } = await room.plan();
    expect(drifted).toEqual([
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

  test("that vanished is named and blocks the next exit until it is back", async () => {
    const room = await advanced();
    rmSync(room.path("runs/four-gate.json"));
    const { stdout } = await room.on(START, "plan");
    expect(stdout).toContain("runs/four-gate.json vanished");
    expect(tooWide(stdout)).toEqual([]);
    const refused = await room.on(START, "plan", "advance");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/phase 0,\s+which you had left/);
  });
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
    const inside = Object.assign(Object.create(room), { dir: room.path("notes") }) as Room;
    expect(await inside.plan()).toMatchObject({ day: 1 });
  });
});
