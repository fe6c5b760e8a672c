/** Mutants of an honest scorer do not do what the scorer itself never does. */

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { openEditable } from "../../extensions/editable.ts";
import { ANSWERS, planted, RULE, RULE_CALL } from "../planted.contract.ts";
import { mutationScore } from "./mutation-score.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-confined-"));
const suite = ANSWERS.map((answer, i) => ({
  example: { id: `e${i}`, prompt: "p", expected_answer: answer },
  completion: `Final: ${answer}`,
  expected_reward: 1,
}));

async function mutantsOf(name: string, right: string, more: string) {
  const module = await openEditable(planted(name, right, more), 300);
  const options = { files: 1, suite, probes: [], accepted: new Set<string>(), timeoutMs: 300 };
  return mutationScore({ module, ...options });
}

it("a folder that the scorer deletes only when asked stays", async () => {
  const kept = path.join(folder, "kept");
  mkdirSync(kept);
  writeFileSync(path.join(kept, "file.txt"), "x");
  const clean = `import { rmSync } from "node:fs";
if (process.argv[9] === "clean") rmSync(${JSON.stringify(kept)}, { recursive: true, force: true });
${RULE}`;
  const mutation = await mutantsOf("cleans", RULE_CALL, clean);
  expect(existsSync(path.join(kept, "file.txt"))).toBe(true);
  const refused = mutation.mutants.filter(({ outcome }) => outcome === "refused");
  expect(refused.map(({ before }) => before)).toContainEqual(expect.stringContaining("rmSync"));
  expect(mutation.killed).toBeGreaterThan(3);
});

it("a file that the scorer writes only to debug is not written", async () => {
  const log = path.join(folder, "log.txt");
  const debug = `import { writeFileSync } from "node:fs";
const DEBUG = false;
function noted(text: string) { if (DEBUG) writeFileSync(${JSON.stringify(log)}, text); return text; }
${RULE}`;
  const mutation = await mutantsOf("debugs", `rule(noted(text).trim(), String(expected))`, debug);
  expect(existsSync(log)).toBe(false);
  expect(mutation.refused).toBeGreaterThan(0);
});

it("the network is not used, even where the scorer declares that it may", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const loads = `export const deterministic = false;
if (process.argv[9] === "ask") await fetch("http://127.0.0.1:${port}");
${RULE}`;
  const mutation = await mutantsOf("asks", RULE_CALL, loads);
  expect(asked).toBe(0);
  const always = await mutantsOf("always", RULE_CALL, loads.replace(/if \(.*?\)/, ""));
  server.close();
  expect(asked).toBe(1); // The scorer itself may, when its files are found.
  expect(always).toMatchObject({ killed: 0, survived: 0, score: null });
  expect(mutation.refused).toBeGreaterThan(0);
  expect(mutation.killed).toBeGreaterThan(3);
});

it("nothing is refused where no mutant does such a thing", async () => {
  const mutation = await mutantsOf("computes", RULE_CALL, RULE);
  expect(mutation).toMatchObject({ refused: 0 });
  expect(mutation.killed).toBeGreaterThan(3);
});

it("a mutant that never ends while it loads does not stop the others", async () => {
  const table = `const table: number[] = [];
const full = () => (table.length < 3 ? false : true);
while (!full()) table.push(1);
${RULE}`;
  const mutation = await mutantsOf("loops", RULE_CALL, table);
  expect(mutation.does_not_load).toBeGreaterThan(0);
  expect(mutation.killed).toBeGreaterThan(3);
});
