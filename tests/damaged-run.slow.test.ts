/** A run that is not whole or not a run is refused by everything that reads one. */

import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXIT, expectError, sums, type Workspace } from "./cli.ts";

describe.concurrent("a damaged run", () => {
  const names = ["inspect-run", "gate"] as const;
  const args = (name: (typeof names)[number]) =>
    name === "gate"
      ? ["gate", "--baseline", "whole", "--candidate", "run"]
      : [name, "--run", "run"];

  /** One whole run, and a copy for each test to damage. */
  async function damaged(damage: (workspace: Workspace) => void): Promise<Workspace> {
    const workspace = sums(4);
    await workspace.prepare("whole");
    await workspace.prepare("run");
    damage(workspace);
    return workspace;
  }

  const edit = (file: string, change: (text: string) => string) => (workspace: Workspace) => {
    workspace.write(`run/${file}`, change(workspace.read("run", file)));
  };
  const DAMAGE: readonly [name: string, damage: (w: Workspace) => void, says: RegExp][] = [
    [
      "a cut-off summary",
      edit("summary.json", (text) => text.slice(0, 40)),
      /summary\.json is damaged/,
    ],
    ["an empty manifest", edit("manifest.json", () => ""), /manifest\.json is damaged/],
    [
      "a summary of a later version",
      edit("summary.json", (text) => text.replace("summary@1", "summary@9")),
      /summary\.json is damaged or of another version/,
    ],
    [
      "a broken row",
      edit("results.jsonl", (text) => text.replace("\n", "\n{oops}\n")),
      /results\.jsonl:2: not valid JSON/,
    ],
    [
      "a row without a reward",
      edit("results.jsonl", (text) => text.replace(/"reward":1/, '"x":1')),
      /results\.jsonl:1: .*reward/,
    ],
  ];

  test.each(DAMAGE)("%s", async (_, damage, says) => {
    const workspace = await damaged(damage);
    for (const name of names) {
      const result = await workspace.run(args(name));
      expectError(result, EXIT.data, says);
      expect(result.stderr.trimEnd().split("\n").length, result.stderr).toBeLessThanOrEqual(4);
    }
  });

  test("no run, a file in place of a run, a folder that is no run", async () => {
    const workspace = sums(1);
    workspace.write("file", "");
    mkdirSync(workspace.path("folder"));
    const inspect = (run: string) => workspace.run(["inspect-run", "--run", run]);
    expectError(await inspect("nowhere"), EXIT.data, "there is no run at nowhere");
    expectError(await inspect("file"), EXIT.data, "file is a file, not a run folder");
    expectError(await inspect("folder"), EXIT.data, /folder is unfinished/);
  });

  test("an id that the run does not have", async () => {
    const workspace = await damaged(() => {});
    const result = await workspace.run(["inspect-run", "--run", "run", "--id", "zzz"]);
    expectError(result, EXIT.data, '"zzz"');
  });

  test("edited rows are shown with a warning", async () => {
    const workspace = await damaged(
      edit("results.jsonl", (text) => text.replace('"reward":0', '"reward":1')),
    );
    const result = await workspace.run(["inspect-run", "--run", "run"]);
    expect(result.code).toBe(EXIT.ok);
    expect(result.stdout).toMatch(/^! .*edited/m);
    expect((await workspace.run(["inspect-run", "--run", "whole"])).stdout).not.toMatch(/^!/m);
  });
});
