/** What --next and `check` ask for first. */

import { expect, test } from "vitest";
import { type CheckOutcome, EXTRA_LEVELS, firstToDo, LEVELS } from "./check.ts";
import { EXTRA_IDS, TRACK_IDS } from "./level.ts";

const passed = (id: string): CheckOutcome => ({ id, title: id, passed: true, evidence: "" });
const failed = (id: string, commit?: true): CheckOutcome => ({
  ...{ id, title: id, passed: false, next: `do ${id}` },
  failure: { expected: "", found: "", where: "", ...(commit && { commit }) },
});

test.each<[string, CheckOutcome[], string | undefined]>([
  ["nothing when all pass", [passed("run"), passed("commit-build")], undefined],
  ["the first failure", [passed("run"), failed("note"), failed("commit-build")], "note"],
  [
    "tests before the commit",
    [failed("code", true), failed("tests"), failed("commit-fix")],
    "tests",
  ],
  ["the commit when the work is done", [failed("code", true), failed("commit-fix")], "code"],
  [
    "this step's commit before the next step's work",
    [failed("code", true), failed("commit-build"), failed("run")],
    "code",
  ],
])("%s", async (_, checks, id) => {
  expect((await firstToDo(checks))?.id).toBe(id);
});

test.each(LEVELS)("level $id asks for a run note and for the branch of the track", (level) => {
  const ids = level.checks.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(["run-note", "branch"]));
  expect(level.tasks.join("\n")).toMatch(
    /README\.md, the run note: the knob .* exactly one next change/,
  );
});

test("the track is levels 0 to 6; the extra level has its branch, its evidence and its budget as well", () => {
  expect(LEVELS.map(({ id }) => id)).toEqual(TRACK_IDS);
  expect(EXTRA_LEVELS.map(({ id }) => id)).toEqual(EXTRA_IDS);
  for (const { checks } of EXTRA_LEVELS)
    expect(checks.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["branch", "evidence", "budget"]),
    );
});
