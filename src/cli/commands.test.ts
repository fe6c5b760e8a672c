/** One name for one thing, over all commands. */

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { expect, test } from "vitest";
import { COMMANDS, loadCommand } from "./commands.ts";

async function optionsOf(name: string) {
  const command = new Command(name);
  (await loadCommand(name)).define(command, () => {}, []);
  return command.options;
}

test("a folder to write is --outdir, a file is --outfile, and there are no short forms", async () => {
  const names = Object.keys(COMMANDS);
  const options = (await Promise.all(names.map(optionsOf))).flat();
  expect(options.length).toBeGreaterThan(100);
  expect(options.filter(({ short }) => short).map(({ flags }) => flags)).toEqual([]);
  const out = new Set(options.map(({ flags }) => flags).filter((flags) => /^--out/.test(flags)));
  expect([...out].sort()).toEqual(["--outdir <folder>", "--outfile <file>"]);
});

test("the package has one program", () => {
  const { bin } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(Object.keys(bin)).toEqual(["lockedroom"]);
});
