/** The plan's record and its calendar: days, weeks and streaks come from git, phases are earned. */

import { beforeAll, describe, expect, test } from "vitest";
import { planStatus } from "../src/course/plan/index.ts";
import { EXIT, expectError } from "./cli.ts";
import { PlanRoom, prose, START } from "./course-room.ts";

let fresh: PlanRoom;
beforeAll(async () => {
  fresh = await PlanRoom.make();
});

describe.concurrent("plan.json", () => {
  const forged = (phase: number, advanced: unknown[]) =>
    JSON.stringify({ schema: "lockedroom.plan@1", phase, advanced });

  test.each<[string, string, RegExp]>([
    ["cut off", '{"schema":"lockedroom.plan@1","ph', /damaged/],
    ["of nobody", '{"schema":"lockedroom.plan@2","phase":0,"advanced":[]}', /damaged/],
    ["with a phase that nobody earned", forged(3, []), /every phase before/],
    [
      "with a path that leads out",
      forged(1, [
        {
          phase: 0,
          on: START,
          evidence: [{ criterion: "x", path: "../x", sha256: "0".repeat(64) }],
        },
      ]),
      /inside the workspace/,
    ],
    ["in conflict", "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n", /merge conflict/],
  ])("%s is refused with a sentence and left as it is", async (_, text, says) => {
    const room = fresh.copy();
    room.write("plan.json", text);
    for (const action of [[], ["advance"]]) {
      expectError(await room.on(START, "plan", ...action), EXIT.data, "plan.json", says);
      expect(room.read("plan.json")).toBe(text);
    }
  });

  test("made by hand does not carry anyone further", async () => {
    const room = await PlanRoom.make();
    room.write("plan.json", forged(1, [{ phase: 0, on: START, evidence: [] }]));
    const result = await room.on(START, "plan", "advance");
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/phase 0,\s+passed\s+before/);
  });
});

describe.concurrent("days", () => {
  test("count from the first commit; a late exit loops", async () => {
    const late = await fresh.plan("2026-03-13");
    expect(late).toMatchObject({ day: 12, phase: 0, calendar_phase: 1, days_late: 5 });
    const { stdout } = await fresh.on("2026-03-13", "plan");
    expect(stdout.replaceAll("\n", " ")).toMatch(
      /Day 12 of phase 0, 5 days late.*Finish it before/,
    );
    expect(await fresh.plan("2026-03-08")).toMatchObject({ day: 7, days_late: 0 });
  });

  test("are those of whoever committed, wherever the plan is read", async () => {
    const room = new PlanRoom();
    const late = "2026-03-02T23:30:00Z";
    const env = { GIT_AUTHOR_DATE: late, GIT_COMMITTER_DATE: late, TZ: "UTC" };
    await room.run(["init", "."], { env });
    const seen = async (TZ: string) => {
      const environment = { TZ, LOCKEDROOM_TODAY: "2026-03-03" };
      const { stdout } = await room.run(["plan", "--format", "json"], { env: environment });
      return JSON.parse(stdout).day;
    };
    expect(await seen("UTC")).toBe(2);
    expect(await seen("Asia/Tokyo")).toBe(2);
  });

  test("before the first commit are day 1, with a word about the clock", async () => {
    const { stdout } = await fresh.on("2026-02-01", "plan");
    expect(stdout).toMatch(/^Day 1 /);
    expect(stdout).toContain("Check the clock");
  });

  test.each([
    [8_640_000_000_001, "9999-12-31"],
    [1, "1970-01-01"],
  ])(
    "counted from a first commit at %d s are told with a word about the clock",
    async (at, day) => {
      const room = new PlanRoom();
      const date = `@${at} +0000`;
      const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, TZ: "UTC" };
      await room.run(["init", "."], { env });
      const { code, stdout, stderr } = await room.on(START, "plan");
      expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
      expect(stdout).toContain(day);
      expect(stdout).toContain("Check the clock");
      expect(stdout).not.toContain("NaN");
    },
  );

  test("that are no date are a usage error", async () => {
    expectError(await fresh.on("2026-02-30", "plan"), EXIT.usage, "LOCKEDROOM_TODAY");
  });
});

describe.concurrent("weeks and streaks come from commits", () => {
  const NOTHING = { build: [], theory: [], evaluation: [], blog: [] };
  const DAY = "2026-03-04";

  async function shipped(room: PlanRoom, day: string): Promise<Record<string, string[]>> {
    const { week } = await planStatus({ dir: room.dir, today: day, commands: [] });
    return Object.fromEntries(week.deliverables.map((one) => [one.id, [...one.shipped]]));
  }

  test("the first commit and what is not committed ship nothing; a week later it is old", async () => {
    const room = await PlanRoom.make();
    await room.evaluate("runs/a");
    room.write("notes/kl.md", prose(200));
    room.write("posts/one.md", prose(200));
    expect(await shipped(room, DAY)).toEqual(NOTHING);
    room.commit(DAY);
    expect(await shipped(room, DAY)).toEqual({
      build: ["runs/a"],
      theory: ["notes/kl.md"],
      evaluation: ["runs/a"],
      blog: ["posts/one.md"],
    });
    expect(await shipped(room, "2026-03-09")).toEqual(NOTHING);
    expect((await room.plan("2026-03-05")).activity).toMatchObject({
      streak: 1,
      longest: 1,
      full_days: 1,
      days: 4,
    });
  });

  test("a note of 199 words, one short post and a broken run ship nothing; two short posts do", async () => {
    const room = await PlanRoom.make();
    await room.evaluate("runs/a");
    room.edit("runs/a/results.jsonl", "wrong_answer", "ok");
    room.write("notes/kl.md", prose(199));
    room.write("posts/one.md", prose(100));
    room.commit(DAY);
    expect(await shipped(room, DAY)).toEqual(NOTHING);
    room.write("posts/two.md", prose(100));
    room.commit(DAY);
    expect(await shipped(room, DAY)).toMatchObject({ blog: ["posts/one.md", "posts/two.md"] });
  });

  test("a note of 30,000 words is read in a moment", async () => {
    const room = await PlanRoom.make();
    room.write("notes/long.md", prose(30_000));
    room.commit(DAY);
    const limit = { NODE_OPTIONS: "--max-old-space-size=256", LOCKEDROOM_TODAY: DAY };
    const result = await room.run(["plan", "--format", "json"], { env: limit });
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(result.stdout).toContain("notes/long.md");
  });

  test("words of a branch count on the day they were written, and a merge adds none", async () => {
    const room = await PlanRoom.make();
    room.git(["checkout", "--quiet", "-b", "side"]);
    room.write("notes/kl.md", prose(200));
    room.commit(DAY);
    room.git(["checkout", "--quiet", "main"]);
    room.write("posts/one.md", prose(200));
    room.commit(DAY);
    const merge = ["merge", "--quiet", "--no-ff", "-m", "join", "side"];
    room.git([...AS_SOMEBODY, ...merge], "2026-03-10");
    expect(await shipped(room, DAY)).toMatchObject({ theory: ["notes/kl.md"] });
    expect(await shipped(room, "2026-03-10")).toEqual(NOTHING);
  });

  test("the words of a template are not the learner's", async () => {
    const room = await PlanRoom.make();
    room.write("notes/long.md", prose(400));
    room.git(["add", "--all"]);
    room.git([...AS_SOMEBODY, "commit", "--quiet", "--amend", "--no-edit"]);
    room.write("notes/long.md", `${prose(400)} and a few words more`);
    room.commit(DAY);
    expect(await shipped(room, DAY)).toEqual(NOTHING);
  });
});

const AS_SOMEBODY = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
