/** What a scorer reads, and how long it loads, as the command line shows it. */

import { describe, expect, test } from "vitest";
import { EXIT, expectError, scorerSource, sums } from "./cli.ts";

const FINE = 'return { reward: 1, code: "fine", details: {} };';
const READS = `import fs from "node:fs";
  const words = fs.readFileSync(new URL("./" + "words.txt", import.meta.url), "utf8");`;
const BY_WORDS = 'return { reward: words.includes("yes") ? 1 : 0, code: "compared", details: {} };';

describe.concurrent("a data file that a scorer reads when it loads", () => {
  test("is part of the instrument: the gate sees that it changed", async () => {
    const workspace = sums(40);
    workspace.write("words.txt", "no");
    workspace.write("s.ts", scorerSource(BY_WORDS, READS));
    const strict = await workspace.made("strict", ["--scorer", "s.ts"]);
    const same = await workspace.made("same", ["--scorer", "s.ts", "--jobs", "2"]);
    expect(same.manifest.scorer).toEqual(strict.manifest.scorer);
    workspace.write("words.txt", "yes");
    const loose = await workspace.made("loose", ["--scorer", "s.ts"]);
    expect(loose.rows.every(({ reward }) => reward === 1)).toBe(true);

    const gate = (candidate: string) =>
      workspace.run(["gate", "--baseline", "strict", "--candidate", candidate, "--format", "json"]);
    const verdict = await gate("loose");
    expect(verdict.code).toBe(3);
    expect(verdict.stdout).toContain("instrument_changed_without_version_bump");
    expect(verdict.stdout).toContain("or a file that it reads, changed but its version did not");
    expect((await gate("same")).stdout).not.toContain("instrument_changed");
  });

  test("read while scoring instead is refused, on one thread and on several", async () => {
    const workspace = sums(600);
    workspace.write("words.txt", "yes");
    const reads = READS.replace("const words =", "const read = () =>");
    workspace.write("s.ts", scorerSource(`const words = read(); ${BY_WORDS}`, reads));
    const one = await workspace.made("one", ["--scorer", "s.ts"]);
    const says = "the scorer read words.txt while it scored; read it when the scorer loads";
    for (const row of one.rows)
      expect(row).toMatchObject({ reward: null, details: { message: says } });
    const two = await workspace.made("two", ["--scorer", "s.ts", "--jobs", "2"]);
    expect(two.results).toBe(one.results);
  });

  test("an asynchronous scorer beside our own streams is scored on any number of threads", async () => {
    const workspace = sums(600);
    workspace.write("words.txt", "yes");
    const later = `await new Promise((r) => setTimeout(r, 1)); ${BY_WORDS}`;
    const source = scorerSource(later, READS).replace("function score", "async function score");
    workspace.write("s.ts", source);
    const one = await workspace.made("one", ["--scorer", "s.ts"]);
    expect(one.rows.every(({ reward }) => reward === 1)).toBe(true);
    const two = await workspace.made("two", ["--scorer", "s.ts", "--jobs", "2"]);
    expect(two.results).toBe(one.results);
  });
});

describe.concurrent("a scorer that does not finish loading is ended", () => {
  test.each([
    ["a loop", "for (;;);"],
    ["a loop after an import", 'import "node:fs"; for (;;);'],
    ["a loop after a timer", "await new Promise((r) => setTimeout(r, 20)); for (;;);"],
    ["an await that never settles", "await new Promise((r) => setInterval(() => {}, 1e6));"],
    ["a loop in a module that it imports", 'import "./helper.ts";'],
    [
      "a loop in threads only",
      'import { isMainThread } from "node:worker_threads"; if (!isMainThread) for (;;);',
      ["--jobs", "2"],
    ],
  ])("%s", async (_, head, flags: string[] = []) => {
    const workspace = sums(2);
    workspace.write("helper.ts", 'import "node:path"; for (;;);');
    workspace.write("s.ts", scorerSource(FINE, head));
    const result = await workspace.eval("run", ["--scorer", "s.ts", ...flags]);
    expectError(result, EXIT.data, /the scorer s\.ts did not load within 10 s/);
    expect(result.stderr).not.toContain("debugger");
  });
});

describe.concurrent("a scorer that never gives control back while it scores is ended", () => {
  const HANGS = /the scorer s\.ts never gave control back: it ran for 5\.2 s/;
  test.each([
    ["a loop over promises", "for (;;) await 0;"],
    ["a loop after an await", "await 0; for (;;);"],
    ["a loop left behind", `void (async () => { for (;;) await 0 })(); ${FINE}`],
    ["a loop over promises, with threads", "for (;;) await 0;", ["--jobs", "2"]],
  ])("%s", async (_, body, flags: string[] = []) => {
    const workspace = sums(4);
    workspace.write("s.ts", asynchronous(body));
    const result = await workspace.eval("run", [...LIMIT, "--scorer", "s.ts", ...flags]);
    expectError(result, EXIT.data, HANGS);
    expect(result.stderr).not.toContain("debugger");
  });

  test("one that waits longer than that goes on", async () => {
    const workspace = sums(2);
    const waits = asynchronous(`await ${delay(6000)}; ${FINE}`);
    workspace.write("s.ts", `${waits} export const deterministic = false;`);
    const run = await workspace.made("run", ["--scorer-timeout", "20000", "--scorer", "s.ts"]);
    expect(run.rows.map(({ reward }) => reward)).toEqual([1, 1]);
  });

  test("one that computes for longer than that, over several rows, goes on", async () => {
    const workspace = sums(14);
    const busy = "const end = Date.now() + 150; while (Date.now() < end);";
    workspace.write("s.ts", scorerSource(`${busy} ${FINE}`));
    const run = await workspace.made("run", ["--scorer-timeout", "2000", "--scorer", "s.ts"]);
    expect(run.rows.every(({ reward }) => reward === 1)).toBe(true);
  });
});

const LIMIT = ["--scorer-timeout", "200"];

function delay(ms: number): string {
  return `new Promise((r) => setTimeout(r, ${ms}))`;
}

function asynchronous(body: string): string {
  return scorerSource(body).replace("function score", "async function score");
}
