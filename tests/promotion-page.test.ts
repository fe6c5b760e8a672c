/** docs/promotion.md shows commands of this version. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import * as script from "../scripts/make-seeds.mjs";
import { ROOT } from "./cli.ts";
import { commandProblem } from "./command-line.ts";

const { wordsOf } = script as { wordsOf(text: string): string[] };

test("every command parses", async () => {
  const page = readFileSync(path.join(ROOT, "docs/promotion.md"), "utf8");
  const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  const commands = block.replaceAll("\\\n", "").trim().split("\n");
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands)
    expect([command, await commandProblem(wordsOf(command))]).toEqual([command, undefined]);
});
