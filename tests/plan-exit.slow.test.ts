/** The exit of phase 0: what opens it, and what does not. */

import { renameSync, rmSync, symlinkSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { advancePlan } from "../src/course/plan/index.ts";
import { api, describeRun, Workspace } from "./cli.ts";
import { PlanRoom, prose, START } from "./course-room.ts";

/** A room that has done phase 0 and not advanced; tests take copies. */
let done: PlanRoom;
beforeAll(async () => {
  done = await PlanRoom.make();
  await done.finishPhase0();
  done.commit(START);
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

  test.each<[string, string, (room: PlanRoom) => unknown]>([
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
      "rewards set by hand, with hashes and figures that fit",
      (room) => room.forge("runs/baseline"),
    ],
    [
      "baseline_measured",
      "a run under another name",
      (room) => renameSync(room.path("runs/baseline"), room.path("runs/copied")),
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
      "an edited reason",
      (room) => room.edit("runs/four-gate.json", /"code": "\w+"/, '"code": "praised"'),
    ],
    [
      "second_run_compared",
      "a comparison with a renamed run",
      (room) => {
        renameSync(room.path("runs/one"), room.path("runs/first"));
        return room.compare("runs/first", "runs/four", "runs/four-gate.json");
      },
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
