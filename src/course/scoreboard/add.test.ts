/** What a week may link to. */

import { appendFileSync, cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CONFIG, MARKER, TEMPLATES } from "../workspace.ts";
import { addWeek } from "./add.ts";

let dir: string;
beforeAll(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), "lockedroom-week-")));
  cpSync(TEMPLATES, dir, { recursive: true });
  writeFileSync(path.join(dir, MARKER), JSON.stringify(DEFAULT_CONFIG));
});
afterAll(() => rmSync(dir, { recursive: true }));

const add = (week: number, links: object) => addWeek({ dir, cwd: dir, week, ...links });

test("files that are as they were shipped show no work; changed ones do", async () => {
  await expect(add(1, { theory: "notes" })).rejects.toThrow(/--theory: notes is as it was shipped/);
  const skills = ["math=5:README.md"];
  await expect(add(1, { skills })).rejects.toThrow(/--skill math: README.md is as it was shipped/);
  for (const name of ["notes/kl_tradeoff.md", "README.md"])
    appendFileSync(path.join(dir, name), "What I found.\n");
  const { week } = await add(1, { theory: "notes", skills });
  expect(week).toMatchObject({
    shipped: { theory: "notes" },
    skills: { math: { score: 5, path: "README.md" } },
  });
});
