/** What a scorer loads and reads is part of its identity, or refused. */

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScorer } from "./open.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

type Files = Record<string, string>;

function workspace(files: Files): string {
  const root = mkdtempSync(path.join(tmpdir(), "lockedroom-watched-"));
  folders.push(root);
  write(root, files);
  return root;
}

function write(root: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
}

/** A scorer whose reward is what `body` gives, with `head` at the top of its file. */
const source = (body: string, head = "", more = "") => `${head}
export const name = "mine", version = "1", spec = "s"; ${more}
export ${body.includes("await") ? "async " : ""}function score(example: any, completion: string) {
  ${body}
}`;
const reward = (value: string) => `return { reward: Number(${value}), code: "x", details: {} };`;

const rows = Array.from({ length: 3 }, (_, i) => ({
  example: { id: `e${i}`, prompt: "p" },
  completion: String(i),
}));

async function opened(root: string) {
  const scorer = await openScorer(path.join(root, "s.ts"));
  const scores = await scorer.scoreBatch(rows);
  await scorer.close();
  const shown = scores.map(({ reward, details }) =>
    reward === null ? (details as { message: string }).message : reward,
  );
  return { source: scorer.identity.source_sha256, shown };
}

const FS = 'import fs from "node:fs"; import path from "node:path";';
const FILE = 'path.join(import.meta.dirname ?? __dirname, "key" + ".txt")';

/** Every way to 2 from key.txt or a helper that holds it. The path is never in the source text. */
const WAYS: Record<string, [expression: string, head?: string, files?: Files]> = {
  readFileSync: [`fs.readFileSync(${FILE})`],
  "readFileSync as text": [`fs.readFileSync(${FILE}, "utf8")`],
  "a named import": [`readFileSync(${FILE})`, `${FS} import { readFileSync } from "node:fs";`],
  "require of fs": [`require("fs").readFileSync(${FILE})`],
  getBuiltinModule: [`process.getBuiltinModule("fs").readFileSync(${FILE})`],
  "openSync and readSync": [
    `(() => { const b = Buffer.alloc(1), f = fs.openSync(${FILE}); fs.readSync(f, b); fs.closeSync(f); return b; })()`,
  ],
  "a callback": [`await new Promise((r) => fs.readFile(${FILE}, "utf8", (_e, t) => r(t)))`],
  "fs.promises": [`await fs.promises.readFile(${FILE}, "utf8")`],
  "a file handle": [
    `await (async () => { const h = await fs.promises.open(${FILE}); const t = await h.readFile("utf8"); await h.close(); return t; })()`,
  ],
  "a stream": [
    `await new Promise((r) => fs.createReadStream(${FILE}, "utf8").on("data", r).on("error", r))`,
  ],
  openAsBlob: [`await (await (fs as any).openAsBlob(${FILE})).text()`],
  "require of a computed path": ['require("./" + "helper.cjs")', "", helper("cjs")],
  "import() of a computed path": ['(await import("./" + "helper.ts")).default', "", helper("ts")],
  createRequire: [
    'createRequire(import.meta.url)("./" + "helper.cjs")',
    'import { createRequire } from "node:module";',
    helper("cjs"),
  ],
  "import() of an ES module": [
    '(await import("./" + "helper.mjs")).default',
    "",
    { "helper.mjs": "export default 2;" },
  ],
  "createRequire of JSON": [
    'createRequire(import.meta.url)("./" + "helper.json").n',
    'import { createRequire } from "node:module";',
    { "helper.json": '{ "n": 2 }' },
  ],
  "import() of JSON": [
    'await import("./" + "helper.json").then((m: any) => (m.default ?? m).n)',
    "",
    { "helper.json": '{ "n": 2 }' },
  ],
};

function helper(kind: string): Files {
  return { [`helper.${kind}`]: kind === "ts" ? "export default 2;" : "module.exports = 2;" };
}
const DATA: Files = { "key.txt": "2" };

describe("reading while it loads", () => {
  test.each(Object.entries(WAYS))("%s is part of the identity", async (_, way) => {
    const [expression, head = FS, files = DATA] = way;
    const loads = source(reward("value"), `${head} const value = ${expression};`);
    const root = workspace({ "s.ts": loads, ...files });
    const before = await opened(root);
    expect(before.shown).toEqual([2, 2, 2]);
    const again = await opened(root);
    expect(again.source).toBe(before.source);

    write(
      root,
      Object.fromEntries(Object.entries(files).map(([k, v]) => [k, v.replace("2", "3")])),
    );
    const after = await opened(root);
    expect(after.shown).toEqual([3, 3, 3]);
    expect(after.source).not.toBe(before.source);
  });

  test.each(["readFileSync", "createRequire"])(
    "%s: a moved folder keeps its hash",
    async (name) => {
      const [expression, head = FS, files = DATA] = WAYS[name] ?? ["0"];
      const text = source(reward("value"), `${head} const value = ${expression};`);
      const root = workspace({ "s.ts": text, ...files });
      const before = await opened(root);
      renameSync(root, `${root}-moved`);
      folders.push(`${root}-moved`);
      expect((await opened(`${root}-moved`)).source).toBe(before.source);
    },
  );

  test("a file that is not there, and a list of names, count as well", async () => {
    const looks = source(
      reward("n"),
      `${FS} const here = import.meta.dirname ?? __dirname;
       const n = fs.readdirSync(path.join(here, "words")).length + +fs.existsSync(path.join(here, "flag"));`,
    );
    const root = workspace({ "s.ts": looks, "words/a": "" });
    const hashes = [(await opened(root)).source];
    write(root, { "words/b": "" });
    hashes.push((await opened(root)).source);
    write(root, { flag: "" });
    const last = await opened(root);
    expect(last.shown).toEqual([3, 3, 3]);
    expect(new Set([...hashes, last.source]).size).toBe(3);
  });

  test("a file that changes between the two instances is refused", async () => {
    const clock = source(
      reward("1"),
      'import fs from "node:fs"; fs.readFileSync("/proc/self/stat");',
    );
    const root = workspace({ "s.ts": clock });
    if (process.platform !== "linux") return;
    await expect(opened(root)).rejects.toThrow(/read other files, or other bytes|changed/);
  });
});

describe("reading while it scores", () => {
  test.each(Object.entries(WAYS))("%s is refused by name", async (_, way) => {
    const [expression, head = FS, files = DATA] = way;
    const root = workspace({ "s.ts": source(reward(expression), head), ...files });
    const { shown } = await opened(root);
    const [file] = Object.keys(files);
    for (const row of shown)
      expect(row).toBe(`the scorer read ${file} while it scored; read it when the scorer loads`);
  });

  test("counts even if the scorer catches the error", async () => {
    const catches = source(
      `let n = 1; try { n = Number(fs.readFileSync(${FILE})) } catch {} ${reward("n")}`,
      FS,
    );
    const { shown } = await opened(workspace({ "s.ts": catches, ...DATA }));
    expect(shown.join()).toMatch(/(the scorer read key\.txt while it scored.*){3}/);
  });

  test("again what it read when it loaded is fine, until the bytes change", async () => {
    const twice = source(reward(`fs.readFileSync(${FILE})`), `${FS} fs.readFileSync(${FILE});`);
    const root = workspace({ "s.ts": twice, ...DATA });
    const scorer = await openScorer(path.join(root, "s.ts"));
    const first = await scorer.scoreBatch(rows);
    expect(first.map((row) => row.reward)).toEqual([2, 2, 2]);
    write(root, { "key.txt": "3" });
    const later = await scorer.scoreBatch(rows);
    expect(later[0]).toMatchObject({
      reward: null,
      details: { message: "key.txt changed after the scorer had read it; evaluate again" },
    });
  });

  test("by what it left running when it had loaded is refused", async () => {
    const late = source(
      `while (!(globalThis as any).done) await new Promise((r) => setTimeout(r, 5)); ${reward("(globalThis as any).got ?? 0")}`,
      `${FS} setTimeout(() => { try { (globalThis as any).got = fs.readFileSync(${FILE}); } catch {}
       (globalThis as any).done = true; }, 150);`,
    );
    const { shown } = await opened(workspace({ "s.ts": late, ...DATA }));
    expect(shown).toEqual([0, 0, 0]);
  });

  test("our own reading at the same time is not the scorer's", async () => {
    const slow = source(`await new Promise((r) => setTimeout(r, 20)); ${reward("1")}`);
    const root = workspace({ "s.ts": slow, ...DATA });
    const scorer = await openScorer(path.join(root, "s.ts"), { concurrency: 3 });
    let reading = true;
    const ours = (async () => {
      while (reading) {
        readFileSync(path.join(root, "key.txt"));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    const scores = await scorer.scoreBatch(rows);
    reading = false;
    await ours;
    expect(scores.map((row) => row.reward)).toEqual([1, 1, 1]);
  });
});

describe("what reaches out of the process", () => {
  const server = createServer((_, response) => response.end("2"));
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  const acts = (): Record<string, [expression: string, says: RegExp]> => ({
    fetch: [`await (await fetch("http://127.0.0.1:${port}")).text()`, /used the network/],
    "http.get": [
      `await new Promise((r, f) => require("node:http").get("http://127.0.0.1:${port}", (a) => a.on("data", r)).on("error", f))`,
      /used the network/,
    ],
    execSync: ['require("node:child_process").execFileSync("echo", ["2"])', /another program/],
    spawn: [
      'await new Promise((r) => require("node:child_process").spawn("echo", ["2"]).on("error", r).stdout?.on("data", r))',
      /another program/,
    ],
    "a thread": [
      `await new Promise((r) => new (require("node:worker_threads").Worker)(
        "require('worker_threads').parentPort.postMessage(2)", { eval: true }).on("message", r))`,
      /started a thread/,
    ],
    writing: [
      '(require("node:fs").writeFileSync(__dirname + "/out.txt", "2"), 2)',
      /wrote out\.txt/,
    ],
  });

  test.each(Object.keys(acts()))(
    "%s is for scorers that say deterministic: false",
    async (name) => {
      const [expression, says] = acts()[name] as [string, RegExp];
      const { shown } = await opened(workspace({ "s.ts": source(reward(expression)) }));
      for (const row of shown) expect(row).toMatch(says);
      for (const row of shown) expect(row).toMatch(/only one with `deterministic: false` may/);

      const judge = source(reward(expression), "", "export const deterministic = false;");
      expect((await opened(workspace({ "s.ts": judge }))).shown).toEqual([2, 2, 2]);
    },
  );

  test("network while it loads needs the declaration, too", async () => {
    const head = `const got = await (await fetch("http://127.0.0.1:${port}")).text();`;
    const root = workspace({ "s.ts": source(reward("got"), head) });
    await expect(opened(root)).rejects.toThrow(/used the network.*deterministic: false/);
    const judge = source(reward("got"), head, "export const deterministic = false;");
    expect((await opened(workspace({ "s.ts": judge }))).shown).toEqual([2, 2, 2]);
  });

  test.each([
    [
      "a program",
      'require("node:child_process").execSync("echo 2");',
      "the scorer started another program while it loaded, which no scorer may",
      "Move it into `score` and declare `deterministic: false`.",
    ],
    [
      "writing",
      'require("node:fs").writeFileSync(__dirname + "/out.txt", "2");',
      "the scorer wrote out.txt while it loaded, which no scorer may",
      "Write nothing while it loads.",
    ],
    [
      "network without the declaration",
      'await new Promise((r) => require("node:net").connect(9, "127.0.0.1").on("error", r));',
      "the scorer used the network while it loaded, which only one with `deterministic: false` may",
      "Read a file instead, or declare `deterministic: false`.",
    ],
    [
      "an error of its own",
      'throw new Error("mine");',
      /does not load: mine$/,
      "Run the file with node to see the full error.",
    ],
  ])("%s while it loads: the reason, and what to do", async (_, head, says, hint) => {
    const root = workspace({ "s.ts": source(reward("1"), head) });
    const file = path.join(root, "s.ts");
    await expect(opened(root)).rejects.toMatchObject({
      message: says instanceof RegExp ? expect.stringMatching(says) : `${file}: ${says}`,
      hint,
    });
  });

  test("a program while it loads is refused, even if the error is caught", async () => {
    const head = 'try { require("node:child_process").execFileSync("echo") } catch {}';
    const root = workspace({ "s.ts": source(reward("1"), head) });
    await expect(opened(root)).rejects.toThrow(/started another program while it loaded/);
  });
});

describe("a file that does not finish loading", () => {
  const FINE = source(reward("1"));
  test.each([
    ["a loop at its top", { "s.ts": `for (;;); ${FINE}` }],
    ["an await that never settles", { "s.ts": `await new Promise(() => {}); ${FINE}` }],
  ])("%s", async (_, files) => {
    const root = workspace(files);
    const scorer = openScorer(path.join(root, "s.ts"), { loadTimeoutMs: 300 });
    await expect(scorer).rejects.toMatchObject({
      kind: "data",
      message: `the scorer ${path.join(root, "s.ts")} did not load within 0.3 s`,
    });
  });

  test("one that is slow but finishes is loaded", async () => {
    const slow = `await new Promise((r) => setTimeout(r, 50)); ${FINE}`;
    expect((await opened(workspace({ "s.ts": slow }))).shown).toEqual([1, 1, 1]);
  });
});

describe("changed built-ins", () => {
  test.each([
    ["JSON.stringify", 'JSON.stringify = () => "{}";'],
    ["Math.random", "Math.random = () => 0.5;"],
    ["Array.prototype.push", "Array.prototype.push = function () { return 0; };"],
    ["Object.prototype.toJSON", "(Object.prototype as any).toJSON = () => 1;"],
    ["Date.now", "Date.now = () => 0;"],
    ["globalThis.Date", "globalThis.Date = class extends Date {} as any;"],
  ])("%s", async (name, statement) => {
    const before = [JSON.stringify, Array.prototype.push, Date];
    const loads = workspace({ "s.ts": source(reward("1"), statement) });
    await expect(opened(loads)).rejects.toThrow(
      `it changes ${name}, which the harness uses as well`,
    );
    const scores = workspace({ "s.ts": source(`${statement} ${reward("1")}`) });
    const says = `the scorer changes ${name}, which the harness uses as well`;
    expect((await opened(scores)).shown).toEqual([says, says, says]);
    expect([JSON.stringify, Array.prototype.push, Date]).toEqual(before);
  });

  test("a copy of one's own is fine", async () => {
    const own = source(reward("random()"), "const random = () => 0.5; class Date2 extends Date {}");
    expect((await opened(workspace({ "s.ts": own }))).shown).toEqual([0.5, 0.5, 0.5]);
  });
});

describe("an answer whose parts are code", () => {
  test.each([
    ["a getter that loops", "return { get reward() { for (;;); } };"],
    ["a promised getter that loops", "await 0; return { get reward() { for (;;); } };"],
    ["a promised error whose text loops", "await 0; throw { toString() { for (;;); } };"],
  ])("%s is over the limit", async (_, body) => {
    const root = workspace({ "s.ts": source(body) });
    const scorer = await openScorer(path.join(root, "s.ts"), { timeoutMs: 50 });
    const [first] = await scorer.scoreBatch(rows.slice(0, 1));
    expect(first).toMatchObject({
      details: { message: expect.stringContaining("did not return within 50 ms") },
    });
  });

  test("a call that calls itself through the harness scores no row twice", async () => {
    const root = workspace({
      "s.ts": source(`const again = (globalThis as any)[Symbol.for("lockedroom.call")];
        if (typeof again === "function") again(); ${reward("completion")}`),
    });
    expect((await opened(root)).shown).toEqual([0, 1, 2]);
  });
});
