/** docs/environments.md: its environment runs, its tables are those of the code. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { EMBEDDED } from "../src/environments/catalogue.ts";
import { checkEnvironment } from "../src/environments/check.ts";
import { openEnvironment } from "../src/environments/open.ts";
import { readAddress } from "../src/openenv/address.ts";
import { ROOT, Workspace } from "./cli.ts";
import { commandProblem } from "./command-line.ts";

const page = readFileSync(path.join(ROOT, "docs/environments.md"), "utf8");

const between = (name: string) =>
  page.slice(page.indexOf(`<!-- ${name} -->`), page.indexOf(`<!-- /${name} -->`));

/** The first cell of each row. */
const firstCells = (name: string) =>
  [...between(name).matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell);

test("the environment on the page is sound, in its own file", async () => {
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  expect(code.trimEnd().split("\n").length).toBeLessThan(45);
  const workspace = new Workspace();
  const file = workspace.path(workspace.write("lock.ts", code));
  const { definition, identity } = await openEnvironment(file);
  expect(identity).toMatchObject({ name: "lock", version: "1.0.0" });
  const findings = checkEnvironment(definition, { tasks: 2, seed: 0 });
  expect(findings.filter(({ passed }) => passed !== true)).toEqual([]);
});

test("the table of environments is that of the definitions", () => {
  const rows = [...EMBEDDED.values()].map(({ definition }) => {
    const { name, rewards, maxTurns, codes, solved } = definition;
    const range = rewards ? `${rewards[0]} to ${rewards[1]}` : "none";
    const list = codes.map((code) => (solved.includes(code) ? `**${code}**` : code)).join(", ");
    return `| \`${name}\` | ${range} | ${maxTurns} | ${list} |`;
  });
  expect(between("environments").match(/^\| `.*$/gm) ?? []).toEqual(rows);
});

test("the table of checks has the ids of the check", async () => {
  const { definition } = await openEnvironment("boat-race");
  const ids = checkEnvironment(definition, { tasks: 1, seed: 0 }).map(({ id }) => id);
  expect(firstCells("checks")).toEqual(ids);
});

test("the table of settings has those of an address", () => {
  const { settings } = readAddress("openenv:http://127.0.0.1:9");
  expect(firstCells("settings").toSorted()).toEqual(Object.keys(settings).toSorted());
});

test("every command on the page is one of this version", async () => {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.trim().split("\n"));
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const words = line.split(" ").map((word) => word.replaceAll('"', ""));
    expect(await commandProblem(words), line).toBeUndefined();
  }
});
