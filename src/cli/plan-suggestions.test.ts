/** What `plan` and its page of the manual suggest: commands of this version, and scorers that work. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { initWorkspace } from "../course/init.ts";
import { planStatus } from "../course/plan/index.ts";
import { validateScorer } from "../loops/validate.ts";
import { openScorer } from "../scorers/open.ts";
import { COMMANDS, loadCommand } from "./commands.ts";

const PAGE = readFileSync(
  new URL("../../docs/manual/25-the-120-day-plan.md", import.meta.url),
  "utf8",
);

let room: string;
beforeAll(async () => {
  room = mkdtempSync(path.join(tmpdir(), "lockedroom-suggested-"));
  await initWorkspace(room);
});
afterAll(() => rmSync(room, { recursive: true }));

/** Throws as the command would. */
async function parsed(line: string): Promise<void> {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
  const [program, name = "", ...rest] = words as string[];
  expect(program).toBe("./lockedroom");
  const command = new Command(name).exitOverride().configureOutput({ writeErr: () => {} });
  (await loadCommand(name)).define(command, () => {}, rest);
  command.action(() => {});
  await command.parseAsync(rest, { from: "user" });
}

test("every command that plan suggests has the options of this version", async () => {
  const commands = Object.keys(COMMANDS);
  const { phases } = await planStatus({ dir: room, today: "2026-11-16", commands });
  const missing = phases
    .flatMap(({ criteria }) => criteria)
    .flatMap((one) => (one.status === "missing" ? [one] : []));
  const suggested = missing.flatMap(({ command }) => command ?? []);
  expect(suggested.length).toBeGreaterThan(8);
  for (const line of suggested) await expect(parsed(line), line).resolves.toBeUndefined();
  const line = suggested.find((one) => one.includes(" sweep ")) ?? "";
  await expect(parsed(`${line} --gone`)).rejects.toThrow(/gone/);
});

test("so has every command of the page", async () => {
  const blocks = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const lines = blocks
    .flatMap((block) => block.replaceAll("\\\n", " ").split("\n"))
    .filter((line) => line.startsWith("./lockedroom "));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) await expect(parsed(line), line).resolves.toBeUndefined();
});

test("the page's scorers open, conflict with the task, and agree with the golden rows", async () => {
  const files = [...PAGE.matchAll(/^```\w+\n\/\/ (\S+)\n([\s\S]*?)^```/gm)];
  expect(files.map(([, name]) => name)).toEqual([
    "unsigned.ts",
    "sign.ts",
    "data/golden/sign.jsonl",
  ]);
  for (const [, name = "", text = ""] of files) {
    mkdirSync(path.dirname(path.join(room, name)), { recursive: true });
    writeFileSync(path.join(room, name), text);
  }
  const [unsigned, sign] = [
    await openScorer(path.join(room, "unsigned.ts")),
    await openScorer(path.join(room, "sign.ts")),
  ];
  try {
    const negative = { id: "n", prompt: "1 - 3", expected_answer: -2 };
    const rewards = async (completion: string) =>
      (await unsigned.scoreBatch([{ example: negative, completion }])).map(({ reward }) => reward);
    expect(await rewards("Final: -2"), "the right answer").toEqual([0]);
    expect(await rewards("Final: 2"), "a wrong one").toEqual([1]);
    const [dataset, golden] = ["data/datasets/math_dev.jsonl", "data/golden/sign.jsonl"].map(
      (file) => path.join(room, file),
    ) as [string, string];
    expect(await validateScorer({ dataset, golden, scorer: sign })).toMatchObject({ valid: true });
  } finally {
    await unsigned.close();
    await sign.close();
  }
});
