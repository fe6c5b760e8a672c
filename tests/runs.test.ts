/** What `runs` prints of folders that others may have written. */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT, RAW_CONTROL, Workspace } from "./cli.ts";
import { writeFolder } from "./fixtures/run-folders.ts";

test("control characters in a start time are made visible", async () => {
  const workspace = new Workspace();
  writeFolder(workspace.path("runs", "a"), "eval", "finished");
  const file = workspace.path("runs", "a", "manifest.json");
  const manifest = readFileSync(file, "utf8");
  writeFileSync(file, manifest.replace("2026-01-02", "\\u001b[2J\\u0007"));
  for (const format of ["text", "json"]) {
    const { code, stdout } = await workspace.run(["runs", "--format", format]);
    expect(code).toBe(EXIT.ok);
    expect(stdout).toMatch(/[[]2J/);
    expect(stdout).not.toMatch(RAW_CONTROL);
  }
});
