/** What `runs` prints of folders that others may have written. */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT, RAW_CONTROL, Workspace } from "./cli.ts";
import { writeFolder } from "./fixtures/run-folders.ts";

test("a start time cannot begin a line of its own", async () => {
  const workspace = new Workspace();
  writeFolder(workspace.path("runs", "a"), "eval", "finished");
  const file = workspace.path("runs", "a", "manifest.json");
  const manifest = readFileSync(file, "utf8");
  writeFileSync(file, manifest.replace("2026-01-02", "\\nforged\\u0007"));
  const { code, stdout } = await workspace.run(["runs"]);
  expect(code).toBe(EXIT.ok);
  expect(stdout).toContain("\\nforged");
  expect(stdout).not.toMatch(/^forged/m);
  expect(stdout).not.toMatch(RAW_CONTROL);
});
